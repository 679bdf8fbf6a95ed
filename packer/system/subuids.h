/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subuids - whose subordinate user IDs these are (subuid(5)).
 *
 * In a user namespace each user may be the 65,536 users that /etc/subuid gives him. What is kept by
 * user is then to be kept by who they are given to. A uid whose range stands in no file, because
 * the system asks a server for ranges, is a user of its own. One thread: nothing here races. */
#ifndef BERTH_SYSTEM_SUBUIDS_H
#define BERTH_SYSTEM_SUBUIDS_H

#include <sys/stat.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

struct subuids {
    struct subuid_range *range; /* [n] */
    size_t n;
    struct timespec changed; /* the file, when it was read; 0: it was not */
};

/* Reads /etc/subuid below the root where it has changed. What cannot be read, or is no line of
 * that file, says nothing. */
void subuids_read(struct subuids *subuids, const struct rootfs *root);

/* Takes the text of such a file, which is changed. */
void subuids_parse(struct subuids *subuids, char *text);

/* Returns the uid that stands for all of those that the owner of this one was given: his own, where
 * the file has it as a number, else the first of them. A uid of no range stands for itself. */
uid_t subuids_owner(const struct subuids *subuids, uid_t uid);

void subuids_free(struct subuids *subuids);

#endif
