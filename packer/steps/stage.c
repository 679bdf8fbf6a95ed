/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stage - see stage.h */
#include "packer/steps/stage.h"

void stage_keeps(const struct packer *packer, struct step *step)
{
    (void)packer, (void)step;
}
