/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sampler - makes the stack-distance profile of a step's last-level cache while it runs, from a few
 * of its accesses (after RDX: Wang, Liu and Chabbi, HPCA 2019).
 *
 * The processor samples addresses that missed the second-level cache (address_source.h). A debug
 * register of the thread that asked is set on such an address (watchpoint.h), and when the thread
 * touches it again, the thread's second-level misses in between are the reuse distance in accesses
 * to the last-level cache, for models/statstack. A touch before as many misses as the second-level
 * cache has lines is served by that, and the watch goes on. There are few registers, and a watch
 * may last for ever: the k-th sample offered to a busy one takes it with odds of 1/k (RDX calls it
 * reservoir sampling), so that a watch of any length has its chance; and one that lasts longer than
 * REUSE_REACH times the lines of the last-level cache is given up. What was cut short counts as
 * censored.
 *
 * RDX sets the register in the signal handler of the sample. Here nobody's process is interrupted,
 * so samples must be waited for (reuse_sampler_fd): one that is older than REUSE_STALE_NS is not
 * watched, and distances are too short by what the thread missed in between.
 *
 * What it cannot see: reuse by another thread, prefetches, other words of the line than the 8 bytes
 * watched, and code. The distances of a thread are in its own accesses: with several threads on a
 * cache, ask for the thread's share of it.
 *
 * Bounded: at most REUSE_WATCHES at once and REUSE_RATE new ones a second, of REUSE_TRAPS traps at
 * the most, sampled on at most REUSE_CPUS of the step's CPUs. That is 40 traps a second of a step,
 * 0.05 % of one core, and 80 new watches a second of a node, 0.6 % of one (as measured, see
 * watchpoint.h). All of it are file descriptors: nothing is left armed after the step, or after
 * berthd. */
#ifndef BERTH_REUSE_SAMPLER_H
#define BERTH_REUSE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/counters/counters.h"
#include "packer/reuse/address_source.h"

#define REUSE_WATCHES 4 /* of a step: as many as x86 has registers for one thread */
#define REUSE_TRAPS 4   /* of a watch */
#define REUSE_RATE 10   /* new watches of a step, per second: 40 traps */
#define REUSE_STEPS 8   /* with more of them each gets fewer watches: 80 a second of a node */
#define REUSE_CPUS 4    /* on which a step is sampled */
#define REUSE_KEPT 2048 /* newest distances of a step that are kept */
#define REUSE_LEAST 30  /* distances below which there is no profile */
#define REUSE_WAYS_MAX 64
#define REUSE_REACH 8
#define REUSE_STALE_NS 2000000

struct reuse_sampler;
struct reuse_step;

/* What it works with; reuse_sampler_open finds it out. */
struct reuse_means {
    struct address_source source;
    uint64_t inner_lines; /* of the second-level cache */
    uint64_t reach;       /* longest distance that is waited for, in accesses */
    uint64_t pause_ns;    /* between two new watches of a step */
    uint64_t stale_ns;    /* an older sample is not watched */
    double limit_s;       /* a watch that takes longer to set is given up, with its step */
};

/* Tries whether it can be done on this node. 0, and say tells how; or -1 and err: why not, for
 * doctor. Nothing is open then. */
int reuse_sampler_open(struct reuse_sampler **out, const struct counters_node *node,
                       char say[COUNTERS_SAY], struct berth_error *err);
int reuse_sampler_open_with(struct reuse_sampler **out, const struct reuse_means *means,
                            struct berth_error *err);
void reuse_sampler_close(struct reuse_sampler *sampler); /* NULL is fine; no step is left */

/* Returns a descriptor that is readable when a step has a sample, or a watch is set: call
 * reuse_sampler_ready at once. Spurious now and then. */
int reuse_sampler_fd(const struct reuse_sampler *sampler);
void reuse_sampler_ready(struct reuse_sampler *sampler);

/* Who is sampled: borrowed, during the call only. */
struct reuse_target {
    uint32_t user; /* whose processes they are */
    int cgroup;    /* directory of the step's cgroup in the perf_event hierarchy, or -1: */
    pid_t pid;     /* only this thread */
    const struct cpus *cpus; /* where the cgroup may run */
};

/* Begins to sample a step. 0 and *step, or -1 and err. */
int reuse_sampler_attach(struct reuse_sampler *sampler, const struct reuse_target *target,
                         struct reuse_step **step, struct berth_error *err);

/* Samples a step on other CPUs from now on. 0, or -1 and err: not sampled any more. */
int reuse_sampler_follow(struct reuse_step *step, const struct reuse_target *target,
                         struct berth_error *err);

/* Says whether a watch of it is being set, beside the event loop: reuse_sampler_fd tells the end.
 */
bool reuse_sampler_setting(const struct reuse_step *step);

/* Says whether a thread that was to set a watch has hung: it is not sampled any more (opening.h).
 */
bool reuse_sampler_hung(const struct reuse_step *step);

/* Sees to the watches; once a window. */
void reuse_sampler_poll(struct reuse_step *step);

/* Forgets what was sampled: a new phase has begun. */
void reuse_sampler_forget(struct reuse_step *step);

struct reuse_sdp {
    size_t ways;
    double hits[REUSE_WAYS_MAX],
        hits_error[REUSE_WAYS_MAX]; /* by LRU position, 0 the most recent */
    double misses, misses_error; /* all per million instructions; errors: half of 95 % intervals */
    size_t samples, censored;    /* distances it is made of, and of them cut short */
    uint64_t lost, refused; /* samples that the kernel dropped, watches that were not to be had */
};

/* Makes the profile on a cache of `sets` * `ways` lines (ways <= REUSE_WAYS_MAX), where the step
 * makes access_pmi accesses to it per million instructions. 0, or -1 and err: not known (yet). */
int reuse_sampler_sdp(struct reuse_step *step, size_t sets, size_t ways, double access_pmi,
                      struct reuse_sdp *sdp, struct berth_error *err);

void reuse_sampler_detach(struct reuse_step *step); /* NULL is fine */

#endif
