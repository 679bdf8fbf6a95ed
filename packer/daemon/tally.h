/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally - counts what ended steps have gained by berth, or would have, for the metrics. */
#ifndef BERTH_DAEMON_TALLY_H
#define BERTH_DAEMON_TALLY_H

#include "packer/ledger/ledger.h"
#include "packer/steps/packer.h"

/* Counts a step that has ended into packer->state->tally; batch scripts and shells are not counted.
 */
void tally_step(const struct packer *packer, const struct ledger_record *record);

/* Counts a launch that went on without berthd, though its user wanted berth's help. */
void tally_failed_open(const struct packer *packer, const struct step *step,
                       enum packer_missed how);

#endif
