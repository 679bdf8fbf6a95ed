/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_follow - the stage that lets a step's memory follow it between NUMA nodes, if that pays.
 *
 * mem=auto and mem=local: pages follow. mem=interleave: they stay, spread as they are. mem=bind:
 * nobody can change the policy of a running task from outside, and new pages would still come from
 * the nodes it was bound to; so such a step is moved inside these nodes only. */
#ifndef BERTH_ENACT_MEMORY_FOLLOW_H
#define BERTH_ENACT_MEMORY_FOLLOW_H

#include "models/online/page_move.h"
#include "packer/steps/packer.h"

void memory_close(const struct packer *packer);

/* Its tasks are told their policy now (answer.h), or were by a berthd before this one. */
void memory_told(struct step *step);

/* What it would cost and gain that the step's memory on the nodes that it leaves follows it, at
 * memory_rate (or, where memory does not follow at all, as fast as a core copies). */
struct page_move_price memory_price(const struct packer *packer, const struct step *step,
                                    const struct cpus *from_nodes, const struct cpus *to_nodes);

/* Bytes of the step on these nodes and not on those; NAN not known. */
double memory_bytes(const struct step *step, const struct cpus *from_nodes,
                    const struct cpus *to_nodes);

/* The step has been moved: its tasks stand where step->body says, on to_nodes, and stood on
 * from_nodes. Does nothing where no task has left a node. */
void memory_follow(const struct packer *packer, struct step *step, const struct cpus *from_nodes,
                   const struct cpus *to_nodes);

/* Brings step->memory of the live steps up to date. */
void memory_turn(const struct packer *packer);

/* The step ends, or leaves berth's care: its pages follow no further. */
void memory_ended(const struct packer *packer, struct step *step);

#endif
