/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forks - a child of fork() has none of its parent's workers, and is none itself. */
#ifndef BERTH_TASKS_FORKS_H
#define BERTH_TASKS_FORKS_H

#include <stdbool.h>

#include "tasks/pool.h"

/* The worker that this thread is; NULL: it is none. */
extern __thread struct worker *forks_self __attribute__((tls_model("initial-exec")));

/* Notes in a new pool whose it is. Returns -1: no memory. */
int forks_begin(struct berth_tasks *pool);

/* Says whether the pool's workers are of this process. */
bool forks_is_ours(const struct berth_tasks *pool);

#endif
