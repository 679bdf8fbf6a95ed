/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_sums - the counts of processes that come and go, added up so that the sum never falls.
 *
 * Pure bookkeeping: whoever reads the processes says what was seen. A process that is gone has left
 * what was last seen of it:
 *
 *   what a parent inherits by waiting (CPU time, faults: the kernel adds a child's to the parent's
 *   cutime, cstime, cminflt, cmajflt) is in the parent already: only what the parent's did not grow
 *   by is kept here (nobody waited, or the parent is not of this step);
 *   what nobody inherits (waiting for a CPU, context switches, lock time) is kept here.
 *
 * Lost is what a process did after it was last seen, but for what is inherited; and, of that, what
 * a child that nobody waits for had, when others that were never seen are waited for at the same
 * time. */
#ifndef BERTH_COUNTERS_PROCESS_SUMS_H
#define BERTH_COUNTERS_PROCESS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum process_sums_count {
    PROCESS_SUMS_USER_NS,
    PROCESS_SUMS_SYSTEM_NS,
    PROCESS_SUMS_FAULTS,
    PROCESS_SUMS_RUN_DELAY_NS,
    PROCESS_SUMS_SWITCHES,
    PROCESS_SUMS_VOLUNTARY,
    PROCESS_SUMS_INVOLUNTARY,
    PROCESS_SUMS_LOCK_WAIT_NS,
    PROCESS_SUMS_COUNTS
};
#define PROCESS_SUMS_INHERITED PROCESS_SUMS_RUN_DELAY_NS /* the counts before it are inherited */

struct process_sum {
    pid_t pid, parent;
    uint64_t started; /* for who reads it: is it still the same? */
    int fd;           /* for who reads it; -1 none */
    bool ended; /* for who reads it: nobody answers for it any more, it is to be found gone */
    bool gone;
    double own[PROCESS_SUMS_COUNTS];
    double waited[PROCESS_SUMS_INHERITED]; /* inherited from children */
    double before[PROCESS_SUMS_INHERITED]; /* waited, when it was settled last */
    double due[PROCESS_SUMS_INHERITED];    /* what should have come from children that are gone */
    double threads, rss_bytes;
};

/* All zero is the empty one. */
struct process_sums {
    struct process_sum *process; /* [n], ascending by pid */
    size_t n, room;
    double past[PROCESS_SUMS_COUNTS]; /* of those that are gone, and that nobody has inherited */
};

void process_sums_free(struct process_sums *tally); /* descriptors are their owner's */

/* Enter those of pid[n] that are not there, with fd -1 and no counts; pid gets sorted. How many
 * they are, or -1 when out of memory: nothing has changed. */
long process_sums_enter(struct process_sums *tally, pid_t *pid, size_t n);

/* A process's count is now this much; where it is less than before, the difference is what threads
 * of it had that have ended. */
void process_sums_see(struct process_sums *tally, struct process_sum *process,
                      enum process_sums_count count, double value);

/* The process that inherits from one that is gone: its nearest ancestor that is not; NULL: none of
 * this step. */
struct process_sum *process_sums_heir(struct process_sums *tally,
                                      const struct process_sum *process);

/* Take out those that are gone, keeping of their counts what nobody has inherited. The heirs'
 * counts must have been read after they were found gone. */
void process_sums_settle(struct process_sums *tally);

/* Of all processes, present and past. */
double process_sums_total(const struct process_sums *tally, enum process_sums_count count);

#endif
