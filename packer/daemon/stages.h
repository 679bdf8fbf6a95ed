/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stages - the stages of the pipeline in their order, and what all of them do together. */
#ifndef BERTH_DAEMON_STAGES_H
#define BERTH_DAEMON_STAGES_H

#include "packer/steps/stage.h"

/* Returns the i-th row, from 0; NULL after the last one. */
const struct stage *stages_row(size_t i);

/* Opens all. Returns 0, or -1 and err: stages_close() frees what was opened. */
int stages_open(const struct packer *packer, struct berth_error *err);
void stages_close(const struct packer *packer);

void stages_configure(const struct packer *packer);

void stages_begin(const struct packer *packer, struct step *step);

/* Adopts a step of the journal in two parts: `known` says who it is and what it was billed, which
 * is needed of one that has ended meanwhile, too; the rest is for one that runs. */
void stages_adopt_known(const struct packer *packer, struct step *step);
void stages_adopt(const struct packer *packer, struct step *step);

void stages_end(const struct packer *packer, struct step *step, const struct wire_end *end);
void stages_gone(const struct packer *packer, struct wire_step_id id);
void stages_undo(const struct packer *packer, struct step *step);

/* One turn of the event loop. Returns the seconds until the next one is due, or < 0: none is. */
double stages_turn(const struct packer *packer);

#endif
