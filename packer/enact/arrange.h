/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arrange - the stage that gives the steps their places: when one begins, in each turn in which the
 * stages before it want cores dealt anew, and home when one ends or berthd stops. */
#ifndef BERTH_ENACT_ARRANGE_H
#define BERTH_ENACT_ARRANGE_H

struct stage;

/* Its row (steps/stage.h). */
extern const struct stage arrange_stage;

#endif
