/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regret - see regret.h */
#include "packer/enact/regret.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/enact/rearrange.h"
#include "packer/observe/window.h"
#include "packer/place/threads.h"
#include "packer/steps/step_counts.h"

void regret_forget(struct regret *watch)
{
    if (!watch->id)
        return;
    pool_free(&watch->before);
    pool_free(&watch->after);
    free(watch->step);
    memset(watch, 0, sizeof(*watch));
}

static void speed_of(const struct step *step, double *speed, double *error)
{
    if (!step_counts_rate(step, RATE_CORE_SPEED, speed, error))
        *speed = *error = NAN;
}

static double clock_of(const struct step *step)
{
    double ghz, error;

    return step_counts_rate(step, RATE_CLOCK, &ghz, &error) ? ghz : NAN;
}

/* Takes out of a speed what the clock of its packages has made of it since, whoever changed that:
 * no other cache mends it. */
static void at_clock_of(const struct step *step, const struct regret_step *watched,
                        struct dio_speed *speed)
{
    double factor = step_counts_at_clock(step, watched->clock_ghz);

    speed->after *= factor;
    speed->after_error *= factor;
}

/* Collects the packages on which the step stands under the scene's permutation. */
static void packages_of(const struct scene *scene, const struct step *step, struct cpus *packages)
{
    const struct topo *topo = scene->packer->world.topo;
    struct cpus cpus = step->body.step_home, cores;

    if (stand_movable(scene, step))
        weigh_image(scene->packer, scene->pool, step, &cpus);
    topo_cores_of(topo, &cpus, &cores);
    cpus_zero(packages);
    cpus_foreach(core, &cores) cpus_add(packages, topo->core[core].package);
}

static bool keeps_packages(const struct scene *now, const struct scene *next,
                           const struct step *step)
{
    struct cpus before, after;

    packages_of(now, step, &before);
    packages_of(next, step, &after);
    return cpus_equal(&before, &after);
}

/* Misses, and accesses that hit, per million instructions. */
static void misses_of(const struct step *step, double *misses, double *misses_error, double *hits)
{
    double accesses, error;

    if (!step_counts_rate(step, RATE_MISS_PMI, misses, misses_error))
        *misses = *misses_error = NAN;
    *hits = step_counts_rate(step, RATE_ACCESS_PMI, &accesses, &error) ? accesses - *misses : NAN;
}

/* Adds the CPUs of the caches on which the step stands under the scene's permutation. */
static void add_caches(const struct scene *scene, const struct step *step, struct cpus *caches)
{
    const struct topo *topo = scene->packer->world.topo;
    struct cpus cpus = step->body.step_home;

    if (stand_movable(scene, step))
        weigh_image(scene->packer, scene->pool, step, &cpus);
    for (size_t i = 0; i < topo->llcs; i++)
        if (cpus_intersect(&topo->llc[i].cpus, &cpus))
            cpus_or(caches, &topo->llc[i].cpus);
}

/* Finds the caches that steps leave or come to. */
static void concerned_caches(const struct scene *now, const struct scene *next, struct cpus *caches)
{
    const struct step *step;

    cpus_zero(caches);
    TAILQ_FOREACH(step, &now->packer->steps->live, link)
    if (weigh_moves(now, next, step)) {
        add_caches(now, step, caches);
        add_caches(next, step, caches);
    }
}

/* Notes how fast everybody is on the caches concerned. */
static void watch_steps(const struct scene *now, const struct scene *next, struct regret *watch)
{
    const struct step *step;
    struct cpus caches;

    concerned_caches(now, next, &caches);
    TAILQ_FOREACH(step, &now->packer->steps->live, link)
    {
        struct regret_step *watched = &watch->step[watch->n];
        struct cpus on;

        cpus_zero(&on);
        add_caches(now, step, &on);
        if (step_is_shell(step) || !cpus_intersect(&on, &caches))
            continue;
        watched->id = step->request.id;
        watched->moved = weigh_moves(now, next, step);
        speed_of(step, &watched->before, &watched->before_error);
        watched->clock_ghz = keeps_packages(now, next, step) ? clock_of(step) : NAN;
        misses_of(step, &watched->misses, &watched->misses_error, &watched->hits);
        watched->far = threads_apart_now(now, step);
        watched->far_after = threads_apart_now(next, step);
        watch->n++;
    }
}

void regret_watch(const struct packer *packer, struct regret *watch, struct pool *next, uint64_t id,
                  const struct weighed *weighed)
{
    struct scene now = {packer, packer->state->pool, false}, then = {packer, next, false};

    regret_forget(watch);
    watch->step = calloc(packer->steps->nlive + 1, sizeof(*watch->step));
    if (!watch->step || pool_copy(&watch->before, packer->pool) < 0)
        goto no_memory;
    if (pool_copy(&watch->after, next) < 0) {
        pool_free(&watch->before);
        goto no_memory;
    }
    watch->id = id;
    watch->worth = weighed->worth;
    watch_steps(&now, &then, watch);
    return;
no_memory:
    free(watch->step);
    watch->step = NULL;
}

/* Fills in what a step on the caches concerned says now. Returns -1: it is too early to tell; 0:
 * nothing (it ended, nobody counts its speed, its memory is on its way); 1. */
static int speed_after(const struct packer *packer, const struct regret_step *watched,
                       struct dio_speed *speed)
{
    const struct step *step = registry_find(packer->steps, watched->id);

    if (!step || !step->counts || !(watched->before > 0) || step_counts_far(step))
        return 0; /* what far memory costs is over when it has followed */
    if (step->counts->phase.rate[RATE_CORE_SPEED].n < REGRET_WINDOWS)
        return -1;
    *speed = (struct dio_speed){.before = watched->before,
                                .before_error = watched->before_error,
                                .cores = (double)step->size.given};
    speed_of(step, &speed->after, &speed->after_error);
    at_clock_of(step, watched, speed);
    return !isnan(speed->after);
}

/* What a step misses now, against before its threads came together or apart. */
static void compare_standings(const struct step *step, const struct regret_step *was,
                              struct threads_seen *seen)
{
    bool apart = was->far < was->far_after;
    double misses, error, hits;

    misses_of(step, &misses, &error, &hits);
    *seen = (struct threads_seen){
        .near = fmin(was->far, was->far_after),
        .far = fmax(was->far, was->far_after),
        .near_misses = apart ? was->misses : misses,
        .far_misses = apart ? misses : was->misses,
        .error = hypot(error, was->misses_error),
        .near_hits = apart ? was->hits : hits,
    };
}

/* What the steps' threads lose when they are apart is seen in their misses before and after. */
static void learn_threads(const struct packer *packer, const struct regret *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        const struct regret_step *was = &watch->step[i];
        const struct step *step = registry_find(packer->steps, was->id);
        struct threads_seen seen;

        if (!step || was->far == was->far_after)
            continue;
        compare_standings(step, was, &seen);
        threads_learn(packer, step, &seen);
    }
}

/* Threads that were spread by a move which is regretted, and were slower, stay whole. */
static void regret_threads(const struct packer *packer, const struct regret *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        const struct step *step = registry_find(packer->steps, watch->step[i].id);
        double speed, error;

        if (!step || watch->step[i].far_after <= watch->step[i].far)
            continue;
        speed_of(step, &speed, &error);
        if (speed < watch->step[i].before)
            threads_regret(packer, step);
    }
}

/* Puts the permutation back, if the pool is still the one that was changed. */
static void undo(const struct packer *packer, const struct regret *watch)
{
    struct berth_error err;
    struct pool back;

    if (!pool_same(packer->pool, &watch->after) || pool_copy(&back, &watch->before) < 0)
        return;
    for (size_t i = 0; i < watch->n; i++) {
        struct step *step = registry_find(packer->steps, watch->step[i].id);

        if (step && watch->step[i].moved)
            snprintf(step->replace.verdict, sizeof(step->replace.verdict),
                     "put back: slower after the move");
    }
    if (rearrange_as(packer, &back, 0, &err) < 0)
        log_error("%s", err.text);
}

/* Lists what is known of their speeds. Returns how many, and in `speed` an array for the caller to
 * free; -1: it is too early to tell, or there is no memory. */
static long speeds_of(const struct packer *packer, const struct regret *watch,
                      struct dio_speed **speed)
{
    long n = 0;

    *speed = calloc(watch->n + 1, sizeof(**speed));
    for (size_t i = 0; *speed && i < watch->n; i++) {
        int known = speed_after(packer, &watch->step[i], &(*speed)[n]);

        if (known < 0)
            return -1;
        n += known;
    }
    return *speed ? n : -1;
}

uint64_t regret_judge(const struct packer *packer, struct regret *watch,
                      const struct dio_rules *rules)
{
    struct dio_speed *speed = NULL;
    uint64_t regretted = 0;
    long n;

    if (watch->id && !pool_same(packer->pool, &watch->after))
        regret_forget(watch); /* steps have come or gone: it cannot be undone */
    if (!watch->id)
        return 0;
    n = speeds_of(packer, watch, &speed);
    if (n >= 0) {
        learn_threads(packer, watch);
        regretted = dio_regrets(rules, watch->worth, (size_t)n, speed) ? watch->id : 0;
    }
    if (regretted) {
        log_info("a move made steps slower: put back");
        regret_threads(packer, watch);
        undo(packer, watch);
    }
    if (n >= 0 || !speed)
        regret_forget(watch);
    free(speed);
    return regretted;
}

void regret_begin_anew(const struct packer *packer, const struct regret *watch)
{
    for (size_t i = 0; i < watch->n; i++) {
        struct step *step = registry_find(packer->steps, watch->step[i].id);

        if (step)
            window_moved(step);
    }
}
