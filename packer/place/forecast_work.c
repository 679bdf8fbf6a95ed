/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast_work - see forecast.h: what the live steps do under a permutation of the pool. */
#include <math.h>
#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/bill/node_power.h"
#include "packer/place/culprits.h"
#include "packer/place/forecast.h"
#include "packer/place/threads.h"

/* Who stands on the caches: a core in use each, owned by the live step of that number. */
struct standing {
    size_t n, room;
    struct forecast_core *core;
    double *slowdown; /* [n] NULL: not told */
    double *model;    /* [n] the same, as if nothing had been measured */
};

/* Cores on the same cache of those from `first` on. */
static size_t cores_there(const struct standing *standing, size_t first, size_t cache)
{
    size_t n = 0;

    for (size_t i = first; i < standing->n; i++)
        n += standing->core[i].cache == cache;
    return n;
}

/* Says what the cores of a task, those from `first` on, have of each other (threads.h). */
static void know_each_other(const struct scene *scene, const struct step *step, size_t task,
                            struct standing *standing, size_t first)
{
    size_t cores = standing->n - first;
    double far_now;

    if (cores < 2)
        return;
    far_now = threads_far_now(scene->packer, step, task);
    for (size_t i = first; i < standing->n; i++) {
        struct forecast_core *core = &standing->core[i];
        size_t here = cores_there(standing, first, core->cache);

        core->apart = threads_lose(scene->packer, step, cores, here, far_now);
    }
}

/* The cores of these CPUs, each once. */
static int stand_on(const struct topo *topo, const struct cpus *cpus, size_t slot, size_t owner,
                    struct standing *standing)
{
    struct cpus cores;

    topo_cores_of(topo, cpus, &cores);
    cpus_foreach(core, &cores)
    {
        if (array_grow(&standing->core, &standing->room, standing->n + 1, sizeof(*standing->core)) <
            0)
            return -1;
        standing->core[standing->n++] = (struct forecast_core){.slot = slot,
                                                               .owner = owner,
                                                               .cache = topo->core[core].llc,
                                                               .memory = topo->core[core].llc,
                                                               .seat = core,
                                                               .whole = topo->core[core].whole};
    }
    return 0;
}

/* Caches stand for their memory nodes, and all for the largest, until all are collected. */
static int find_memories(const struct topo *topo, struct standing *standing)
{
    double *small = calloc(topo->llcs + 1, sizeof(*small));

    if (!small)
        return -1;
    for (size_t llc = 0; llc < topo->llcs; llc++)
        small[llc] = topo_small(topo, llc);
    for (size_t i = 0; i < standing->n; i++) {
        struct forecast_core *core = &standing->core[i];

        core->memory = topo->llc[core->cache].node;
        core->apart.small = small[core->cache];
    }
    free(small);
    return 0;
}

/* Gives each core of a task whose threads count an owner of its own. Returns the next one. */
static size_t part_owners(const struct packer *packer, const struct step *step,
                          struct standing *standing, size_t first, size_t owner)
{
    if (!threads_apart(packer, step, standing->n - first))
        return owner + 1;
    for (size_t i = first; i < standing->n; i++)
        standing->core[i].owner = owner++;
    return owner;
}

/* Owners are numbered in the order of the live steps; or (as_schemes) of their tasks, and of the
 * cores of those whose threads count. */
static int collect(const struct scene *scene, bool as_schemes, struct standing *standing)
{
    const struct packer *packer = scene->packer;
    const struct step *step;
    size_t owner = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        bool moves = stand_movable(scene, step);

        for (size_t t = 0; step->slot != FORECAST_IDLE && t < step->body.ntasks; t++) {
            struct cpus cpus = step->body.task[t].use;
            size_t first = standing->n;

            if (moves)
                stand_image(packer, scene->pool, &step->body.task[t].use, &cpus);
            if (stand_on(packer->world.topo, &cpus, step->slot, owner, standing) < 0)
                return -1;
            know_each_other(scene, step, t, standing, first);
            if (as_schemes)
                owner = part_owners(packer, step, standing, first, owner);
        }
        owner++;
    }
    if (packer->world.topo->split)
        forecast_siblings(packer->state->forecast, standing->n, standing->core);
    return find_memories(packer->world.topo, standing);
}

struct forecast_core *forecast_cores(const struct scene *scene, size_t *n)
{
    struct standing standing = {0};

    if (collect(scene, true, &standing) < 0) {
        free(standing.core);
        return NULL;
    }
    *n = standing.n;
    return standing.core ? standing.core : calloc(1, sizeof(*standing.core));
}

static void standing_clear(struct standing *standing)
{
    free(standing->core);
    free(standing->slowdown);
    free(standing->model);
}

/* Collects who stands where, and predicts how much each core slows down. -1 where that cannot be
 * told. Clear with standing_clear in any case. */
static int foresee(const struct scene *scene, double caution, struct standing *standing)
{
    const struct forecast *forecast = scene->packer->state->forecast;

    *standing = (struct standing){0};
    if (!forecast || collect(scene, false, standing) < 0)
        return -1;
    standing->slowdown = calloc(standing->n + 1, sizeof(*standing->slowdown));
    standing->model = calloc(standing->n + 1, sizeof(*standing->model));
    if (!standing->slowdown || !standing->model || standing->n == 0)
        return -1;
    return forecast_node(forecast, caution, standing->n, standing->core, standing->slowdown,
                         standing->model);
}

/* Returns the work that those who stand lose by the clocks of their packages. */
static double lost_by_clock(const struct packer *packer, const struct standing *standing)
{
    const struct topo *topo = packer->world.topo;
    size_t busy[FORECAST_PACKAGES_MAX] = {0};
    double lost = 0;

    if (!forecast_has_clocks(packer))
        return 0;
    for (size_t i = 0; i < standing->n; i++)
        busy[topo->llc[standing->core[i].cache].package]++;
    for (size_t i = 0; i < standing->n; i++)
        lost += forecast_clock_lost(packer->state->forecast, standing->core[i].slot,
                                    busy[topo->llc[standing->core[i].cache].package]);
    return lost;
}

double forecast_work(const struct scene *scene, size_t *cores)
{
    struct standing standing;
    double work = foresee(scene, FORECAST_CAUTION, &standing) == 0 ? 0 : NAN;

    for (size_t i = 0; !isnan(work) && i < standing.n; i++)
        work += 1 / (1 + standing.slowdown[i]);
    if (!isnan(work))
        work -= lost_by_clock(scene->packer, &standing);
    if (cores)
        *cores = standing.n;
    standing_clear(&standing);
    return work;
}

/* Returns the mean of its cores for each of n steps; NULL: out of memory. */
static double *mean_of(const struct standing *standing, size_t n, const double *of_core)
{
    double *mean = calloc(n + 1, sizeof(*mean));
    size_t *cores = calloc(n + 1, sizeof(*cores));

    for (size_t i = 0; mean && cores && i < standing->n; i++) {
        mean[standing->core[i].owner] += of_core[i];
        cores[standing->core[i].owner]++;
    }
    for (size_t i = 0; mean && cores && i < n; i++)
        mean[i] = cores[i] ? mean[i] / (double)cores[i] : NAN;
    if (!cores) {
        free(mean);
        mean = NULL;
    }
    free(cores);
    return mean;
}

/* Returns the slowdowns of the live steps, with so many standard errors more; NULL: not told.
 * model: the same by the model alone, for the caller to free; NULL: nobody asks. */
static double *steps_with(const struct scene *scene, double caution, double **model)
{
    size_t n = scene->packer->steps->nlive;
    struct standing standing;
    double *slowdown = NULL;

    if (foresee(scene, caution, &standing) == 0) {
        slowdown = mean_of(&standing, n, standing.slowdown);
        if (model)
            *model = mean_of(&standing, n, standing.model);
    }
    standing_clear(&standing);
    return slowdown;
}

/* ---- what is told ---- */

/* Of a memory node: nobody, the owner of all cores in use there, or several. */
#define NOBODY SIZE_MAX
#define SEVERAL (SIZE_MAX - 1)

/* Finds whose each memory node is: of[topo->nodes + 1]. */
static void find_holders(const struct topo *topo, const struct standing *standing, size_t *of)
{
    for (size_t i = 0; i <= topo->nodes; i++)
        of[i] = NOBODY;
    for (size_t i = 0; i < standing->n; i++) {
        size_t *holder = &of[standing->core[i].memory];

        *holder = *holder == NOBODY || *holder == standing->core[i].owner ? standing->core[i].owner
                                                                          : SEVERAL;
    }
}

/* Says nothing of the steps that share no memory node with others: what is predicted of such a one
 * is what its own cores do to each other. That is in its time alone, and how much it is hangs on a
 * bandwidth that nobody measured. */
static void leave_out_lonely(const struct scene *scene, double *slowdown)
{
    const struct topo *topo = scene->packer->world.topo;
    size_t *of = calloc(topo->nodes + 1, sizeof(*of));
    bool *shares = calloc(scene->packer->steps->nlive + 1, sizeof(*shares));
    struct standing standing = {0};

    if (of && shares && collect(scene, false, &standing) == 0) {
        find_holders(topo, &standing, of);
        for (size_t i = 0; i < standing.n; i++)
            shares[standing.core[i].owner] |= of[standing.core[i].memory] == SEVERAL;
        for (size_t i = 0; i < scene->packer->steps->nlive; i++)
            slowdown[i] = shares[i] ? slowdown[i] : NAN;
    }
    standing_clear(&standing);
    free(of);
    free(shares);
}

/* Returns what is told of the live steps, and, if model is not NULL, what the model alone says. */
static double *told_steps(const struct scene *scene, double **model)
{
    double *slowdown = steps_with(scene, 0, model);

    if (slowdown && bandwidth_assumed(&scene->packer->world.bandwidth))
        leave_out_lonely(scene, slowdown);
    return slowdown;
}

double *forecast_steps(const struct scene *scene)
{
    return told_steps(scene, NULL);
}

/* Asks that with everybody at home. */
static double *at_home(const struct packer *packer, double *(*ask)(const struct scene *scene))
{
    double *slowdown;
    struct pool home;

    if (pool_copy(&home, packer->pool) < 0)
        return NULL;
    pool_reset(&home);
    slowdown = ask(&(struct scene){packer, &home, false});
    pool_free(&home);
    return slowdown;
}

/* ---- what is bearable ---- */

static double *cautious_steps(const struct scene *scene)
{
    return steps_with(scene, FORECAST_CAUTION, NULL);
}

void forecast_bearable(const struct scene *scene, double beyond)
{
    double *now = cautious_steps(scene), *home = at_home(scene->packer, cautious_steps);
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        step->place.bearable = now && home ? fmax(now[i], home[i] + beyond) : NAN;
        i++;
    }
    free(now);
    free(home);
}

/* ---- power ---- */

double forecast_watts(const struct scene *scene)
{
    const struct topo *topo = scene->packer->world.topo;
    bool above_idle = scene->packer->world.conf.edp_power == CONF_EDP_ABOVE_IDLE;
    bool *awake = calloc(topo->packages, sizeof(*awake));
    size_t *cores = calloc(topo->packages, sizeof(*cores));
    struct standing standing = {0};
    double watts = 0;

    if (awake && cores && collect(scene, false, &standing) == 0) {
        stand_awake(scene, awake);
        for (size_t i = 0; i < standing.n; i++)
            cores[topo->llc[standing.core[i].cache].package]++;
    } else {
        watts = NAN;
    }
    for (size_t i = 0; i < topo->packages && !isnan(watts); i++) {
        struct power_package figures;

        watts += node_power_of(scene->packer, i, &figures)
                     ? power_watts(&figures, (double)cores[i], awake[i]) -
                           (above_idle ? figures.asleep_w : 0)
                     : NAN;
    }
    standing_clear(&standing);
    free(awake);
    free(cores);
    return watts;
}

double forecast_edp(const struct scene *scene)
{
    size_t cores = 0;
    double work = forecast_work(scene, &cores);

    if (cores == 0)
        return NAN;
    return power_edp(forecast_watts(scene), (double)cores, work);
}

/* ---- each step's slowdown, over its time ---- */

static bool predicted(const struct step_slowdown *slowdown)
{
    return !isnan(slowdown->now) && !isnan(slowdown->home);
}

static void predict(struct step_slowdown *slowdown, double now_s, double now, double home,
                    double as_if)
{
    if (predicted(slowdown) && !isnan(slowdown->as_if)) {
        slowdown->as_if_sum += slowdown->as_if * (now_s - slowdown->since_s);
        slowdown->as_if_s += now_s - slowdown->since_s;
    }
    if (predicted(slowdown)) {
        slowdown->sum += slowdown->now * (now_s - slowdown->since_s);
        slowdown->home_sum += slowdown->home * (now_s - slowdown->since_s);
        slowdown->seconds += now_s - slowdown->since_s;
    }
    slowdown->now = now;
    slowdown->home = home;
    slowdown->as_if = as_if;
    slowdown->since_s = now_s;
}

/* Returns the i-th step's slowdown of these; one that is at work and of which nothing is told
 * shares its memory node with nobody. */
static double of_step(const double *slowdown, size_t i, const struct step *step)
{
    if (!slowdown)
        return NAN;
    return isnan(slowdown[i]) && step->slot != FORECAST_IDLE ? 0 : slowdown[i];
}

void forecast_slowdowns(const struct packer *packer)
{
    bool known = forecast_update(packer);
    double *model = NULL;
    double *now =
        known ? told_steps(&(struct scene){packer, packer->state->pool, false}, &model) : NULL;
    double *home = known ? at_home(packer, forecast_steps) : NULL, now_s = clock_s();
    double *as_if = known && packer->state->as_if->stand
                        ? forecast_steps(&(struct scene){packer, packer->state->as_if, true})
                        : NULL;
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (known && step->slot != FORECAST_IDLE)
            step->slowdown.sibling = forecast_sibling_mean(packer->state->forecast, step->slot);
        predict(&step->slowdown, now_s, of_step(now, i, step), of_step(home, i, step),
                step->state == STEP_OBSERVED ? of_step(as_if, i, step) : NAN);
        step->slowdown.model = of_step(model, i, step);
        i++;
    }
    culprits_note(packer, now_s);
    free(now);
    free(model);
    free(home);
    free(as_if);
}

/* The time that has passed since the last prediction, too. */
static struct step_slowdown until(const struct step *step, double now_s)
{
    struct step_slowdown slowdown = step->slowdown;

    predict(&slowdown, now_s, NAN, NAN, NAN);
    return slowdown;
}

double forecast_mean_as_if(const struct step *step, double now_s)
{
    struct step_slowdown slowdown = until(step, now_s);

    return slowdown.as_if_s > 0 ? slowdown.as_if_sum / slowdown.as_if_s : NAN;
}

void forecast_mean(const struct step *step, double now_s, double *placed, double *home)
{
    struct step_slowdown slowdown = until(step, now_s);

    *placed = slowdown.seconds > 0 ? slowdown.sum / slowdown.seconds : NAN;
    *home = slowdown.seconds > 0 ? slowdown.home_sum / slowdown.seconds : NAN;
}
