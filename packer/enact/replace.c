/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace - see replace.h */
#include "packer/enact/replace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "models/online/dio.h"
#include "packer/enact/as_if.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/rearrange.h"
#include "packer/enact/regret.h"
#include "packer/enact/weigh.h"
#include "packer/place/forecast.h"
#include "packer/place/search.h"
#include "packer/steps/stage.h"
#include "enum_table.h"

/* A proposal that has to be agreed with, or waits: it is weighed again, not sought again. The next
 * search would find one that is as good and not the same, as long as counts have noise. */
struct candidate {
    bool kept;
    struct pool from, to;
};

struct replace {
    struct dio dio;
    struct regret watch;
    struct candidate candidate;
    bool rates, steps; /* have changed, since it was decided last */
    bool learnt;       /* slowdowns were measured since then */
    bool more;         /* steps were moved then: a search ends after a few changes */
    double decided_s;  /* when that was */
};

static struct replace *replace_open(void)
{
    return calloc(1, sizeof(struct replace));
}

static void candidate_drop(struct candidate *candidate)
{
    if (!candidate->kept)
        return;
    pool_free(&candidate->from);
    pool_free(&candidate->to);
    candidate->kept = false;
}

/* NULL when out of memory. */
static void replace_close(struct replace *replace)
{
    if (!replace)
        return;
    candidate_drop(&replace->candidate);
    regret_forget(&replace->watch);
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

/* ---- explain ---- */

static const char *const TABLE(verdict_text, DIO_VERDICTS) = {
    ROW(DIO_MOVE) = "moved",
    ROW(DIO_NO_GAIN) = "stays: the gain is not worth the cost",
    ROW(DIO_AGAIN) = "pays; done if the next decision agrees",
    ROW(DIO_LIMIT) = "waits: too many moves in this minute",
    ROW(DIO_BANNED) = "stays: this was tried, and was slower",
};
TABLE_COMPLETE(verdict_text);

/* Why a proposal is not worth its cost, in words. */
static const char *text_of(enum dio_verdict verdict, double gain)
{
    if (verdict == DIO_NO_GAIN && isnan(gain))
        return "stays: the gain is not known";
    return verdict_text[verdict];
}

/* Tells every step that the proposal moves. */
static void tell_verdict(const struct scene *next, const struct weighed *weighed,
                         const char *verdict)
{
    const struct packer *packer = next->packer;
    struct pool pool = *packer->pool;
    struct scene now = {packer, &pool, next->as_if};
    struct cpus from, to;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!weigh_moves(&now, next, step))
            continue;
        step->replace.decisions++;
        step->replace.gain = weighed->gain;
        step->replace.cost_s = weighed->cost_s;
        step->replace.energy = weighed->energy;
        weigh_nodes(&now, next, step, &from, &to);
        step->replace.bytes = memory_bytes(step, &from, &to);
        weigh_image(packer, next->pool, step, &step->replace.cpus);
        snprintf(step->replace.verdict, sizeof(step->replace.verdict), "%s", verdict);
    }
}

/* ---- decisions ---- */

static uint64_t id_of(const struct pool *pool)
{
    return XXH3_64bits(pool->stand, pool->cores * sizeof(*pool->stand)) | 1;
}

static void carry_out(const struct packer *packer, struct pool *next, const struct weighed *weighed)
{
    struct scene scene = {packer, next, false};
    struct berth_error err;

    regret_watch(packer, &packer->state->replace->watch, next, id_of(next), weighed);
    tell_verdict(&scene, weighed, verdict_text[DIO_MOVE]);
    if (rearrange_as(packer, next, 0, &err) < 0) {
        log_error("%s", err.text);
        regret_forget(&packer->state->replace->watch);
        return;
    }
    regret_begin_anew(packer, &packer->state->replace->watch);
    if (weighed->owed) /* whatever it costs the others */
        regret_forget(&packer->state->replace->watch);
}

/* Returns on what terms a decision is made: no more moves at a time than are allowed in a minute,
 * but an exchange. */
static struct place_terms terms_of(const struct packer *packer)
{
    struct place_terms terms = weigh_terms(packer, NULL);

    terms.moves_max = packer->world.conf.replace_limit > 2 ? packer->world.conf.replace_limit : 2;
    return terms;
}

/* Keeps a proposal, and where everybody stands; for want of memory it is sought again. */
static void candidate_keep(const struct packer *packer, const struct pool *next)
{
    struct candidate *candidate = &packer->state->replace->candidate;

    candidate_drop(candidate);
    if (pool_copy(&candidate->from, packer->pool) < 0)
        return;
    if (pool_copy(&candidate->to, next) == 0)
        candidate->kept = true;
    else
        pool_free(&candidate->from);
}

/* Weighs the proposal that was kept, with what is known now: next is that then. Returns false where
 * there is none, or it does not pay any more. */
static bool weigh_again(const struct scene *now, const struct scene *next,
                        const struct place_terms *terms, struct weighed *weighed)
{
    const struct candidate *candidate = &now->packer->state->replace->candidate;

    if (!candidate->kept || !pool_same(&candidate->from, now->pool))
        return false;
    memcpy(next->pool->stand, candidate->to.stand,
           candidate->to.cores * sizeof(*candidate->to.stand));
    forecast_update(now->packer);
    weigh(now, next, terms, weighed);
    if (weigh_pays(weighed, terms->horizon_s))
        return true;
    memcpy(next->pool->stand, now->pool->stand, now->pool->cores * sizeof(*now->pool->stand));
    return false;
}

/* The policy decides anew; is it put into effect? */
static void decide(const struct packer *packer, const struct dio_rules *rules)
{
    struct dio *dio = &packer->state->replace->dio;
    struct place_terms terms = terms_of(packer);
    struct scene now = {packer, packer->state->pool, false};
    struct dio_proposal proposal;
    struct weighed weighed;
    struct berth_error err;
    enum dio_verdict verdict;
    struct pool next;
    struct scene scene = {packer, &next, false};

    if (pool_copy(&next, packer->pool) < 0)
        return;
    if (!weigh_again(&now, &scene, &terms, &weighed) &&
        (weigh_decide(&now, &scene, &terms, &weighed, &err) < 0 ||
         pool_same(&next, packer->pool))) {
        candidate_drop(&packer->state->replace->candidate);
        dio_content(dio);
        pool_free(&next);
        return;
    }
    packer->state->tally->decisions++;
    proposal = (struct dio_proposal){.id = id_of(&next),
                                     .gain = weighed.gain,
                                     .cost_s = weighed.cost_s,
                                     .moves = weighed.moves,
                                     .owed = weighed.owed};
    verdict = dio_decide(dio, rules, clock_s(), &proposal);
    if (verdict == DIO_AGAIN || verdict == DIO_LIMIT)
        candidate_keep(packer, &next);
    else
        candidate_drop(&packer->state->replace->candidate);
    if (verdict == DIO_MOVE) {
        carry_out(packer, &next, &weighed);
        packer->state->replace->more = true;
        return;
    }
    tell_verdict(&scene, &weighed, text_of(verdict, weighed.gain));
    pool_free(&next);
}

static bool any_begins(const struct packer *packer)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step_begins(step, clock_s()) && step_may_move(step))
        return true;
    return false;
}

/* Those who have come have had a first look only (place_look): others move for them now, if that
 * pays. It is not to be regretted: nobody knows how fast they were before. */
static void decide_newcomers(const struct packer *packer)
{
    struct place_terms terms = weigh_terms(packer, NULL);
    struct scene now = {packer, packer->state->pool, false};
    struct weighed weighed;
    struct berth_error err;
    struct pool next;
    struct scene scene = {packer, &next, false};

    terms.newcomers = true;
    if (!any_begins(packer) || !search_can(place_policy(&now)) ||
        pool_copy(&next, packer->pool) < 0)
        return;
    if (weigh_decide(&now, &scene, &terms, &weighed, &err) < 0 || pool_same(&next, packer->pool) ||
        !weigh_pays(&weighed, terms.horizon_s)) {
        pool_free(&next);
        return;
    }
    packer->state->tally->decisions++;
    tell_verdict(&scene, &weighed, verdict_text[DIO_MOVE]);
    if (rearrange_as(packer, &next, 0, &err) < 0)
        log_error("%s", err.text);
}

/* What would be done with steps that are only observed: it is done on the node as it would be. */
static void decide_as_if(const struct packer *packer, const struct dio_rules *rules)
{
    struct place_terms terms = terms_of(packer);
    struct weighed weighed;
    struct berth_error err;
    struct pool next;
    struct scene scene = {packer, &next, true}, now = {packer, packer->state->as_if, true};
    bool pays;

    if (!as_if_sync(packer) || pool_copy(&next, packer->state->as_if) < 0)
        return;
    if (weigh_decide(&now, &scene, &terms, &weighed, &err) < 0 ||
        pool_same(&next, packer->state->as_if)) {
        pool_free(&next);
        return;
    }
    pays = weigh_pays(&weighed, rules->horizon_s);
    tell_verdict(&scene, &weighed,
                 pays ? "would be moved; only observed"
                      : "would stay: the gain is not worth the cost");
    if (pays)
        as_if_stand(packer, &next);
    else
        pool_free(&next);
}

/* Slowdowns were measured: what is predicted has changed. */
static void replace_learnt(const struct packer *packer)
{
    if (packer->state->replace)
        packer->state->replace->learnt = true;
}

/* Whether anything has changed that a decision could turn on. */
static bool is_due(const struct replace *replace)
{
    return replace->rates || replace->steps || replace->more ||
           (replace->learnt && clock_s() - replace->decided_s >= REPLACE_LEARNT_S);
}

/* Considers whether running steps are to be moved, where since the last turn a step's rate has
 * changed, or steps have come or gone. What only rates say has to be said twice in a row. */
static void replace_turn(const struct packer *packer, bool rates_changed, bool steps_changed)
{
    struct dio_rules rules = rules_of(&packer->world.conf);
    struct replace *replace = packer->state->replace;
    uint64_t undone;
    bool changed;

    if (!replace || packer->world.conf.replace == CONF_OFF)
        return;
    replace->rates |= rates_changed;
    replace->steps |= steps_changed;
    if (steps_changed)
        decide_newcomers(packer);
    undone = regret_judge(packer, &replace->watch, &rules);
    if (undone) {
        dio_forbid(&replace->dio, &rules, clock_s(), undone);
        replace->more = false;
    }
    if (replace->watch.id) /* the last move is not judged yet */
        return;
    if (replace->steps) { /* which is no noise: nothing has to be seen twice */
        rules.agreements = 1;
        candidate_drop(&replace->candidate);
    }
    changed = is_due(replace);
    if (changed) {
        replace->rates = replace->steps = replace->learnt = replace->more = false;
        replace->decided_s = clock_s();
    }
    if (changed || replace->dio.agreed)
        decide(packer, &rules);
    if (changed)
        decide_as_if(packer, &rules);
}

/* ---- the stage ---- */

static int open_replace(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    packer->state->replace = replace_open(); /* NULL: no running step is moved for another's sake */
    return 0;
}

static void close_replace(const struct packer *packer)
{
    replace_close(packer->state->replace);
}

static void consider_turn(const struct packer *packer, struct turn *turn)
{
    if (turn->learnt)
        replace_learnt(packer);
    replace_turn(packer, turn->rates_changed, turn->steps_changed);
}

const struct stage replace_stage = {
    .name = "replace",
    .open = open_replace,
    .close = close_replace,
    .turn = consider_turn,
};
