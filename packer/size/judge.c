/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size_judge - see size/judge.h */
#include "packer/size/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "models/online/verdict.h"
#include "packer/base/log.h"
#include "packer/size/sizing.h"
#include "packer/size/size_impl.h"
#include "packer/steps/journal.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

struct size_judge {
    struct verdict verdict;
    uint64_t windows; /* of its, taken in so far */
    uint64_t use;     /* hash of what its tasks used when the last of them ended */
};

/* ---- a window ---- */

/* A number for what its tasks use, and for the profiling runs that it has seen. */
static uint64_t hash_use(const struct step *step)
{
    uint64_t hash = 2 * (uint64_t)step->size.loop.profiles + !cpus_empty(&step->size.loop.only);

    for (size_t i = 0; i < step->body.ntasks; i++)
        hash = XXH3_64bits_withSeed(&step->body.task[i].use, sizeof(struct cpus), hash);
    return hash;
}

static bool uses_all(const struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (!cpus_equal(&step->body.task[i].use, &step->body.task[i].home))
            return false;
    return true;
}

/* A number for the other steps of the node: all of them share its memories, near or far. */
static uint64_t hash_others(const struct packer *packer, const struct step *step)
{
    const struct step *other;
    uint64_t hash = 0;

    TAILQ_FOREACH(other, &packer->steps->live, link)
    if (other != step && !step_is_shell(other))
        hash = XXH3_64bits_withSeed(&other->serial, sizeof(other->serial), hash);
    return hash;
}

/* Takes in the window that has ended, unless its cores have changed in it. Returns whether it says
 * something. */
static bool take_window(const struct packer *packer, struct step *step, struct size_judge *run)
{
    const struct last_window *last = &step->counts->window;
    uint64_t use = hash_use(step), before = run->use;

    if (step->counts->windows == run->windows)
        return false;
    run->windows = step->counts->windows;
    run->use = use;
    if (use != before) {
        verdict_resized(&run->verdict);
        return false;
    }
    verdict_window(&run->verdict,
                   &(struct verdict_window){.seconds = last->seconds,
                                            .instructions = 1e6 * last->x[SOLO_MISSES],
                                            .misses = last->y[SOLO_MISSES],
                                            .bytes = last->bytes,
                                            .who = hash_others(packer, step)},
                   !uses_all(step));
    return true;
}

/* What it gave up until now. */
static void count_freed(struct step *step, double now_s)
{
    struct step_verdict *verdict = &step->size.verdict;

    if (verdict->counted_s > 0)
        verdict->freed_core_s += (now_s - verdict->counted_s) * (double)verdict->freed;
    verdict->counted_s = now_s;
    verdict->freed = step->size.cores - step->size.given;
}

/* ---- what is remembered ---- */

/* Whose refusals are meant; 0: nobody knows the program. */
static uint64_t owner_of(const struct packer *packer, const struct step *step)
{
    return step->program == PROGRAM_NONE ? 0 : packer->steps->programs.program[step->program].born;
}

static void remember(const struct packer *packer, const struct step *step,
                     const struct opticore_signature *look)
{
    struct size_refusal *at = packer->state->size->refusal;

    for (size_t i = 1; i < SIZE_REFUSALS; i++)
        if (packer->state->size->refusal[i].until_s < at->until_s)
            at = &packer->state->size->refusal[i];
    *at = (struct size_refusal){.owner = owner_of(packer, step),
                                .serial = step->serial,
                                .look = *look,
                                .until_s = clock_s() + SIZE_JUDGE_REST_S};
}

/* Says whether the program lost more lately in that phase (NULL: in any). */
static bool is_refused(const struct packer *packer, const struct step *step,
                       const struct opticore_signature *look)
{
    uint64_t owner = owner_of(packer, step);
    double now_s = clock_s();

    for (size_t i = 0; i < SIZE_REFUSALS; i++) {
        const struct size_refusal *refusal = &packer->state->size->refusal[i];

        if (refusal->until_s > now_s &&
            (refusal->serial == step->serial || (owner && refusal->owner == owner)) &&
            (!look || opticore_alike(&refusal->look, look)))
            return true;
    }
    return false;
}

/* ---- too much was lost ---- */

/* Gives it all its cores; where that cannot be written down, they stay as they are. */
static bool undo(const struct packer *packer, struct step *step)
{
    struct step_verdict *verdict = &step->size.verdict;
    double asked = wire_size_loss(&step->request.options);
    struct step_size was = step->size;
    struct berth_error err;

    if (sizing_undo(packer, step, &err) < 0) {
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
        return false;
    }
    snprintf(step->size.reason, sizeof(step->size.reason),
             "all cores back: on %zu of them it was %.1f %% slower (+- %.1f), more than %.3g %%",
             was.given, 100 * verdict->measured, 100 * verdict->error, 100 * asked);
    step->size.others[0] = '\0';
    verdict->undone++;
    verdict->refused = true;
    log_info("step %u.%u: %s", step->request.id.job, step->request.id.step, step->size.reason);
    return true;
}

static bool judge(const struct packer *packer, struct step *step, struct size_judge *run)
{
    struct step_verdict *verdict = &step->size.verdict;
    struct opticore_signature look = verdict_signature(&run->verdict);
    double error, loss = verdict_loss(&run->verdict, &error);

    verdict->refused = is_refused(packer, step, &look);
    if (isnan(loss))
        return false;
    verdict->measured = loss;
    verdict->error = error;
    if (uses_all(step) || !verdict_exceeds(&run->verdict, wire_size_loss(&step->request.options)))
        return false;
    if (!undo(packer, step))
        return false;
    remember(packer, step, &look);
    return true;
}

/* ---- an earlier run ---- */

struct profile_speed size_judge_speed(const struct step *step)
{
    struct profile_speed speed = {.cores = (uint32_t)step->size.cores};
    struct verdict_speed full = {0};

    if (step->size.verdict.run && step->size.threads == 0)
        full = verdict_speed(&step->size.verdict.run->verdict);
    if (!(full.windows > 0))
        return (struct profile_speed){0};
    snprintf(speed.shape, sizeof(speed.shape), "%s", step->request.shape);
    speed.instructions_per_s = full.instructions_per_s;
    speed.error = full.error;
    speed.windows = full.windows;
    speed.misses = full.look.rate[OPTICORE_MISSES];
    speed.bytes = full.look.rate[OPTICORE_BYTES];
    return speed;
}

static bool is_such_a_run(const struct packer *packer, const struct step *step,
                          const struct profile_demand *stored)
{
    return stored && stored->matrix && !stored->disturbed &&
           stored->speed.cores == step->size.cores &&
           strcmp(stored->machine, packer->world.machine_type) == 0 &&
           strcmp(stored->speed.shape, step->request.shape) == 0;
}

/* Asks the store how fast the program was on all its cores. */
static void recall(const struct packer *packer, const struct step *step, struct verdict_speed *told)
{
    struct profile_demand *stored = NULL;
    char key[PROFILE_KEY_MAX];
    struct berth_error err;

    program_key(step, key);
    if (key[0] &&
        profiles_get_demand(packer->state->profiles, step->request.uid, key, &stored, &err) == 1 &&
        is_such_a_run(packer, step, stored))
        *told = (struct verdict_speed){{{stored->speed.misses, stored->speed.bytes}, 0},
                                       stored->speed.instructions_per_s,
                                       stored->speed.error,
                                       stored->speed.windows};
    profile_demand_free(stored);
}

/* ---- the stage ---- */

static struct size_judge *follow(const struct packer *packer, struct step *step)
{
    struct step_verdict *verdict = &step->size.verdict;

    if (verdict->run || !(verdict->run = calloc(1, sizeof(*verdict->run))))
        return verdict->run;
    verdict->run->use = hash_use(step);
    if (!uses_all(step))
        recall(packer, step, &verdict->run->verdict.told);
    return verdict->run;
}

/* Takes in the windows that have just ended. Returns whether tasks have other cores to use than
 * they had: rearrange() makes it true. */
static bool size_judge_turn(const struct packer *packer, const struct windows *windows)
{
    double now_s = clock_s();
    bool changed = false;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        struct size_judge *run;

        if (!step->request.options.size || step->state != STEP_PLACED || step_is_shell(step) ||
            !windows_have(windows, step) || !(run = follow(packer, step)))
            continue;
        count_freed(step, now_s);
        if (take_window(packer, step, run) && judge(packer, step, run))
            changed = true;
    }
    return changed;
}

void size_judge_begin(const struct packer *packer, struct step *step)
{
    step->size.verdict.refused = is_refused(packer, step, NULL);
}

/* The step is over. */
static void size_judge_end(struct step *step)
{
    if (!step->size.verdict.run)
        return;
    count_freed(step, clock_s());
    free(step->size.verdict.run);
    step->size.verdict.run = NULL;
}

double size_judge_predicted(const struct step *step)
{
    return step->size.gbps_all > 0 ? 1 - step->size.gbps / step->size.gbps_all : NAN;
}

/* ---- the stage ---- */

static void judge_windows(const struct packer *packer, struct turn *turn)
{
    turn->places |= size_judge_turn(packer, &turn->windows);
}

static void end_verdict(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)packer, (void)end;
    size_judge_end(step);
}

static void undo_verdict(const struct packer *packer, struct step *step)
{
    end_verdict(packer, step, NULL);
}

static void close_verdicts(const struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) size_judge_end(step);
}

const struct stage judge_stage = {
    .name = "judge",
    .close = close_verdicts,
    .end = end_verdict,
    .undo = undo_verdict,
    .turn = judge_windows,
};
