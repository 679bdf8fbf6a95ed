/* SPDX-License-Identifier: GPL-2.0-or-later */
/* synchronise - barriers and condition variables (flex, FlexThread's run-time) and mutexes (flex,
 * and locks=cohort) of a step's programs are distributed over the memory nodes or caches that it
 * stands on: a bit of the step's page each, which libberth_rt.so reads.
 *
 * An object keeps for its life what it was made with: to turn the bit off concerns those that are
 * made later. */
#include "packer/inside/policy.h"

static bool asked_flex(const struct step *step)
{
    return step->request.options.flex;
}

static bool asked_locks(const struct step *step)
{
    return step->request.options.locks_cohort;
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    (void)packer, (void)step, (void)run;
    return true;
}

/* The functions of a policy that turns one feature on, and off again. */
#define FEATURE(name, feature, its_model)                                                          \
    static bool decide_##name(struct inside_run *run)                                              \
    {                                                                                              \
        return !step_page_has(run->page, feature);                                                 \
    }                                                                                              \
    static int enact_##name(const struct packer *packer, struct step *step,                        \
                            struct berth_error *err)                                               \
    {                                                                                              \
        (void)packer;                                                                              \
        return step_page_switch(step->inside.run->page, feature, true, err);                       \
    }                                                                                              \
    static int undo_##name(const struct packer *packer, struct step *step,                         \
                           struct berth_error *err)                                                \
    {                                                                                              \
        return asked_##name(step) ? inside_page_turn_off(packer, step, feature, err) : 0;          \
    }                                                                                              \
    static bool in_effect_##name(const struct step *step)                                          \
    {                                                                                              \
        return step_page_has(step->inside.run->page, feature);                                     \
    }                                                                                              \
    const struct inside_policy inside_##name = {.model = its_model,                                \
                                                .asked = asked_##name,                             \
                                                .page = true,                                      \
                                                .sample = sample,                                  \
                                                .decide = decide_##name,                           \
                                                .enact = enact_##name,                             \
                                                .undo = undo_##name,                               \
                                                .in_effect = in_effect_##name};

FEATURE(flex, RT_FLEX, "flexthread")
FEATURE(locks, RT_COHORT, "cohort")
