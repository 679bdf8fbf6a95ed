/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caches - writes the series of the last-level caches: who may run on each, and what is known of
 * what they do there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packer/counters/counters.h"
#include "packer/machine/topo.h"
#include "packer/metrics/node.h"
#include "packer/steps/step_counts.h"

struct cache {
    size_t cores, held, tasks[STEP_CLASSES];
    double miss_pmi;  /* NAN: known of no task */
    double occupancy; /* bytes; NAN: not known of all */
    bool used;        /* some step is on it */
    char number[24], package[24];
};

static void add_task(const struct topo *topo, const struct step *step, const struct cpus *cpus,
                     size_t *cores_on, struct cache *cache)
{
    size_t all = topo_cores_by_llc(topo, cpus, cores_on);

    for (size_t i = 0; i < topo->llcs; i++) {
        double part = step->profile.miss_pmi * (double)cores_on[i] / (double)all;

        if (cores_on[i] == 0)
            continue;
        cache[i].tasks[step->class.id]++;
        if (step->profile.known && isfinite(part))
            cache[i].miss_pmi = (isnan(cache[i].miss_pmi) ? 0 : cache[i].miss_pmi) + part;
    }
}

double metrics_counted(const struct step *step, enum counter counter)
{
    return step->counts && counters_know(&step->counts->last, counter)
               ? step->counts->last.value[counter]
               : NAN;
}

/* What it holds is on the one cache where it stands; of several nobody knows the parts. */
static void add_step(const struct topo *topo, const struct step *step, size_t *cores_on,
                     struct cache *cache, struct cpus *held)
{
    double occupancy = metrics_counted(step, COUNTER_OCCUPANCY_BYTES);
    struct cpus cpus;
    size_t all;

    for (size_t i = 0; i < step->body.ntasks; i++)
        add_task(topo, step, &step->body.task[i].cpus, cores_on, cache);
    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    cpus_or(held, &cpus);
    all = topo_cores_by_llc(topo, &cpus, cores_on);
    for (size_t i = 0; i < topo->llcs; i++) {
        if (cores_on[i] == 0)
            continue;
        cache[i].occupancy += cores_on[i] == all ? occupancy : NAN;
        cache[i].used = true;
    }
}

static void fill(const struct packer *packer, struct cache *cache, size_t *cores_on)
{
    const struct topo *topo = packer->world.topo;
    struct cpus held = {0};
    const struct step *step;

    for (size_t i = 0; i < topo->llcs; i++) {
        cache[i].miss_pmi = NAN;
        snprintf(cache[i].number, sizeof(cache[i].number), "%zu", i);
        snprintf(cache[i].package, sizeof(cache[i].package), "%zu", topo->llc[i].package);
    }
    TAILQ_FOREACH(step, &packer->steps->live, link)
    add_step(topo, step, cores_on, cache, &held);
    for (size_t core = 0; core < topo->cores; core++) {
        cache[topo->core[core].llc].cores++;
        cache[topo->core[core].llc].held += cpus_intersect(&topo->core[core].cpus, &held);
    }
}

static double value_of(const struct packer *packer, size_t i, const struct cache *cache,
                       enum metrics_id id)
{
    size_t size_bytes = packer->world.topo->llc[i].size_bytes;

    switch (id) {
    case METRICS_CACHE_SIZE:
        return size_bytes ? (double)size_bytes : NAN;
    case METRICS_CACHE_CORES:
        return (double)cache->cores;
    case METRICS_CACHE_CORES_HELD:
        return (double)cache->held;
    case METRICS_CACHE_MISS_PMI:
        return cache->miss_pmi;
    default:
        return cache->used ? cache->occupancy : NAN;
    }
}

static void add_tasks(struct metrics_text *text, const struct cache *cache)
{
    for (size_t c = 0; c < STEP_CLASSES; c++) {
        const struct metrics_label label[] = {
            {"cache", cache->number}, {"package", cache->package}, {"class", step_class_name[c]}};

        metrics_text_add(text, &metrics_family[METRICS_CACHE_TASKS], label, 3,
                         (double)cache->tasks[c]);
    }
}

void metrics_caches(const struct packer *packer, struct metrics_text *text)
{
    size_t llcs = packer->world.topo->llcs, *cores_on = calloc(llcs, sizeof(*cores_on));
    struct cache *cache = calloc(llcs, sizeof(*cache));

    if (!cores_on || !cache) {
        text->failed = true;
        goto out;
    }
    fill(packer, cache, cores_on);
    for (enum metrics_id id = METRICS_CACHE_SIZE; id <= METRICS_CACHE_OCCUPANCY; id++)
        for (size_t i = 0; i < llcs; i++) {
            const struct metrics_label label[] = {{"cache", cache[i].number},
                                                  {"package", cache[i].package}};

            if (id == METRICS_CACHE_TASKS)
                add_tasks(text, &cache[i]);
            else
                metrics_text_add(text, &metrics_family[id], label, 2,
                                 value_of(packer, i, &cache[i], id));
        }
out:
    free(cores_on);
    free(cache);
}
