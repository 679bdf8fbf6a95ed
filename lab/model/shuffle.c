/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle - the model shuffle: which package each thread of a program belongs to. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/inside/shuffle.h"
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

struct input {
    struct package *package;
    struct thread *thread;
    size_t packages, threads;
    struct json_object *distance; /* rows of packages; NULL */
};

static const struct thread unset = {.lock = NAN, .at = NOWHERE};
static const struct json_field input_fields[] = {
    JSON_STRUCTS(struct input, "packages", package, packages, REQUIRED, 1, SHUFFLE_PACKAGES_MAX,
                 package_fields, NULL),
    JSON_ANY(struct input, "distance", distance, OPTIONAL, ARRAY),
    JSON_STRUCTS(struct input, "threads", thread, threads, REQUIRED, 1, MOST_THREADS, thread_fields,
                 &unset),
    JSON_END,
};

/* What the model takes, and returns. */
struct deal {
    unsigned cores[SHUFFLE_PACKAGES_MAX];
    double distance[SHUFFLE_PACKAGES_MAX * SHUFFLE_PACKAGES_MAX];
    struct shuffle_packages packages;
    struct shuffle_thread thread[MOST_THREADS];
    size_t to[MOST_THREADS], order[SHUFFLE_PACKAGES_MAX];
};

/* ---- the input ---- */

static int read_distance(struct deal *deal, const struct input *in, struct berth_error *err)
{
    static const struct json_field item = {
        .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = 0, .max = 1e12};
    size_t n = in->packages;

    if (!in->distance)
        return 0;
    if (json_get_matrix(in->distance, "distance", n, n, &item, deal->distance, sizeof(double),
                        err) < 0)
        return -1;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < p; q++)
            if (deal->distance[p * n + q] != deal->distance[q * n + p])
                return berth_error_set(
                    err, "distance[%zu][%zu]: %g: as far as the way back (%g) expected", p, q,
                    deal->distance[p * n + q], deal->distance[q * n + p]);
    deal->packages.distance = deal->distance;
    return 0;
}

static int check_thread(const struct input *in, size_t i, struct berth_error *err)
{
    const struct thread *thread = &in->thread[i];

    if (thread->at >= (double)in->packages)
        return berth_error_set(err, "threads[%zu].at: %g: there are packages 0 to %zu only", i,
                               thread->at, in->packages - 1);
    for (size_t k = 0; k < i; k++)
        if (in->thread[k].tid == thread->tid)
            return berth_error_set(err, "threads[%zu].tid: %" PRIu64 " is there twice", i,
                                   thread->tid);
    return 0;
}

static int fill(struct deal *deal, const struct input *in, struct berth_error *err)
{
    for (size_t p = 0; p < in->packages; p++)
        deal->cores[p] = (unsigned)in->package[p].cores;
    deal->packages = (struct shuffle_packages){.n = in->packages, .cores = deal->cores};
    if (read_distance(deal, in, err) < 0)
        return -1;
    for (size_t i = 0; i < in->threads; i++) {
        const struct thread *thread = &in->thread[i];

        if (check_thread(in, i, err) < 0)
            return -1;
        deal->thread[i] = (struct shuffle_thread){
            thread->lock, thread->at < 0 ? SHUFFLE_NOWHERE : (size_t)thread->at, thread->bound};
    }
    return 0;
}

/* ---- the answer ---- */

static int add_deal(struct deal *deal, const struct input *in, struct json_object *output,
                    struct berth_error *err)
{
    static const struct json_field index = {.kind = JSON_UNSIGNED, .size = sizeof(uint64_t)};
    struct json_object *to = json_object_new_object();
    char name[24];
    long moves;

    json_add(output, "to", to);
    if (fill(deal, in, err) < 0)
        return -1;
    moves = shuffle_deal(&deal->packages, in->threads, deal->thread, deal->to, deal->order);
    if (moves < 0)
        return berth_error_set(err, "threads: %s", strerror(ENOMEM));
    for (size_t i = 0; i < in->threads; i++) {
        snprintf(name, sizeof(name), "%" PRIu64, in->thread[i].tid);
        json_add(to, name,
                 deal->to[i] == SHUFFLE_NOWHERE ? NULL : json_object_new_uint64(deal->to[i]));
    }
    json_add_u64(output, "moves", (uint64_t)moves);
    json_add(output, "order",
             json_new_list(in->packages, &index, deal->order, sizeof(*deal->order)));
    json_add_measure(output, "lock", shuffle_lock(in->threads, deal->thread));
    json_add_bool(output, "due", shuffle_due(&deal->packages, in->threads, deal->thread));
    return 0;
}

static int deal_threads(void *in, struct json_object *output, struct berth_error *err)
{
    struct deal *deal = calloc(1, sizeof(*deal));
    int rc = deal ? add_deal(deal, in, output, err)
                  : berth_error_set(err, "packages: %s", strerror(ENOMEM));

    free(deal);
    return rc;
}

CTL_FILTER(shuffle, struct input, input_fields, deal_threads, .thread = NULL);
