/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound - what came of max-slowdown: a bound on how much slower than alone a step is predicted to
 * be.
 *
 * The placement keeps to it where it can (place.h). Where it cannot, or where the slowdown is not
 * known, that is said here and nothing else happens: the step runs. */
#ifndef BERTH_PLACE_BOUND_H
#define BERTH_PLACE_BOUND_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/steps/packer.h"

struct bound {
    bool asked;       /* also by whom the site does not allow it */
    double limit;     /* a fraction; NAN: refused */
    double predicted; /* slowdown where the step stands now; NAN not known */
    bool known;       /* it can be told whether the limit is kept */
    bool met;         /* it is kept */
    char reason[128];
};

/* Tells what came of the step's bound. */
void bound_of(const struct packer *packer, const struct step *step, struct bound *bound);

/* Writes the same as a part of the answer's note, from its "; " on; "" where nothing was asked. */
void bound_note(const struct packer *packer, const struct step *step, char *text, size_t size);

#endif
