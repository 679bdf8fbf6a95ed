/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stranger_list - see stranger_list.h */
#include "packer/steps/stranger_list.h"

void strangers_add_steps(const struct packer *packer, struct cpus *cpus)
{
    for (size_t i = 0; i < packer->state->strangers->n; i++) {
        const struct stranger *stranger = &packer->state->strangers->stranger[i];

        if (stranger->counts && stranger->id.step != WHOLE_JOB)
            cpus_or(cpus, &stranger->cpus);
    }
}

const struct stranger *strangers_at(const struct packer *packer, size_t i)
{
    return i < packer->state->strangers->n ? &packer->state->strangers->stranger[i] : NULL;
}
