/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lacks - see lacks.h */
#include "packer/steps/lacks.h"

#include <stdlib.h>
#include <string.h>

#include "packer/steps/packer.h"

void lacks_note(const struct packer *packer, enum lack lack, const char *why)
{
    char **noted = &packer->state->lacks[lack];

    free(*noted);
    *noted = strdup(why);
}

const char *lacks_why(const struct packer *packer, enum lack lack)
{
    const char *noted = packer->state->lacks[lack];

    return noted ? noted : "";
}

void lacks_free(struct states *state)
{
    for (int i = 0; i < LACKS; i++)
        free(state->lacks[i]);
}
