/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe - measures how much a step disturbs its last-level cache, on nodes without cache counters:
 * by the reporter (probe/child.h), now and then, on an idle core of that cache.
 *
 * When and where
 *   Off unless berth.conf says `probe = on`. At most one probe at a time on the node, one every
 *   probe_every for a cache, each no longer than probe_time, and never more often than every 100
 *   times probe_time: all probes together take at most 1 % of one core.
 *   The CPU that is used, and its hardware siblings, are in no Slurm job's cpuset, in no step's
 *   CPUs, and were idle according to /proc/stat for the last second. Where Slurm does not confine
 *   jobs to cpusets (ConstrainCores=no) nobody knows what is free, and there is no probe. A cache
 *   where anybody else than the steps given is at work is not probed either: it would be taken for
 *   them. Nor is one without a free core: another cache would tell of the memory only, on another
 *   scale.
 *
 * What the results say
 *   A probe is one number, ns per access in units of the reporter's clock, and belongs to a
 *   situation: the set of steps on the cache (caches of one size are alike). What a step adds is
 *   the mean of a situation with it less that of the same situation without it; all such pairs are
 *   averaged, weighted by the inverse of their variance (one variance is estimated for all
 *   situations together). A step that was alone on its cache is a pair with the empty situation.
 *       intensity = what it adds / the mean of the empty situation, at least 0
 *   A step for which there is no such pair has none: two steps that come and go together cannot
 *   be told apart.
 *
 * The rank among others
 *   An intensity depends on the machine and is no miss rate. It ranks the unprofiled steps of a
 *   node among themselves, probe_rank(): the typical one (the median) as any unprofiled step, at
 *   neutral_miss_pmi; others between 0 and below the devils. Profiles count for more. What comes of
 *   it says "source":"probe". */
#ifndef BERTH_INTERFERENCE_PROBE_H
#define BERTH_INTERFERENCE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"
#include "packer/counters/counters.h"
#include "packer/machine/topo.h"
#include "packer/wire/wire.h"

#define PROBE_SHARE 100  /* a probe takes at most that part of the time */
#define PROBE_LOOK_S 1.0 /* how long a CPU must have been idle */
#define PROBE_TRUST 8    /* so many probes at least before an estimate ranks a step */

struct probe;

/* A live step of the node: all of them are given, also those that are left alone. */
struct probe_step {
    struct wire_step_id id;
    struct cpus cpus; /* where its tasks may run now */
    bool confined;    /* Slurm has given it a cpuset (enforce_step.leaf is not "") */
};

struct probe_estimate {
    double intensity; /* >= 0: the reporter's accesses take so much longer because of it */
    double error;     /* standard error of intensity; NAN: not known yet */
    unsigned probes;  /* probes with the step, in the pairs that were used */
};

/* Starts it; everything is borrowed until probe_close. 0 and *out; -1 and err: why there can be no
 * probe on this node (it is off, or there are no cpusets). */
int probe_open(struct probe **out, const struct counters_node *node, struct berth_error *err);
void probe_close(struct probe *probe); /* ends a probe that is at work; NULL is fine */

/* Returns the seconds (> 0) until probe_begin should be called, from now_s (CLOCK_MONOTONIC). */
double probe_wait_s(const struct probe *probe, double now_s);

/* Begins a probe if one is due and possible. Returns a descriptor to watch: when it is readable, or
 * after twice conf->probe_time_ms, call probe_end. -1: none now, and err says why; "" when there is
 * nothing to say (it only looked which CPUs are idle; call again after probe_wait_s). */
int probe_begin(struct probe *probe, double now_s, const struct probe_step *step, size_t n,
                struct berth_error *err);

/* Says whether a probe has begun and not ended. */
bool probe_at_work(const struct probe *probe);

/* Takes the result. 0 and what it was, for the log; or -1 and err: it gave none. The descriptor is
 * closed. */
struct probe_result {
    size_t llc;   /* index of the cache */
    size_t steps; /* that were on it */
    double ratio; /* ns per access / ns per multiplication */
    double cpu_s; /* CPU time that it took */
};
int probe_end(struct probe *probe, struct probe_result *result, struct berth_error *err);

/* Tells what is known of a step; false when nothing is. */
bool probe_estimate(const struct probe *probe, struct wire_step_id id,
                    struct probe_estimate *estimate);

/* Forgets a step that has ended. */
void probe_forget(struct probe *probe, struct wire_step_id id);

/* Returns the rank of an unprofiled step in misses per million instructions: neutral at the typical
 * intensity (the median of the unprofiled steps that have one), 0 at none, and below `devil`
 * whatever it is. neutral < devil; typical 0 (nobody disturbs) ranks all as neutral. */
double probe_rank(double intensity, double typical, double neutral_pmi, double devil_pmi);

/* ---- decisions, pure ---- */

/* Finds the CPUs that were idle between two texts of /proc/stat: at least 95 of 100 ticks, and at
 * least 50 ticks passed. 0, or -1 when one of the texts is none. */
int probe_idle_cpus(const char *before, const char *after, struct cpus *idle);

/* Finds the CPUs of all Slurm jobs on the node, by their cpusets. 0; or -1 and err: not known here.
 */
int probe_held_cpus(struct enforce *enforce, struct cpus *held, struct berth_error *err);

/* Returns the CPU to use beside a cache: of its last core that is idle and not held with all its
 * hardware threads; -1 when there is none. */
long probe_choose_cpu(const struct topo *topo, size_t llc, const struct cpus *held,
                      const struct cpus *idle);

#endif
