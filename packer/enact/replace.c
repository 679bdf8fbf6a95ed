/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace - see replace.h */
#include "packer/enact/replace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "models/online/dio.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/rearrange.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/isolation.h"
#include "packer/place/place.h"
#include "packer/steps/step_counts.h"

/* A step that was moved, and how fast it was. */
struct moved {
    struct wire_step_id id;
    double before, before_error; /* instructions per CPU second */
};

/* The last move, until it is judged. */
struct watch {
    uint64_t id;        /* of the proposal; 0: nothing is watched */
    double worth;       /* the speed at which it still pays, of that before */
    struct pool before; /* the permutation that it replaced */
    struct pool after;
    size_t n;
    struct moved *moved; /* [n] */
};

/* What is proposed, and by what it is judged: work, or energy times time. */
struct proposal {
    struct dio_proposal dio;
    bool energy;
    double worth; /* see struct watch; 1 by work */
};

struct replace {
    struct dio dio;
    struct watch watch;
};

struct replace *replace_open(void)
{
    return calloc(1, sizeof(struct replace));
}

static void watch_end(struct watch *watch)
{
    if (!watch->id)
        return;
    pool_free(&watch->before);
    pool_free(&watch->after);
    free(watch->moved);
    memset(watch, 0, sizeof(*watch));
}

void replace_close(struct replace *replace)
{
    if (!replace)
        return;
    watch_end(&replace->watch);
    free(replace);
}

static struct dio_rules rules_of(const struct conf *conf)
{
    return (struct dio_rules){.horizon_s = (double)conf->replace_horizon_ms / 1000,
                              .agreements = 2,
                              .moves_per_minute = (unsigned)conf->replace_limit,
                              .regret = conf->regret,
                              .ban_s = (double)conf->regret_ms / 1000};
}

static bool same_pool(const struct pool *a, const struct pool *b)
{
    return a->cores == b->cores && memcmp(a->stand, b->stand, a->cores * sizeof(*a->stand)) == 0;
}

/* ---- what a proposal would change ---- */

static void image_of(const struct packer *packer, const struct pool *pool, const struct step *step,
                     struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct cpus image;

        stand_image(packer, pool, &step->body.task[i].use, &image);
        cpus_or(cpus, &image);
    }
}

/* Would the step stand elsewhere? A task that only changes cores inside the step does, too. */
static bool is_moved(const struct packer *packer, const struct pool *next, const struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct cpus now, then;

        stand_image(packer, &packer->pool, &step->body.task[i].use, &now);
        stand_image(packer, next, &step->body.task[i].use, &then);
        if (!cpus_equal(&now, &then))
            return true;
    }
    return false;
}

/* Does the proposal move a step that it is for? */
static bool moves(const struct scene *next, const struct step *step)
{
    return stand_decides(next, step) && is_moved(next->packer, next->pool, step);
}

/* The NUMA nodes of where it stands under the two permutations. */
static void nodes_of(const struct packer *packer, const struct pool *next, const struct step *step,
                     struct cpus *now, struct cpus *then)
{
    struct cpus cpus;

    image_of(packer, &packer->pool, step, &cpus);
    topo_nodes_of(packer->topo, &cpus, now);
    image_of(packer, next, step, &cpus);
    topo_nodes_of(packer->topo, &cpus, then);
}

/* Bytes resident when it was read last; 0: nobody counts them. */
static double resident(const struct step *step)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;

    return last && counters_know(last, COUNTER_RSS_BYTES) ? last->value[COUNTER_RSS_BYTES] : 0;
}

/* What it costs that the step's memory follows, and what is lost if it does not pay to: far pages.
 */
static double memory_cost(const struct packer *packer, const struct pool *next,
                          const struct step *step, double horizon_s)
{
    struct page_move_price price;
    struct cpus now, then;

    nodes_of(packer, next, step, &now, &then);
    if (cpus_subset(&now, &then))
        return 0;
    price = memory_price(packer, step, &now, &then);
    if (isnan(price.lost)) /* not known where its memory lies: all of it, if that much is known */
        return resident(step) / PAGE_MOVE_COPY_BYTES_S;
    if (isnan(price.gain)) /* what far pages cost is not known */
        return price.lost;
    return fmin(price.lost, price.gain * horizon_s);
}

/* Core-seconds that the proposal costs, and how many steps it moves. */
static void add_price(const struct scene *next, struct dio_proposal *proposal)
{
    const struct packer *packer = next->packer;
    double horizon_s = (double)packer->conf.replace_horizon_ms / 1000;
    const struct step *step;
    struct cpus cpus;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (!moves(next, step))
            continue;
        image_of(packer, next->pool, step, &cpus);
        proposal->moves++;
        proposal->cost_s += REPLACE_COLD_S * (double)cpus_count(&cpus);
        proposal->cost_s += memory_cost(packer, next->pool, step, horizon_s);
    }
}

/* ---- explain ---- */

static const char *const verdict_text[DIO_VERDICTS] = {
    [DIO_MOVE] = "moved",
    [DIO_NO_GAIN] = "stays: the gain is not worth the cost",
    [DIO_AGAIN] = "pays; done if the next decision agrees",
    [DIO_LIMIT] = "waits: too many moves in this minute",
    [DIO_BANNED] = "stays: this was tried, and was slower",
};

/* Why a proposal is not worth its cost, in words. */
static const char *text_of(enum dio_verdict verdict, const struct dio_proposal *proposal)
{
    if (verdict == DIO_NO_GAIN && isnan(proposal->gain))
        return "stays: the gain is not known";
    return verdict_text[verdict];
}

/* Tells every step that the proposal moves. */
static void tell_verdict(const struct scene *next, const struct proposal *proposal,
                         const char *verdict)
{
    const struct packer *packer = next->packer;
    struct cpus now, then;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (!moves(next, step))
            continue;
        step->replace.decisions++;
        step->replace.gain = proposal->dio.gain;
        step->replace.cost_s = proposal->dio.cost_s;
        step->replace.energy = proposal->energy;
        nodes_of(packer, next->pool, step, &now, &then);
        step->replace.bytes = memory_bytes(step, &now, &then);
        image_of(packer, next->pool, step, &step->replace.cpus);
        snprintf(step->replace.verdict, sizeof(step->replace.verdict), "%s", verdict);
    }
}

/* ---- regret ---- */

static void speed_of(const struct step *step, double *speed, double *error)
{
    if (!step_counts_rate(step, RATE_CORE_SPEED, speed, error))
        *speed = *error = NAN;
}

/* Remember what is replaced and how fast everybody was; their averages begin anew. */
static void watch_begin(struct packer *packer, const struct pool *next,
                        const struct proposal *proposal)
{
    struct watch *watch = &packer->replace->watch;
    struct step *step;

    watch_end(watch);
    watch->moved = calloc(packer->steps.nlive + 1, sizeof(*watch->moved));
    if (!watch->moved || pool_copy(&watch->before, &packer->pool) < 0)
        goto no_memory;
    if (pool_copy(&watch->after, next) < 0) {
        pool_free(&watch->before);
        goto no_memory;
    }
    watch->id = proposal->dio.id;
    watch->worth = proposal->worth;
    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        struct moved *moved = &watch->moved[watch->n];

        if (!step_movable(step) || !is_moved(packer, next, step))
            continue;
        moved->id = step->request.id;
        speed_of(step, &moved->before, &moved->before_error);
        watch->n++;
    }
    return;
no_memory:
    free(watch->moved);
    watch->moved = NULL;
}

/* What a moved step says: -1 it is too early to tell, 0 nothing (it ended, nobody counts its
 * speed), 1 *ratio of its speed to what the move is worth, and whether it is slower than that by
 * more than chance. */
static int judge(const struct packer *packer, const struct dio_rules *rules,
                 const struct moved *moved, double worth, double *ratio, bool *slower)
{
    const struct step *step = registry_find(&packer->steps, moved->id);
    double after, error;

    if (!step || !step->counts || isnan(moved->before))
        return 0;
    if (step->counts->phase.rate[RATE_CORE_SPEED].n < REPLACE_WINDOWS)
        return -1;
    speed_of(step, &after, &error);
    *ratio = after / (worth * moved->before);
    *slower = dio_slower(rules, worth * moved->before, worth * moved->before_error, after, error);
    return 1;
}

/* Put the permutation back, if the pool is still the one that was changed. */
static void undo(struct packer *packer)
{
    struct watch *watch = &packer->replace->watch;
    struct berth_error err;
    struct pool back;

    if (!same_pool(&packer->pool, &watch->after) || pool_copy(&back, &watch->before) < 0)
        return;
    for (size_t i = 0; i < watch->n; i++) {
        struct step *step = registry_find(&packer->steps, watch->moved[i].id);

        if (step)
            snprintf(step->replace.verdict, sizeof(step->replace.verdict),
                     "put back: slower after the move");
    }
    if (rearrange_as(packer, &back, 0, &err) < 0)
        log_error("%s", err.text);
}

/* Judge the last move when all who were moved can be judged. */
static void check_regret(struct packer *packer, const struct dio_rules *rules)
{
    struct watch *watch = &packer->replace->watch;
    bool any = false, slower;
    double change = 0, ratio;

    if (!watch->id)
        return;
    for (size_t i = 0; i < watch->n; i++) {
        int known = judge(packer, rules, &watch->moved[i], watch->worth, &ratio, &slower);

        if (known < 0)
            return;
        if (known == 0)
            continue;
        any = any || slower;
        change += ratio - 1;
    }
    if (any && change < 0) {
        log_info("a move made steps slower: put back");
        dio_forbid(&packer->replace->dio, rules, clock_s(), watch->id);
        undo(packer);
    }
    watch_end(watch);
}

/* ---- decisions ---- */

static uint64_t id_of(const struct pool *pool)
{
    return XXH3_64bits(pool->stand, pool->cores * sizeof(*pool->stand)) | 1;
}

/* Steps that moved are told apart from before: their averages are of the new place. */
static void begin_anew(struct packer *packer)
{
    const struct watch *watch = &packer->replace->watch;

    for (size_t i = 0; i < watch->n; i++) {
        struct step *step = registry_find(&packer->steps, watch->moved[i].id);

        if (step)
            window_moved(step);
    }
}

static void carry_out(struct packer *packer, struct pool *next, const struct proposal *proposal)
{
    struct scene scene = {packer, next, false};
    struct berth_error err;

    watch_begin(packer, next, proposal);
    tell_verdict(&scene, proposal, verdict_text[DIO_MOVE]);
    if (rearrange_as(packer, next, 0, &err) < 0) {
        log_error("%s", err.text);
        watch_end(&packer->replace->watch);
        return;
    }
    begin_anew(packer);
    if (proposal->dio.owed) /* whatever it costs the others */
        watch_end(&packer->replace->watch);
}

/* Would a step move that DIO-POWER places? */
static bool is_about_energy(const struct scene *next)
{
    const struct step *step;

    TAILQ_FOREACH(step, &next->packer->steps.live, link)
    if (step->place.policy == WIRE_POLICY_DIO_POWER && moves(next, step))
        return true;
    return false;
}

/* The gain in energy times time, as cores: by how much more work per second the present power would
 * give the product that the proposal has, power / work^2. Where power is not known it pays in any
 * case to do more work; whether it pays to do less, nobody can tell. */
static void weigh_energy(const struct scene *now, const struct scene *next, double work_now,
                         double work_next, struct proposal *proposal)
{
    double saved = forecast_watts(now) / forecast_watts(next);

    proposal->energy = isfinite(saved) && saved > 0;
    if (proposal->energy) {
        proposal->dio.gain = work_next * sqrt(saved) - work_now;
        proposal->worth = fmin(1, 1 / sqrt(saved));
    } else if (work_next <= work_now) {
        proposal->dio.gain = NAN;
    }
}

/* The proposal to go from where they stand to `next`; its gain is NAN where nobody can tell. */
static struct proposal propose(struct packer *packer, const struct scene *next)
{
    struct proposal proposal = {.dio = {.id = id_of(next->pool), .gain = NAN}, .worth = 1};
    struct scene now = {packer, &packer->pool, false};
    double work_now, work_next;

    forecast_update(packer);
    work_now = forecast_work(&now, NULL);
    work_next = forecast_work(next, NULL);
    proposal.dio.gain = work_next - work_now;
    if (is_about_energy(next))
        weigh_energy(&now, next, work_now, work_next, &proposal);
    proposal.dio.owed = !next->as_if && isolation_missing(packer, next->pool) <
                                            isolation_missing(packer, &packer->pool);
    add_price(next, &proposal.dio);
    return proposal;
}

/* The policy decides anew; is it put into effect? */
static void decide(struct packer *packer, const struct dio_rules *rules)
{
    struct dio *dio = &packer->replace->dio;
    struct proposal proposal;
    struct berth_error err;
    enum dio_verdict verdict;
    struct pool next;
    struct scene scene = {packer, &next, false};

    if (pool_copy(&next, &packer->pool) < 0)
        return;
    if (place_decide(&scene, &err) < 0 || same_pool(&next, &packer->pool)) {
        dio_content(dio);
        pool_free(&next);
        return;
    }
    proposal = propose(packer, &scene);
    packer->decisions++;
    verdict = dio_decide(dio, rules, clock_s(), &proposal.dio);
    if (verdict == DIO_MOVE) {
        carry_out(packer, &next, &proposal);
        return;
    }
    tell_verdict(&scene, &proposal, text_of(verdict, &proposal.dio));
    pool_free(&next);
}

static bool any_observed(const struct packer *packer)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step->state == STEP_OBSERVED)
        return true;
    return false;
}

/* What would be done with steps that are only observed. */
static void decide_as_if(struct packer *packer, const struct dio_rules *rules)
{
    struct proposal proposal;
    struct berth_error err;
    struct pool next;
    struct scene scene = {packer, &next, true};

    if (!any_observed(packer) || pool_copy(&next, &packer->pool) < 0)
        return;
    if (stand_sync(&scene) == 0 && place_decide(&scene, &err) == 0) {
        proposal = propose(packer, &scene);
        tell_verdict(&scene, &proposal,
                     proposal.dio.gain * rules->horizon_s > proposal.dio.cost_s
                         ? "would be moved; only observed"
                         : "would stay: the gain is not worth the cost");
    }
    pool_free(&next);
}

void replace_turn(struct packer *packer, bool changed)
{
    struct dio_rules rules = rules_of(&packer->conf);

    if (!packer->replace || packer->conf.replace == CONF_OFF)
        return;
    check_regret(packer, &rules);
    if (packer->replace->watch.id) /* the last move is not judged yet */
        return;
    if (changed || packer->replace->dio.agreed)
        decide(packer, &rules);
    if (changed)
        decide_as_if(packer, &rules);
}
