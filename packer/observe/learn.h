/* SPDX-License-Identifier: GPL-2.0-or-later */
/* learn - what was counted of a run goes to the profile store, so that the program's next run is
 * known at its launch.
 *
 * SQLite waits for disks and for other writers, berthd's event loop must not: a thread of its own
 * writes, a few samples at a time. What cannot be stored is kept and tried again, the newest
 * LEARN_QUEUE of it. */
#ifndef BERTH_OBSERVE_LEARN_H
#define BERTH_OBSERVE_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "packer/profiles/profiles.h"

#define LEARN_QUEUE 1024

struct learner;
struct packer;
struct step;

/* Starts to write to the store at `path`, which the group may read (""; nobody), and to forget
 * samples older than so many days (0: never) once a day. Returns NULL when there is no thread to be
 * had: nothing is learned then. */
struct learner *learn_open(const char *path, const char *group, uint64_t max_age_days);

/* Is anything to be learned now? */
bool learn_wanted(const struct packer *packer);

/* Store what waits, for 2 s at most, and stop. NULL is fine. */
void learn_close(struct learner *learner);

/* Put one sample into the queue. */
void learn_put(struct learner *learner, const struct profile_sample *sample);

/* Puts a pair into the queue; its texts are copied. */
void learn_put_pair(struct learner *learner, const struct profile_pair *pair);

/* Puts a demand of a user's program into the queue, as JSON: what is not known there is NAN. */
void learn_put_demand(struct learner *learner, uint32_t uid, const char *key,
                      const struct profile_demand *demand);

/* Puts in that the step's program was seen to bind its threads; or, with `bound` false, that a run
 * of it has ended in which it bound none. */
void learn_binding(const struct packer *packer, const struct step *step, bool bound);

/* Put what a step's windows said: those in which it had its caches to itself, and the others. */
void learn_step(const struct packer *packer, const struct step *step);

#endif
