/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_record - the last stage: what is kept of a step for ever. */
#ifndef BERTH_DAEMON_LEDGER_RECORD_H
#define BERTH_DAEMON_LEDGER_RECORD_H

#include "packer/ledger/ledger.h"
#include "packer/steps/packer.h"

/* Fill a record from a step that is over (ended_at is set) and still has its state and its place;
 * after its bill's last turn. The user's name stays "": looking it up may take long. */
void ledger_record_fill(const struct packer *packer, const struct step *step,
                        struct ledger_record *record);

/* The step's counters at its end: its last window was not over. Before window_end. */
void ledger_record_count(struct packer *packer, struct step *step);

/* ledger_record_fill, into the ledger, if there is one. */
void ledger_record_keep(struct packer *packer, const struct step *step);

/* The step, which is live still, has its record in the ledger: its job's run is put before the
 * settler, if there is no other step of the job here. */
void ledger_record_settle(struct packer *packer, const struct step *step);

/* Does the same for the runs of which berthd died before they were settled, when the steps that
 * live are known again. */
void ledger_record_resume(struct packer *packer);

#endif
