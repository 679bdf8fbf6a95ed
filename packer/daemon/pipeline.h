/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipeline - the way of the data: what happens to a step from its registration to its bill, and
 * what else can happen to the node. */
#ifndef BERTH_DAEMON_PIPELINE_H
#define BERTH_DAEMON_PIPELINE_H

#include "packer/observe/probe.h"
#include "packer/steps/packer.h"
#include "packer/wire/wire.h"

/* A step's tasks exist and none has run. Takes the request over. answer is filled in any case (ok
 * false: the step stays where Slurm put it). The caller clears the answer. */
void pipeline_start(const struct packer *packer, struct wire_register *request,
                    struct wire_answer *answer);

/* Nobody has heard the answer to a registration in time: the step's tasks have begun where Slurm
 * put them. */
void pipeline_late(const struct packer *packer, const struct wire_register *request);

/* A step that is not registered is about to start: whoever stands on cores that Slurm has given its
 * job has left them when this returns. */
void pipeline_claim(const struct packer *packer, struct wire_step_id id);

/* A step is over, or a whole job (its cores are about to be given away): others leave its cores
 * before this returns. `said` is what slurmd says of the job. */
void pipeline_end(const struct packer *packer, const struct wire_end *end);
void pipeline_job_end(const struct packer *packer, uint32_t job, const struct wire_identity *said);

/* The slurmstepd of a step has ended (packer->state->stepds can be read), or is to be looked at: a
 * step whose end nobody told is over, and others leave its cores before this returns. */
void pipeline_stepds(const struct packer *packer);

/* Root wants these steps home and left alone (release.h), and new ones placed again. 0, or -1 and
 * err with nothing done. A step that cannot be brought home at once is `away` until it can. */
int pipeline_release(const struct packer *packer, struct wire_step_id id, struct berth_error *err);
int pipeline_manage(const struct packer *packer, struct berth_error *err);

/* What needs no haste: look for steps that vanished without a word and for cgroups of ours that
 * could not be removed with their step. */
void pipeline_sweep(const struct packer *packer);

/* Looks which CPUs are switched off; leaves the steps that Slurm had put there. Before the start,
 * and before each sweep. */
void pipeline_cpus(const struct packer *packer);

/* Lets the interference probe take its turn. Returns what the next turn waits for. */
struct probing_wait pipeline_probe(const struct packer *packer);

/* Takes the samples of how steps use their caches again: packer->state->reuse can be read. */
void pipeline_reuse(const struct packer *packer);

/* Slurm has written job lists again (packer->state->watch can be read): who was moved stands again.
 */
void pipeline_rewritten(const struct packer *packer);

/* Slurm has made or removed folders (packer->state->folders can be read), or new ones are to be
 * looked at again: others leave the cores of who is there without berth. Returns the seconds until
 * it is to be called next, or < 0: when there is something to hear. */
double pipeline_folders(const struct packer *packer);

/* Reads what the steps do, where a window of counting is over, the bill's meters and what steps
 * have used, and follows from it. Returns the seconds until the next of these is due, or < 0: none
 * is; packer->wake tells of one that comes sooner. */
double pipeline_observe(const struct packer *packer);

/* Takes the readings of bursts that are due (inside/burst.h). Returns the seconds until it is to be
 * called again, or < 0: not before pipeline_observe() has been. */
double pipeline_bursts(const struct packer *packer);

/* berth.conf was read again. Takes over what can change while berthd runs, logs which keys did and
 * which ones wait for the next start. */
void pipeline_reload(struct packer *packer, const struct conf *read);

/* The users and groups of that berth.conf are known by number (packer->state->names can be read).
 */
void pipeline_named(struct packer *packer);

/* Slurm has said who jobs are (the asker's descriptor can be read). */
void pipeline_identified(const struct packer *packer);

/* After the start: adopt the journal's steps that still run, finish or undo what was under way. 0,
 * or -1 and err. */
int pipeline_resume(const struct packer *packer, struct berth_error *err);

/* Before the stop: everybody back to where Slurm put him; the steps stay in the journal, to be
 * adopted again. */
void pipeline_undo(const struct packer *packer);

#endif
