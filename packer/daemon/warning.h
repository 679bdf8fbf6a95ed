/* SPDX-License-Identifier: GPL-2.0-or-later */
/* warning - which words of a step can have no effect on this node, and why: what its user is told
 * at once, whether he asked for verbose or not. */
#ifndef BERTH_DAEMON_WARNING_H
#define BERTH_DAEMON_WARNING_H

#include <stddef.h>

#include "packer/steps/packer.h"

/* Writes "WORD has no effect: WHY; .." into text[size], "" where every word has one. The step has
 * been placed. */
void warning_write(const struct packer *packer, const struct step *step, char *text, size_t size);

#endif
