/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answer - what the plugin is told about its step. */
#ifndef BERTH_DAEMON_ANSWER_H
#define BERTH_DAEMON_ANSWER_H

#include "packer/steps/packer.h"

void answer_refuse(struct wire_answer *answer, const char *why);
/* All is well, and there is nothing to do. */
void answer_nothing(struct wire_answer *answer);
void answer_fill(const struct packer *packer, const struct step *step, struct wire_answer *answer);

#endif
