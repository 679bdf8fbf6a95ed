/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probing - see observe/probe.h */
#include "packer/observe/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/observe/classify.h"
#include "packer/observe/learn.h"
#include "packer/interference/probe.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"

/* Open the probe, where berth.conf wants one and the node allows it. */
static void probing_open(const struct packer *packer)
{
    struct counters_node node = step_counts_node(packer);
    struct berth_error err;

    if (packer->world.conf.probe != CONF_ON)
        return;
    if (probe_open(&packer->state->probe, &node, &err) < 0)
        log_warn("no interference probe: %s", err.text);
}

/* ---- what results mean ---- */

static bool ranks(const struct step *step)
{
    return !step->profile.known && step->probe.probes >= PROBE_TRUST;
}

/* The median intensity of the steps that are ranked by it; NAN when there is none. */
static double median(const struct packer *packer)
{
    double *value = malloc((packer->steps->nlive + 1) * sizeof(*value)), middle;
    struct step *step;
    size_t n = 0;

    if (!value)
        return NAN;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (ranks(step))
        value[n++] = step->probe.intensity;
    middle = array_median(value, n);
    free(value);
    return middle;
}

/* What the step ranks like by its intensity; NAN while nobody knows that it is not typical. */
static double rank_of(const struct packer *packer, const struct step *step, double typical)
{
    if (!ranks(step) || isnan(typical) ||
        fabs(step->probe.intensity - typical) <= step->probe.error)
        return NAN;
    return probe_rank(step->probe.intensity, typical, packer->world.conf.neutral_miss_pmi,
                      packer->world.conf.devil_miss_pmi);
}

/* Ranks the steps without a miss rate by their intensities: step->probe.rank. NAN where too few
 * probes know the step, or it does not differ from the typical one by more than its error. */
static void probing_rank(const struct packer *packer)
{
    double typical = median(packer);
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    step->probe.rank = rank_of(packer, step, typical);
}

/* Each step's estimate as it is now. What earlier runs told stays until this one tells as much. */
static void take_estimates(const struct packer *packer)
{
    struct probe_estimate now;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!probe_estimate(packer->state->probe, step->request.id, &now) ||
            (step->probe.stored && now.probes < PROBE_TRUST))
            continue;
        step->probe = (struct step_probe){
            .intensity = now.intensity, .error = now.error, .rank = NAN, .probes = now.probes};
    }
    probing_rank(packer);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!step->profile.known)
        classify_step(packer, step);
}

/* ---- turns ---- */

static void end_probe(const struct packer *packer)
{
    struct probe_result result;
    struct berth_error err;

    if (probe_end(packer->state->probe, &result, &err) < 0) {
        log_debug("probe: %s", err.text);
        return;
    }
    log_debug("probe: cache %zu with %zu steps: %.3g, in %.1f ms", result.llc, result.steps,
              result.ratio, result.cpu_s * 1e3);
    take_estimates(packer);
}

/* All live steps; NULL when memory is short. */
static struct probe_step *steps_of(const struct packer *packer)
{
    struct probe_step *list = calloc(packer->steps->nlive + 1, sizeof(*list));
    const struct step *step;
    size_t n = 0;

    if (!list)
        return NULL;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        list[n].id = step->request.id;
        list[n].confined = step->body.leaf[0] != '\0';
        enforce_union(&step->body, ENFORCE_PLACE, &list[n].cpus);
        n++;
    }
    return list;
}

/* The descriptor to watch, or -1. */
static int begin_probe(const struct packer *packer)
{
    struct probe_step *steps = steps_of(packer);
    struct berth_error err = {""};
    int fd = -1;

    if (steps)
        fd = probe_begin(packer->state->probe, clock_s(), steps, packer->steps->nlive, &err);
    if (fd < 0 && err.text[0])
        log_debug("probe: %s", err.text);
    free(steps);
    return fd;
}

struct probing_wait probing_turn(const struct packer *packer)
{
    int fd = -1;

    if (!packer->state->probe)
        return (struct probing_wait){-1, -1};
    if (probe_at_work(packer->state->probe))
        end_probe(packer);
    else
        fd = begin_probe(packer);
    if (fd >= 0)
        return (struct probing_wait){fd, 2 * (double)packer->world.conf.probe_time_ms / 1000};
    return (struct probing_wait){-1, probe_wait_s(packer->state->probe, clock_s())};
}

/* ---- steps come and go ---- */

static void probing_start(const struct packer *packer, struct step *step)
{
    struct profile_sample sample;
    struct berth_error err;

    if (!packer->state->probe || step->profile.known)
        return;
    if (program_sample(packer, step, PROFILE_INTENSITY, &sample, &err) != 1)
        return;
    step->probe = (struct step_probe){.intensity = sample.rate[PROFILE_INTENSITY].mean,
                                      .error = sample.rate[PROFILE_INTENSITY].error / 1.96,
                                      .rank = NAN,
                                      .probes = (unsigned)fmin(sample.windows, 1e6),
                                      .stored = true};
    probing_rank(packer);
}

/* The step begins: what the store knows of its program. It has ended: the store learns. */
static void probing_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct profile_sample sample;

    (void)end;
    if (!packer->state->probe)
        return;
    probe_forget(packer->state->probe, step->request.id);
    if (!learn_wanted(packer) || step->probe.probes == 0 || step->probe.stored)
        return;
    program_sample_init(packer, step, "probe", &sample);
    sample.windows = step->probe.probes;
    sample.seconds = clock_s() - step->started_mono_s;
    sample.rate[PROFILE_INTENSITY] =
        (struct profile_estimate){step->probe.intensity, 1.96 * step->probe.error};
    if (sample.key[0])
        learn_put(packer->state->learner, &sample);
}

/* ---- the stage ---- */

static int open_probe(const struct packer *packer, struct berth_error *err)
{
    (void)err;
    probing_open(packer);
    return 0;
}

static void close_probe(const struct packer *packer)
{
    probe_close(packer->state->probe);
}

const struct stage probe_stage = {
    .name = "probe",
    .open = open_probe,
    .close = close_probe,
    .configure = probing_rank,
    .begin = probing_start,
    .end = probing_end,
};
