/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle - the model shuffle: which package each thread of a program belongs to. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/inside/shuffle.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define MOST_THREADS 4096
#define NOWHERE (-1.0) /* a thread without "at" */

struct thread {
    uint64_t tid;
    double lock, at; /* NAN: not known; NOWHERE */
    bool bound;
};

static const struct json_field thread_fields[] = {
    JSON_FIELD(struct thread, "tid", tid, REQUIRED),
    JSON_RANGE(struct thread, "lock", lock, OPTIONAL, 0, 1),
    JSON_WHOLE(struct thread, "at", at, OPTIONAL, 0, SHUFFLE_PACKAGES_MAX - 1),
    JSON_FIELD(struct thread, "bound", bound, OPTIONAL),
    JSON_END,
};

struct package {
    double cores;
};

static const struct json_field package_fields[] = {
    JSON_WHOLE(struct package, "cores", cores, REQUIRED, 1, 65536),
    JSON_END,
};
static const struct json_field package_item = {
    .kind = JSON_STRUCT, .need = JSON_REQUIRED, .fields = package_fields};

struct input {
    unsigned cores[SHUFFLE_PACKAGES_MAX];
    double distance[SHUFFLE_PACKAGES_MAX * SHUFFLE_PACKAGES_MAX];
    struct shuffle_packages packages;
    uint64_t *tid;                 /* [n] */
    struct shuffle_thread *thread; /* [n] */
    size_t n, *to;
};

/* ---- the input ---- */

static int read_packages(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct package package[SHUFFLE_PACKAGES_MAX];
    struct json_object *list;
    size_t n;

    if (ctl_input_list(object, "packages", json_type_object, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > SHUFFLE_PACKAGES_MAX)
        return berth_error_set(err, "packages: at most %d expected", SHUFFLE_PACKAGES_MAX);
    if (json_get_list(list, "packages", n, &package_item, package, sizeof(*package), err) < 0)
        return -1;
    for (size_t p = 0; p < n; p++)
        input->cores[p] = (unsigned)package[p].cores;
    input->packages = (struct shuffle_packages){.n = n, .cores = input->cores};
    return 0;
}

static int read_distance(struct input *input, struct json_object *object, struct berth_error *err)
{
    static const struct json_field item = {
        .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = 0, .max = 1e12};
    struct json_object *rows = json_find(object, "distance");
    size_t n = input->packages.n;

    if (!rows)
        return 0;
    if (json_get_matrix(rows, "distance", n, n, &item, input->distance, sizeof(double), err) < 0)
        return -1;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < p; q++)
            if (input->distance[p * n + q] != input->distance[q * n + p])
                return berth_error_set(err,
                                       "distance[%zu][%zu]: %g: as far as the way back (%g) "
                                       "expected",
                                       p, q, input->distance[p * n + q],
                                       input->distance[q * n + p]);
    input->packages.distance = input->distance;
    return 0;
}

static int read_thread(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct thread thread = {.lock = NAN, .at = NOWHERE};

    if (json_read(object, thread_fields, &thread, err) < 0)
        return -1;
    if (thread.at >= (double)input->packages.n)
        return berth_error_set(err, "at: %g: there are packages 0 to %zu only", thread.at,
                               input->packages.n - 1);
    for (size_t i = 0; i < input->n; i++)
        if (input->tid[i] == thread.tid)
            return berth_error_set(err, "tid: %" PRIu64 " is there twice", thread.tid);
    input->tid[input->n] = thread.tid;
    input->thread[input->n++] = (struct shuffle_thread){
        thread.lock, thread.at < 0 ? SHUFFLE_NOWHERE : (size_t)thread.at, thread.bound};
    return 0;
}

static int read_threads(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct json_object *list;
    size_t n;

    if (ctl_input_list(object, "threads", json_type_object, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > MOST_THREADS)
        return berth_error_set(err, "threads: at most %d expected", MOST_THREADS);
    input->tid = calloc(n, sizeof(*input->tid));
    input->thread = calloc(n, sizeof(*input->thread));
    input->to = calloc(n, sizeof(*input->to));
    if (!input->tid || !input->thread || !input->to)
        return berth_error_set(err, "threads: %s", strerror(ENOMEM));
    for (size_t i = 0; i < n; i++)
        if (read_thread(input, json_object_array_get_idx(list, i), err) < 0)
            return berth_error_before(err, "threads[%zu].", i);
    return 0;
}

/* ---- the answer ---- */

static struct json_object *answer(struct input *input, struct berth_error *err)
{
    static const struct json_field index = {.kind = JSON_UNSIGNED, .size = sizeof(uint64_t)};
    uint64_t chain[SHUFFLE_PACKAGES_MAX];
    size_t order[SHUFFLE_PACKAGES_MAX];
    struct json_object *output, *to;
    long moves = shuffle_deal(&input->packages, input->n, input->thread, input->to, order);
    char name[24];

    if (moves < 0) {
        berth_error_set(err, "threads: %s", strerror(ENOMEM));
        return NULL;
    }
    to = json_object_new_object();
    for (size_t i = 0; i < input->n; i++) {
        snprintf(name, sizeof(name), "%" PRIu64, input->tid[i]);
        json_add(to, name,
                 input->to[i] == SHUFFLE_NOWHERE ? NULL : json_object_new_uint64(input->to[i]));
    }
    for (size_t p = 0; p < input->packages.n; p++)
        chain[p] = order[p];
    output = json_object_new_object();
    json_add(output, "to", to);
    json_add_u64(output, "moves", (uint64_t)moves);
    json_add(output, "order", json_new_list(input->packages.n, &index, chain, sizeof(*chain)));
    json_add_measure(output, "lock", shuffle_lock(input->n, input->thread));
    json_add_bool(output, "due", shuffle_due(&input->packages, input->n, input->thread));
    return output;
}

struct json_object *ctl_model_shuffle(struct json_object *object, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct input *input = calloc(1, sizeof(*input));

    if (!input) {
        berth_error_set(err, "packages: %s", strerror(ENOMEM));
        return NULL;
    }
    if (read_packages(input, object, err) == 0 && read_distance(input, object, err) == 0 &&
        read_threads(input, object, err) == 0)
        output = answer(input, err);
    free(input->tid);
    free(input->thread);
    free(input->to);
    free(input);
    return output;
}
