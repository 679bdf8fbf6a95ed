/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_times - how each thread of some processes spends its time: what a step's counters say of
 * all of them together (Pusukuri 2012, section 2.2: USR and SYS together, LAT and LOCK).
 *
 * They are counts: what a thread did between two readings is their difference. One that has run
 * less than before is another thread, which got the number. */
#ifndef BERTH_COUNTERS_THREAD_TIMES_H
#define BERTH_COUNTERS_THREAD_TIMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/system/rootfs.h"

#define THREAD_TIMES_MAX 4096 /* threads that are read */

struct lock_time;

/* In seconds, since the thread began; lock since it was first read. NAN: not known. */
struct thread_times {
    pid_t pid, tid;
    double running; /* on a CPU (CONFIG_SCHED_INFO) */
    double waiting; /* ready, without one */
    double lock;    /* in futex(2); where `lock` was given, from the second reading on */
};

struct thread_list { /* all zero: empty */
    size_t n, room;
    struct thread_times *thread; /* [n] ordered by process and thread as they were listed */
};

/* Reads the threads of n processes into a list that the caller frees by thread_list_free; threads
 * beyond THREAD_TIMES_MAX are not in it. Whoever ends meanwhile is not in it either. lock counts
 * their waits from the first time on; NULL: nobody does. Returns 0, or -1 for want of memory. */
int thread_times_read(const struct rootfs *root, struct lock_time *lock, size_t n, const pid_t *pid,
                      struct thread_list *list);

/* Nobody counts the waits of these threads any more. */
void thread_times_forget(struct lock_time *lock, const struct thread_list *list);

/* The same of those only that another reading has not. */
void thread_times_forget_but(struct lock_time *lock, const struct thread_list *list,
                             const struct thread_list *kept);

/* Takes an earlier reading from a later one: what remains are the threads of both, with what they
 * did between. */
void thread_times_since(struct thread_list *later, const struct thread_list *earlier);

void thread_list_free(struct thread_list *list);

#endif
