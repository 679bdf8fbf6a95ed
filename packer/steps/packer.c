/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packer - see packer.h */
#include "packer/steps/packer.h"

#include <stdlib.h>
#include <string.h>

#include "packer/steps/registers.h"

static bool make_state(struct states *state)
{
    state->pool = calloc(1, sizeof(*state->pool));
    state->as_if = calloc(1, sizeof(*state->as_if));
    state->registers = calloc(1, sizeof(*state->registers));
    state->tally = calloc(1, sizeof(*state->tally));
    return state->pool && state->as_if && state->registers && state->tally;
}

static void free_state(struct states *state)
{
    lacks_free(state);
    free(state->pool);
    free(state->as_if);
    free(state->registers);
    free(state->tally);
    free(state);
}

int packer_make(struct packer *packer, struct berth_error *err)
{
    memset(packer, 0, sizeof(*packer));
    packer->world.root.fd = packer->world.devices.fd = -1;
    packer->world.enforce = calloc(1, sizeof(*packer->world.enforce));
    packer->steps = calloc(1, sizeof(*packer->steps));
    packer->state = calloc(1, sizeof(*packer->state));
    if (!packer->world.enforce || !packer->steps || !packer->state || !make_state(packer->state)) {
        packer_free(packer);
        return berth_no_memory(err);
    }
    packer->pool = packer->state->pool;
    return 0;
}

void packer_free(struct packer *packer)
{
    free(packer->world.enforce);
    free(packer->steps);
    if (packer->state)
        free_state(packer->state);
}
