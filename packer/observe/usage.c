/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe - see observe/usage.h */
#include "packer/observe/usage.h"

void observe_step(struct packer *packer, struct step *step)
{
    double user_s, system_s;

    if (step->state == STEP_ENDED ||
        enforce_step_times(&packer->enforce, &step->body, &user_s, &system_s) < 0)
        return;
    step->use.user_s = user_s;
    step->use.system_s = system_s;
}

void observe_end(struct packer *packer, struct step *step, const struct wire_end *end)
{
    if (!end || end->user_s < 0) {
        observe_step(packer, step);
        return;
    }
    step->use = (struct step_use){
        .user_s = end->user_s, .system_s = end->system_s, .maxrss_kib = end->maxrss_kib};
}

double observe_elapsed_s(const struct step *step)
{
    double until = step->ended_at ? step->ended_mono_s : clock_s();

    return until - step->started_mono_s;
}
