/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apart - berthd as a user without any right, and the hand as root's process of its own. */
#ifndef BERTH_DAEMON_APART_H
#define BERTH_DAEMON_APART_H

#include "packer/conf/conf.h"

/* Says whether there is the user that the configuration names. 0, or -1 and err. */
int apart_check(const struct conf *conf, struct berth_error *err);

/* Where root starts berthd and the configuration names another user: gives that user the folders
 * that are berthd's own, and becomes berth-hand, which starts berthd once more, with the same
 * arguments argv (ended by NULL), as that user. Call it before anything else is opened or started.
 * Returns 0: nothing of that is wanted, or this is the berthd that berth-hand has started; -1 and
 * err: it cannot be done. */
int apart_start(const struct conf *conf, char **argv, struct berth_error *err);

#endif
