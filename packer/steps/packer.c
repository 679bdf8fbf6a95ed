/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packer - see packer.h */
#include "packer/steps/packer.h"

#include <stdlib.h>
#include <string.h>

int packer_make(struct packer *packer, struct berth_error *err)
{
    memset(packer, 0, sizeof(*packer));
    packer->world.root.fd = packer->world.devices.fd = -1;
    packer->world.enforce = calloc(1, sizeof(*packer->world.enforce));
    packer->steps = calloc(1, sizeof(*packer->steps));
    packer->state = calloc(1, sizeof(*packer->state));
    if (!packer->world.enforce || !packer->steps || !packer->state) {
        packer_free(packer);
        return berth_no_memory(err);
    }
    packer->pool = &packer->state->pool;
    return 0;
}

void packer_free(struct packer *packer)
{
    free(packer->world.enforce);
    free(packer->steps);
    free(packer->state);
}
