/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_feed - the files that a simulated node's berthd reads: its configuration, the machine, what
 * is known of the programs beforehand, and what counters and /proc/stat say as time goes on. Where
 * jobs have memory (day_memory.h), counters say how much of it is on each memory node, and the
 * kernel, and the machine profile where there is one, how far these are from each other. */
#ifndef BERTH_BENCH_DAY_FEED_H
#define BERTH_BENCH_DAY_FEED_H

#include <limits.h>
#include <stdbool.h>

#include "tests/bench/day_sim.h"

/* How berthd is run. */
struct day_study {
    const char *build;  /* the build folder whose berthd it is; NULL: ours */
    const char *policy; /* NULL: berthd's own default */
    bool sdp;           /* the store has the programs' stack-distance profiles */
    bool timed;         /* and how fast they are alone */
    bool calibrated;    /* there is a machine profile with the memory's bandwidth */
    double window_s;
    double control; /* percent of the jobs that are only observed, with a ledger; 0: none is */
    const char *const *conf; /* further lines of berth.conf, ended by NULL */
};

struct day_feed {
    const char *folder;
    const struct day_sim *sim;
};

/* The key's part of a program, as the plugin would tell it. */
#define DAY_EXE_MAX 320
void day_feed_exe(const struct day_truth *truth, size_t app, char exe[DAY_EXE_MAX], char hash[33]);

/* Writes a template for mkdtemp(3) into `folder`: in TMPDIR, or in what is in memory. */
void day_feed_folder(char folder[PATH_MAX]);

/* Writes the topology with the truth's caches as XML, "machine.xml" in the folder. 0, or -1 and
 * err. */
int day_feed_machine(const char *folder, const char *topology, const struct day_truth *truth,
                     struct berth_error *err);

/* Writes all that berthd reads at its start. 0, or -1 and err. */
int day_feed_begin(const struct day_feed *feed, const struct day_study *study,
                   struct berth_error *err);

/* Writes what the running jobs have counted, and how busy each core was, until sim->now. 0, or -1
 * and err. */
int day_feed_now(const struct day_feed *feed, struct berth_error *err);

/* Removes what an ended job has counted. */
void day_feed_end(const struct day_feed *feed, const struct day_job *job);

#endif
