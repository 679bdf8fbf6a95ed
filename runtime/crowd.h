/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crowd - whether a process has more threads than CPUs.
 *
 * Then a lock that is handed from one thread to the next waits until that one runs, and libc's,
 * which goes to who runs, is faster by far (tests/bench/cohort). */
#ifndef BERTH_RUNTIME_CROWD_H
#define BERTH_RUNTIME_CROWD_H

#include <stdbool.h>

/* Notes the CPUs that the process was given: to be called when it begins, because its first thread
 * may bind itself to one of them later. Keeps errno. */
void crowd_begin(void);

/* Returns whether the process has more threads than CPUs, not counting one that only waits for the
 * others, as the first one does in most programs. True also where that is not known. `cpus` says how
 * many CPUs the process's step has, 0: not known. The answer may
 * be a second old. Keeps errno; may be called by any thread at any time, and costs a few ns. */
bool crowd_is(unsigned (*cpus)(void));

#endif
