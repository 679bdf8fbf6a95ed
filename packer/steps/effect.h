/* SPDX-License-Identifier: GPL-2.0-or-later */
/* effect - what the policies inside a step (inside/inside.h) had in effect in it, and how long. */
#ifndef BERTH_STEPS_EFFECT_H
#define BERTH_STEPS_EFFECT_H

#include "packer/base/json_fields.h"
#include "packer/steps/registry.h"

/* Something is changed now, and in effect from now on. */
void effect_begin(struct step_effect *effect, double now_s);

/* Something of it is in effect from now on, or nothing is. */
void effect_set(struct step_effect *effect, bool in_effect, double now_s);

/* Returns for how many seconds something of it was in effect until now (CLOCK_MONOTONIC). */
double effect_s(const struct step_effect *effect, double now_s);

/* Writes the words of the policies that have changed something in the step, with commas: whole
 * words, as far as there is room. There is for all of them but two, as the ledger's column is. */
#define EFFECT_WORDS_MAX 64
void effect_words(const struct step *step, char words[EFFECT_WORDS_MAX]);

/* The effects of a struct step_inside, for the journal. */
extern const struct json_field effect_fields[];

#endif
