/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moves - where workers stand: each is pinned to a place, and they follow when the step is moved.
 */
#ifndef BERTH_TASKS_MOVES_H
#define BERTH_TASKS_MOVES_H

#include "tasks/pool.h"

/* Gives each worker its place, and each domain its members. Domains that there were not yet begin.
 * Returns -1: no memory, and nothing has changed. */
int moves_assign(struct berth_tasks *pool, const struct places *places);

/* Pins the thread that calls to a CPU. Returns -1: it is not allowed there. */
int moves_pin_to(int cpu);

/* Notes which memory the domain has: that of the CPU where the thread that calls is pinned. Of
 * nodes that are faked nobody knows. */
void moves_note_memory(const struct berth_tasks *pool, struct domain *domain);

/* Pins the worker, which calls, to its place, and notes which memory the domain has. */
void moves_pin(struct worker *me);

/* Reads the places anew when they are others, which one worker does for all, and pins the worker
 * that calls when its own place has changed. */
void moves_follow(struct worker *me);

/* Returns memory for a domain, and what begins beside it, that nobody has touched; NULL: there is
 * none. The pool has it. */
void *moves_map(struct berth_tasks *pool, unsigned domain, size_t bytes);

/* Begins a domain, in memory that is 0. */
void moves_begin_domain(struct domain *domain);

#endif
