/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - what the facts of packer/fact are of a step: each by its own line there. */
#ifndef BERTH_FIGURES_FIGURES_H
#define BERTH_FIGURES_FIGURES_H

#include <json-c/json.h>

#include "packer/fact/fact.h"
#include "packer/ledger/ledger.h"
#include "packer/steps/registry.h"

/* Returns what it is of the step; NAN: that is not known, or it is a text. */
double figure(const struct step *step, enum fact_id id);

/* Returns what a text is of the step; NULL: that is not known, or it is none. It is borrowed, or in
 * text[]. */
#define FIGURE_WORD_MAX CPUS_TEXT_MAX
const char *figure_word(const struct step *step, enum fact_id id, char text[FIGURE_WORD_MAX]);

/* Adds to an object what is told of the step there: in that object of explain, or (`of` NULL) in
 * status; hidden from users is what says something of others (FACT_ROOT). */
void figures_add(struct json_object *object, const char *of, const struct step *step, bool hidden);

/* Returns a whole object of explain. */
struct json_object *figures_object(const char *of, const struct step *step);

/* Fills in what the ledger keeps of them. */
void figures_record(const struct step *step, struct ledger_record *record);

#endif
