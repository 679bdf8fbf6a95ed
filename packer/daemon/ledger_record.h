/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger_record - the last stage: what is kept of a step for ever. */
#ifndef BERTH_DAEMON_LEDGER_RECORD_H
#define BERTH_DAEMON_LEDGER_RECORD_H

#include "packer/identity/jobs.h"
#include "packer/ledger/ledger.h"
#include "packer/steps/packer.h"

/* Fill a record from a step that is over (ended_at is set) and still has its state and its place;
 * after its bill's last turn. The user's name stays "": looking it up may take long. */
void ledger_record_fill(const struct packer *packer, const struct step *step,
                        struct ledger_record *record);

/* Puts a run of a job before the settler, if no step of it is left here and Slurm has said who it
 * is. Its records are in the ledger. */
void ledger_record_settle(const struct packer *packer, const struct known_job *job);

/* Has the records that the run has already told who it is, and puts it before the settler, as
 * ledger_record_settle() does. */
void ledger_record_identify(const struct packer *packer, const struct known_job *job);

/* Does the same for the runs of which berthd died before they were settled, when the steps that
 * live are known again. */
void ledger_record_resume(const struct packer *packer);

#endif
