/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state - what outlives berth-steer: the admin's weights of the nodes that it steers, and until
 * when these may be steered.
 *
 * The file is there before the first weight is changed, and goes when the last one is back. It says
 * what is added to a weight at most, before and after the change that it was written for, and not
 * what Slurm was told of each node: whenever berth-steer dies, its next run or --undo knows each
 * weight that is its own. A weight that is further from the admin's was set by somebody else, and
 * is the admin's from then on. */
#ifndef BERTH_STEER_STATE_H
#define BERTH_STEER_STATE_H

#include "packer/base/error.h"
#include "steer/node.h"

struct steer_state {
    int64_t at, until; /* Unix seconds: the last change; when they are to be undone; 0: no file */
};

/* Locks the file's name for this process, until it ends. Returns 0, or -1 and err: another
 * berth-steer has it. */
int state_lock(const char *path, struct berth_error *err);

/* Reads the file, and sets `own` of the nodes that it names and whose weight is of that. Returns 0,
 * also where there is none, or -1 and err: it cannot be read. */
int state_read(const char *path, struct steer_state *state, struct steer_nodes *nodes,
               struct berth_error *err);

/* Writes the state and the admin's weights of the nodes that are or were chosen, on the disk.
 * Returns 0, or -1 and err. */
int state_write(const char *path, const struct steer_state *state, const struct steer_nodes *nodes,
                struct berth_error *err);

/* All is undone. Returns 0, or -1 and err. */
int state_remove(const char *path, struct berth_error *err);

#endif
