/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ending - see ending.h */
#include "packer/daemon/ending.h"

#include "packer/daemon/stages.h"

void step_over(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct wire_step_id id = step->request.id;

    packer_note_change(packer);
    step_ends(step, end);
    stages_end(packer, step, end);
    registry_end(packer->steps, step);
    stages_gone(packer, id);
}
