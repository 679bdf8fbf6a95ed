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
 * of a job that is not free does. */
struct unit {
    size_t at;  /* in sim->running */
    size_t llc; /* where it is to stand */
    bool fixed;
    double cores, part; /* of its job's */
    double slow;        /* see add_up() */
};

struct scene {
    struct day_sim *sim;
    bool forgets; /* that jobs have memory */
    size_t units, llcs;
    struct unit *unit, *tried; /* [units]; tried: the search's */
    double lasts_s;            /* an arrangement */
    double *rest_s;            /* [live] that a job is expected to run on */
    double *move;              /* [live][llcs] core-seconds that it costs to stand there */
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

/* Fills in cores of a cache, as many as the job has; false: it has not so many. */
static bool some_cores(const struct day_sim *sim, const struct day_job *job, size_t llc,
                       size_t *core)
{
    size_t n = 0;

    for (size_t c = 0; c < sim->topo->cores && n < job->cores; c++)
        if (sim->topo->core[c].llc == llc)
            core[n++] = c;
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
    double cores = (double)job->cores, far, behind, stays, follows;

    if (!some_cores(sim, job, llc, core))
        return INFINITY;
    far = scene->forgets ? 0 : day_memory_far(sim, job, core);
    behind = scene->forgets ? 0 : day_memory_behind(sim, job, core);
    stays = cores * far / (1 + far) * scene->rest_s[i];
    follows = cores * far / (1 + far) *
                  (day_memory_waiting_s(sim, job) + behind / DAY_FOLLOW_BYTES_S / 2) +
              behind / DAY_COPY_BYTES_S;
    *follow = follows < stays;
    return fmin(stays, follows) +
           (job->starts < sim->now && !is_on(sim, job, llc) ? cores * DAY_COLD_S : 0);
}

/* ---- where the jobs stand ---- */

/* Makes units of a job, for each cache where it has cores. */
static void add_units(struct scene *scene, size_t i)
{
    const struct day_job *job = scene->sim->running[i];
    size_t first = scene->units;

    for (size_t c = 0; c < job->cores; c++) {
        size_t llc = scene->sim->topo->core[job->core[DAY_PLAN][c]].llc, u = first;

        while (u < scene->units && scene->unit[u].llc != llc)
            u++;
        if (u == scene->units)
            scene->unit[scene->units++] = (struct unit){.at = i, .llc = llc};
        scene->unit[u].cores++;
    }
    for (size_t u = first; u < scene->units; u++) {
        scene->unit[u].part = scene->unit[u].cores / (double)job->cores;
        scene->unit[u].fixed = !day_search_may(scene->sim, job, DAY_PLAN);
    }
}

static void scene_free(struct scene *scene)
{
    free(scene->unit);
    free(scene->rest_s);
    free(scene->follow);
}

static int scene_open(struct scene *scene, struct day_sim *sim)
{
    size_t cores = 0, live = sim->live, llcs = sim->topo->llcs;

    *scene = (struct scene){.sim = sim, .llcs = llcs};
    for (size_t i = 0; i < live; i++)
        cores += sim->running[i]->cores;
    scene->unit = calloc(2 * cores, sizeof(*scene->unit));
    scene->rest_s = calloc(live * (1 + llcs), sizeof(*scene->rest_s));
    scene->follow = calloc(live * llcs, sizeof(*scene->follow));
    if (!scene->unit || !scene->rest_s || !scene->follow) {
        scene_free(scene);
        return -1;
    }
    scene->tried = scene->unit + cores;
    scene->move = scene->rest_s + live;
    return 0;
}

static void scene_fill(struct scene *scene)
{
    expect(scene);
    day_search_begin(scene->sim);
    for (size_t i = 0; i < scene->sim->live; i++) {
        add_units(scene, i);
        for (size_t g = 0; g < scene->llcs; g++)
            scene->move[i * scene->llcs + g] =
                price(scene, i, g, &scene->follow[i * scene->llcs + g]);
    }
}

/* ---- what is lost ---- */

/* Returns what a unit suffers beside another one. */
static double beside(const struct scene *scene, const struct unit *u, const struct unit *v)
{
    const struct day_sim *sim = scene->sim;

    if (u->at == v->at)
        return 0;
    return v->part * day_truth_pair(sim->truth, sim->running[u->at]->app, sim->running[v->at]->app);
}

/* Returns the core-seconds that a unit loses on a cache where it suffers that: to its neighbours,
 * and by its move. */
static double lost_by(const struct scene *scene, const struct unit *u, double slow, size_t llc)
{
    double moves = u->fixed ? 0 : scene->move[u->at * scene->llcs + llc];

    return u->cores * slow / (1 + slow) * scene->lasts_s + moves;
}

/* Fills in what each unit suffers where it is to stand. Returns what all lose. */
static double add_up(const struct scene *scene, struct unit *unit)
{
    double sum = 0;

    for (size_t i = 0; i < scene->units; i++) {
        unit[i].slow = 0;
        for (size_t j = 0; j < scene->units; j++)
            if (j != i && unit[j].llc == unit[i].llc)
                unit[i].slow += beside(scene, &unit[i], &unit[j]);
        sum += lost_by(scene, &unit[i], unit[i].slow, unit[i].llc);
    }
    return sum;
}

/* Returns how much less is lost by those who stay on a cache when `goes` goes and `comes` comes;
 * adds up what that one suffers there. */
static double relief(const struct scene *scene, const struct unit *unit, size_t goes, size_t comes,
                     double *slow)
{
    double sum = 0;

    *slow = 0;
    for (size_t k = 0; k < scene->units; k++) {
        const struct unit *u = &unit[k];
        double then;

        if (k == goes || u->llc != unit[goes].llc)
            continue;
        then = u->slow - beside(scene, u, &unit[goes]) + beside(scene, u, &unit[comes]);
        sum += lost_by(scene, u, u->slow, u->llc) - lost_by(scene, u, then, u->llc);
        *slow += beside(scene, &unit[comes], u);
    }
    return sum;
}

/* Returns how much less is lost when two units exchange their caches. */
static double exchange_gain(const struct scene *scene, const struct unit *unit, size_t i, size_t j)
{
    const struct unit *a = &unit[i], *b = &unit[j];
    double a_slow, b_slow, sum;

    sum = relief(scene, unit, i, j, &b_slow) + relief(scene, unit, j, i, &a_slow);
    sum += lost_by(scene, a, a->slow, a->llc) + lost_by(scene, b, b->slow, b->llc);
    return sum - lost_by(scene, a, a_slow, b->llc) - lost_by(scene, b, b_slow, a->llc);
}

/* ---- the search ---- */

static bool can_exchange(const struct unit *a, const struct unit *b)
{
    return !a->fixed && !b->fixed && a->llc != b->llc && a->cores == b->cores;
}

static void exchange(const struct scene *scene, struct unit *a, struct unit *b)
{
    size_t llc = a->llc;

    a->llc = b->llc;
    b->llc = llc;
    add_up(scene, scene->tried);
}

/* Exchanges any two where that pays; returns whether some did. */
static bool exchange_units(const struct scene *scene)
{
    struct unit *unit = scene->tried;
    bool any = false;

    for (size_t i = 0; i < scene->units; i++)
        for (size_t j = 0; j < i; j++)
            if (can_exchange(&unit[i], &unit[j]) && exchange_gain(scene, unit, i, j) > GAIN) {
                exchange(scene, &unit[i], &unit[j]);
                any = true;
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

static void keep(const struct scene *scene)
{
    memcpy(scene->unit, scene->tried, scene->units * sizeof(*scene->unit));
}

/* Begins with the optimum, if that has all jobs whole. */
static bool begin_with_best(const struct scene *scene)
{
    const struct day_sim *sim = scene->sim;

    if (scene->units != sim->live)
        return false;
    memcpy(scene->tried, scene->unit, scene->units * sizeof(*scene->unit));
    for (size_t i = 0; i < sim->live; i++) {
        long llc = day_search_llc(sim, sim->running[i], DAY_BEST);

        if (llc < 0 || (scene->unit[i].fixed && (size_t)llc != scene->unit[i].llc))
            return false;
        scene->tried[i].llc = (size_t)llc;
    }
    return true;
}

static void decide(const struct scene *scene)
{
    double least;

    memcpy(scene->tried, scene->unit, scene->units * sizeof(*scene->unit));
    least = search(scene);
    keep(scene);
    if (begin_with_best(scene) && search(scene) < least - GAIN)
        keep(scene);
}

/* ---- and so it is ---- */

/* Those who stay on their caches keep their cores; the others take what is left. */
static void place(const struct scene *scene)
{
    const struct day_sim *sim = scene->sim;
    bool taken[CPUS_MAX] = {false}, stays[CPUS_MAX] = {false};

    for (size_t u = 0; u < scene->units; u++) {
        const struct unit *unit = &scene->unit[u];
        const size_t *core = sim->running[unit->at]->core[DAY_PLAN];

        stays[unit->at] = unit->fixed || sim->topo->core[core[0]].llc == unit->llc;
        for (size_t c = 0; stays[unit->at] && c < sim->running[unit->at]->cores; c++)
            taken[core[c]] = true;
    }
    for (size_t u = 0; u < scene->units; u++) {
        const struct unit *unit = &scene->unit[u];
        size_t n = 0, cores = sim->running[unit->at]->cores;

        for (size_t c = 0; !stays[unit->at] && c < sim->topo->cores && n < cores; c++)
            if (sim->topo->core[c].llc == unit->llc && sim->slurm[c] && !taken[c]) {
                taken[c] = true;
                sim->running[unit->at]->core[DAY_PLAN][n++] = c;
            }
    }
}

static void stand(const struct scene *scene)
{
    struct day_sim *sim = scene->sim;

    for (size_t i = 0; i < sim->live; i++)
        day_sim_stand(sim, sim->running[i], sim->running[i]->core[DAY_PLAN]);
    for (size_t u = 0; u < scene->units; u++) {
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
    place(&scene);
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
