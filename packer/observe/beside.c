/* SPDX-License-Identifier: GPL-2.0-or-later */
/* beside - see beside.h */
#include "packer/observe/beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/machine/topo.h"
#include "packer/observe/window.h"
#include "packer/steps/pairs.h"
#include "packer/steps/step_counts.h"

#define IDLE 0.05 /* cores: less is nothing */
#define BUSY 0.5  /* of a core: less is neither nothing nor a core at work */
#define ALL_BUSY                                                                                   \
    0.9 /* of its cores: what a sibling costs is told by who has been there all the time */

/* A step on a cache. */
struct stand {
    const struct step *step;
    size_t llc, cores, all; /* its cores there, and everywhere */
};

struct beside {
    const struct packer *packer;
    const struct windows *windows;
    size_t n, room;
    struct stand *own;         /* [n] by step */
    size_t *begin;             /* [steps + 1] where each step's are in it */
    struct stand *stand;       /* [n] the same by cache */
    size_t *first;             /* [llcs + 2] where each cache's begin in it */
    struct cpus taken, shared; /* numbers of cores on which steps stand, and of these several */
};

/* ---- who stands where ---- */

static int add_stand(struct beside *beside, const struct step *step, size_t llc, size_t begin)
{
    for (size_t i = begin; i < beside->n; i++)
        if (beside->own[i].llc == llc) {
            beside->own[i].cores++;
            return 0;
        }
    if (array_grow(&beside->own, &beside->room, beside->n + 1, sizeof(*beside->own)) < 0)
        return -1;
    beside->own[beside->n++] = (struct stand){.step = step, .llc = llc, .cores = 1};
    return 0;
}

/* Adds the caches that the step stands on, with its cores: each once, whichever of its threads it
 * has. */
static int add_step(struct beside *beside, const struct step *step)
{
    const struct topo *topo = beside->packer->world.topo;
    size_t begin = beside->n, all;
    struct cpus cpus, cores;

    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    topo_cores_of(topo, &cpus, &cores);
    cpus_foreach(core, &cores)
    {
        if (add_stand(beside, step, topo->core[core].llc, begin) < 0)
            return -1;
        cpus_add(cpus_has(&beside->taken, core) ? &beside->shared : &beside->taken, core);
    }
    all = cpus_count(&cores);
    for (size_t i = begin; i < beside->n; i++)
        beside->own[i].all = all;
    return 0;
}

/* Sorts the stands by cache; those of a cache keep the order of the steps. */
static int sort(struct beside *beside)
{
    size_t llcs = beside->packer->world.topo->llcs;
    struct stand *sorted = malloc((beside->n + 1) * sizeof(*sorted));

    beside->first = calloc(llcs + 2, sizeof(*beside->first));
    if (!sorted || !beside->first) {
        free(sorted);
        return -1;
    }
    for (size_t i = 0; i < beside->n; i++)
        beside->first[beside->own[i].llc + 2]++;
    for (size_t llc = 0; llc < llcs; llc++)
        beside->first[llc + 2] += beside->first[llc + 1];
    for (size_t i = 0; i < beside->n; i++)
        sorted[beside->first[beside->own[i].llc + 1]++] = beside->own[i];
    beside->stand = sorted;
    return 0;
}

struct beside *beside_new(const struct packer *packer, const struct windows *windows)
{
    struct beside *beside = calloc(1, sizeof(*beside));
    const struct step *step;
    size_t i = 0;
    bool whole;

    if (!beside)
        return NULL;
    beside->packer = packer;
    beside->windows = windows;
    beside->begin = calloc(packer->steps->nlive + 1, sizeof(*beside->begin));
    whole = beside->begin;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        whole = whole && (step_is_shell(step) || add_step(beside, step) == 0);
        if (whole)
            beside->begin[++i] = beside->n;
    }
    if (whole && sort(beside) == 0)
        return beside;
    beside_free(beside);
    return NULL;
}

void beside_free(struct beside *beside)
{
    if (!beside)
        return;
    free(beside->own);
    free(beside->begin);
    free(beside->stand);
    free(beside->first);
    free(beside);
}

/* ---- one step's neighbours ---- */

/* Calls visit for each stand on each of the step's caches, its own ones, too, until it returns
 * other than 0. */
static int each(const struct beside *beside, size_t step,
                int (*visit)(const struct stand *own, const struct stand *other, void *arg),
                void *arg)
{
    int rc = 0;

    for (size_t i = beside->begin[step]; rc == 0 && i < beside->begin[step + 1]; i++) {
        size_t llc = beside->own[i].llc;

        for (size_t j = beside->first[llc]; rc == 0 && j < beside->first[llc + 1]; j++)
            rc = visit(&beside->own[i], &beside->stand[j], arg);
    }
    return rc;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccd;
}

static int add_standing(const struct stand *own, const struct stand *other, void *arg)
{
    uint64_t *hash = arg;

    (void)own;
    *hash = mix(*hash, other->step->request.id.job);
    *hash = mix(*hash, other->step->request.id.step);
    *hash = mix(*hash, (uint64_t)other->llc << 32 | other->cores);
    return 0;
}

uint64_t beside_standing(const struct beside *beside, size_t step)
{
    uint64_t hash = 1;

    each(beside, step, add_standing, &hash);
    return hash | 1;
}

static int find_change(const struct stand *own, const struct stand *other, void *arg)
{
    const struct windows *windows = arg;

    return other->step != own->step && windows_have(windows, other->step) &&
           other->step->counts->window.changed;
}

bool beside_changed(const struct beside *beside, size_t step)
{
    struct windows windows = *beside->windows;

    return each(beside, step, find_change, &windows) != 0;
}

/* Returns how many of the stand's cores were at work in its last window; -1 where that cannot be
 * told. */
static int at_work(const struct windows *windows, const struct stand *stand, double *cpu)
{
    const struct last_window *window;
    double cores;

    if (!windows_have(windows, stand->step) || !stand->step->counts->window.whole)
        return -1;
    window = &stand->step->counts->window;
    *cpu = window->cpu * (double)stand->cores / (double)stand->all;
    cores = floor(*cpu + BUSY);
    if (!(cores <= UINT16_MAX)) /* NAN, too */
        return -1;
    return cores < 1 && *cpu > IDLE ? -1 : (int)fmin(cores, (double)stand->cores);
}

/* What is gathered of a step's caches, one after the other. */
struct gathered {
    const struct windows *windows;
    struct pair *pair; /* those of the cache */
    size_t llc, caches;
    struct pair before; /* of the one before */
    double cpu;         /* used by those beside, on all caches */
};

static bool same_pair(const struct pair *a, const struct pair *b)
{
    return a->self.cores == b->self.cores && a->n == b->n &&
           memcmp(a->beside, b->beside, a->n * sizeof(a->beside[0])) == 0;
}

/* Begins another cache: the one before must be like the one before that. */
static int begin_cache(struct gathered *gathered, size_t llc)
{
    struct pair *pair = gathered->pair;

    if (gathered->caches > 1 && !same_pair(&gathered->before, pair))
        return -1;
    if (gathered->caches > 0)
        gathered->before = *pair;
    gathered->caches++;
    gathered->llc = llc;
    pair->self.cores = 0;
    pair->n = 0;
    return 0;
}

static int gather(const struct stand *own, const struct stand *other, void *arg)
{
    struct gathered *gathered = arg;
    double cpu;
    int cores;

    if ((gathered->caches == 0 || gathered->llc != own->llc) && begin_cache(gathered, own->llc) < 0)
        return -1;
    cores = at_work(gathered->windows, other, &cpu);
    if (cores < 0)
        return -1;
    if (other->step == own->step) {
        gathered->pair->self.cores = (uint16_t)cores;
        return cores > 0 ? 0 : -1;
    }
    gathered->cpu += cpu;
    if (cores == 0)
        return 0;
    if (other->step->program == PROGRAM_NONE)
        return -1;
    return pair_add(gathered->pair, (uint16_t)other->step->program, (uint16_t)cores);
}

/* Who is on the other hardware threads of a step's cores. */
struct on_cores {
    size_t cpus;        /* theirs */
    struct cpus shared; /* the step's own, with which they share a core */
    size_t program;     /* of all of them; PROGRAM_NONE: several, or not known */
    bool at_work;       /* all the time, all of them */
};

/* Is a step at work with all its cores, all the time? */
static bool is_busy(const struct windows *windows, const struct step *step, size_t cpus)
{
    return windows_have(windows, step) && step->counts->window.whole &&
           step->counts->window.cpu >= ALL_BUSY * (double)cpus;
}

static void add_on_cores(const struct beside *beside, const struct step *other,
                         const struct cpus *own, struct on_cores *on)
{
    const struct topo *topo = beside->packer->world.topo;
    struct cpus its, shared;

    enforce_union(&other->body, ENFORCE_PLACE, &its);
    topo_shared(topo, own, &its, &shared);
    if (cpus_empty(&shared))
        return;
    cpus_or(&on->shared, &shared);
    on->program = on->cpus == 0 || on->program == other->program ? other->program : PROGRAM_NONE;
    on->at_work = on->at_work && is_busy(beside->windows, other, cpus_count(&its));
    topo_shared(topo, &its, own, &shared);
    on->cpus += cpus_count(&shared);
}

/* Does another step have CPUs of the same cores? */
static bool shares_cores(const struct beside *beside, const struct step *step)
{
    struct cpus cpus, cores;

    if (cpus_empty(&beside->shared))
        return false;
    enforce_union(&step->body, ENFORCE_PLACE, &cpus);
    topo_cores_of(beside->packer->world.topo, &cpus, &cores);
    return cpus_intersect(&cores, &beside->shared);
}

/* Finds whose program is on the other hardware threads of a step's cores. What that costs is no
 * matter of the cache, and would be taken for it. Returns -1 where it is not one program at work on
 * one more thread of each core, and where steps of a job share cores that Slurm keeps whole. */
static int find_sibling(const struct beside *beside, const struct step *step, uint16_t *sibling)
{
    struct on_cores on = {.program = PROGRAM_NONE, .at_work = true};
    const struct step *other;
    struct cpus own;

    *sibling = 0;
    if (!beside->packer->world.topo->split)
        return shares_cores(beside, step) ? -1 : 0;
    enforce_union(&step->body, ENFORCE_PLACE, &own);
    TAILQ_FOREACH(other, &beside->packer->steps->live, link)
    if (other != step && !step_is_shell(other))
        add_on_cores(beside, other, &own, &on);
    if (on.cpus == 0)
        return 0;
    if (on.program == PROGRAM_NONE || !on.at_work || on.cpus != cpus_count(&own) ||
        !cpus_equal(&on.shared, &own) || !is_busy(beside->windows, step, cpus_count(&own)))
        return -1;
    *sibling = (uint16_t)(on.program + 1);
    return 0;
}

int beside_pair(const struct beside *beside, size_t step, struct pair *pair)
{
    const struct stand *own = &beside->own[beside->begin[step]];
    struct gathered gathered = {.windows = beside->windows, .pair = pair};
    const struct last_window *window;
    double strangers_s;
    uint16_t sibling;

    if (beside->begin[step] == beside->begin[step + 1] || !own->step->counts ||
        own->step->program == PROGRAM_NONE || find_sibling(beside, own->step, &sibling) < 0)
        return -1;
    window = &own->step->counts->window;
    *pair = (struct pair){.self.program = (uint16_t)own->step->program, .sibling = sibling};
    if (!window->whole || each(beside, step, gather, &gathered) != 0 || gathered.caches == 0)
        return -1;
    if (gathered.caches > 1 && !same_pair(&gathered.before, pair))
        return -1;
    strangers_s = window->foreign_s - gathered.cpu * window->seconds;
    if (strangers_s > WINDOW_FOREIGN * (window->seconds + window->foreign_s))
        return -1;
    return pair->n > 0;
}
