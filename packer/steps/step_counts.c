/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_counts - see step_counts.h */
#include "packer/steps/step_counts.h"

#include <math.h>

#include "models/slowdown/clock.h"
#include "packer/steps/packer.h"
#include "enum_table.h"

#define FAR 0.05 /* of its memory */

const char *const TABLE(step_rival_name, STEP_RIVALS) = {
    ROW(RIVAL_OUTSIDE) = "outside",
    ROW(RIVAL_JOBS) = "jobs",
    ROW(RIVAL_OWN_JOB) = "own-job",
};
TABLE_COMPLETE(step_rival_name);

bool step_counts_rate(const struct step *step, enum rate_id id, double *mean, double *error)
{
    const struct rate *rate;

    if (!step->counts)
        return false;
    rate = &step->counts->phase.rate[id];
    *mean = rate_mean(rate);
    if (error)
        *error = hypot(rate_error(rate), 1.96 * step->counts->scaling[id] * *mean);
    return !isnan(*mean);
}

bool step_counts_solo(const struct step *step, enum solo_rate id, double *mean, double *error)
{
    const struct rate *rate;

    if (!step->counts)
        return false;
    rate = &step->counts->solo[id];
    *mean = rate_mean(rate);
    *error = rate_error(rate) / 1.96;
    return !isnan(*mean);
}

double step_counts_run(const struct step *step, enum rate_id id)
{
    const struct rate *alone, *beside;
    double x;

    if (!step->counts)
        return NAN;
    alone = &step->counts->alone[id];
    beside = &step->counts->beside[id];
    x = alone->x + beside->x;
    return x > 0 ? (alone->y + beside->y) / x : NAN;
}

/* Is a profile of a run alone what it is compared with? */
static bool by_profile(const struct step *step)
{
    return step->profile.reference && step->profile.instructions_per_s > 0;
}

/* How fast one of its cores is alone, instructions per CPU second; NAN not known. */
static double speed_alone(const struct step *step, const char **source)
{
    const struct rate *alone = &step->counts->alone[RATE_CORE_SPEED];

    *source = "profile";
    if (by_profile(step))
        return step->profile.instructions_per_s;
    *source = "own windows alone";
    return alone->n >= STEP_ALONE_WINDOWS ? rate_mean(alone) : NAN;
}

double step_counts_slowdown(const struct step *step, const char **source)
{
    double speed = step_counts_run(step, RATE_CORE_SPEED), alone;
    const char *by;

    if (!(speed > 0))
        return NAN;
    alone = speed_alone(step, &by);
    if (!(alone > 0))
        return NAN;
    *source = by;
    return alone / speed - 1;
}

double step_counts_at_clock(const struct step *step, double ghz)
{
    double now_ghz, stalled, error;

    if (!(ghz > 0) || !step_counts_rate(step, RATE_CLOCK, &now_ghz, &error) || !(now_ghz > 0))
        return 1;
    if (!step_counts_rate(step, RATE_STALLED, &stalled, &error))
        stalled = 0;
    return pow(ghz / now_ghz, clock_works(stalled));
}

double step_counts_clock_slowdown(const struct step *step)
{
    double now = step_counts_run(step, RATE_CLOCK), stalled = step_counts_run(step, RATE_STALLED);
    const char *source = "";
    double alone;

    if (!(now > 0) || isnan(step_counts_slowdown(step, &source)))
        return NAN;
    alone =
        by_profile(step) ? step->profile.clock_ghz : rate_mean(&step->counts->alone[RATE_CLOCK]);
    return alone > 0 ? clock_works(isnan(stalled) ? 0 : stalled) * (alone / now - 1) : NAN;
}

double step_counts_taken(const struct step *step, enum step_rival by)
{
    const struct step_rivals *rivals = step->counts ? &step->counts->rivals : NULL;
    double taken_s = 0;

    if (!rivals || !(rivals->room_s > 0))
        return NAN;
    for (enum step_rival i = RIVAL_OUTSIDE; i < STEP_RIVALS; i++)
        taken_s += by == STEP_RIVALS || by == i ? rivals->taken_s[i] : 0;
    return fmin(1, taken_s / rivals->room_s);
}

double step_counts_siblings(const struct step *step)
{
    const struct step_rivals *rivals = step->counts ? &step->counts->rivals : NULL;

    return rivals && rivals->cores_s > 0 ? fmin(1, rivals->siblings_s / rivals->cores_s) : NAN;
}

struct counters_node step_counts_node(const struct packer *packer)
{
    return (struct counters_node){.root = &packer->world.root,
                                  .topo = packer->world.topo,
                                  .enforce = packer->world.enforce,
                                  .conf = &packer->world.conf};
}

bool step_counts_far(const struct step *step)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;
    double all = 0, far = 0;

    for (size_t i = 0; last && i < last->nodes; i++) {
        all += last->rss_node[i];
        far += cpus_has(&step->place.mems, i) ? 0 : last->rss_node[i];
    }
    return far > FAR * all;
}
