/* SPDX-License-Identifier: GPL-2.0-or-later */
/* groups - the parts of a task's CPUs that its threads are dealt over: one a package, or one a
 * cache of the last level where the step has one package only.
 *
 * A thread is berth's to bind while it may run on all of its task's CPUs, or on exactly one of
 * these parts, which berth gave it or whoever made it. Any other affinity is its program's own, and
 * stays. So what was before is the same for all that are bound, and needs no list: all of the
 * task's CPUs. It takes that nobody stands on exactly one part before; who comes to do so later by
 * himself is told by the part, which is another one than berth gave him (groups_keep), or by his
 * program's OpenMP library (the pin of its registration). */
#ifndef BERTH_INSIDE_GROUPS_H
#define BERTH_INSIDE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "models/inside/shuffle.h"
#include "packer/steps/packer.h"

struct groups {
    bool caches; /* else packages */
    size_t n;    /* < 2: there is nothing to deal over */
    struct cpus all, cpus[SHUFFLE_PACKAGES_MAX];
    size_t index[SHUFFLE_PACKAGES_MAX]; /* of the package or cache in the machine's topology */
    unsigned cores[SHUFFLE_PACKAGES_MAX];
    bool far;                                                     /* the distances are known */
    double distance[SHUFFLE_PACKAGES_MAX * SHUFFLE_PACKAGES_MAX]; /* [n * n] */
};

/* What a thread's affinity is to the groups. */
enum groups_thread { GROUPS_FREE, GROUPS_IN, GROUPS_BOUND };

/* Says whether the tasks of a step with these CPUs are dealt over caches: they are of one package.
 */
bool groups_by_cache(const struct topo *topo, const struct cpus *all);

/* Cuts a task's CPUs. */
void groups_cut(const struct topo *topo, const struct cpus *cpus, bool caches,
                struct groups *groups);

/* Tells what an affinity is; *at is the group where all of it is, or SHUFFLE_NOWHERE. */
enum groups_thread groups_look(const struct groups *groups, const struct cpus *affinity,
                               size_t *at);

/* Says whether a thread that stands on exactly that group does so by its program's will. */
typedef bool groups_keep(const struct step *step, pid_t tid, size_t group);

/* Gives every thread of the step that stands on exactly one group its task's CPUs, but those that
 * `keep` names, or OpenMP has bound. 0, or -1 and err: some may stand there still. */
int groups_undo(const struct packer *packer, const struct step *step, groups_keep *keep,
                struct berth_error *err);

#endif
