/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_marker - the files by which the plugin knows a job of the pool, in a folder beside the
 * socket. A job's marker is there while it has a live step that opted in; after that, and until its
 * end is heard of, it has another name, which only asks to be told of that end. */
#ifndef BERTH_SLURM_STEPS_POOL_MARKER_H
#define BERTH_SLURM_STEPS_POOL_MARKER_H

#include "packer/steps/packer.h"

/* Makes, renames or removes the marker of one job, as its live steps and who waits for its end
 * (state->jobs) want it. */
void pool_marker_update(const struct packer *packer, uint32_t job);

/* Has each step that starts and is not registered ask for its job's cores (WIRE_OP_CLAIM) before
 * its tasks run, or no more. That has to be so before it is read whose cores are whose:
 * packer->state-> idle.marked says whether it is. */
void pool_marker_idle(const struct packer *packer, bool idle);

/* Has the marker say who stands on cores of nobody (wire_guest.h), for those who start while
 * berthd does not answer. */
void pool_marker_guests(const struct packer *packer);

/* Says whether the plugin has sent some of them home since that was forgotten. */
bool pool_marker_sent(const struct packer *packer, bool forget);

/* Removes the markers of jobs whose ends nobody waits for any more. */
void pool_marker_tidy(const struct packer *packer);

/* Makes the folder with the markers of all jobs, after a start. */
void pool_marker_update_all(const struct packer *packer);

/* Removes the folder with all markers, before a stop. */
void pool_marker_remove_all(const struct packer *packer);

#endif
