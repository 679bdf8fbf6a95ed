/* SPDX-License-Identifier: GPL-2.0-or-later */
/* given SOCKETSxCORES TAKEN TASKS WIDTH: prints the cores that tests/bench/day believes Slurm gives
 * to so many tasks of so many cores each, of a node where the cores TAKEN (a list; "-": none) are
 * others'. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_slurm.h"

static void say(const struct topo *topo, const bool *is_free, size_t tasks, size_t width)
{
    char text[CPUS_TEXT_MAX];
    struct cpus cpus = {0};
    size_t core[CPUS_MAX];

    if (day_slurm_give(topo, DAY_SOCKET_PACKAGE, is_free, tasks, width, core) < 0) {
        puts("none");
        return;
    }
    for (size_t i = 0; i < tasks * width; i++)
        cpus_add(&cpus, core[i]);
    cpus_format(&cpus, text, sizeof(text));
    puts(text);
}

int main(int argc, char **argv)
{
    bool is_free[CPUS_MAX];
    struct berth_error err;
    struct cpus taken = {0};
    struct topo *topo;
    unsigned sockets, cores;
    char spec[64];

    if (argc != 5 || sscanf(argv[1], "%ux%u", &sockets, &cores) != 2 ||
        (strcmp(argv[2], "-") != 0 && cpus_parse(&taken, argv[2]) < 0)) {
        fputs("usage: given SOCKETSxCORES TAKEN TASKS WIDTH\n", stderr);
        return 2;
    }
    snprintf(spec, sizeof(spec), "package:%u core:%u pu:1", sockets, cores);
    if (topo_read(&topo, spec, &err) < 0) {
        fprintf(stderr, "given: %s\n", err.text);
        return 1;
    }
    for (size_t c = 0; c < topo->cores; c++)
        is_free[c] = !cpus_has(&taken, c);
    say(topo, is_free, strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10));
    topo_free(topo);
    return 0;
}
