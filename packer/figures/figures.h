/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - what the facts of packer/fact are of a step: each by its own line there. */
#ifndef BERTH_FIGURES_FIGURES_H
#define BERTH_FIGURES_FIGURES_H

#include <json-c/json.h>

#include "packer/fact/fact.h"
#include "packer/ledger/ledger.h"
#include "packer/steps/packer.h"
#include "packer/steps/registry.h"

/* Returns what it is of the step; NAN: that is not known, or it is a text. */
double figure(const struct step *step, enum fact_id id);

/* Returns what a text is of the step, as it is told him from whom others are hidden or not; NULL:
 * that is not known, or it is none. It is borrowed, or in text[]. */
#define FIGURE_WORD_MAX CPUS_TEXT_MAX
const char *figure_word(const struct step *step, enum fact_id id, bool hidden,
                        char text[FIGURE_WORD_MAX]);

/* Returns the CPUs that a list or caches are of; NULL: that is not known, or it is neither. */
const struct cpus *figure_set(const struct step *step, enum fact_id id);

/* ---- where they are told (figures/told.c) ---- */

/* Adds to an object what is told of the step there: in that object of explain, or (`of` NULL) in
 * status; hidden from users is what says something of others (FACT_ROOT). */
void figures_add(struct json_object *object, const char *of, const struct packer *packer,
                 const struct step *step, bool hidden);

/* Returns a whole object of explain; NULL: all of it is hidden. */
struct json_object *figures_object(const char *of, const struct packer *packer,
                                   const struct step *step, bool hidden);

/* Adds an object for each policy inside a step to explain, named as its word; null where it was not
 * asked for. */
void figures_inside(const struct packer *packer, const struct step *step,
                    struct json_object *explain);

/* Fills in what the ledger keeps of them. */
void figures_record(const struct step *step, struct ledger_record *record);

#endif
