/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohorts - the cohorts of a process's locks: when a lock is given one, and where it is.
 *
 * They are for processes with a CPU for each thread: in others they rest, unless RT_COHORT_ENV says
 * how they are to be. There is a bounded number of them, and who finds none left stays without. In
 * a child of fork there are none: its locks are as libc has them, locked where they were locked,
 * and the threads that waited are not there. */
#ifndef BERTH_RUNTIME_COHORTS_H
#define BERTH_RUNTIME_COHORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/cohort.h"

#define COHORTS 1024
#define COHORTS_NONE COHORTS

/* Says that locks are to be taken as if they had no cohort, because the process has more threads
 * than CPUs. May change at any time: who has taken a lock gives it back by its cohort. */
bool cohorts_rest(void);

/* Notes that the caller has waited for a lock, which it has now. `noted` begins with 0 and is the
 * lock's. Returns whether the lock is to be given a cohort: the page says so (RT_COHORT, RT_FLEX),
 * and often enough somebody of another domain had waited before, and cohorts do not rest. Keeps
 * errno. */
bool cohorts_note(uint64_t *noted);

/* Gives the lock, which the caller has, a cohort; also where there is one of another lock that was
 * at its address. Returns its number, less than COHORTS, or COHORTS_NONE. Keeps errno. */
size_t cohorts_give(void *lock, const struct cohort_global *global);

/* Returns the lock's cohort, by its number, or wherever it is; NULL: it has none. */
struct cohort *cohorts_at(size_t number, const void *lock);
struct cohort *cohorts_find(const void *lock);

/* Takes the lock's cohort, if there is one, from it. Nobody has the lock, or waits for it. */
void cohorts_drop(const void *lock);

#endif
