/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohort - the model cohort: threads of several nodes that take turns with one lock. */
#include "models/tasks/cohort.h"

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define NS 1e-9

struct input {
    double hold_ns, think_ns, local_ns, remote_ns, bound, turns;
    uint32_t seed;
};

static const struct json_field input_fields[] = {
    JSON_RANGE(struct input, "hold_ns", hold_ns, REQUIRED, 0, 1e12),
    JSON_RANGE(struct input, "think_ns", think_ns, REQUIRED, 0, 1e12),
    JSON_RANGE(struct input, "local_ns", local_ns, OPTIONAL, 0, 1e9),
    JSON_RANGE(struct input, "remote_ns", remote_ns, OPTIONAL, 0, 1e9),
    JSON_WHOLE(struct input, "bound", bound, OPTIONAL, 0, 1e9),
    JSON_WHOLE(struct input, "turns", turns, OPTIONAL, 1, 1e7),
    JSON_FIELD(struct input, "seed", seed, OPTIONAL),
    JSON_END,
};

/* Reads how many threads each node has. Returns the nodes, or -1 and err. */
static long read_threads(struct json_object *object, unsigned *threads, struct berth_error *err)
{
    static const struct json_field item = {.kind = JSON_NUMBER,
                                           .need = JSON_REQUIRED,
                                           .whole = true,
                                           .min = 1,
                                           .max = COHORT_THREADS_MAX};
    double number[COHORT_NODES_MAX], sum = 0;
    struct json_object *list;
    size_t n;

    if (ctl_input_list(object, "threads", json_type_int, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > COHORT_NODES_MAX)
        return berth_error_set(err, "threads: at most %d nodes expected", COHORT_NODES_MAX);
    if (json_get_list(list, "threads", n, &item, number, sizeof(*number), err) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        threads[i] = (unsigned)number[i];
        sum += number[i];
    }
    if (sum > COHORT_THREADS_MAX)
        return berth_error_set(err, "threads: %g in all: at most %d expected", sum,
                               COHORT_THREADS_MAX);
    return (long)n;
}

static struct json_object *answer(const struct cohort_lock *lock)
{
    struct json_object *output = json_object_new_object();
    struct cohort_outcome outcome;

    cohort_run(lock, &outcome);
    json_add_measure(output, "per_second", (double)lock->turns / outcome.seconds);
    json_add_u64(output, "local", outcome.local);
    json_add_u64(output, "remote", outcome.remote);
    json_add_double(output, "worst_wait_ns", outcome.worst_wait_s / NS);
    json_add_double(output, "most_turns", outcome.most_turns);
    return output;
}

struct json_object *ctl_model_cohort(struct json_object *object, struct berth_error *err)
{
    /* the thesis' times of a spin lock in the same package and in another one */
    struct input input = {
        .local_ns = 15.4, .remote_ns = 38.4, .bound = COHORT_BOUND, .turns = 1e6, .seed = 1};
    unsigned threads[COHORT_NODES_MAX];
    long nodes = read_threads(object, threads, err);
    struct cohort_lock lock;

    if (nodes < 0 || json_read(object, input_fields, &input, err) < 0)
        return NULL;
    lock = (struct cohort_lock){.nodes = (size_t)nodes,
                                .threads = threads,
                                .hold_s = input.hold_ns * NS,
                                .think_s = input.think_ns * NS,
                                .t_local_s = input.local_ns * NS,
                                .t_remote_s = input.remote_ns * NS,
                                .bound = (unsigned)input.bound,
                                .turns = (uint64_t)input.turns,
                                .seed = input.seed};
    return answer(&lock);
}
