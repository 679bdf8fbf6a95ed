/* SPDX-License-Identifier: GPL-2.0-or-later */
/* classify - see classify.h. The threshold is the paper's: at least 2000 misses per million
 * instructions make a devil (Blagodurov 2010, section 6). */
#include "classify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "probing.h"
#include "sample.h"

/* What a step asks the store by. */
struct identity {
    char key[PROFILE_KEY_MAX], geometry[PROFILE_GEOMETRY_MAX];
    struct profile_query query;
};

/* False when its program is not known. */
static bool identify(const struct packer *packer, const struct step *step, struct identity *who)
{
    step_profile_key(step, who->key);
    profile_geometry(who->geometry, step->request.ntasks, step->request.cpus_per_task);
    who->query = (struct profile_query){.key = who->key,
                                        .shape = step->request.shape,
                                        .geometry = who->geometry,
                                        .machine = packer->machine_type,
                                        .llc_bytes = packer->topo->llc[0].size_bytes,
                                        .max_age_days = packer->conf.profile_age_days};
    return who->key[0] != '\0';
}

int classify_sample(struct packer *packer, const struct step *step, enum profile_rate rate,
                    struct profile_sample *sample, struct berth_error *err)
{
    struct identity who;

    if (!identify(packer, step, &who))
        return 0;
    return profiles_get_sample(packer->profiles, &who.query, rate, sample, err);
}

void classify_profile(struct packer *packer, struct step *step)
{
    struct identity who;
    struct profile profile;
    struct berth_error err;
    int found;

    if (!identify(packer, step, &who))
        return;
    found = profiles_get(packer->profiles, &who.query, &profile, &err);
    if (found < 0)
        log_warn("profiles: %s", err.text);
    if (found == 1 && !(isfinite(profile.misses) && profile.misses >= 0)) {
        log_warn("profiles: %.300s: no miss rate: %g", who.key, profile.misses);
        return;
    }
    if (found != 1)
        return;
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
    double rank;

    if (probing_rank(packer, step, &rank))
        snprintf(step->class.reason, sizeof(step->class.reason),
                 "no profile; beside it a probe takes %.0f %% longer: ranked as if it had %.0f "
                 "misses per million instructions",
                 100 * step->probe.intensity, rank);
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

bool classify_counted(struct packer *packer, struct step *step)
{
    double misses, error, off;

    if ((step->profile.reference && step->counts->phase.number == 1) ||
        !sample_rate(step, RATE_MISS_PMI, &misses, &error))
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

double classify_rate(const struct packer *packer, const struct step *step)
{
    double rank;

    if (step->profile.known)
        return step->profile.miss_pmi;
    return probing_rank(packer, step, &rank) ? rank : packer->conf.neutral_miss_pmi;
}
