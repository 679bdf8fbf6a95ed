/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_best - see day_best.h */
#include "tests/bench/day_best.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/matching.h"
#include "models/partition/partition.h"
#include "tests/bench/day_search.h"
#include "tests/bench/day_swap.h"

#define GAIN 1e-9 /* of work: less is no reason to move anybody */

/* The running jobs, and the cores of each cache that Slurm has given them. */
struct scene {
    const struct day_sim *sim;
    size_t n, *cores, *kind, *room, *now, *group;
    double *degradation; /* [n][n] part of its work that i loses beside j */
};

static void scene_free(struct scene *scene)
{
    free(scene->cores);
    free(scene->degradation);
}

static int scene_open(struct scene *scene, const struct day_sim *sim)
{
    size_t n = sim->live, llcs = sim->topo->llcs;

    *scene = (struct scene){.sim = sim, .n = n};
    scene->cores = calloc(4 * n + llcs, sizeof(*scene->cores));
    scene->degradation = calloc(n * n, sizeof(*scene->degradation));
    if (!scene->cores || !scene->degradation) {
        scene_free(scene);
        return -1;
    }
    scene->kind = scene->cores + n;
    scene->now = scene->kind + n;
    scene->group = scene->now + n;
    scene->room = scene->group + n;
    for (size_t c = 0; c < sim->topo->cores; c++)
        scene->room[sim->topo->core[c].llc] += day_sim_is_place(sim, c);
    for (size_t i = 0; i < n; i++) {
        scene->cores[i] = sim->running[i]->cores;
        scene->kind[i] = sim->running[i]->app;
        scene->now[i] = sim->topo->core[sim->running[i]->core[DAY_BEST][0]].llc;
        for (size_t j = 0; j < n; j++) {
            double d = day_truth_pair(sim->truth, sim->running[i]->app, sim->running[j]->app);

            scene->degradation[i * n + j] = d / (1 + d);
        }
    }
    return 0;
}

/* Returns the work that jobs on one cache lose together, in cores. */
static double lost(const size_t *members, size_t n, void *arg)
{
    const struct scene *scene = arg;
    double sum = 0;

    for (size_t a = 0; a < n; a++) {
        const struct day_job *job = scene->sim->running[members[a]];
        double d = 0;

        for (size_t b = 0; b < n; b++)
            if (b != a)
                d += day_truth_pair(scene->sim->truth, job->app,
                                    scene->sim->running[members[b]]->app);
        sum += (double)job->cores * d / (1 + d);
    }
    return sum;
}

/* Puts each job on the first cores of its cache that are there and not taken. */
static void stand(struct day_sim *sim, const size_t *llc_of)
{
    bool taken[CPUS_MAX] = {false};

    for (size_t i = 0; i < sim->live; i++) {
        struct day_job *job = sim->running[i];

        for (size_t c = 0, n = 0; c < sim->topo->cores && n < job->cores; c++)
            if (sim->topo->core[c].llc == llc_of[i] && day_sim_is_place(sim, c) && !taken[c]) {
                taken[c] = true;
                job->core[DAY_BEST][n++] = c;
            }
    }
}

/* Says whether every job is on one cache: only then models/partition can begin with them. */
static bool is_whole(const struct day_sim *sim, enum day_where where)
{
    for (size_t i = 0; i < sim->live; i++)
        if (day_search_llc(sim, sim->running[i], where) < 0)
            return false;
    return true;
}

static bool are_all_free(const struct day_sim *sim)
{
    for (size_t i = 0; i < sim->live; i++)
        if (!day_search_may(sim, sim->running[i], DAY_BEST))
            return false;
    return sim->live > 0;
}

static void begin_at_home(struct day_sim *sim)
{
    for (size_t i = 0; i < sim->live; i++)
        memcpy(sim->running[i]->core[DAY_BEST], sim->running[i]->core[DAY_HOME],
               sim->running[i]->cores * sizeof(size_t));
}

/* ---- two cores a cache ---- */

static bool is_of_pairs(const struct scene *scene)
{
    for (size_t i = 0; i < scene->n; i++)
        if (scene->cores[i] != 1)
            return false;
    for (size_t g = 0; g < scene->sim->topo->llcs; g++)
        if (scene->room[g] > 2)
            return false;
    return true;
}

/* Takes a core of a cache that has that many left. */
static size_t take(struct scene *scene, size_t least, size_t cores)
{
    size_t g = 0;

    while (g < scene->sim->topo->llcs && scene->room[g] < least)
        g++;
    if (g < scene->sim->topo->llcs)
        scene->room[g] -= cores;
    return g;
}

/* Takes a core for a job that is to be alone: of a cache whose other core stays idle, if idle cores
 * are places and there is one. */
static size_t take_alone(struct scene *scene)
{
    size_t g = scene->sim->plan.idle ? take(scene, 2, 2) : scene->sim->topo->llcs;

    return g < scene->sim->topo->llcs ? g : take(scene, 1, 1);
}

/* Pairs come to caches with two cores; what is left, and pairs that suffer nothing, to single
 * cores. */
static int solve_pairs(struct scene *scene, double *total)
{
    size_t llcs = scene->sim->topo->llcs, caches = 0, mate[CPUS_MAX];

    for (size_t g = 0; g < llcs; g++)
        caches += scene->room[g] > 0;
    if (matching_pairs(scene->n, scene->degradation, caches, mate, total) < 0)
        return -1;
    for (size_t i = 0; i < scene->n; i++)
        if (mate[i] > i) {
            size_t g = take(scene, 2, 2);

            scene->group[i] = scene->group[mate[i]] = g;
            if (g == llcs) {
                size_t other = mate[i];
                mate[other] = other;
                mate[i] = i;
            }
        }
    for (size_t i = 0; i < scene->n; i++)
        if (mate[i] == i)
            scene->group[i] = take_alone(scene);
    return 0;
}

/* Finds the best caches for all. Returns 0, or -1: they cannot be had. */
static int solve(struct scene *scene, double *total)
{
    struct partition partition = {.n = scene->n,
                                  .cores = scene->cores,
                                  .kind = scene->kind,
                                  .groups = scene->sim->topo->llcs,
                                  .room = scene->room,
                                  .cost = lost,
                                  .arg = scene,
                                  .start = scene->now};
    struct partition_found found;

    if (is_of_pairs(scene))
        return solve_pairs(scene, total);
    if (partition_solve(&partition, scene->group, &found) < 0)
        return -1;
    *total = found.total;
    return 0;
}

int day_best_find(struct day_sim *sim, struct berth_error *err)
{
    struct scene scene;
    double total;

    day_search_mend(sim, DAY_BEST);
    if (sim->plan.sizes)
        return day_swap_find(sim, DAY_BEST, &sim->beside, NULL, err);
    if (!is_whole(sim, DAY_BEST))
        begin_at_home(sim);
    if (!are_all_free(sim) || sim->topo->split) {
        day_search(sim, DAY_BEST, day_cost_work);
        return 0;
    }
    if (scene_open(&scene, sim) < 0)
        return berth_no_memory(err);
    if (solve(&scene, &total) == 0 && total < day_cost_all(sim, DAY_BEST) - GAIN)
        stand(sim, scene.group);
    scene_free(&scene);
    return 0;
}

static int on_changed(void *state, struct day_sim *sim, struct berth_error *err)
{
    (void)state, (void)err;
    for (size_t i = 0; i < sim->live; i++)
        day_sim_stand(sim, sim->running[i], sim->running[i]->core[DAY_BEST]);
    return 0;
}

const struct day_placer day_best = {.name = "optimum", .changed = on_changed};
