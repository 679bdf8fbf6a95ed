/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal - what its file holds: a "start" per step with all that is needed to adopt it again, an
 * "end", a "stand" with the permutation before each change of it, "release" and "manage"; "ask" per
 * run of a job of which steps have ended and nobody has said yet who it is, "told" when that is
 * over; "settle" before threads are given other CPUs, "settled" when all of them have theirs;
 * "registers" before registers of the processor are changed, and when they are given back. */
#ifndef BERTH_STEPS_JOURNAL_H
#define BERTH_STEPS_JOURNAL_H

#include "packer/identity/jobs.h"
#include "packer/steps/packer.h"

int journal_start(const struct packer *packer, const struct step *step, struct berth_error *err);

/* The same for a step that has changed; what fails is logged, and the next sweep makes up for it.
 */
void journal_note(const struct packer *packer, const struct step *step);

int journal_end(const struct packer *packer, struct wire_step_id id, struct berth_error *err);
int journal_stand(const struct packer *packer, const struct pool *pool, struct berth_error *err);

/* That root has released what `id` names (release.h), or that he wants new steps managed again. */
int journal_release(const struct packer *packer, struct wire_step_id id, struct berth_error *err);
int journal_manage(const struct packer *packer, struct berth_error *err);

/* That steps of the run have ended whose records wait for who it is, so that the next berthd asks;
 * or that they wait no more. */
int journal_ask(const struct packer *packer, const struct known_job *job, struct berth_error *err);
int journal_told(const struct packer *packer, const struct known_job *job, struct berth_error *err);

/* That threads are about to be given their CPUs, or that all have them; nothing where the journal
 * says so already. */
int journal_settle(const struct packer *packer, bool on_their_way, struct berth_error *err);

/* Was a berthd killed while threads were on their way? Until journal_resumed(): all have been given
 * their CPUs again. */
bool journal_interrupted(const struct packer *packer);
void journal_resumed(const struct packer *packer);

/* Which registers may hold what berth has written (packer->state->registers). */
int journal_registers(const struct packer *packer, struct berth_error *err);

/* Opens the file at that path, and closes it. Returns 0, or -1 and err. */
int journal_open(const struct packer *packer, const char *path, struct berth_error *err);
void journal_close(const struct packer *packer);

/* Returns its bytes. */
size_t journal_size(const struct packer *packer);

/* Says whether something could not be written: it is not what is true now. */
bool journal_is_stale(const struct packer *packer);

/* Rewrite the journal with what is true now, if it has grown large or stale, somebody has removed
 * it, or `now`. */
int journal_compact(const struct packer *packer, bool now, struct berth_error *err);

/* Read the journal into the registry and the pool (both empty before), and the
 * runs that are asked for. Steps come back in the state they were journaled in, their tasks at home
 * (adopt_places() has them where they stand), not yet verified to be alive. */
int journal_load(const struct packer *packer, struct berth_error *err);

/* Says whether a berthd before this one has left registers that it had changed. It can be asked
 * before the journal is opened: `state_dir` is its folder. Where the journal is damaged, what comes
 * before that counts, as it does to a load. */
bool journal_left_registers(const char *state_dir);

/* After a load that failed with `err`: log it, keep the journal as journal.bad for whoever wants to
 * know, and begin an empty one; registry and pool are empty again. 0, or -1 and err. */
int journal_set_aside(const struct packer *packer, struct berth_error *err);

#endif
