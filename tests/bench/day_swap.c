/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_swap - see day_swap.h */
#include "tests/bench/day_swap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/bench/day_search.h"

/* The running jobs, and whose places are looked for. */
struct scene {
    const struct day_sim *sim;
    enum day_where where;
    struct day_exchange_job *job;
    struct day_exchange state;
    size_t *left; /* [n][llcs] cores that are still to be found */
};

/* ---- where all stand ---- */

static double fill(struct scene *scene, enum day_where where)
{
    const struct day_sim *sim = scene->sim;
    struct day_exchange *state = &scene->state;

    memset(state->on, 0, state->n * state->llcs * sizeof(*state->on));
    memset(state->free, 0, state->llcs * sizeof(*state->free));
    for (size_t c = 0; c < sim->topo->cores; c++)
        state->free[sim->topo->core[c].llc] += day_sim_is_place(sim, c);
    for (size_t i = 0; i < state->n; i++)
        for (size_t c = 0; c < sim->running[i]->cores; c++) {
            size_t llc = sim->topo->core[sim->running[i]->core[where][c]].llc;

            ++*day_exchange_on(state, i, llc);
            state->free[llc]--;
        }
    return day_exchange_weigh(state);
}

static void scene_close(struct scene *scene)
{
    free(scene->job);
    free(scene->left);
    free(scene->state.on);
    free(scene->state.free);
    free(scene->state.lost);
}

static int scene_open(struct scene *scene, const struct day_sim *sim, enum day_where where,
                      const struct day_beside *beside, const size_t *app)
{
    size_t n = sim->live, llcs = sim->topo->llcs;
    struct day_exchange *state = &scene->state;

    *scene = (struct scene){.sim = sim, .where = where};
    *state = (struct day_exchange){.beside = beside, .n = n, .llcs = llcs};
    scene->job = calloc(n, sizeof(*scene->job));
    scene->left = calloc(n * llcs, sizeof(*scene->left));
    state->job = scene->job;
    state->on = calloc(n * llcs, sizeof(*state->on));
    state->free = calloc(llcs, sizeof(*state->free));
    state->lost = calloc(llcs, sizeof(*state->lost));
    if (!scene->job || !scene->left || !state->on || !state->free || !state->lost)
        return -1;
    for (size_t i = 0; i < n; i++)
        scene->job[i] =
            (struct day_exchange_job){.app = app ? app[i] : sim->running[i]->app,
                                      .tasks = sim->running[i]->tasks,
                                      .may = day_search_is_free(sim, sim->running[i], where)};
    return 0;
}

/* ---- cores ---- */

/* Jobs keep the cores that they have on a cache, as far as they are to have as many there. */
static void keep_cores(const struct scene *scene, struct day_job **owner)
{
    const struct day_exchange *state = &scene->state;

    memcpy(scene->left, state->on, state->n * state->llcs * sizeof(*scene->left));
    for (size_t i = 0; i < state->n; i++) {
        struct day_job *job = scene->sim->running[i];

        for (size_t c = 0; c < job->cores; c++) {
            size_t core = job->core[scene->where][c];
            size_t *wanted = &scene->left[i * state->llcs + scene->sim->topo->core[core].llc];

            if (*wanted > 0) {
                owner[core] = job;
                --*wanted;
            }
        }
    }
}

static void fill_cores(const struct scene *scene, struct day_job **owner)
{
    const struct day_exchange *state = &scene->state;
    const struct day_sim *sim = scene->sim;

    for (size_t core = 0; core < sim->topo->cores; core++)
        for (size_t i = 0; i < state->n && day_sim_is_place(sim, core) && !owner[core]; i++) {
            size_t *wanted = &scene->left[i * state->llcs + sim->topo->core[core].llc];

            if (*wanted > 0) {
                owner[core] = sim->running[i];
                --*wanted;
            }
        }
}

static void stand(const struct scene *scene, struct day_job **owner)
{
    for (size_t i = 0; i < scene->state.n; i++) {
        struct day_job *job = scene->sim->running[i];

        for (size_t core = 0, n = 0; n < job->cores && core < scene->sim->topo->cores; core++)
            if (owner[core] == job)
                job->core[scene->where][n++] = core;
    }
}

int day_swap_find(struct day_sim *sim, enum day_where where, const struct day_beside *beside,
                  const size_t *app, struct berth_error *err)
{
    struct day_job *owner[CPUS_MAX] = {NULL};
    struct scene scene;
    int rc;

    if (sim->live == 0)
        return 0;
    rc = scene_open(&scene, sim, where, beside, app);
    if (rc == 0) {
        double home = fill(&scene, DAY_HOME), before = fill(&scene, where);

        if (home < before)
            fill(&scene, DAY_HOME);
        day_exchange_search(&scene.state);
        keep_cores(&scene, owner);
        fill_cores(&scene, owner);
        stand(&scene, owner);
    }
    scene_close(&scene);
    return rc == 0 ? 0 : berth_no_memory(err);
}
