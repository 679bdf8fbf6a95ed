/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census - the threads of all processes that we have started: what they have done so far, and how
 * many of them wait for a lock now.
 *
 * Ours is whoever descends from us; who is the child of a process that has ended comes to us, for
 * we are a subreaper (prctl(2)). All is read of /proc as any user may: CPU time of schedstat,
 * switches of status, migrations of sched, and whether a thread is in futex(2) of syscall, or where
 * that is closed of wchan. What the kernel does not tell is NAN. */
#ifndef BERTH_PROBE_THREADS_CENSUS_H
#define BERTH_PROBE_THREADS_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "packer/base/error.h"
#include "packer/system/rootfs.h"

struct census_thread {
    pid_t pid, tid;
    double cpu_ns, voluntary, migrations; /* so far; NAN: not known */
    double delay_ns;                      /* so long it could have run and had no CPU; NAN */
};

struct census {
    size_t n, room;
    struct census_thread *thread; /* [n], by pid and tid rising */
};

/* Lists our descendants' pids. Returns an array that the caller frees, *n long; NULL without memory
 * or /proc. */
pid_t *census_processes(const struct rootfs *root, size_t *n);

/* Reads all of our descendants' threads anew. 0, or -1 and err. */
int census_take(struct census *census, const struct rootfs *root, struct berth_error *err);
void census_free(struct census *census);

/* Counts of the census' threads those that are alive, and those that wait in futex(2). Returns
 * false where that cannot be known. */
bool census_waiting(const struct census *census, const struct rootfs *root, size_t *alive,
                    size_t *waiting);

/* Does the same of these processes' threads, whoever has started them. Those that have gone are
 * left out. */
int census_take_of(struct census *census, const struct rootfs *root, size_t n, const pid_t *pid,
                   struct berth_error *err);

/* Returns the thread of the census that is `thread`; NULL: it is not there. */
const struct census_thread *census_find(const struct census *census,
                                        const struct census_thread *thread);

/* Returns 1 when the thread waits in futex(2) now, 0 when not, -1: that is not known. *gone: it has
 * ended. */
int census_thread_waits(const struct rootfs *root, const struct census_thread *thread, bool *gone);

/* What they did from one census to the next, together; threads that ended between are left out. */
struct census_done {
    double cpu_ns, voluntary, migrations; /* NAN: not known */
};
struct census_done census_since(const struct census *before, const struct census *after);

#endif
