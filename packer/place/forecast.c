/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast - see forecast.h */
#include "packer/place/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "models/slowdown/contend.h"
#include "packer/base/array.h"
#include "packer/bill/node_power.h"
#include "packer/observe/window.h"
#include "packer/place/place.h"
#include "packer/steps/stand.h"
#include "packer/steps/step_counts.h"

/* A step is at work when it uses that part of a core for each of its tasks; the model takes one
 * that uses less for one that slows nobody down. */
#define AT_WORK 0.1

struct forecast {
    const struct packer *packer;
    struct contend *contend;
    size_t n;
    const struct step **step; /* [n] those at work */
};

/* Who stands on the caches: a core in use each, its program the step's index. */
struct standing {
    size_t n, room;
    struct contend_stand *core;
};

static double rate_of(const struct step *step, enum rate_id id, double scale)
{
    double mean, error;

    return step_counts_rate(step, id, &mean, &error) ? mean * scale : NAN;
}

static bool at_work(const struct step *step)
{
    double cpu = rate_of(step, RATE_CPU, 1);

    return step->state != STEP_NEW && !step_is_shell(step) &&
           !(cpu < AT_WORK * (double)step->body.ntasks);
}

/* One core of the step, as the model takes it. */
static struct app app_of(const struct step *step)
{
    const struct step_profile *profile = &step->profile;
    struct app app = {.ipc = rate_of(step, RATE_IPC, 1),
                      .llc_apki = rate_of(step, RATE_ACCESS_PMI, 1e-3),
                      .llc_mpki = profile->known ? profile->miss_pmi / 1000 : NAN,
                      .llc_demand_mpki = NAN,
                      .llc_wb_apki = NAN,
                      .mem_gbps = NAN,
                      .mem_read_gbps = NAN,
                      .mem_write_gbps = NAN,
                      .cores = 1};

    if (isnan(app.llc_apki))
        app.llc_apki = profile->accesses / 1000;
    if (app.llc_apki < app.llc_mpki)
        app.llc_apki = app.llc_mpki;
    if (profile->ways)
        app.sdp = (struct app_sdp){profile->ways, profile->hits, profile->miss_pmi};
    return app;
}

/* One of the node's caches, and the bandwidth of a memory node where that is known. */
static struct app_machine machine_of(const struct packer *packer)
{
    const struct topo *topo = packer->topo;
    const struct topo_llc *llc = &topo->llc[0];
    struct app_machine machine = {.llc_bytes = llc->size_bytes ? (double)llc->size_bytes : NAN,
                                  .llc_ways = llc->ways,
                                  .line_bytes = llc->line_bytes,
                                  .dram_gbps = NAN,
                                  .clock_ghz = NAN,
                                  .own_prefetchers = true};

    if (packer->machine) {
        machine.dram_gbps =
            machine_profile_local(packer->machine, 0, packer->machine->node[0].cores);
        machine.dram_calibrated = true;
    }
    return machine;
}

static int study(struct forecast *forecast)
{
    struct app_machine machine = machine_of(forecast->packer);
    struct app *app = calloc(forecast->n + 1, sizeof(*app));

    for (size_t i = 0; app && i < forecast->n; i++)
        app[i] = app_of(forecast->step[i]);
    if (app && forecast->n)
        forecast->contend = contend_new(forecast->n, app, &machine, NULL);
    free(app);
    return forecast->contend ? 0 : -1;
}

struct forecast *forecast_new(const struct packer *packer)
{
    struct forecast *forecast = calloc(1, sizeof(*forecast));
    const struct step *step;

    if (!forecast)
        return NULL;
    forecast->packer = packer;
    forecast->step = calloc(packer->steps.nlive + 1, sizeof(*forecast->step));
    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (forecast->step && at_work(step))
        forecast->step[forecast->n++] = step;
    if (forecast->step && study(forecast) == 0)
        return forecast;
    forecast_free(forecast);
    return NULL;
}

void forecast_free(struct forecast *forecast)
{
    if (!forecast)
        return;
    contend_free(forecast->contend);
    free(forecast->step);
    free(forecast);
}

/* ---- a placement ---- */

/* The NUMA node next to a core, by its index in the topology. */
static size_t memory_of(const struct topo *topo, const struct topo_core *core)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_intersect(&topo->node[i].cpus, &core->cpus))
            return i;
    return 0;
}

/* The cores of these CPUs, each once. */
static int stand_on(const struct topo *topo, const struct cpus *cpus, size_t app,
                    struct standing *standing)
{
    long before = -1;

    cpus_foreach(cpu, cpus)
    {
        long core = topo_core_of_cpu(topo, cpu);

        if (core < 0 || core == before)
            continue;
        if (array_grow(&standing->core, &standing->room, standing->n + 1, sizeof(*standing->core)) <
            0)
            return -1;
        standing->core[standing->n++] =
            (struct contend_stand){app, topo->core[core].llc, memory_of(topo, &topo->core[core])};
        before = core;
    }
    return 0;
}

static int collect(const struct forecast *forecast, const struct scene *scene,
                   struct standing *standing)
{
    for (size_t i = 0; i < forecast->n; i++) {
        const struct step *step = forecast->step[i];
        bool moves = stand_movable(scene, step);

        for (size_t t = 0; t < step->body.ntasks; t++) {
            struct cpus cpus = step->body.task[t].use;

            if (moves)
                stand_image(forecast->packer, scene->pool, &step->body.task[t].use, &cpus);
            if (stand_on(forecast->packer->topo, &cpus, i, standing) < 0)
                return -1;
        }
    }
    return 0;
}

/* Fills in how much each core of the standing slows down. NULL when that cannot be told; the caller
 * frees it. */
static double *slowdowns(const struct forecast *forecast, const struct standing *standing)
{
    double *slowdown = calloc(standing->n + 1, sizeof(*slowdown));

    if (slowdown && contend_node(forecast->contend, standing->n, standing->core, slowdown) >= 0)
        return slowdown;
    free(slowdown);
    return NULL;
}

/* The work of all caches; NAN when out of memory. Also the cores in use, where that is wanted. */
static double node_work(const struct forecast *forecast, const struct scene *scene, size_t *cores)
{
    struct standing standing = {0};
    double *slowdown = NULL, work = 0;

    if (collect(forecast, scene, &standing) == 0)
        slowdown = slowdowns(forecast, &standing);
    for (size_t i = 0; slowdown && i < standing.n; i++)
        work += 1 / (1 + slowdown[i]);
    if (cores)
        *cores = standing.n;
    work = slowdown ? work : NAN;
    free(slowdown);
    free(standing.core);
    return work;
}

double forecast_work(const struct forecast *forecast, const struct scene *scene)
{
    return node_work(forecast, scene, NULL);
}

/* ---- its power ---- */

double forecast_watts(const struct forecast *forecast, const struct scene *scene)
{
    const struct topo *topo = forecast->packer->topo;
    bool *awake = calloc(topo->packages, sizeof(*awake));
    size_t *cores = calloc(topo->packages, sizeof(*cores));
    struct standing standing = {0};
    double watts = 0;

    if (awake && cores && collect(forecast, scene, &standing) == 0) {
        stand_awake(scene, awake);
        for (size_t i = 0; i < standing.n; i++)
            cores[topo->llc[standing.core[i].cache].package]++;
    } else {
        watts = NAN;
    }
    for (size_t i = 0; i < topo->packages && !isnan(watts); i++) {
        struct power_package figures;

        watts += node_power_of(forecast->packer, i, &figures)
                     ? power_watts(&figures, (double)cores[i], awake[i])
                     : NAN;
    }
    free(standing.core);
    free(awake);
    free(cores);
    return watts;
}

double forecast_edp(const struct forecast *forecast, const struct scene *scene)
{
    size_t cores = 0;
    double work = node_work(forecast, scene, &cores);

    if (cores == 0)
        return NAN;
    return power_edp(forecast_watts(forecast, scene), (double)cores, work);
}

/* ---- each step's slowdown ---- */

/* The mean of each step's cores under the permutation; NULL where that cannot be told. The caller
 * frees it. */
static double *mean_slowdowns(const struct forecast *forecast, struct pool *pool)
{
    double *mean = calloc(forecast->n + 1, sizeof(*mean));
    size_t *cores = calloc(forecast->n + 1, sizeof(*cores));
    struct scene scene = {forecast->packer, pool, false};
    struct standing standing = {0};
    double *slowdown = NULL;

    if (mean && cores && collect(forecast, &scene, &standing) == 0)
        slowdown = slowdowns(forecast, &standing);
    for (size_t i = 0; slowdown && i < standing.n; i++) {
        mean[standing.core[i].program] += slowdown[i];
        cores[standing.core[i].program]++;
    }
    for (size_t i = 0; slowdown && i < forecast->n; i++)
        mean[i] = cores[i] ? mean[i] / (double)cores[i] : NAN;
    free(standing.core);
    free(cores);
    free(slowdown);
    if (slowdown)
        return mean;
    free(mean);
    return NULL;
}

/* The same with everybody at home. */
static double *home_slowdowns(const struct forecast *forecast)
{
    double *mean;
    struct pool home;

    if (pool_copy(&home, &forecast->packer->pool) < 0)
        return NULL;
    pool_reset(&home);
    mean = mean_slowdowns(forecast, &home);
    pool_free(&home);
    return mean;
}

static bool predicted(const struct step_slowdown *slowdown)
{
    return !isnan(slowdown->now) && !isnan(slowdown->home);
}

static void predict(struct step_slowdown *slowdown, double now_s, double now, double home)
{
    if (predicted(slowdown)) {
        slowdown->sum += slowdown->now * (now_s - slowdown->since_s);
        slowdown->home_sum += slowdown->home * (now_s - slowdown->since_s);
        slowdown->seconds += now_s - slowdown->since_s;
    }
    slowdown->now = now;
    slowdown->home = home;
    slowdown->since_s = now_s;
}

void forecast_slowdowns(struct packer *packer)
{
    struct forecast *forecast = forecast_new(packer);
    double *now = forecast ? mean_slowdowns(forecast, &packer->pool) : NULL;
    double *home = forecast ? home_slowdowns(forecast) : NULL, now_s = clock_s();
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        bool among = forecast && i < forecast->n && forecast->step[i] == step;

        predict(&step->slowdown, now_s, among && now ? now[i] : NAN, among && home ? home[i] : NAN);
        i += among;
    }
    free(now);
    free(home);
    forecast_free(forecast);
}

void forecast_mean(const struct step *step, double now_s, double *placed, double *home)
{
    struct step_slowdown slowdown = step->slowdown;

    predict(&slowdown, now_s, NAN, NAN);
    *placed = slowdown.seconds > 0 ? slowdown.sum / slowdown.seconds : NAN;
    *home = slowdown.seconds > 0 ? slowdown.home_sum / slowdown.seconds : NAN;
}
