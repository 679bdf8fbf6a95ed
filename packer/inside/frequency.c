/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frequency - the greatest frequency of the cores that a step has to itself, as a site's own policy
 * proposes it (daemon/propose.h): REEact's actuator of frequency (Wang 2015, section 7.2). No word
 * of --contention-aware asks for it. It follows the step: cores that it leaves are given back. */
#include "packer/inside/core_registers.h"
#include "packer/inside/policy.h"
#include "packer/steps/proposed.h"

static bool asked(const struct step *step)
{
    return proposed_khz(step) > 0;
}

static const char *lacks(const struct packer *packer)
{
    return packer->state->registers->clock ? NULL : lacks_why(packer, LACK_FREQUENCY);
}

static struct registers_want wanted(const struct step *step)
{
    return (struct registers_want){REGISTER_FREQUENCY, REGISTERS_SET, proposed_khz(step)};
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct registers_want want = wanted(step);

    core_registers_own(packer, step, REGISTER_FREQUENCY, &run->frequency.own);
    run->frequency.clocks = core_registers_changed(packer, step, REGISTER_FREQUENCY);
    run->frequency.differs = !core_registers_are(packer, step, &want);
    return true;
}

static bool decide(struct inside_run *run)
{
    return run->frequency.differs;
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_frequency *frequency = &step->inside.run->frequency;
    struct registers_want want = wanted(step);
    int rc = core_registers_set(packer, step, &want, err);

    core_registers_own(packer, step, REGISTER_FREQUENCY, &frequency->own);
    frequency->clocks = core_registers_changed(packer, step, REGISTER_FREQUENCY);
    return rc;
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    (void)err;
    core_registers_give_back(packer, step, REGISTER_FREQUENCY);
    if (step->inside.run)
        step->inside.run->frequency.clocks = 0;
    return 0;
}

static bool in_effect(const struct step *step)
{
    return step->inside.run->frequency.clocks > 0;
}

const struct inside_policy inside_frequency = {.asked = asked,
                                               .lacks = lacks,
                                               .always = true,
                                               .sample = sample,
                                               .decide = decide,
                                               .enact = enact,
                                               .undo = undo,
                                               .in_effect = in_effect};
