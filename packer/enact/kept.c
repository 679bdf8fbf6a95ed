/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept - see kept.h */
#include "packer/enact/kept.h"

#include <stdio.h>

#include "packer/enact/care.h"
#include "packer/steps/program.h"
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

bool kept_can(const struct packer *packer, const struct step *step)
{
    const struct wire_register *request = &step->request;

    return packer->world.conf.idle != CONF_IDLE_OFF && packer->world.conf.move != CONF_MOVE_NEVER &&
           request->pin == WIRE_PIN_ENVIRONMENT && request->pin_within && !request->bound_by_hand &&
           step->profile.bound_at == 0 && !(request->devices && request->devices[0]) &&
           !step->late && !step->released && !step_is_shell(step) && !program_asks(request) &&
           !stand_unfit(packer, &step->body) && has_job_alone(packer, step);
}

void kept_begins(const struct packer *packer, struct step *step)
{
    char why[CARE_WHY_MAX];
    const char *stays = care_stays(packer, step, why);

    if (enforce_at_home(&step->body)) {
        step->enacted.kept = false;
        care_leave(packer, step, stays ? stays : "it has to stay");
        step->enacted.away = false;
        return;
    }
    enforce_union(&step->body, ENFORCE_PLACE, &step->body.begun);
    snprintf(step->enacted.reason, sizeof(step->enacted.reason), "stays where it began: %.300s",
             stays ? stays : "it has to");
}
