/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - the model cohort: threads of several nodes that take turns with one lock. */
#include "models/tasks/cohort.h"

#include "lab/model/models.h"

#define NS 1e-9

struct input {
    double *threads; /* [nodes] */
    size_t nodes;
    double hold_ns, think_ns, local_ns, remote_ns, bound, turns;
    uint32_t seed;
};

static const struct json_field input_fields[] = {
    JSON_VALUES(struct input, "threads", threads, nodes, REQUIRED, 1, COHORT_NODES_MAX, NULL,
                .need = JSON_REQUIRED, .whole = true, .min = 1, .max = COHORT_THREADS_MAX),
    JSON_RANGE(struct input, "hold_ns", hold_ns, REQUIRED, 0, 1e12),
    JSON_RANGE(struct input, "think_ns", think_ns, REQUIRED, 0, 1e12),
    JSON_RANGE(struct input, "local_ns", local_ns, OPTIONAL, 0, 1e9),
    JSON_RANGE(struct input, "remote_ns", remote_ns, OPTIONAL, 0, 1e9),
    JSON_WHOLE(struct input, "bound", bound, OPTIONAL, 0, 1e9),
    JSON_WHOLE(struct input, "turns", turns, OPTIONAL, 1, 1e7),
    JSON_FIELD(struct input, "seed", seed, OPTIONAL),
    JSON_END,
};

static int add_turns(void *of, struct json_object *output, struct berth_error *err)
{
    const struct input *in = of;
    unsigned threads[COHORT_NODES_MAX];
    const struct cohort_lock lock = {.nodes = in->nodes,
                                     .threads = threads,
                                     .hold_s = in->hold_ns * NS,
                                     .think_s = in->think_ns * NS,
                                     .t_local_s = in->local_ns * NS,
                                     .t_remote_s = in->remote_ns * NS,
                                     .bound = (unsigned)in->bound,
                                     .turns = (uint64_t)in->turns,
                                     .seed = in->seed};
    struct cohort_outcome outcome;
    double sum = 0;

    for (size_t i = 0; i < in->nodes; i++)
        sum += threads[i] = (unsigned)in->threads[i];
    if (sum > COHORT_THREADS_MAX)
        return berth_error_set(err, "threads: %g in all: at most %d expected", sum,
                               COHORT_THREADS_MAX);
    cohort_run(&lock, &outcome);
    json_add_measure(output, "per_second", (double)lock.turns / outcome.seconds);
    json_add_u64(output, "local", outcome.local);
    json_add_u64(output, "remote", outcome.remote);
    json_add_double(output, "worst_wait_ns", outcome.worst_wait_s / NS);
    json_add_double(output, "most_turns", outcome.most_turns);
    return 0;
}

/* the thesis' times of a spin lock in the same package and in another one */
CTL_FILTER(cohort, struct input, input_fields, add_turns, .local_ns = 15.4, .remote_ns = 38.4,
           .bound = COHORT_BOUND, .turns = 1e6, .seed = 1);
