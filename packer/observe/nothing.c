/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nothing - a stage that does nothing: what a new one needs. */
#include "packer/steps/stage.h"

static void begin_nothing(struct packer *packer, struct step *step)
{
    (void)packer, (void)step;
}

const struct stage nothing_stage = {.name = "nothing", .begin = begin_nothing};
