/* SPDX-License-Identifier: GPL-2.0-or-later */
/* estimate - tells what many probes in different situations say about one step; see probe.h. No
 * I/O. */
#ifndef BERTH_INTERFERENCE_ESTIMATE_H
#define BERTH_INTERFERENCE_ESTIMATE_H

#include "packer/interference/probe.h"

#define PROBE_SET_MAX 32
#define PROBE_SITUATIONS_MAX 256 /* beyond them, that which was seen least lately is forgotten */

/* The steps on a cache, ascending; all zero is the empty set. */
struct probe_set {
    size_t steps;
    struct wire_step_id step[PROBE_SET_MAX];
};

/* Adds a step; it may be in it already. 0, or -1: full. */
int probe_set_add(struct probe_set *set, struct wire_step_id id);

bool probe_set_has(const struct probe_set *set, struct wire_step_id id);

struct probe_history;

struct probe_history *probe_history_new(void); /* NULL: out of memory */
void probe_history_free(struct probe_history *history);

/* Takes that a probe of a cache of that size, with these steps on it, gave the ratio. 0, or -1 and
 * err: it is no number > 0. */
int probe_history_add(struct probe_history *history, size_t llc_bytes, const struct probe_set *set,
                      double ratio, struct berth_error *err);

/* Returns how many probes there were of that situation. */
unsigned probe_history_count(const struct probe_history *history, size_t llc_bytes,
                             const struct probe_set *set);

bool probe_history_estimate(const struct probe_history *history, struct wire_step_id id,
                            struct probe_estimate *estimate);

/* Forgets every situation with the step. */
void probe_history_forget(struct probe_history *history, struct wire_step_id id);

#endif
