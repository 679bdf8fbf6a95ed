/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hand - does what takes root: the only room that changes a user's process, or a file of cgroupfs.
 *
 * It believes nothing that the head says. A process has to be in a folder of the step, or to
 * descend from a task that root's plugin has named; CPUs have to be those of jobs that it has
 * registered; where a file is, the hand finds out itself. What it refuses has not been changed.
 *
 * It is a process of its own, berth-hand, where the key `user` names one for berthd; else a part of
 * berthd's. Either way it is asked by ask.h. */
#ifndef BERTH_HAND_HAND_H
#define BERTH_HAND_HAND_H

#include <stdbool.h>

#include "packer/hand/message.h"
#include "packer/system/rootfs.h"

struct hand;

/* What root has configured. The strings stay the caller's. */
struct hand_site {
    const struct rootfs *root;
    const char *cgroup_root; /* where cgroups are mounted, below root */
    const char *tree;        /* the name of berth's own cpuset */
    bool unified;            /* cgroup v2 */
    bool rebinds;            /* this kernel locks a process's memory map to move it (v1) */
    pid_t head;              /* berthd's own process; 0: this one */
};

/* Makes a hand that knows no step; NULL for want of memory. */
struct hand *hand_new(const struct hand_site *site);
void hand_free(struct hand *hand); /* NULL is fine */

/* Says whether steps may stand on cores that Slurm has given to nobody (the key `idle`). */
void hand_allow_idle(struct hand *hand, bool idle);

/* Says which process is berthd, where that is not this one. */
void hand_serve_head(struct hand *hand, pid_t head);

/* Answers a message of so many bytes. answer->rc: 0; -1, and nothing was changed, but for what
 * answer->status says is done. Any bytes may be in it. */
void hand_answer(struct hand *hand, enum hand_who who, const struct hand_message *message,
                 size_t size, struct hand_answer *answer);

/* Returns the bytes of a message of that kind with n in its array; 0: there is none such. */
size_t hand_message_size(uint32_t kind, uint32_t n);

/* Returns the bytes of an answer to that message that are filled. */
size_t hand_answer_size(const struct hand_message *message, const struct hand_answer *answer);

/* Says whether the answer to such a message may wait for a lock that a user's process holds: then
 * it is for a process or a thread of its own. */
bool hand_is_slow(const struct hand_message *message, size_t size);

/* What the table says of a kind, for people. */
struct hand_kind_row {
    const char *name, *asks, *checked;
};
const struct hand_kind_row *hand_kind_row(enum hand_kind kind);

#endif
