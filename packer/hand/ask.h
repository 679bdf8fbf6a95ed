/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask - the head's side of the hand: whoever wants something changed asks here, and nowhere else.
 *
 * Each function returns 0, or -1 with errno and err: EPERM where the hand refuses. */
#ifndef BERTH_HAND_ASK_H
#define BERTH_HAND_ASK_H

#include <stdbool.h>

#include "packer/hand/hand.h"
#include "packer/hand/message.h"

struct hand_link; /* to the hand: in this process, or to berth-hand, which has started it */

/* Says whether berth-hand has started this process: then it has no rights of its own. */
bool hand_is_apart(void);

/* Makes the link, and where the hand is in this process, the hand; NULL for want of memory. */
struct hand_link *hand_link_open(const struct hand_site *site);

/* Takes a connection of root's plugin that has come by the descriptor HAND_LINK_DOOR, and does not
 * block; -1 with errno. */
int hand_take_connection(void);
void hand_link_close(struct hand_link *link); /* NULL is fine */

/* Says whether steps may stand on cores that Slurm has given to nobody: root's configuration.
 * berth-hand was told when it was started. */
void hand_link_idle(struct hand_link *link, bool idle);

/* Waits until berth-hand answers, if there is a link to one. */
void hand_hear(void);

/* Asks. The message's kind, n and what its array does not hold past n are the caller's to fill in.
 * link NULL: there is no hand, which is a refusal. */
int hand_ask(struct hand_link *link, enum hand_who who, const struct hand_message *message,
             struct hand_answer *answer, struct berth_error *err);

/* A step that root's plugin, or the journal, has told of; its folders are changed after that. */
struct hand_told {
    struct wire_step_id id;
    uint32_t uid;
    const char *leaf; /* "": it has no folder */
    pid_t stepd;
    uint64_t stepd_started;
    const struct cpus *job_home;
    size_t ntasks;
    const struct hand_task *task; /* [ntasks] */
};
int hand_ask_step(struct hand_link *link, const struct hand_told *told, struct berth_error *err);
void hand_ask_forget(struct hand_link *link, struct wire_step_id id);

/* Has a list written; `task`: the name of the folder, with HAND_TASK. */
int hand_ask_list(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                  const char *task, bool mems, const struct cpus *cpus, struct berth_error *err);

/* Has berth's own folder made or removed. */
int hand_ask_folder(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                    bool make, struct berth_error *err);

/* Has at most HAND_THREADS_MAX processes moved. Returns how many: who has gone is not; or -1. */
long hand_ask_move(struct hand_link *link, struct wire_step_id id, enum hand_place place,
                   const pid_t *pid, size_t n, struct berth_error *err);

/* Has what Slurm gave noted on the step's folder; cpus NULL: has the note removed. */
void hand_ask_mark(struct hand_link *link, struct wire_step_id id, const struct cpus *cpus);

/* Pages of a process, at most HAND_PAGES_MAX of them. */
struct hand_page_order {
    pid_t pid;
    size_t n;
    void *const *page; /* [n], addresses in that process */
    const int *node;   /* [n], where they shall be; NULL: it is only asked where they are */
    bool all;          /* also those that several processes map */
};

/* Asks where they are, or has them moved; waits for the process's memory map. status[n]: as
 * move_pages(2) says. Returns 0, or -1 with errno and err. */
int hand_ask_pages(struct hand_link *link, const struct hand_page_order *order, int *status,
                   struct berth_error *err);

int hand_ask_clean(struct hand_link *link, struct wire_step_id id, struct berth_error *err);

#endif
