/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters - see counters.h. Here the backends are put together; none knows of another. */
#include "packer/counters/counters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/base/log.h"
#include "packer/base/text.h"
#include "packer/counters/stat_reader.h"

/* In order of preference; the first, where it is asked for, is alone. */
static const struct counters_backend *const backends[] = {
    &counters_replay,
    &counters_perf,
    &counters_resctrl,
    &counters_uncore,
    &counters_software,
};
#define BACKENDS (sizeof(backends) / sizeof(backends[0]))

#define STATS_LIMIT_S 5.0 /* of the thread that reads processes, without one read */
#define STATS_WAIT_S 0.02 /* of the event loop: it takes 0.2 ms as a rule (64 processes) */

struct counters {
    struct stat_reader *stats;
    bool used[BACKENDS];
    void *state[BACKENDS];
    uint32_t can, each[BACKENDS];
    bool said[BACKENDS]; /* that it could not follow a step, or read one */
    char say[BACKENDS][COUNTERS_SAY];
};

struct counters_step {
    bool attached[BACKENDS];
    void *of[BACKENDS];
};

/* Why the configuration leaves this backend out; NULL: it does not. */
static const char *left_out(const struct conf *conf, size_t i)
{
    bool replay = backends[i] == &counters_replay;

    if (conf->counters_replay[0])
        return replay ? NULL : "counters_replay is set in berth.conf";
    if (replay)
        return "counters_replay is not set in berth.conf";
    return text_lists(conf->counters, backends[i]->name) ? NULL : "not in berth.conf's counters";
}

static void open_backend(struct counters *counters, size_t i, const struct counters_node *node)
{
    const char *why = left_out(node->conf, i);
    struct berth_error err = {""};

    if (!why && backends[i]->open(node, &counters->state[i], &counters->each[i], counters->say[i],
                                  &err) < 0)
        why = err.text;
    if (why) {
        snprintf(counters->say[i], COUNTERS_SAY, "%s", why);
        return;
    }
    counters->used[i] = true;
    counters->can |= counters->each[i];
}

int counters_open(struct counters **out, const struct counters_node *node, struct berth_error *err)
{
    struct counters *counters = calloc(1, sizeof(*counters));
    struct counters_node with = *node;

    if (counters)
        with.stats = counters->stats = stat_reader_open(node->root, STATS_LIMIT_S, STATS_WAIT_S);
    if (!counters || !counters->stats) {
        free(counters);
        return berth_no_memory(err);
    }
    for (size_t i = 0; i < BACKENDS; i++)
        open_backend(counters, i, &with);
    if (node->conf->counters_replay[0] && !counters->used[0]) {
        berth_error_set(err, "counters_replay: %s", counters->say[0]);
        counters_close(counters);
        return -1;
    }
    *out = counters;
    return 0;
}

void counters_close(struct counters *counters)
{
    if (!counters)
        return;
    for (size_t i = 0; i < BACKENDS; i++)
        if (counters->used[i])
            backends[i]->close(counters->state[i]);
    stat_reader_close(counters->stats);
    free(counters);
}

uint32_t counters_can(const struct counters *counters)
{
    return counters->can;
}

struct stat_reader *counters_stats(const struct counters *counters)
{
    return counters->stats;
}

struct lock_time *counters_locks(const struct counters *counters)
{
    struct lock_time *lock = NULL;

    for (size_t i = 0; i < BACKENDS && !lock; i++)
        if (counters->used[i] && backends[i]->locks)
            lock = backends[i]->locks(counters->state[i]);
    return lock;
}

const char *counters_source(const struct counters *counters)
{
    static const enum counter best[] = {COUNTER_INSTRUCTIONS, COUNTER_CPU_NS};

    for (size_t b = 0; b < sizeof(best) / sizeof(best[0]); b++)
        for (size_t i = 0; i < BACKENDS; i++)
            if (counters->used[i] && counters->each[i] & 1u << best[b])
                return backends[i]->name;
    return "";
}

bool counters_about(const struct counters *counters, size_t i, struct counters_about *about)
{
    if (i >= BACKENDS)
        return false;
    *about = (struct counters_about){backends[i]->name, counters->used[i], counters->say[i],
                                     backends[i]->without};
    return true;
}

bool counters_part(const struct counters *counters, size_t i, struct counters_about *about)
{
    for (size_t b = 0; b < BACKENDS; b++)
        if (counters->used[b] && backends[b]->part)
            return backends[b]->part(counters->state[b], i, about);
    return false;
}

/* What goes wrong with one step goes wrong with many: the first is said aloud. */
static void complain(struct counters *counters, size_t i, const struct wire_step_id *id,
                     const char *why)
{
    log_line(counters->said[i] ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN, "step %u.%u: %s: %s", id->job,
             id->step, backends[i]->name, why);
    counters->said[i] = true;
}

struct counters_step *counters_attach(struct counters *counters,
                                      const struct counters_target *target)
{
    struct counters_step *step = calloc(1, sizeof(*step));
    struct berth_error err;

    for (size_t i = 0; step && i < BACKENDS; i++) {
        if (!counters->used[i] || (target->nocount && backends[i]->hardware))
            continue;
        step->attached[i] =
            backends[i]->attach(counters->state[i], target, &step->of[i], &err) == 0;
        if (!step->attached[i])
            complain(counters, i, &target->body->id, err.text);
    }
    return step;
}

void counters_follow(struct counters *counters, struct counters_step *step,
                     const struct counters_target *target)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (step->attached[i] && backends[i]->follow)
            backends[i]->follow(counters->state[i], step->of[i], target);
}

void counters_prepare(struct counters *counters, struct counters_step *step, double elapsed_s)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (step->attached[i] && backends[i]->prepare)
            backends[i]->prepare(counters->state[i], step->of[i], elapsed_s);
}

void counters_read(struct counters *counters, struct counters_step *step,
                   const struct counters_target *target, struct counters_sample *sample,
                   struct by_node *by)
{
    struct berth_error err;

    *sample = (struct counters_sample){.at_s = clock_s(), .by_node = by};
    if (by)
        *by = (struct by_node){.nodes = 0};
    for (size_t i = 0; i < BACKENDS; i++)
        if (step->attached[i] &&
            backends[i]->read(counters->state[i], step->of[i], target, sample, &err) < 0)
            complain(counters, i, &target->body->id, err.text);
}

void counters_detach(struct counters *counters, struct counters_step *step)
{
    if (!step)
        return;
    for (size_t i = 0; i < BACKENDS; i++)
        if (step->attached[i])
            backends[i]->detach(counters->state[i], step->of[i]);
    free(step);
}

int counters_cgroup(const struct counters_step *step)
{
    for (size_t i = 0; step && i < BACKENDS; i++)
        if (step->attached[i] && backends[i]->cgroup)
            return backends[i]->cgroup(step->of[i]);
    return -1;
}

void counters_sweep(struct counters *counters, const struct wire_step_id *known, size_t n)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (counters->used[i] && backends[i]->sweep)
            backends[i]->sweep(counters->state[i], known, n);
}
