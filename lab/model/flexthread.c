/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flexthread - the model flexthread: how many threads to create. */
#include "models/numa/flexthread.h"
#include "lab/model/models.h"

struct input {
    double cores, cores_min, imbalance, overhead, sync_hz, memory_ns, syscall_ns, noise;
    double threads; /* 0: not given */
};

#define NUMBER(member, min, max) JSON_RANGE(struct input, #member, member, OPTIONAL, min, max)
#define COUNT(member, need, max) JSON_WHOLE(struct input, #member, member, need, 1, max)

static const struct json_field input_fields[] = {
    COUNT(cores, REQUIRED, FLEXTHREAD_CORES_MAX),
    COUNT(cores_min, OPTIONAL, FLEXTHREAD_CORES_MAX),
    NUMBER(imbalance, 0, 1e12),
    NUMBER(overhead, 1e-9, 1),
    NUMBER(sync_hz, 0, 1e12),
    NUMBER(memory_ns, 0, 1e12),
    NUMBER(syscall_ns, 0, 1e12),
    NUMBER(noise, 0, 1e12),
    COUNT(threads, OPTIONAL, FLEXTHREAD_THREADS_MAX),
    JSON_END,
};

/* Adds a count, or null for 0: there is none. */
static void add_count(struct json_object *object, const char *key, size_t count)
{
    json_add(object, key, count ? json_object_new_uint64(count) : NULL);
}

static int add_threads(void *of, struct json_object *output, struct berth_error *err)
{
    const struct input *in = of;
    const struct flexthread wanted = {(size_t)in->cores_min, (size_t)in->cores, in->imbalance,
                                      in->overhead,          in->sync_hz,       in->memory_ns,
                                      in->syscall_ns};
    size_t threads, worst = 0;

    if (in->cores_min > in->cores)
        return berth_error_set(err, "cores_min: %g: at most cores (%g) expected", in->cores_min,
                               in->cores);
    threads = in->threads > 0 ? (size_t)in->threads : flexthread_count(&wanted, in->noise);
    add_count(output, "t_min", flexthread_min(&wanted));
    add_count(output, "t_max", flexthread_max(&wanted));
    add_count(output, "threads", threads);
    if (threads == 0)
        return 0;
    json_add_double(output, "imbalance",
                    flexthread_slowdown_max(threads, wanted.cores_min, wanted.cores_max, &worst));
    json_add_u64(output, "worst_cores", worst);
    json_add_double(output, "overhead", flexthread_overhead(&wanted, threads, wanted.cores_min));
    return 0;
}

CTL_FILTER(flexthread, struct input, input_fields, add_threads, .cores_min = 1, .imbalance = 0.05,
           .overhead = 0.05, .noise = FLEXTHREAD_NOISE);
