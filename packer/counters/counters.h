/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters - what a step does to the machine, as numbers: one vtable, several backends, as many of
 * them at once as the node offers.
 *
 *   replay    samples from a file, by the step's name; alone, for tests and studies
 *   perf      hardware events (libpfm4, perf_event_open) of the step's cgroup, and the kernel's
 * software events where there is no PMU
 *   resctrl   occupancy of the last-level cache and memory bandwidth, by a monitoring group
 *   software  /proc, taskstats and the memory cgroup: CPU time, waiting, switches, resident memory
 *
 * A counter is taken from the first backend of that order which knows it. What nobody knows is
 * absent from the sample: never 0, never a guess. Nothing here decides anything. */
#ifndef BERTH_COUNTERS_COUNTERS_H
#define BERTH_COUNTERS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/base/hands.h"
#include "packer/conf/conf.h"
#include "packer/counters/by_node.h"
#include "packer/counters/counter_info.h"
#include "packer/enforce/enforce.h"
#include "packer/machine/topo.h"
#include "packer/system/rootfs.h"

#define COUNTERS_NODES_MAX BY_NODE_MAX

struct counters_sample {
    double at_s;            /* CLOCK_MONOTONIC when it was read (replay: the time asked for) */
    uint32_t known;         /* bit i: value[i] is a measurement */
    double value[COUNTERS]; /* exact to 2^53 */
    double error[COUNTERS]; /* relative standard error where an event was multiplexed with others;
                               0 exact */
    size_t nodes;           /* NUMA nodes below; 0: not known */
    enum hands_state nodes_read; /* HANDS_HUNG, HANDS_REFUSED: they cannot be read any more, now */
    enum hands_state processes_read;     /* the same of its processes: faults, threads, resident
                                            bytes, and CPU time where no cgroup counts it */
    double rss_node[COUNTERS_NODES_MAX]; /* resident bytes by NUMA node (os_index) */
    struct by_node *by_node; /* what was counted apart for each node whose cores did it: room of
                                the caller's, who wants to know it; else NULL */
};

static inline bool counters_know(const struct counters_sample *sample, enum counter counter)
{
    return sample->known & 1u << counter;
}

/* Enter a value, unless a backend before has entered one. */
static inline void counters_set(struct counters_sample *sample, enum counter counter, double value)
{
    if (counters_know(sample, counter))
        return;
    sample->known |= 1u << counter;
    sample->value[counter] = value;
    sample->error[counter] = 0;
}

struct stat_reader; /* counters/stat_reader.h */

/* The node, as a backend needs it: all borrowed, valid until its close. */
struct counters_node {
    const struct rootfs *root;
    const struct topo *topo;
    struct enforce *enforce; /* lists a step's processes; its cgroup_root and tree */
    const struct conf *conf;
    struct stat_reader *stats; /* reads processes: those that are opened together have one */
};

/* A step, as a backend needs it: borrowed, valid during the call only. */
struct counters_target {
    const struct enforce_step *body;   /* id, cgroup, tasks */
    const char *name;                  /* its tag, else its program's base name, else "" */
    struct cpus cpus;                  /* where its tasks may run now */
    bool nocount;                      /* no hardware counter is used for it */
    double elapsed_s;                  /* since it was registered */
    const struct enforce_pids *listed; /* its processes as they were just found; NULL: nobody has
                                          looked */
};

#define COUNTERS_SAY 512

/* A way to count. */
struct counters_about {
    const char *name;
    bool used;
    const char *say, *without; /* say: what it counts, or why it is not used */
};

struct lock_time; /* counters/lock_time.h */

struct counters_backend {
    const char *name;
    bool hardware;       /* it uses hardware counters, which others may want */
    const char *without; /* what is not known where it is absent, for `berthctl doctor`; NULL: the
                            doctor tells of it only where it is used */

    /* Is this way usable on this node? 0: *state (the backend's own), *can (bit i: counter i is
     * known here as a rule) and say (one line for people: what it counts, and how) are filled. -1:
     * not here, err says why in words for `berthctl doctor`; nothing is left behind. */
    int (*open)(const struct counters_node *node, void **state, uint32_t *can,
                char say[COUNTERS_SAY], struct berth_error *err);
    void (*close)(void *state);

    /* A step begins (none of its tasks has run), or is adopted after a restart of berthd. 0 and
     * *step; or -1 and err: this backend knows nothing of this step. */
    int (*attach)(void *state, const struct counters_target *target, void **step,
                  struct berth_error *err);

    /* Its CPUs have just changed. May be NULL. */
    void (*follow)(void *state, void *step, const struct counters_target *target);

    /* It is going to be read, among others: work may begin that another thread does. May be NULL.
     */
    void (*prepare)(void *state, void *step, double elapsed_s);

    /* Add what is known now by counters_set. 0, or -1 and err when nothing could be read. */
    int (*read)(void *state, void *step, const struct counters_target *target,
                struct counters_sample *sample, struct berth_error *err);

    /* The step is over: nothing of it is left. Its processes may have gone long ago. */
    void (*detach)(void *state, void *step);

    /* The descriptor of the step's cgroup in the perf_event hierarchy, borrowed. May be NULL. */
    int (*cgroup)(void *step);

    /* What counts waits for locks, borrowed; NULL: nothing does. May be NULL. */
    struct lock_time *(*locks)(void *state);

    /* The i-th of several ways that this backend counts by, as counters_about; false after the last
     * one. May be NULL. */
    bool (*part)(void *state, size_t i, struct counters_about *about);

    /* Remove what a berthd before this one has left for steps that are not in known[n]. May be
     * NULL. */
    void (*sweep)(void *state, const struct wire_step_id *known, size_t n);
};

extern const struct counters_backend counters_replay, counters_perf, counters_resctrl,
    counters_uncore,
    counters_software;

/* ---- all backends together ---- */

struct counters;      /* those that work on this node */
struct counters_step; /* one step of theirs */

/* Open every backend that works here; with conf->counters_replay set, only replay. It fails for
 * want of memory only, or when the file to replay cannot be read: -1 and err. */
int counters_open(struct counters **out, const struct counters_node *node, struct berth_error *err);
void counters_close(struct counters *counters); /* NULL is fine; all steps are detached before */

/* What all of them together know, as a rule. */
uint32_t counters_can(const struct counters *counters);

/* Returns what reads processes, borrowed. */
struct stat_reader *counters_stats(const struct counters *counters);

/* Returns what counts waits for locks here, borrowed; NULL: nothing does. */
struct lock_time *counters_locks(const struct counters *counters);

/* Who counts the step's instructions here, else its CPU time: "perf", "replay", "software"; "" when
 * nobody does. The source of what is learned. */
const char *counters_source(const struct counters *counters);

/* Tells of the i-th backend; false after the last one. */
bool counters_about(const struct counters *counters, size_t i, struct counters_about *about);

/* Tells of the i-th way of the backend that counts by several (software: taskstats, lock_time);
 * false after the last one, or where that is not used. */
bool counters_part(const struct counters *counters, size_t i, struct counters_about *about);

/* NULL when out of memory. A backend that cannot follow the step is logged once, and absent. */
struct counters_step *counters_attach(struct counters *counters,
                                      const struct counters_target *target);
void counters_follow(struct counters *counters, struct counters_step *step,
                     const struct counters_target *target);
/* Several steps are going to be read at once; this is said of all of them before. */
void counters_prepare(struct counters *counters, struct counters_step *step, double elapsed_s);
/* by: where sample->by_node is to be; NULL: it is not asked for. */
void counters_read(struct counters *counters, struct counters_step *step,
                   const struct counters_target *target, struct counters_sample *sample,
                   struct by_node *by);
void counters_detach(struct counters *counters, struct counters_step *step); /* NULL is fine */
/* The descriptor of the step's perf_event cgroup, borrowed; -1: perf does not follow it. */
int counters_cgroup(const struct counters_step *step);
void counters_sweep(struct counters *counters, const struct wire_step_id *known, size_t n);

#endif
