/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registers - a step of two cores whose prefetchers are switched off (prefetch=off): see node.h.
 * The cores' registers are files (msr_tree.h), which had different values before berthd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fault/node.h"
#include "tests/unit/common/msr_tree.h"

#define CPUS 2
#define ALL_OFF 0xfu

static const uint64_t before[CPUS] = {0x40, 0x1};

/* ---- what there is ---- */

static void files(const struct node *node)
{
    msr_tree_make(node->dir, CPUS, MSR_TREE_HASWELL);
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        msr_tree_put(node->dir, cpu, before[cpu]);
}

static void allow(const struct node *node, FILE *conf)
{
    (void)node;
    fputs("allow = auto,prefetch\n", conf);
}

/* Whoever may ask: what is switched is to be found. */
static void always(const struct node *node, FILE *conf)
{
    fprintf(conf, "device_root = %s\nwindow = 100ms\n", node->dir);
}

static void start(struct node_step *step, size_t i)
{
    const unsigned cpu = 0;

    (void)i;
    step_start(&step->run, step->leaf, 1, &cpu, STEP_QUIET);
}

/* ---- what holds ---- */

static bool changed(struct node *node, char *why)
{
    uint64_t is = msr_tree_get(node->dir, 0);

    snprintf(why, NODE_WHY, "CPU 0: 0x%llx", (unsigned long long)is);
    return is == (before[0] | ALL_OFF);
}

/* Each is as it was, or, of the step's, switched off. */
static bool holds(struct node *node, char *why)
{
    struct json_object *lines = NULL;
    bool fine = true;

    if (node_say(node, "{\"version\":1,\"op\":\"status\"}\n"))
        lines = node_answer(node);
    if (!lines)
        snprintf(why, NODE_WHY, "berthd does not answer");
    for (size_t cpu = 0; lines && fine && cpu < CPUS; cpu++) {
        uint64_t is = msr_tree_get(node->dir, cpu);

        fine = is == before[cpu] || (cpu == 0 && is == (before[0] | ALL_OFF));
        if (!fine)
            snprintf(why, NODE_WHY, "CPU %zu: 0x%llx is neither", cpu, (unsigned long long)is);
    }
    json_object_put(lines);
    return lines && fine;
}

static bool is_home(struct node *node, size_t i, char *why)
{
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        uint64_t is = msr_tree_get(node->dir, cpu);

        if (is == before[cpu])
            continue;
        snprintf(why, NODE_WHY, "CPU %zu: 0x%llx, had 0x%llx", cpu, (unsigned long long)is,
                 (unsigned long long)before[cpu]);
        return false;
    }
    return node_in_leaf(node, i, node->step[i].run.task[0], why);
}

const struct node_kind node_registers = {
    .name = "registers",
    .berthd = "./berthd",
    .steps = 1,
    .step = {{"0", "\"mode\":\"auto\",\"tag\":\"fetch\",\"prefetch\":\"off\""}},
    .files = files,
    .allow = allow,
    .always = always,
    .start = start,
    .changed = changed,
    .later = true,
    .holds = holds,
    .is_home = is_home,
};
