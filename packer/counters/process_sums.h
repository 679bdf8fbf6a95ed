/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally - the counts of processes that come and go, added up so that the sum never falls.
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

enum tally_count {
    TALLY_USER_NS,
    TALLY_SYSTEM_NS,
    TALLY_FAULTS,
    TALLY_RUN_DELAY_NS,
    TALLY_SWITCHES,
    TALLY_VOLUNTARY,
    TALLY_INVOLUNTARY,
    TALLY_LOCK_WAIT_NS,
    TALLY_COUNTS
};
#define TALLY_INHERITED TALLY_RUN_DELAY_NS /* the counts before it are inherited */

struct tally_process {
    pid_t pid, parent;
    uint64_t started; /* for who reads it: is it still the same? */
    int fd;           /* for who reads it; -1 none */
    bool gone;
    double own[TALLY_COUNTS];
    double waited[TALLY_INHERITED]; /* inherited from children */
    double before[TALLY_INHERITED]; /* waited, when it was settled last */
    double due[TALLY_INHERITED];    /* what should have come from children that are gone */
    double threads, rss_bytes;
};

/* All zero is the empty one. */
struct tally {
    struct tally_process *process; /* [n], ascending by pid */
    size_t n, room;
    double past[TALLY_COUNTS]; /* of those that are gone, and that nobody has inherited */
};

void tally_free(struct tally *tally); /* descriptors are their owner's */

/* Enter those of pid[n] that are not there, with fd -1 and no counts; pid gets sorted. How many
 * they are, or -1 when out of memory: nothing has changed. */
long tally_enter(struct tally *tally, pid_t *pid, size_t n);

/* A process's count is now this much; where it is less than before, the difference is what threads
 * of it had that have ended. */
void tally_see(struct tally *tally, struct tally_process *process, enum tally_count count,
               double value);

/* The process that inherits from one that is gone: its nearest ancestor that is not; NULL: none of
 * this step. */
struct tally_process *tally_heir(struct tally *tally, const struct tally_process *process);

/* Take out those that are gone, keeping of their counts what nobody has inherited. The heirs'
 * counts must have been read after they were found gone. */
void tally_settle(struct tally *tally);

/* Of all processes, present and past. */
double tally_total(const struct tally *tally, enum tally_count count);

#endif
