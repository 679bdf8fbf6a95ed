/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal - deals a step's pages over its nodes, and puts them back (policy.h). */
#include "packer/inside/policy.h"

int inside_deal(struct packer *packer, struct step *step, bool deal, struct berth_error *err)
{
    (void)packer, (void)step, (void)deal, (void)err;
    return 0;
}

bool inside_dealing(const struct packer *packer, const struct step *step)
{
    (void)packer, (void)step;
    return false;
}
