/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept - see kept.h */
#include "packer/enact/kept.h"

#include "packer/steps/stand.h"

/* Has it all cores of its job, and no other step any of them? A batch script waits for it. */
static bool has_job_alone(const struct packer *packer, const struct step *step)
{
    const struct step *other;

    if (!cpus_equal(&step->body.job_home, &step->body.step_home))
        return false;
    TAILQ_FOREACH(other, &packer->steps->live, link)
    if (other != step && !step_is_shell(other) &&
        cpus_intersect(&other->body.job_home, &step->body.job_home))
        return false;
    return true;
}

/* Does what the program makes of the CPUs that it finds hold wherever it begins? */
static bool bears_any_begin(const struct wire_register *request)
{
    return (request->pin == WIRE_PIN_ENVIRONMENT && request->pin_within) ||
           request->pin == WIRE_PIN_LOOKS;
}

bool kept_can(const struct packer *packer, const struct step *step)
{
    const struct wire_register *request = &step->request;

    return packer->world.conf.idle != CONF_IDLE_OFF && packer->world.conf.move != CONF_MOVE_NEVER &&
           bears_any_begin(request) && !request->bound_by_hand && step->profile.bound_at == 0 &&
           !(request->devices && request->devices[0]) && !step->late && !step->released &&
           !step_is_shell(step) && !stand_unfit(packer, &step->body) && has_job_alone(packer, step);
}
