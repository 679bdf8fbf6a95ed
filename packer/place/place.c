/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - see place.h */
#include "packer/place/place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/bill/node_power.h"
#include "packer/place/forecast.h"
#include "packer/place/keep.h"
#include "packer/place/near.h"
#include "packer/place/policy.h"
#include "packer/place/search.h"
#include "packer/place/siblings.h"
#include "packer/steps/stage.h"

/* ---- where a step stands ---- */

void place_bound(struct step *step)
{
    double pct = step->request.options.max_slowdown_pct;

    step->place.max_slowdown = pct >= 0 ? pct / 100 : NAN;
}

/* Begins step->place of a new or adopted step: which policy decides about it, and which was asked
 * for, by name, by edp, else by the site. */
static void place_begin(const struct packer *packer, struct step *step)
{
    const struct wire_options *o = &step->request.options;

    step->place.policy_asked = o->policy_given ? o->policy
                               : o->edp        ? WIRE_POLICY_DIO_POWER
                                               : packer->world.conf.policy;
    step->place.policy = step->place.policy_asked;
    step->place.edp = (struct step_edp){.cluster = NAN, .spread = NAN};
    place_bound(step);
    step->place.predicted = NAN;
    step->place.met = false;
}

/* The step stands where a berthd before this one had placed it. */
static void place_adopt(struct step *step)
{
    step->place.adopted = true;
}

void place_describe(const struct packer *packer, const struct pool *pool, struct step *step)
{
    struct cpus image;

    cpus_zero(&step->place.cpus);
    cpus_zero(&step->place.home);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        stand_image(packer, pool, &step->body.task[i].use, &image);
        cpus_or(&step->place.cpus, &image);
        cpus_or(&step->place.home, &step->body.task[i].home);
    }
    topo_nodes_of(packer->world.topo, &step->place.cpus, &step->place.mems);
}

double place_idle_core_s(const struct step *step, double at_s)
{
    double cores = (double)step->place.on_idle.cores;

    return step->place.on_idle.core_s +
           (cores > 0 ? cores * (at_s - step->place.on_idle.since_s) : 0);
}

/* From now on it stands on so many cores of nobody. */
static void stand_on_idle(struct step *step, size_t cores)
{
    double now_s = clock_s();

    if (cores == step->place.on_idle.cores)
        return;
    step->place.on_idle.core_s = place_idle_core_s(step, now_s);
    step->place.on_idle.since_s = now_s;
    step->place.on_idle.cores = cores;
}

void place_note_idle(const struct packer *packer)
{
    const struct topo *topo = packer->world.topo;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        size_t cores = 0;

        step->place.idle = step->place.cpus;
        cpus_and(&step->place.idle, &packer->state->idle.nobody);
        for (size_t i = 0; i < topo->cores && !cpus_empty(&step->place.idle); i++)
            cores += cpus_intersect(&topo->core[i].cpus, &step->place.idle);
        stand_on_idle(step, cores);
    }
}

void place_home(const struct packer *packer, struct step *step)
{
    step->place.cpus = step->place.home;
    topo_nodes_of(packer->world.topo, &step->place.cpus, &step->place.mems);
}

/* ---- the decision ---- */

/* Tells the steps that begin on cores of the units' kind which rank they had (0: none): a new step
 * changes everybody's. */
static void tell_ranks(const struct scene *scene, const struct units *units,
                       const struct step_edp *edp, enum wire_policy by)
{
    struct step *step;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        size_t first = cpus_next(&step->body.task[0].use, 0);
        long core = topo_core_of_cpu(scene->packer->world.topo, first);
        bool ranked = core >= 0 && units->of_core[core] != UNITS_NONE && !step_is_shell(step);
        bool packed = ranked && units->packed[units->of_core[core]];

        if (!stand_decides(scene, step) ||
            (core >= 0 && scene->packer->world.topo->core[core].kind != units->kind))
            continue;
        step->place.rank = ranked ? units->rank[units->of_core[core]] : 0;
        step->place.of = units->n;
        step->place.edp = packed ? *edp : (struct step_edp){.cluster = NAN, .spread = NAN};
        step->place.policy = packed && edp->choice != PLACE_NO_CHOICE ? WIRE_POLICY_DIO_POWER : by;
        step->place.adopted = false;
        step->place.decided = true;
    }
}

/* Puts everybody where one policy wants him: DIO-POWER with `cluster`, else DI. On failure, and
 * where a memory policy is in the way, the pool is as before. */
static int stand_by(const struct scene *scene, struct units *units, bool cluster,
                    struct berth_error *err)
{
    const struct packer *packer = scene->packer;
    struct pool *pool = scene->pool;

    if ((cluster ? policy_cluster(scene, units, err) : policy_spread(scene, units, err)) < 0)
        return -1;
    keep_equals(packer, pool, units);
    if (!keep_bound(packer, units))
        return 0;
    keep_cores(packer, pool, units);
    if (pool_assign(pool, units->total, units->from, units->to) < 0)
        return berth_error_set(err, "place: %s", strerror(errno));
    return 0;
}

/* Chooses the one with the smaller energy-delay product; where power is not known, the paper's
 * answer: to cluster as far as devils allow. */
static void compare_edp(const struct scene *cluster, const struct scene *spread,
                        struct step_edp *edp)
{
    const char *source = node_power_source(cluster->packer);

    edp->choice = PLACE_CLUSTERED;
    if (!source)
        return;
    edp->cluster = forecast_edp(cluster);
    edp->spread = forecast_edp(spread);
    if (isnan(edp->cluster) || isnan(edp->spread)) {
        edp->cluster = edp->spread = NAN;
        return;
    }
    edp->source = source;
    if (edp->cluster > edp->spread)
        edp->choice = PLACE_SPREAD;
}

/* Decides both ways, and takes the better one. */
static int decide_power(const struct scene *scene, struct units *units, struct step_edp *edp,
                        struct berth_error *err)
{
    struct pool *pool = scene->pool, pools[2] = {0};
    struct scene cluster = {scene->packer, &pools[0], scene->as_if};
    struct scene spread = {scene->packer, &pools[1], scene->as_if};
    int rc = -1;

    if (pool_copy(&pools[0], pool) < 0 || pool_copy(&pools[1], pool) < 0)
        berth_error_set(err, "place: out of memory");
    else if ((rc = stand_by(&spread, units, false, err)) == 0 &&
             (rc = stand_by(&cluster, units, true, err)) == 0) {
        compare_edp(&cluster, &spread, edp);
        memcpy(pool->stand, pools[edp->choice == PLACE_SPREAD].stand,
               pool->cores * sizeof(*pool->stand));
    }
    pool_free(&pools[0]);
    pool_free(&pools[1]);
    return rc;
}

/* Returns the policy that all steps ask for which the decision is for, else the site's. */
static enum wire_policy wanted(const struct scene *scene)
{
    enum wire_policy policy = WIRE_POLICIES;
    const struct step *step;

    TAILQ_FOREACH(step, &scene->packer->steps->live, link)
    {
        if (!stand_decides(scene, step) || step_is_shell(step))
            continue;
        if (policy != WIRE_POLICIES && policy != step->place.policy_asked)
            return scene->packer->world.conf.policy;
        policy = step->place.policy_asked;
    }
    return policy == WIRE_POLICIES ? scene->packer->world.conf.policy : policy;
}

enum wire_policy place_policy(const struct scene *scene)
{
    enum wire_policy policy = wanted(scene);

    return search_can(policy) && !forecast_known(scene->packer) ? WIRE_POLICY_DI : policy;
}

/* Puts everybody where a search finds a better place. */
static int stand_by_search(const struct scene *scene, const struct place_terms *terms,
                           enum wire_policy policy, struct units *units, struct berth_error *err)
{
    if (search_units(scene, terms, policy, units, err) < 0)
        return -1;
    if (pool_assign(scene->pool, units->total, units->from, units->to) < 0)
        return berth_error_set(err, "place: %s", strerror(errno));
    return 0;
}

/* Who is to be isolated takes precedence over saving energy. *by receives the policy. */
static int decide_units(const struct scene *scene, const struct place_terms *terms,
                        struct units *units, struct step_edp *edp, enum wire_policy *by,
                        struct berth_error *err)
{
    *by = place_policy(scene);
    if (units->total == 0)
        return 0;
    near_settle(scene, terms, units);
    if (terms && terms->fresh && terms->fresh->near.holds)
        return 0; /* no policy places it, and nobody else came */
    if (terms && terms->others_stay)
        return stand_by_search(scene, terms, search_can(*by) ? *by : WIRE_POLICY_MISSRATE, units,
                               err);
    if (search_can(*by) && !units_pack(units))
        return stand_by_search(scene, terms, *by, units, err);
    *by = WIRE_POLICY_DI;
    if (units_pack(units) && !units_isolate(units))
        return decide_power(scene, units, edp, err);
    edp->choice = PLACE_SPREAD;
    return stand_by(scene, units, false, err);
}

/* Decides about the cores of one kind. */
static int decide_kind(const struct scene *scene, const struct place_terms *terms, size_t kind,
                       const struct pool *before, struct berth_error *err)
{
    struct step_edp edp = {.cluster = NAN, .spread = NAN};
    enum wire_policy by;
    struct units units;
    int rc;

    if (units_collect(scene, NULL, kind, &units) < 0)
        return berth_error_set(err, "place: out of memory");
    rc = decide_units(scene, terms, &units, &edp, &by, err);
    if (rc == 0 && units.total > 0)
        near_settle(scene, terms, &units); /* the policy may have made a place */
    if (rc == 0)
        rc = siblings_settle(scene, terms, by, &units, before, err);
    if (rc == 0 && !(terms && terms->others_stay)) { /* the decision for all has told already */
        units_rank(&units);
        tell_ranks(scene, &units, &edp, by);
    }
    units_free(&units);
    return rc;
}

int place_decide(const struct scene *scene, const struct place_terms *terms,
                 struct berth_error *err)
{
    struct pool before;
    int rc = 0;

    if (pool_copy(&before, scene->pool) < 0)
        return berth_no_memory(err);
    forecast_update(scene->packer);
    for (size_t kind = 0; rc == 0 && kind < scene->packer->world.topo->kinds; kind++)
        rc = decide_kind(scene, terms, kind, &before, err);
    pool_free(&before);
    return rc;
}

/* ---- the first look ---- */

/* Was a step promised something that its neighbours could break, or has devices? */
static bool is_promised(const struct step *step)
{
    return step->request.options.isolate || !isnan(step->place.max_slowdown) || step->near.holds;
}

bool place_looks(const struct scene *scene)
{
    const struct packer *packer = scene->packer;
    const struct step *step;

    if (packer->world.conf.replace == CONF_OFF)
        return false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (is_promised(step) || step->place.policy_asked == WIRE_POLICY_DIO_POWER)
        return false;
    forecast_update(packer);
    return search_can(place_policy(scene));
}

int place_look(const struct scene *scene, struct step *fresh, double horizon_s,
               struct berth_error *err)
{
    const struct place_terms terms = {.fresh = fresh, .horizon_s = horizon_s, .others_stay = true};
    struct pool before;
    int rc = 0;

    if (pool_copy(&before, scene->pool) < 0)
        return berth_no_memory(err);
    fresh->place.policy = place_policy(scene);
    for (size_t kind = 0; rc == 0 && kind < scene->packer->world.topo->kinds; kind++) {
        struct units units;

        rc = units_collect(scene, fresh, kind, &units);
        if (rc < 0) {
            berth_no_memory(err);
            break;
        }
        if (units.total > 0)
            rc = stand_by_search(scene, &terms, fresh->place.policy, &units, err);
        if (rc == 0)
            rc = siblings_settle(scene, &terms, fresh->place.policy, &units, &before, err);
        units_free(&units);
    }
    pool_free(&before);
    return rc;
}

/* ---- what is expected of it ---- */

/* Does the step share its memory node with nobody, and so nothing is predicted (forecast_steps)? */
static bool is_lonely(const double *slowdown, const struct step *step)
{
    return slowdown && isnan(step->place.predicted) && step->slot != FORECAST_IDLE;
}

void place_predict(const struct packer *packer)
{
    struct pool pool = *packer->pool;
    struct scene scene = {packer, &pool, false};
    double *slowdown = forecast_update(packer) ? forecast_steps(&scene) : NULL;
    struct step *step;
    size_t i = 0;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        step->place.predicted = slowdown ? slowdown[i++] : NAN;
        step->place.confidence =
            isnan(step->place.predicted) ? NAN : forecast_confidence(packer, step);
        step->place.met =
            is_lonely(slowdown, step) || step->place.predicted <= step->place.max_slowdown;
    }
    free(slowdown);
}

/* ---- the stages ---- */

static void ask_policy(const struct packer *packer, struct step *step)
{
    place_begin(packer, step);
}

static void adopt_place(const struct packer *packer, struct step *step)
{
    place_begin(packer, step);
    place_describe(packer, packer->pool, step);
    place_adopt(step);
}

const struct stage place_stage = {.name = "place", .begin = ask_policy, .adopt = adopt_place};

/* What is expected of the steps; and for the ledger, what they suffer from now on. */
static void predict_turn(const struct packer *packer, struct turn *turn)
{
    if (turn->steps_changed || turn->places)
        place_predict(packer);
    if (packer->state->ledger && (turn->rates_changed || turn->steps_changed))
        forecast_slowdowns(packer);
}

const struct stage predict_stage = {.name = "predict", .turn = predict_turn};
