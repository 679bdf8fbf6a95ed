/* SPDX-License-Identifier: GPL-2.0-or-later */
/* learn - see learn.h */
#include "packer/observe/learn.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/worker.h"
#include "packer/observe/orders.h"
#include "packer/observe/window.h"
#include "packer/steps/packer.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

#define RETRY_S 30
#define SETTLE_S 1 /* a commit keeps readers waiting: not just when the next step starts */
#define AGE_EVERY_S 86400

/* A sample, a pair, a demand or a binding: one allocation, as large as it has to be. */
struct entry {
    STAILQ_ENTRY(entry) link;
    struct profile_sample *sample; /* NULL: another kind */
    struct profile_pair *pair;     /* NULL: another kind */
    const char *key, *demand;      /* NULL: another kind; the demand is JSON */
    uint32_t uid;
    int64_t run_at; /* 0: another kind; a run of the key */
    bool bound;     /* that bound its threads */
};
STAILQ_HEAD(entries, entry);

struct batch {
    struct entries entries;
    size_t n;
};

struct learner {
    char path[PATH_MAX], group[64];
    _Atomic uint64_t max_age_days;
    time_t aged_at; /* the thread's own */
    struct worker worker;
    struct batch queue; /* under the worker's mutex */
};

/* ---- the thread ---- */

/* Runs of samples, and of pairs, each as one array. */
struct rows {
    size_t samples, pairs;
    struct profile_sample *sample;
    struct profile_pair *pair;
};

static int gather_rows(const struct entries *entries, size_t n, struct rows *rows)
{
    const struct entry *entry;

    STAILQ_FOREACH(entry, entries, link) rows->samples += entry->sample != NULL;
    rows->sample = calloc(rows->samples + 1, sizeof(*rows->sample));
    rows->pair = calloc(n - rows->samples + 1, sizeof(*rows->pair));
    if (!rows->sample || !rows->pair)
        return -1;
    rows->samples = 0;
    STAILQ_FOREACH(entry, entries, link)
    if (entry->sample)
        rows->sample[rows->samples++] = *entry->sample;
    else if (entry->pair)
        rows->pair[rows->pairs++] = *entry->pair;
    return 0;
}

static int put_demands(struct profiles *store, const struct entries *entries,
                       struct berth_error *err)
{
    const struct entry *entry;
    int rc = 0;

    STAILQ_FOREACH(entry, entries, link)
    {
        struct json_object *object =
            entry->demand && rc == 0 ? json_parse(entry->demand, strlen(entry->demand), err) : NULL;
        struct profile_demand *demand = object ? profile_demand_parse(object, err) : NULL;

        if (demand)
            rc = profiles_put_demand(store, entry->uid, entry->key, demand, err);
        profile_demand_free(demand);
        json_object_put(object);
    }
    return rc;
}

static int put_bindings(struct profiles *store, const struct entries *entries,
                        struct berth_error *err)
{
    const struct entry *entry;
    int rc = 0;

    STAILQ_FOREACH(entry, entries, link)
    if (entry->run_at && rc == 0)
        rc = profiles_put_binding(store, entry->uid, entry->key, entry->bound, entry->run_at, err);
    return rc;
}

static int put_rows(struct profiles *store, const struct entries *entries, size_t n,
                    struct berth_error *err)
{
    struct rows rows = {0};
    int rc = gather_rows(entries, n, &rows) < 0 ? berth_no_memory(err) : 0;

    if (rc == 0)
        rc = profiles_put_samples(store, rows.sample, rows.samples, err);
    if (rc == 0)
        rc = profiles_put_pairs(store, rows.pair, rows.pairs, err);
    if (rc == 0)
        rc = put_demands(store, entries, err);
    if (rc == 0)
        rc = put_bindings(store, entries, err);
    free(rows.sample);
    free(rows.pair);
    return rc;
}

/* Write the batch; once a day forget what is old. */
static int write_batch(struct learner *learner, const struct batch *batch, struct berth_error *err)
{
    time_t now = time(NULL);
    bool age = now - learner->aged_at >= AGE_EVERY_S || now < learner->aged_at;
    struct profiles *store;
    int rc;

    if (profiles_open_group(&store, learner->path, true, learner->group, err) < 0)
        return -1;
    rc = put_rows(store, &batch->entries, batch->n, err);
    if (rc == 0 && age && (rc = profiles_age(store, learner->max_age_days, err)) >= 0)
        learner->aged_at = now;
    profiles_close(store);
    return rc < 0 ? -1 : 0;
}

/* Wait for something to write, and SETTLE_S for more; after a failure RETRY_S. False: the end, and
 * nothing to write. The mutex is held. */
static bool wait_for_work(struct learner *learner, bool failed)
{
    struct worker *worker = &learner->worker;
    double until_s;

    while (!worker->stopping && !failed && STAILQ_EMPTY(&learner->queue.entries))
        worker_wait_until(worker, INFINITY);
    until_s = clock_s() + (failed ? RETRY_S : SETTLE_S);
    while (!worker->stopping && worker_wait_until(worker, until_s))
        ;
    return !STAILQ_EMPTY(&learner->queue.entries);
}

static void batch_drop_first(struct batch *batch)
{
    struct entry *entry = STAILQ_FIRST(&batch->entries);

    STAILQ_REMOVE_HEAD(&batch->entries, link);
    free(entry);
    batch->n--;
}

static void batch_free(struct batch *batch)
{
    while (batch->n)
        batch_drop_first(batch);
}

/* Keep the newest LEARN_QUEUE. */
static void batch_cut(struct batch *batch)
{
    while (batch->n > LEARN_QUEUE)
        batch_drop_first(batch);
}

/* All that `later` has, behind what `batch` has. */
static void batch_append(struct batch *batch, struct batch *later)
{
    STAILQ_CONCAT(&batch->entries, &later->entries);
    batch->n += later->n;
    later->n = 0;
}

static void store_learned(void *arg)
{
    struct learner *learner = arg;
    struct berth_error err;
    bool failed = false;

    while (wait_for_work(learner, failed)) {
        struct batch batch = {.entries = STAILQ_HEAD_INITIALIZER(batch.entries)};

        batch_append(&batch, &learner->queue);
        worker_unlock(&learner->worker);
        if (write_batch(learner, &batch, &err) == 0) {
            batch_free(&batch);
            failed = false;
        } else {
            log_line(failed ? LOG_LEVEL_DEBUG : LOG_LEVEL_WARN,
                     "nothing learned, to be tried again: %s", err.text);
            failed = true;
        }
        worker_lock(&learner->worker);
        batch_append(&batch, &learner->queue);
        batch_append(&learner->queue, &batch);
        batch_cut(&learner->queue);
        if (failed && learner->worker.stopping)
            break;
    }
}

/* ---- the event loop's side ---- */

struct learner *learn_open(const char *path, const char *group, uint64_t max_age_days)
{
    struct learner *learner = calloc(1, sizeof(*learner));
    struct berth_error err;

    if (!learner)
        return NULL;
    snprintf(learner->path, sizeof(learner->path), "%s", path);
    snprintf(learner->group, sizeof(learner->group), "%s", group);
    learner->max_age_days = max_age_days;
    STAILQ_INIT(&learner->queue.entries);
    if (worker_open(&learner->worker, store_learned, learner, &err) == 0)
        return learner;
    log_warn("nothing is learned: %s", err.text);
    free(learner);
    return NULL;
}

/* Does what `learn` and `profile_age` of berth.conf say, at the start and when they have changed. A
 * learner that is not wanted any more stays, and gets nothing. */
static void learn_configure(const struct packer *packer)
{
    const struct conf *conf = &packer->world.conf;

    if (packer->state->learner)
        packer->state->learner->max_age_days = conf->profile_age_days;
    else if (conf->learn == CONF_ON)
        packer->state->learner =
            learn_open(conf->profile_db, conf->profile_group, conf->profile_age_days);
}

bool learn_wanted(const struct packer *packer)
{
    return packer->state->learner && packer->world.conf.learn == CONF_ON;
}

void learn_close(struct learner *learner)
{
    if (!learner)
        return;
    if (!worker_close(&learner->worker)) {
        log_warn("the profile store does not answer: what waits for it is not learned");
        return;
    }
    if (learner->queue.n)
        log_warn("%zu samples were not learned", learner->queue.n);
    batch_free(&learner->queue);
    free(learner);
}

static void put_entry(struct learner *learner, struct entry *entry)
{
    worker_lock(&learner->worker);
    STAILQ_INSERT_TAIL(&learner->queue.entries, entry, link);
    learner->queue.n++;
    batch_cut(&learner->queue);
    worker_changed(&learner->worker);
    worker_unlock(&learner->worker);
}

void learn_put(struct learner *learner, const struct profile_sample *sample)
{
    struct entry *entry = malloc(sizeof(*entry) + sizeof(*sample));

    if (!entry)
        return;
    *entry = (struct entry){.pair = NULL};
    entry->sample = memcpy(entry + 1, sample, sizeof(*sample));
    put_entry(learner, entry);
}

/* Copies a text to *at, which moves behind it. */
static const char *copy_text(char **at, const char *text)
{
    char *copy = *at;

    *at = stpcpy(copy, text) + 1;
    return copy;
}

void learn_put_pair(struct learner *learner, const struct profile_pair *pair)
{
    size_t size = strlen(pair->key) + strlen(pair->machine) + 2;
    struct entry *entry;
    char *at;

    for (size_t i = 0; i < pair->n; i++)
        size += strlen(pair->beside[i].key) + 1;
    entry = malloc(sizeof(*entry) + sizeof(*pair) + size);
    if (!entry)
        return;
    *entry = (struct entry){.sample = NULL};
    entry->pair = memcpy(entry + 1, pair, sizeof(*pair));
    at = (char *)(entry->pair + 1);
    entry->pair->key = copy_text(&at, pair->key);
    entry->pair->machine = copy_text(&at, pair->machine);
    for (size_t i = 0; i < pair->n; i++)
        entry->pair->beside[i].key = copy_text(&at, pair->beside[i].key);
    put_entry(learner, entry);
}

void learn_put_demand(struct learner *learner, uint32_t uid, const char *key,
                      const struct profile_demand *demand)
{
    struct json_object *object = profile_demand_json(demand);
    const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
    struct entry *entry = text ? malloc(sizeof(*entry) + strlen(key) + strlen(text) + 2) : NULL;

    if (entry) {
        char *at = (char *)(entry + 1);

        *entry = (struct entry){.uid = uid};
        entry->key = copy_text(&at, key);
        entry->demand = copy_text(&at, text);
        put_entry(learner, entry);
    }
    json_object_put(object);
}

/* ---- from a step ---- */

void learn_binding(const struct packer *packer, const struct step *step, bool bound)
{
    char key[PROFILE_KEY_MAX];
    struct entry *entry;
    char *at;

    program_key(step, key);
    if (!learn_wanted(packer) || !key[0])
        return;
    entry = malloc(sizeof(*entry) + strlen(key) + 1);
    if (!entry)
        return;
    *entry = (struct entry){.uid = step->request.uid, .run_at = time(NULL), .bound = bound};
    at = (char *)(entry + 1);
    entry->key = copy_text(&at, key);
    put_entry(packer->state->learner, entry);
}

/* Which rate of the windows the store keeps under which name. */
static const struct {
    enum profile_rate to;
    enum rate_id from;
} kept[] = {
    {PROFILE_MISSES, RATE_MISS_PMI},         {PROFILE_ACCESSES, RATE_ACCESS_PMI},
    {PROFILE_CYCLES, RATE_CYCLES_PMI},       {PROFILE_STALLS, RATE_STALLS_PMI},
    {PROFILE_READS_REMOTE, RATE_REMOTE_PMI}, {PROFILE_INSTRUCTIONS_PER_S, RATE_CORE_SPEED},
    {PROFILE_BYTES_PER_S, RATE_BYTES},       {PROFILE_CPUS, RATE_CPU},
    {PROFILE_RUN_DELAY, RATE_RUN_DELAY},     {PROFILE_LOCK_WAIT, RATE_LOCK_WAIT},
    {PROFILE_SWITCHES_PER_S, RATE_SWITCHES}, {PROFILE_OCCUPANCY_BYTES, RATE_OCCUPANCY},
    {PROFILE_RSS_BYTES, RATE_RSS},           {PROFILE_SYSTEM, RATE_SYSTEM},
    {PROFILE_THREADS, RATE_THREADS},
};

void learn_step(const struct packer *packer, const struct step *step)
{
    const struct step_counts *counts = step->counts;
    struct profile_sample sample;

    if (!learn_wanted(packer))
        return;
    program_sample_init(packer, step, counters_source(packer->state->counters), &sample);
    for (int beside = 0; beside < 2 && sample.key[0]; beside++) {
        const struct rate *rates = beside ? counts->beside : counts->alone;

        sample.co_run = beside;
        sample.windows = (double)counts->ended[beside];
        sample.seconds = counts->seconds[beside];
        sample.instructions = counts->instructions[beside];
        for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
            sample.rate[kept[i].to] = (struct profile_estimate){rate_mean(&rates[kept[i].from]),
                                                                rate_error(&rates[kept[i].from])};
        if (sample.windows > 0)
            learn_put(packer->state->learner, &sample);
    }
}

/* ---- the stage ---- */

/* Steps of a berthd that died must be adopted or undone, whatever the store is like: one that
 * cannot be read is told of, and looked at again by each launch. */
static int open_profiles(const struct packer *packer, struct berth_error *err)
{
    struct berth_error why;

    if (profiles_attach(&packer->state->profiles, packer->world.conf.profile_db,
                        packer->world.conf.profile_group, err) < 0)
        return -1;
    if (profiles_readable(packer->state->profiles, &why) < 0)
        log_warn("profiles: %s; going on without", why.text);
    learn_configure(packer);
    return 0;
}

static void close_profiles(const struct packer *packer)
{
    orders_close(packer->state->orders);
    learn_close(packer->state->learner);
    if (packer->state->profiles)
        profiles_close(packer->state->profiles);
}

const struct stage store_stage = {
    .name = "store",
    .open = open_profiles,
    .close = close_profiles,
    .configure = learn_configure,
};
