/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flexthread - the model flexthread: how many threads to create. */
#include <stdbool.h>

#include "models/numa/flexthread.h"
#include "packer/base/json.h"
#include "packer/cli/common/input.h"
#include "packer/cli/model/models.h"

struct input {
    double cores, cores_min, imbalance, overhead, sync_hz, memory_ns, syscall_ns;
    double threads; /* 0: not given */
};

#define FIELD(field) offsetof(struct input, field)
static const struct ctl_number numbers[] = {
    {"cores", FIELD(cores), 1, FLEXTHREAD_CORES_MAX, true, false},
    {"cores_min", FIELD(cores_min), 1, FLEXTHREAD_CORES_MAX, true, true},
    {"imbalance", FIELD(imbalance), 0, 1e12, false, true},
    {"overhead", FIELD(overhead), 1e-9, 1, false, true},
    {"sync_hz", FIELD(sync_hz), 0, 1e12, false, true},
    {"memory_ns", FIELD(memory_ns), 0, 1e12, false, true},
    {"syscall_ns", FIELD(syscall_ns), 0, 1e12, false, true},
    {"threads", FIELD(threads), 1, FLEXTHREAD_THREADS_MAX, true, true},
};

/* Adds a count, or null for 0: there is none. */
static void add_count(struct json_object *object, const char *key, size_t count)
{
    json_object_object_add(object, key, count ? json_object_new_uint64(count) : NULL);
}

/* Adds what becomes of so many threads. */
static void add_threads(struct json_object *output, const struct flexthread *wanted, size_t threads)
{
    size_t worst = 0;
    double slowdown;

    add_count(output, "threads", threads);
    if (threads == 0)
        return;
    slowdown = flexthread_slowdown_max(threads, wanted->cores_min, wanted->cores_max, &worst);
    json_add_double(output, "imbalance", slowdown);
    json_add_u64(output, "worst_cores", worst);
    json_add_double(output, "overhead", flexthread_overhead(wanted, threads, wanted->cores_min));
}

struct json_object *ctl_model_flexthread(struct json_object *input, struct berth_error *err)
{
    struct input in = {.cores_min = 1, .imbalance = 0.05, .overhead = 0.05};
    struct json_object *output;
    struct flexthread wanted;
    size_t least, most;

    if (ctl_input_numbers(input, numbers, sizeof(numbers) / sizeof(numbers[0]), &in, err) < 0)
        return NULL;
    if (in.cores_min > in.cores) {
        berth_error_set(err, "cores_min: %g: at most cores (%g) expected", in.cores_min, in.cores);
        return NULL;
    }
    wanted = (struct flexthread){
        .cores_min = (size_t)in.cores_min,
        .cores_max = (size_t)in.cores,
        .imbalance = in.imbalance,
        .overhead = in.overhead,
        .sync_hz = in.sync_hz,
        .memory_ns = in.memory_ns,
        .syscall_ns = in.syscall_ns,
    };
    least = flexthread_min(&wanted);
    most = flexthread_max(&wanted);
    output = json_object_new_object();
    add_count(output, "t_min", least);
    add_count(output, "t_max", most);
    add_threads(output, &wanted, in.threads > 0 ? (size_t)in.threads : (least <= most ? least : 0));
    return output;
}
