/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads - a task with several cores: does it stand on one cache, or are its threads spread?
 *
 * Spread, each thread has more of the caches' space and of the ways to memory. What the threads
 * share is lost to those that stand elsewhere: a hit on a line that another thread has brought is
 * none where that thread is on another cache. Of a task's hits `shared` are of that kind. A core
 * whose task has the part `far` of its other cores on other caches loses shared * far of its hits;
 * they wait for memory then, and ask it for their lines (contend.h).
 *
 * As much of its footprint is common to its cores on one cache: they fill it together, and it
 * counts once there.
 *
 * shared is known of a program that was counted both ways: its misses rise by shared * far * hits.
 * Where it is not, all is taken for shared, and hits are lost as far as a core is more apart than
 * the task's most remote one is now. So nobody is spread, and nobody drawn together, on hope: what
 * the threads take from each other in the cache is in their time alone, as far as is known. (What
 * contend says that they would gain by being apart was never measured. On simulated days whose
 * programs gain nothing by it, uneven counters made tasks that ran go apart again and again, and
 * half of what could be avoided was lost. So a task that runs is divided for its user's word only.)
 *
 * A task that fits into one cache is spread by no policy as long as nobody has counted what its
 * threads share: it belongs together.
 *
 * The schemes of the papers know threads only. To DI, DIO-POWER and the scores each thread of a
 * larger memory-bound task is one; a task that is not stays whole, and so does one whose threads
 * are known to miss more when they are spread than caches are relieved by it. */
#ifndef BERTH_PLACE_THREADS_H
#define BERTH_PLACE_THREADS_H

#include "models/slowdown/contend.h"
#include "packer/steps/stand.h"

/* What a user insists on. */
enum threads_word { THREADS_MODEL, THREADS_SPREAD, THREADS_PACK, THREADS_WORDS };
enum threads_word threads_word(const struct step *step);

/* Returns what a core of the step's task (of so many cores) loses where `here` of them are on its
 * cache (models/slowdown/contend.h), and as things are its most remote core is so far apart. */
struct contend_apart threads_lose(const struct packer *packer, const struct step *step,
                                  size_t cores, size_t here, double far_now);

/* Returns by how much a core of the step's task is apart from the others as things are, of the one
 * that is most. */
double threads_far_now(const struct packer *packer, const struct step *step, size_t task);

/* Tells whether contend may divide a task of the step, of so many cores, over caches: where its
 * user insists on it; and as it starts, for then its memory comes to be where its threads are, one
 * that is bound by memory and of whose hits next to none can be on what its threads share, and that
 * fits into no cache or was counted both ways. Not
 * where NuCore (size) has said how its cores stand, or where this was slower of late. */
bool threads_divisible(const struct packer *packer, const struct step *step, size_t cores,
                       bool starts);

/* Tells whether the task's cores are threads of their own for policies that place by rule or by
 * score. */
bool threads_apart(const struct packer *packer, const struct step *step, size_t cores);

/* Returns by how many caches the tasks of steps whose users insist on spread or pack are off what
 * the pool could give them, if it stood like that. */
size_t threads_missing(const struct scene *scene);

/* What came of it, for people. */
struct threads_state {
    enum threads_word asked;
    size_t caches;      /* of the task that stands on most */
    double shared;      /* part of the hits; NAN not known */
    const char *reason; /* "" one core a task, or one cache */
    const char *vain;   /* why the word has no effect; NULL: it has, or none was given */
};
void threads_state(const struct packer *packer, const struct step *step,
                   struct threads_state *state);
extern const char *const threads_word_name[]; /* NULL, "spread", "pack" */

/* ---- learnt ---- */

/* A step's tasks where they stood nearer, and farther apart. */
struct threads_seen {
    double near, far;               /* how far apart, on average over its cores */
    double near_misses, far_misses; /* per million instructions */
    double error;                   /* of their difference, as counted */
    double near_hits;               /* accesses less misses */
};

/* Takes in what its program's threads share by that, in proportion to how exactly it is known. What
 * is not finite says nothing, nor does what is hardly farther apart. */
void threads_learn(const struct packer *packer, const struct step *step,
                   const struct threads_seen *seen);

/* Its threads were spread, and it was slower: they stay whole for a while, for longer each time. */
void threads_regret(const struct packer *packer, const struct step *step);

/* Returns how far apart the step's tasks stand under the scene's permutation, on average over its
 * cores. */
double threads_apart_now(const struct scene *scene, const struct step *step);

#endif
