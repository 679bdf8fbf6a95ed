/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - see classify.h. The threshold is the paper's: at least 2000 misses per million
 * instructions make a devil (Blagodurov 2010, section 6). */
#include "packer/observe/classify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "packer/steps/program.h"
#include "packer/steps/step_counts.h"

void classify_profile(struct packer *packer, struct step *step)
{
    struct profile profile;
    struct berth_error err;
    int found = program_profile(packer, step, &profile, &err);

    if (found < 0)
        log_warn("profiles: %s", err.text);
    if (found != 1)
        return;
    if (!(isfinite(profile.misses) && profile.misses >= 0)) {
        log_warn("profiles: %.300s: no miss rate: %g", program_name(&step->request),
                 profile.misses);
        return;
    }
    step->profile.known = true;
    step->profile.reference = !profile.co_run;
    step->profile.miss_pmi = profile.misses;
    step->profile.truncated = profile.truncated;
    step->profile.measured_at = profile.measured_at;
    step->profile.core_gbps = profile_core_gbps(&profile);
    step->profile.ways = profile.llc_ways;
    memcpy(step->profile.hits, profile.hits, sizeof(profile.hits));
    step->profile.accesses = profile.accesses;
    if (!isnan(step->profile.core_gbps))
        step->profile.instructions_per_s = profile.instructions_per_s;
    snprintf(step->profile.source, sizeof(step->profile.source), "%s", profile.source);
}

/* Returns how sure a figure with such a relative error is. */
static double confidence_of(double relative_error)
{
    return isnan(relative_error) ? NAN : fmax(0, 1 - relative_error);
}

/* Returns the relative error, one standard deviation, of what is counted of the step now. */
static double counted_error(const struct step *step)
{
    double misses, error;

    if (!step_counts_rate(step, RATE_MISS_PMI, &misses, &error) || !(misses > 0))
        return NAN;
    return error / 1.96 / misses;
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
static void know(struct step *step, bool others_known)
{
    struct step_knowledge *knowledge = &step->knowledge;

    knowledge->model = rung_of(step, others_known);
    if (knowledge->rung == RUNG_PAIRS && knowledge->model >= RUNG_PROBE)
        return;
    knowledge->rung = knowledge->model;
    knowledge->confidence = knowledge->model >= RUNG_MISSES ? confidence_of(counted_error(step))
                            : knowledge->model == RUNG_PROBE
                                ? confidence_of(step->probe.error / step->probe.intensity)
                                : NAN;
}

void classify_knowledge(struct packer *packer)
{
    size_t known = 0;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link) known += step->profile.known;
    TAILQ_FOREACH(step, &packer->steps.live, link) know(step, known > 0);
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
                 packer->conf.neutral_miss_pmi);
}

void classify_step(const struct packer *packer, struct step *step)
{
    double threshold = packer->conf.devil_miss_pmi;

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

static bool classify_counted(struct packer *packer, struct step *step)
{
    double misses, error, off;

    if ((step->profile.reference && step->counts->phase.number == 1) ||
        !step_counts_rate(step, RATE_MISS_PMI, &misses, &error))
        return false;
    off = fabs(misses - step->profile.miss_pmi);
    if (step->profile.known && off <= CLASSIFY_CHANGE * step->profile.miss_pmi)
        return false;
    step->profile.known = true;
    step->profile.miss_pmi = misses;
    step->profile.truncated = false;
    step->profile.measured_at = time(NULL);
    snprintf(step->profile.source, sizeof(step->profile.source), "%s, this run",
             counters_source(packer->counters));
    classify_step(packer, step);
    return true;
}

bool classify_windows(struct packer *packer)
{
    bool changed = false, ended = false;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (!step->counts || !step->counts->window_over)
            continue;
        step->counts->window_over = false;
        changed |= classify_counted(packer, step);
        ended = true;
    }
    if (ended)
        classify_knowledge(packer);
    return changed;
}

double classify_rate(const struct packer *packer, const struct step *step)
{
    if (step->profile.known)
        return step->profile.miss_pmi;
    return isnan(step->probe.rank) ? packer->conf.neutral_miss_pmi : step->probe.rank;
}
