/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_payer - see day_payer.h */
#include "tests/bench/day_payer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_memory.h"
#include "tests/bench/day_search.h"

#define SIGMA 1.0 /* as day_sim.c draws lengths */
#define GAIN 1e-3 /* core-seconds: less is no reason to move anybody */
#define LASTS 0.1 /* of the jobs' mean length: how long an arrangement counts */

/* A job, or what a job that stands on several caches has on one of them, which stays there, as all
 * of a job that is not free does. With sizes each such part may move, and each rank of a job of
 * ranks. */
struct unit {
    size_t at;  /* in sim->running */
    size_t llc; /* where it is to stand */
    bool fixed;
    double cores;
};

struct scene {
    struct day_sim *sim;
    bool forgets; /* that jobs have memory */
    size_t units, decided, llcs;
    struct unit *tried, *unit; /* [units] the search's, [decided] the best so far */
    double lasts_s;            /* an arrangement */
    double *rest_s;            /* [live] that a job is expected to run on */
    double *move;              /* [live][llcs] core-seconds that it costs to stand there */
    size_t *left;              /* [live][llcs] see keep_cores() */
    double *lost;              /* [llcs] core-seconds, see lost_on() */
    bool *follow;              /* [live][llcs] pages had better follow */
};

/* ---- what is known ---- */

static double below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

double day_payer_rest_s(double mean_s, double age_s)
{
    double mu = log(mean_s) - SIGMA * SIGMA / 2, z = (log(fmax(age_s, 1e-9)) - mu) / SIGMA;
    double lives = below(-z);

    /* So old that all has rounded away: the rest grows with the age. */
    if (lives < 1e-12)
        return age_s / fmax(z, 1);
    return fmax(mean_s * below(SIGMA - z) / lives - age_s, mean_s * 1e-3);
}

static double mean_length(const struct day_sim *sim)
{
    double sum = 0;

    for (size_t i = 0; i < sim->n; i++)
        sum += sim->job[i].work_s;
    return sum / (double)sim->n;
}

static void expect(struct scene *scene)
{
    const struct day_sim *sim = scene->sim;
    double mean_s = mean_length(sim);

    scene->lasts_s = LASTS * mean_s;
    for (size_t i = 0; i < sim->live; i++)
        scene->rest_s[i] =
            day_payer_rest_s(mean_s, (double)(sim->now - sim->running[i]->starts) / 1e9);
}

/* Whether the parts of a job may be moved one by one: its ranks, or what it has on each cache. */
static bool is_apart(const struct day_sim *sim, const struct day_job *job)
{
    return sim->plan.sizes && job->will == DAY_FREE;
}

/* Fills in cores of a cache, as many as the job has; false: it has not so many. With sizes
 * it need not fit: what its memory costs there is counted by core. */
static bool some_cores(const struct day_sim *sim, const struct day_job *job, size_t llc,
                       size_t *core)
{
    size_t n = 0;

    for (size_t c = 0; c < sim->topo->cores && n < job->cores; c++)
        if (sim->topo->core[c].llc == llc)
            core[n++] = c;
    for (; is_apart(sim, job) && n > 0 && n < job->cores; n++)
        core[n] = core[n - 1];
    return n == job->cores;
}

static bool is_on(const struct day_sim *sim, const struct day_job *job, size_t llc)
{
    for (size_t c = 0; c < job->cores; c++)
        if (sim->topo->core[job->core[DAY_STAND][c]].llc == llc)
            return true;
    return false;
}

/* What it costs a job to stand on a cache: until its pages have followed, or for ever. */
static double price(struct scene *scene, size_t i, size_t llc, bool *follow)
{
    const struct day_sim *sim = scene->sim;
    const struct day_job *job = sim->running[i];
    size_t core[CPUS_MAX];
    double cores = is_apart(sim, job) ? 1 : (double)job->cores, far, behind, stays, follows;

    if (!some_cores(sim, job, llc, core))
        return INFINITY;
    far = scene->forgets ? 0 : day_memory_far(sim, job, core);
    behind = scene->forgets ? 0 : day_memory_behind(sim, job, core) * cores / (double)job->cores;
    stays = cores * far / (1 + far) * scene->rest_s[i];
    follows = cores * far / (1 + far) *
                  (day_memory_waiting_s(sim, job) + behind / DAY_FOLLOW_BYTES_S / 2) +
              behind / DAY_COPY_BYTES_S;
    *follow = follows < stays || is_apart(sim, job);
    return (*follow ? follows : stays) +
           (job->starts < sim->now && !is_on(sim, job, llc) ? cores * DAY_COLD_S : 0);
}

/* ---- where the jobs stand ---- */

/* Makes units of a job where it stands or might: for each cache where it has cores; of ranks that
 * may move, for each. */
static void add_units(struct scene *scene, size_t i, enum day_where where)
{
    const struct day_job *job = scene->sim->running[i];
    bool apart = is_apart(scene->sim, job), ranks = apart && job->width == 1;
    size_t first = scene->units;

    for (size_t c = 0; c < job->cores; c++) {
        size_t llc = scene->sim->topo->core[job->core[where][c]].llc, u = first;

        while (u < scene->units && (ranks || scene->tried[u].llc != llc))
            u++;
        if (u == scene->units)
            scene->tried[scene->units++] = (struct unit){.at = i, .llc = llc};
        scene->tried[u].cores++;
    }
    for (size_t u = first; u < scene->units; u++)
        scene->tried[u].fixed = !apart && !day_search_may(scene->sim, job, where);
}

/* Begins the search with where the jobs stand or might. */
static void begin_units(struct scene *scene, enum day_where where)
{
    scene->units = 0;
    for (size_t i = 0; i < scene->sim->live; i++)
        add_units(scene, i, where);
}

static void scene_free(struct scene *scene)
{
    free(scene->unit);
    free(scene->rest_s);
    free(scene->follow);
    free(scene->left);
}

static int scene_open(struct scene *scene, struct day_sim *sim)
{
    size_t cores = 0, live = sim->live, llcs = sim->topo->llcs;

    *scene = (struct scene){.sim = sim, .llcs = llcs};
    for (size_t i = 0; i < live; i++)
        cores += sim->running[i]->cores;
    scene->unit = calloc(2 * cores, sizeof(*scene->unit));
    scene->rest_s = calloc(live * (1 + llcs) + llcs, sizeof(*scene->rest_s));
    scene->follow = calloc(live * llcs, sizeof(*scene->follow));
    scene->left = calloc(live * llcs, sizeof(*scene->left));
    if (!scene->unit || !scene->rest_s || !scene->follow || !scene->left) {
        scene_free(scene);
        return -1;
    }
    scene->tried = scene->unit + cores;
    scene->move = scene->rest_s + live;
    scene->lost = scene->move + live * llcs;
    return 0;
}

static void scene_fill(struct scene *scene)
{
    expect(scene);
    day_search_begin(scene->sim);
    for (size_t i = 0; i < scene->sim->live; i++) {
        for (size_t g = 0; g < scene->llcs; g++)
            scene->move[i * scene->llcs + g] =
                price(scene, i, g, &scene->follow[i * scene->llcs + g]);
    }
}

/* ---- what is lost ---- */

/* Finds what each job has on a cache, and whose it is. Returns how many. Adds up what it costs
 * those who may move to stand there. */
static size_t parts_on(const struct scene *scene, const struct unit *unit, size_t llc,
                       struct day_part *part, const struct day_job **owner, double *moves)
{
    size_t n = 0;

    *moves = 0;
    for (size_t k = 0; k < scene->units; k++) {
        const struct day_job *job = scene->sim->running[unit[k].at];
        size_t p = 0;

        if (unit[k].llc != llc)
            continue;
        *moves += unit[k].fixed ? 0
                                : (is_apart(scene->sim, job) ? unit[k].cores : 1) *
                                      scene->move[unit[k].at * scene->llcs + llc];
        while (p < n && owner[p] != job)
            p++;
        if (p == n) {
            owner[n] = job;
            part[n++] = (struct day_part){job->app, 0};
        }
        part[p].cores += (size_t)unit[k].cores;
    }
    return n;
}

/* Returns what the i-th of those suffers there. */
static double slow_by(const struct scene *scene, const struct day_part *part,
                      const struct day_job *const *owner, size_t n, size_t i)
{
    const struct day_sim *sim = scene->sim;
    double sum = 0;

    if (sim->plan.sizes)
        return day_beside_on(&sim->beside, part, n, i);
    for (size_t j = 0; j < n; j++)
        if (j != i)
            sum += (double)part[j].cores / (double)owner[j]->cores *
                   day_truth_pair(sim->truth, part[i].app, part[j].app);
    return sum;
}

/* Returns the core-seconds that those on a cache lose: to their neighbours, and by their moves. */
static double lost_on(const struct scene *scene, const struct unit *unit, size_t llc)
{
    const struct day_job *owner[CPUS_MAX];
    struct day_part part[CPUS_MAX];
    double sum;
    size_t n = parts_on(scene, unit, llc, part, owner, &sum);

    for (size_t i = 0; i < n; i++) {
        double slow = slow_by(scene, part, owner, n, i);

        sum += (double)part[i].cores * slow / (1 + slow) * scene->lasts_s;
    }
    return sum;
}

/* Notes what is lost on each cache. Returns what all lose. */
static double add_up(const struct scene *scene, const struct unit *unit)
{
    double sum = 0;

    for (size_t g = 0; g < scene->llcs; g++)
        sum += scene->lost[g] = lost_on(scene, unit, g);
    return sum;
}

/* ---- the search ---- */

/* A unit, and those of another cache that have as many cores together. */
struct exchange {
    size_t unit, with[CPUS_MAX], n;
};

/* Finds units of the cache of the first-th, from that on, that have as many cores as the unit. */
static bool find_partners(const struct scene *scene, struct exchange *of, size_t first)
{
    const struct unit *unit = scene->tried;
    double left = unit[of->unit].cores;

    of->n = 0;
    for (size_t k = first; k < scene->units && left > 0; k++)
        if (!unit[k].fixed && unit[k].llc == unit[first].llc && unit[k].cores <= left) {
            of->with[of->n++] = k;
            left -= unit[k].cores;
        }
    return left == 0;
}

/* Exchanges their caches; once more, and all is as before. */
static void exchange(const struct scene *scene, const struct exchange *of)
{
    struct unit *unit = scene->tried;
    size_t llc = unit[of->with[0]].llc;

    for (size_t k = 0; k < of->n; k++)
        unit[of->with[k]].llc = unit[of->unit].llc;
    unit[of->unit].llc = llc;
}

/* Exchanges them if that pays. */
static bool try_exchange(const struct scene *scene, const struct exchange *of)
{
    size_t from = scene->tried[of->unit].llc, to = scene->tried[of->with[0]].llc;
    double before = scene->lost[from] + scene->lost[to], from_lost, to_lost;

    exchange(scene, of);
    from_lost = lost_on(scene, scene->tried, from);
    to_lost = lost_on(scene, scene->tried, to);
    if (from_lost + to_lost >= before - GAIN) {
        exchange(scene, of);
        return false;
    }
    scene->lost[from] = from_lost;
    scene->lost[to] = to_lost;
    return true;
}

/* A unit may be exchanged for one of its size, which is asked once, or for smaller ones. */
static bool can_exchange(const struct unit *unit, size_t i, size_t first)
{
    const struct unit *a = &unit[i], *b = &unit[first];

    return !a->fixed && !b->fixed && a->llc != b->llc && a->at != b->at &&
           (a->cores > b->cores || (a->cores == b->cores && first < i));
}

/* Exchanges what may be exchanged where that pays; returns whether some did. */
static bool exchange_units(const struct scene *scene)
{
    struct exchange of;
    bool any = false;

    for (size_t i = 0; i < scene->units; i++)
        for (size_t j = 0; j < scene->units; j++) {
            of.unit = i;
            if (can_exchange(scene->tried, i, j) && find_partners(scene, &of, j))
                any |= try_exchange(scene, &of);
        }
    return any;
}

/* Returns the cores of the units on a cache that may leave it. */
static double free_cores(const struct scene *scene, size_t llc)
{
    double sum = 0;

    for (size_t k = 0; k < scene->units; k++)
        if (scene->tried[k].llc == llc && !scene->tried[k].fixed)
            sum += scene->tried[k].cores;
    return sum;
}

static void exchange_all(const struct scene *scene, size_t g, size_t h)
{
    for (size_t k = 0; k < scene->units; k++) {
        struct unit *u = &scene->tried[k];

        if (!u->fixed && (u->llc == g || u->llc == h))
            u->llc = u->llc == g ? h : g;
    }
}

/* Exchanges all that two caches have, where that pays. */
static bool exchange_caches(const struct scene *scene)
{
    double before = add_up(scene, scene->tried), after;
    bool any = false;

    for (size_t g = 0; g < scene->llcs; g++)
        for (size_t h = 0; h < g; h++) {
            if (free_cores(scene, g) != free_cores(scene, h))
                continue;
            exchange_all(scene, g, h);
            after = add_up(scene, scene->tried);
            if (after < before - GAIN) {
                before = after;
                any = true;
            } else {
                exchange_all(scene, g, h);
            }
        }
    add_up(scene, scene->tried);
    return any;
}

/* Returns what is lost at the end. */
static double search(const struct scene *scene)
{
    add_up(scene, scene->tried);
    while (exchange_units(scene) || exchange_caches(scene))
        ;
    return add_up(scene, scene->tried);
}

static void keep(struct scene *scene)
{
    memcpy(scene->unit, scene->tried, scene->units * sizeof(*scene->unit));
    scene->decided = scene->units;
}

/* Says whether the search may begin with the optimum: it leaves what stays, which it does not with
 * idle cores, and has whole what is whole. */
static bool may_begin_with_best(const struct scene *scene)
{
    const struct day_sim *sim = scene->sim;

    for (size_t i = 0; i < sim->live; i++) {
        const struct day_job *job = sim->running[i];

        if (day_search_is_free(sim, job, DAY_BEST) != day_search_is_free(sim, job, DAY_PLAN) ||
            (!is_apart(sim, job) &&
             (day_search_llc(sim, job, DAY_BEST) < 0 || day_search_llc(sim, job, DAY_PLAN) < 0)))
            return false;
    }
    return true;
}

static void decide(struct scene *scene)
{
    double least;

    begin_units(scene, DAY_PLAN);
    least = search(scene);
    keep(scene);
    if (!may_begin_with_best(scene))
        return;
    begin_units(scene, DAY_BEST);
    if (search(scene) < least - GAIN)
        keep(scene);
}

/* ---- and so it is ---- */

/* Counts how many cores each job is to have on each cache, less those that it has: these it keeps.
 */
static void keep_cores(const struct scene *scene, size_t *left, bool *taken, bool *keeps)
{
    const struct day_sim *sim = scene->sim;

    for (size_t u = 0; u < scene->decided; u++)
        left[scene->unit[u].at * scene->llcs + scene->unit[u].llc] += (size_t)scene->unit[u].cores;
    for (size_t i = 0, k = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++, k++) {
            size_t core = sim->running[i]->core[DAY_PLAN][c];
            size_t *wanted = &left[i * scene->llcs + sim->topo->core[core].llc];

            keeps[k] = *wanted > 0;
            *wanted -= keeps[k];
            taken[core] |= keeps[k];
        }
}

/* Returns a core that is there and not taken, on a cache where the i-th job is to have one. */
static size_t take_core(const struct scene *scene, size_t i, size_t *left, bool *taken)
{
    const struct day_sim *sim = scene->sim;
    size_t core = 0;

    while (!day_sim_is_place(sim, core) || taken[core] ||
           left[i * scene->llcs + sim->topo->core[core].llc] == 0)
        core++;
    left[i * scene->llcs + sim->topo->core[core].llc]--;
    taken[core] = true;
    return core;
}

/* Who stays on a cache keeps his cores; the others take what is left. */
static void place(const struct scene *scene, size_t *left)
{
    const struct day_sim *sim = scene->sim;
    bool taken[CPUS_MAX] = {false}, keeps[CPUS_MAX];

    keep_cores(scene, left, taken, keeps);
    for (size_t i = 0, k = 0; i < sim->live; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++, k++)
            if (!keeps[k])
                sim->running[i]->core[DAY_PLAN][c] = take_core(scene, i, left, taken);
}

static void stand(const struct scene *scene)
{
    struct day_sim *sim = scene->sim;

    for (size_t i = 0; i < sim->live; i++)
        day_sim_stand(sim, sim->running[i], sim->running[i]->core[DAY_PLAN]);
    for (size_t u = 0; u < scene->decided; u++) {
        const struct unit *unit = &scene->unit[u];

        if (!unit->fixed && !scene->forgets)
            day_memory_order(sim, sim->running[unit->at],
                             scene->follow[unit->at * scene->llcs + unit->llc] ? DAY_FOLLOW_BYTES_S
                                                                               : 0);
    }
}

static int arrange(struct day_sim *sim, bool forgets, struct berth_error *err)
{
    struct scene scene;

    if (sim->live == 0)
        return 0;
    if (scene_open(&scene, sim) < 0)
        return berth_no_memory(err);
    scene.forgets = forgets;
    scene_fill(&scene);
    decide(&scene);
    place(&scene, scene.left);
    stand(&scene);
    scene_free(&scene);
    return 0;
}

static int pay(void *state, struct day_sim *sim, struct berth_error *err)
{
    (void)state;
    return arrange(sim, false, err);
}

static int forget(void *state, struct day_sim *sim, struct berth_error *err)
{
    (void)state;
    return arrange(sim, true, err);
}

const struct day_placer day_payer = {.name = "payer", .changed = pay};
const struct day_placer day_forgetful = {.name = "forgetful", .changed = forget};
