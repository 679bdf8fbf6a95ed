/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - see classify.h. The threshold is the paper's: at least 2000 misses per million
 * instructions make a devil (Blagodurov 2010, section 6). */
#include "packer/observe/classify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/observe/figures.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

static void take_distances(struct step_profile *known, const struct profile *distances)
{
    known->ways = distances->llc_ways;
    memcpy(known->hits, distances->hits, sizeof(known->hits));
    known->misses = distances->misses;
    if (isnan(known->accesses))
        known->accesses = distances->accesses;
}

/* Takes over the best that the store has of the program, and the stack distances beside it (NULL:
 * there are none), unless what was counted contradicts these. */
static void take_known(struct step_profile *known, const struct profile *best,
                       const struct profile *distances)
{
    known->known = true;
    known->reference = !best->co_run;
    known->counted = best->llc_ways == 0;
    known->miss_pmi = best->misses;
    known->solo_pmi = best->co_run ? NAN : best->misses;
    known->truncated = best->truncated;
    known->measured_at = best->measured_at;
    known->core_gbps = profile_core_gbps(best);
    known->accesses = best->accesses;
    known->ipc = best->co_run ? NAN : 1e6 / best->cycles;
    if (!isnan(known->core_gbps))
        known->instructions_per_s = best->instructions_per_s;
    known->clock_ghz = profile_clock_ghz(best);
    snprintf(known->source, sizeof(known->source), "%s", best->source);
    if (best->llc_ways) {
        take_distances(known, best);
    } else if (distances && !profile_contradicts(best, distances)) {
        take_distances(known, distances);
        if (isnan(known->solo_pmi))
            known->solo_pmi = distances->misses;
    }
}

/* Says what an answer of the store is worth: 1, or 0 after logging what is wrong. */
static bool is_found(int found, const char *name, const struct profile *profile,
                     const struct berth_error *err)
{
    if (found < 0)
        log_warn("profiles: %s", err->text);
    else if (found == 1 && !(isfinite(profile->misses) && profile->misses >= 0))
        log_warn("profiles: %.300s: no miss rate: %g", name, profile->misses);
    else
        return found == 1;
    return false;
}

void classify_profile(const struct packer *packer, struct step *step)
{
    const char *name = program_name(&step->request);
    struct profile best, distances;
    struct berth_error err;
    bool has;

    if (!is_found(program_profile(packer, step, &best, &step->profile.bound_at, &err), name, &best,
                  &err))
        return;
    has = best.llc_ways == 0 &&
          is_found(program_distances(packer, step, &distances, &err), name, &distances, &err);
    take_known(&step->profile, &best, has ? &distances : NULL);
}

static bool knows_counters(const struct step *step)
{
    double accesses = step->profile.accesses, ipc = step->profile.ipc, error;

    if (isnan(accesses))
        step_counts_rate(step, RATE_ACCESS_PMI, &accesses, &error);
    if (isnan(ipc))
        step_counts_rate(step, RATE_IPC, &ipc, &error);
    return !isnan(accesses) && !isnan(ipc);
}

static enum step_rung rung_of(const struct step *step, bool others_known)
{
    if (step->profile.ways)
        return RUNG_DISTANCES;
    if (step->profile.known)
        return knows_counters(step) ? RUNG_COUNTERS : RUNG_MISSES;
    if (!isnan(step->probe.rank))
        return RUNG_PROBE;
    return others_known ? RUNG_AVERAGE : RUNG_NOTHING;
}

/* What the step's figures rest on. */
static void know(const struct packer *packer, struct step *step, bool others_known)
{
    const struct program *program =
        step->program == PROGRAM_NONE ? NULL : &packer->steps->programs.program[step->program];
    struct step_knowledge *knowledge = &step->knowledge;

    knowledge->model = rung_of(step, others_known);
    knowledge->rung = program && program->windows > 0 ? RUNG_PAIRS : knowledge->model;
    knowledge->windows = program ? program->windows : 0;
}

void classify_knowledge(const struct packer *packer)
{
    size_t known = 0;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link) known += step->profile.known;
    TAILQ_FOREACH(step, &packer->steps->live, link) know(packer, step, known > 0);
}

static void describe_unprofiled(const struct packer *packer, struct step *step)
{
    if (!isnan(step->probe.rank))
        snprintf(step->class.reason, sizeof(step->class.reason),
                 "no profile; beside it a probe takes %.0f %% longer: ranked as if it had %.0f "
                 "misses per million instructions",
                 100 * step->probe.intensity, step->probe.rank);
    else
        snprintf(step->class.reason, sizeof(step->class.reason),
                 "no profile; ranked as if it had %g misses per million instructions",
                 packer->world.conf.neutral_miss_pmi);
}

void classify_step(const struct packer *packer, struct step *step)
{
    double threshold = packer->world.conf.devil_miss_pmi;

    if (!step->profile.known) {
        step->class.id = STEP_UNPROFILED;
        describe_unprofiled(packer, step);
        return;
    }
    step->class.id = step->profile.miss_pmi >= threshold ? STEP_DEVIL : STEP_TURTLE;
    snprintf(step->class.reason, sizeof(step->class.reason),
             "%.0f misses per million instructions, a devil has %g or more", step->profile.miss_pmi,
             threshold);
}

/* Takes over a rate that was counted of this run, if it is off the present one. */
static bool take_rate(const struct packer *packer, struct step *step, double misses)
{
    double off = fabs(misses - step->profile.miss_pmi);

    if (step->profile.known && off <= CLASSIFY_CHANGE * step->profile.miss_pmi)
        return false;
    step->profile.known = true;
    step->profile.miss_pmi = misses;
    step->profile.truncated = false;
    step->profile.measured_at = time(NULL);
    snprintf(step->profile.source, sizeof(step->profile.source), "%s, this run",
             counters_source(packer->state->counters));
    classify_step(packer, step);
    return true;
}

/* Forgets stack distances that cannot be those of this run. */
static void check_distances(struct step *step, double misses, bool alone)
{
    struct step_profile *known = &step->profile;
    const struct profile counted = {.misses = misses, .co_run = !alone};
    struct profile distances = {.misses = known->misses, .accesses = known->misses};

    for (unsigned i = 0; i < known->ways; i++)
        distances.accesses += known->hits[i];
    if (!known->ways || !profile_contradicts(&counted, &distances))
        return;
    known->ways = 0;
    known->misses = NAN;
    if (alone)
        return;
    known->solo_pmi = known->accesses = NAN;
    known->reference = false;
}

/* Counted alone in this run: that is what the program is, whatever the store says. */
static bool classify_alone(const struct packer *packer, struct step *step, double misses)
{
    struct step_profile *known = &step->profile;

    check_distances(step, misses, true);
    known->reference = known->counted = true;
    known->solo_pmi = misses;
    known->accesses = step->figures[FIGURE_ACCESSES];
    known->ipc = step->figures[FIGURE_IPC];
    return take_rate(packer, step, misses);
}

/* Counted beside others, or nobody knows: what was counted alone holds, as long as the program does
 * the same. A simulated rate gives way to one that it does not explain. */
static bool classify_beside(const struct packer *packer, struct step *step, double misses)
{
    struct step_profile *known = &step->profile;

    if (known->reference && known->counted) {
        if (step->counts->behaviours == 0 || !profile_apart(misses, known->solo_pmi))
            misses = known->solo_pmi;
    } else {
        check_distances(step, misses, false);
        if (known->reference && !profile_apart(misses, known->misses))
            misses = known->misses;
    }
    return take_rate(packer, step, misses);
}

static bool classify_counted(const struct packer *packer, struct step *step)
{
    double misses, error, figure;

    figures_take(packer, step);
    figure = step->figures[FIGURE_MISSES];
    if (isnan(figure))
        return false;
    if (step_counts_solo(step, SOLO_MISSES, &misses, &error))
        return classify_alone(packer, step, profile_apart(misses, figure) ? misses : figure);
    return classify_beside(packer, step, figure);
}

bool classify_windows(const struct packer *packer, const struct windows *windows)
{
    bool changed = false;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (windows_have(windows, step))
            changed |= classify_counted(packer, step);
    }
    if (windows->n)
        classify_knowledge(packer);
    return changed;
}

double classify_rate(const struct packer *packer, const struct step *step)
{
    if (step->profile.known)
        return step->profile.miss_pmi;
    return isnan(step->probe.rank) ? packer->world.conf.neutral_miss_pmi : step->probe.rank;
}

/* ---- the stages ---- */

const struct stage profile_stage = {.name = "profile", .begin = classify_profile};

static void classify(const struct packer *packer, struct step *step)
{
    classify_step(packer, step);
    classify_knowledge(packer);
}

static void classify_turn(const struct packer *packer, struct turn *turn)
{
    turn->rates_changed = classify_windows(packer, &turn->windows);
}

static void classify_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    figures_end(packer, step);
}

const struct stage class_stage = {
    .name = "class", .begin = classify, .turn = classify_turn, .end = classify_end};
