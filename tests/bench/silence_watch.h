/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_watch - sees each thread of a process wake and sleep, from outside.
 *
 * The kernel writes a record (PERF_RECORD_SWITCH) whenever a thread gets or leaves a CPU, with the
 * time, so that a burst's length is exact; neither counters of the processor nor tracefs are
 * needed, but the right to perf_event_open(2) of another's process. Without it /proc/PID/task/TID/
 * schedstat is looked at every two milliseconds: a thread that ran more than once since the last
 * look has bursts of the same length then, and begins and ends are as exact as the looks are. */
#ifndef BERTH_BENCH_SILENCE_WATCH_H
#define BERTH_BENCH_SILENCE_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/bench/silence_train.h"

struct silence_watch;

/* Watches all threads of the process, and those that they will make. schedstat: even where there
 * are records. Nothing that cannot be watched comes back: the program ends. */
struct silence_watch *silence_watch_open(pid_t process, bool schedstat);

/* Sees what happens for so many seconds; `each` is called some times a second, and may be NULL. */
void silence_watch_pass(struct silence_watch *watch, double seconds, void (*each)(double done));

/* Takes in what has happened while the caller did something else: with records nothing is lost up
 * to thousands of switches. */
void silence_watch_look(struct silence_watch *watch);

/* Says whether there are no records. */
bool silence_watch_by_schedstat(const struct silence_watch *watch);

/* Ends it, and fills in what has been seen. */
void silence_watch_close(struct silence_watch *watch, struct silence_train *train);

#endif
