/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_common - what all programs of evidence have in common: the means of sensitivity and
 * pressure, and the stretch. */
#ifndef BERTH_MODELS_SLOWDOWN_EVIDENCE_COMMON_H
#define BERTH_MODELS_SLOWDOWN_EVIDENCE_COMMON_H

#include "models/slowdown/evidence_cells.h"

/* Finds them anew, from programs that were solved; whom their change may move waits. */
void evidence_solve_common(struct evidence *evidence);

/* Makes them what they are where nothing was measured. */
void evidence_common_reset(struct evidence *evidence);

#endif
