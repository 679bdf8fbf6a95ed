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
    bool changed = false;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (!step->counts || !step->counts->window_over)
            continue;
        step->counts->window_over = false;
        changed |= classify_counted(packer, step);
    }
    return changed;
}

double classify_rate(const struct packer *packer, const struct step *step)
{
    if (step->profile.known)
        return step->profile.miss_pmi;
    return isnan(step->probe.rank) ? packer->conf.neutral_miss_pmi : step->probe.rank;
}
