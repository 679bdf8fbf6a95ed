/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_machines - see day_machines.h */
#include "tests/bench/day_machines.h"

#include <stdio.h>
#include <string.h>

const struct day_machine day_machine[] = {
    {"near", "two sockets of four caches, a memory node a cache (the default)",
     "package:2 l3:4 [numa]"},
    {"sockets", "two sockets with a cache and a memory node each", "package:2 [numa] l3:1"},
    {"nps1", "two sockets with four caches and a memory node each", "package:2 [numa] l3:4"},
    {"nps1x8", "two sockets with eight caches and a memory node each", "package:2 [numa] l3:8"},
    {"nps4", "two sockets of four memory nodes with two caches each",
     "package:2 group:4 [numa] l3:2"},
    {"snc2", "two sockets with a cache each, which two memory nodes share",
     "package:2 l3:1 group:2 [numa]"},
    {"one", "one socket with eight caches and a memory node", "package:1 [numa] l3:8"},
};

const size_t day_machines = sizeof(day_machine) / sizeof(*day_machine);

const struct day_machine *day_machine_of(const char *name)
{
    for (size_t i = 0; i < day_machines; i++)
        if (strcmp(day_machine[i].name, name) == 0)
            return &day_machine[i];
    return NULL;
}

void day_machine_topology(const struct day_machine *machine, const struct day_truth *truth,
                          unsigned threads, char *text, size_t size)
{
    size_t cores = 1;

    for (size_t i = 0; i < truth->apps.n; i++)
        if (truth->apps.app[i].cores > cores)
            cores = truth->apps.app[i].cores;
    snprintf(text, size, "%s core:%zu pu:%u", (machine ? machine : day_machine)->above, 2 * cores,
             threads);
}
