/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_uncore - what the memories count, apart for each NUMA node: of all who run, so that it
 * says something of a step only while nobody else works (size/measure.c). It is asked for by node
 * alone; in between its events rest, so that nothing has to be switched where they take turns. */
#include "packer/counters/counters.h"

#include <stdio.h>
#include <stdlib.h>

#include "packer/base/clock.h"
#include "packer/counters/memory_events.h"

#define REST_S 10 /* after so long without a question */

struct state {
    struct memory_events *events;
    double asked_s;
};

/* "memory_reads, memory_writes": what is counted here. */
static void list_kinds(uint32_t can, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS && used < size; kind++)
        if (can & 1u << kind)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     by_node_name[kind]);
}

static int uncore_open(const struct counters_node *node, void **out, uint32_t *can,
                       char say[COUNTERS_SAY], struct berth_error *err)
{
    struct state *state = calloc(1, sizeof(*state));
    char kinds[COUNTERS_SAY - 64];

    if (!state)
        return berth_no_memory(err);
    if (memory_events_open(&state->events, node->root, node->topo, NULL, NULL, err) < 0) {
        free(state);
        return -1;
    }
    list_kinds(memory_events_can(state->events), kinds, sizeof(kinds));
    snprintf(say, COUNTERS_SAY, "of all who run, while a step is profiled: %s", kinds);
    *can = 0; /* none of a step's own */
    *out = state;
    return 0;
}

static void uncore_close(void *arg)
{
    struct state *state = arg;

    memory_events_close(state->events);
    free(state);
}

/* A step has nothing of its own here. */
static int uncore_attach(void *state, const struct counters_target *target, void **step,
                         struct berth_error *err)
{
    (void)target;
    (void)err;
    *step = state;
    return 0;
}

static int uncore_read(void *arg, void *step, const struct counters_target *target,
                       struct counters_sample *sample, struct berth_error *err)
{
    struct state *state = arg;
    double now_s = clock_s();

    (void)step;
    (void)target;
    (void)err;
    if (sample->by_node) {
        state->asked_s = now_s;
        memory_events_read(state->events, sample->by_node);
    } else if (now_s - state->asked_s > REST_S) {
        memory_events_rest(state->events);
    }
    return 0;
}

static void uncore_detach(void *state, void *step)
{
    (void)step;
    memory_events_rest(((struct state *)state)->events);
}

const struct counters_backend counters_uncore = {
    .name = "uncore",
    .hardware = true,
    .without = "who reads which memory comes from where pages lie",
    .open = uncore_open,
    .close = uncore_close,
    .attach = uncore_attach,
    .read = uncore_read,
    .detach = uncore_detach,
};
