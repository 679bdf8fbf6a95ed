/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reason - why a step stands where it stands, in a line for people. */
#ifndef BERTH_PLACE_REASON_H
#define BERTH_PLACE_REASON_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/steps/registry.h"

/* Writes into text[size] how the step's policy went about it, what is expected of the place and
 * what that rests on; or why no policy has placed it. "" where there is nothing to say. How many
 * steps there are it says only with `counts`: it is no business of all readers. */
void place_reason(const struct step *step, bool counts, char *text, size_t size);

/* Writes the same for who is not told the policy beside it. */
void place_note(const struct step *step, bool counts, char *text, size_t size);

/* Writes why the step stands where it stands, without what was expected of it: what the ledger
 * keeps, and what a berthd after this one still knows. "" where berth has decided nothing. */
void place_why(const struct step *step, char *text, size_t size);

/* Takes down place_why() of a step about which was decided anew in step->place.why. Returns whether
 * it is another one now. */
bool place_note_why(struct step *step);

/* Writes why another policy than the one that was asked for has decided about the step; "" where
 * none has. */
void reason_another(const struct step *step, char *text, size_t size);

/* Writes a fraction as percent, "3.1" or "12". Returns text. */
#define REASON_PERCENT_MAX 32
const char *reason_percent(double fraction, char text[REASON_PERCENT_MAX]);

#endif
