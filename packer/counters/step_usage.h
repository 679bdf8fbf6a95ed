/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_usage - what all processes of a step have used together: read process by process, summed so
 * that it never falls (counters/process_sums.h). */
#ifndef BERTH_COUNTERS_STEP_USAGE_H
#define BERTH_COUNTERS_STEP_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/counters/lock_time.h"
#include "packer/counters/process_sums.h"
#include "packer/counters/stat_reader.h"
#include "packer/system/rootfs.h"
#include "packer/system/taskstats.h"

/* The ways to read processes, for all steps of a node; borrowed. */
struct usage_ways {
    const struct rootfs *root;
    struct stat_reader *stats;
    struct taskstats_link *taskstats; /* NULL: the waiting and switches are read from /proc */
    struct lock_time *lock_time;      /* NULL: nobody counts it */
    size_t descriptors;               /* of /proc/PID/stat that are held open */
    size_t descriptors_max;           /* beyond, the file is opened at each read */
};

struct step_usage {
    struct process_sums tally;
    uint32_t user;          /* on whose account a thread may hang */
    struct hands_work *ask; /* the thread's, that has not answered; NULL: none */
    enum hands_state read;  /* what has come of the last reading; after HANDS_HUNG there is none */
    bool prepared;          /* it was asked just now */
    bool based;             /* counting has begun */
    bool run_delay_known, switches_known; /* by what was read last */
    double base[PROCESS_SUMS_COUNTS];     /* what there was when counting began */
};

/* Counting begins at what its processes pid[n], of that user, have used until now, or until they
 * could be read first; pid gets sorted. 0, or -1 when out of memory. */
int step_usage_begin(struct step_usage *usage, struct usage_ways *ways, uint32_t user, pid_t *pid,
                     size_t n);
void step_usage_end(struct step_usage *usage, struct usage_ways *ways);

/* They are going to be read: a thread may begin. */
void step_usage_prepare(struct step_usage *usage, struct usage_ways *ways);

/* Read the processes that are known; those that have ended go. How many they were; -1: they could
 * not be read this time, and nothing has changed. */
long step_usage_see(struct step_usage *usage, struct usage_ways *ways);

/* Take in processes that are not known yet, and read them, if they can be read this time (read).
 * How many they were, or -1 when out of memory. Right after step_usage_see: then a number in pid[n]
 * that is known is the same process. */
long step_usage_enter(struct step_usage *usage, struct usage_ways *ways, pid_t *pid, size_t n);

/* Read waiting, switches and lock time of all known processes, and note what was known. */
void step_usage_waits(struct step_usage *usage, struct usage_ways *ways);

/* Since counting began. */
double step_usage_total(const struct step_usage *usage, enum process_sums_count count);

/* Of the living: threads, and resident bytes with shared pages counted for each process. */
double step_usage_threads(const struct step_usage *usage);
double step_usage_rss(const struct step_usage *usage);

#endif
