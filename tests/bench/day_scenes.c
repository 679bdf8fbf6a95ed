/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_scenes - see day_scenes.h */
#include "tests/bench/day_scenes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

#define EVERY_S 1800

/* ---- to look ---- */

static size_t main_llc(const struct day_sim *sim, const struct day_job *job, enum day_where where)
{
    size_t most = 0;

    for (size_t llc = 1; llc < sim->topo->llcs; llc++)
        if (day_sim_cores_on(sim, job, where, llc) > day_sim_cores_on(sim, job, where, most))
            most = llc;
    return most;
}

static void seat(const struct day_sim *sim, const struct day_job *job, struct day_seat *seat)
{
    seat->app = job->app;
    for (enum day_where w = 0; w < DAY_WHERES; w++) {
        seat->llc[w] = main_llc(sim, job, w);
        seat->slowdown[w] = job->slowdown[w];
    }
}

/* Returns which part of the cores' time the running jobs lose there. */
static double lost(const struct day_sim *sim, enum day_where where)
{
    double cores = 0, work = 0;

    for (size_t i = 0; i < sim->live; i++) {
        cores += (double)sim->running[i]->cores;
        work += (double)sim->running[i]->cores / (1 + sim->running[i]->slowdown[where]);
    }
    return 1 - work / cores;
}

static struct day_scene *scene_add(struct day_scenes *scenes)
{
    if (scenes->n == scenes->room) {
        scenes->room = 2 * scenes->room + 64;
        scenes->scene = reallocarray(scenes->scene, scenes->room, sizeof(*scenes->scene));
        if (!scenes->scene)
            bench_die("scenes", strerror(errno));
    }
    return &scenes->scene[scenes->n++];
}

void day_scenes_see(void *data, const struct day_sim *sim)
{
    struct day_scenes *scenes = data;
    struct day_scene *scene;

    if (sim->now < scenes->next || sim->live == 0)
        return;
    scenes->next = sim->now + EVERY_S * DAY_NS;
    scene = scene_add(scenes);
    *scene = (struct day_scene){
        .at = sim->now, .n = sim->live, .seat = calloc(sim->live, sizeof(*scene->seat))};
    if (!scene->seat)
        bench_die("scenes", strerror(errno));
    for (size_t i = 0; i < sim->live; i++)
        seat(sim, sim->running[i], &scene->seat[i]);
    for (enum day_where w = 0; w < DAY_WHERES; w++)
        scene->lost[w] = lost(sim, w);
}

/* ---- to choose ---- */

static double gain(const struct day_scene *scene)
{
    return (1 - scene->lost[DAY_STAND]) / (1 - scene->lost[DAY_HOME]) - 1;
}

const struct day_scene *day_scenes_usual(const struct day_scenes *scenes,
                                         const struct day_tally *day)
{
    double all = day->work_s[DAY_STAND] / day->work_s[DAY_HOME] - 1;
    const struct day_scene *usual = scenes->scene;

    for (size_t i = 1; i < scenes->n; i++)
        if (fabs(gain(&scenes->scene[i]) - all) < fabs(gain(usual) - all))
            usual = &scenes->scene[i];
    return usual;
}

void day_scenes_free(struct day_scenes *scenes)
{
    for (size_t i = 0; i < scenes->n; i++)
        free(scenes->scene[i].seat);
    free(scenes->scene);
}
