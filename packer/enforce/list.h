/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list - a list of CPUs or memory nodes of a step's folder, which the hand writes, and which is
 * read back here. */
#ifndef BERTH_ENFORCE_LIST_H
#define BERTH_ENFORCE_LIST_H

#include "packer/enforce/enforce.h"
#include "packer/hand/ask.h"

struct enforce_list {
    struct wire_step_id id;
    enum hand_place place; /* of the folder, for the hand */
    bool mems;             /* of memory nodes, not of CPUs */
};

/* Has the list of the folder `dir`, which is that place, written, unless it is there already, and
 * reads it back. 0, or -1 with errno and err. */
int enforce_write_list(struct enforce *enforce, const struct enforce_list *list, const char *dir,
                       const struct cpus *cpus, struct berth_error *err);

#endif
