/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_clock - what tests/bench/day and the clock that it gives berthd say to each other.
 *
 * On the descriptor named by DAY_CLOCK_FD the bench sends a time, int64_t nanoseconds since the
 * simulation began, and berthd's clock answers, once all threads are idle at that time, with the
 * time at which the first of them wants to go on (INT64_MAX: none does). The bench never sends a
 * time that is later than that, nor one that is earlier than the last. */
#ifndef BERTH_BENCH_DAY_CLOCK_H
#define BERTH_BENCH_DAY_CLOCK_H

#include <stdint.h>

#define DAY_CLOCK_FD "BERTH_DAY_CLOCK_FD"     /* the number of a socket */
#define DAY_CLOCK_STAT "BERTH_DAY_CLOCK_STAT" /* a file read in the place of /proc/stat */
#define DAY_CLOCK_AFFINITY "%.2000s.%d" /* that file, a PID: its affinity, as the kernel has it */
#define DAY_CLOCK_NODES                                                                            \
    "BERTH_DAY_CLOCK_NODES"         /* a folder: what it has of /sys/devices/system/node */
#define DAY_CLOCK_UNIX_S 1767571200 /* when the simulation begins: a Monday in 2026 */
#define DAY_CLOCK_MONO_S 1000       /* and by CLOCK_MONOTONIC */
#define DAY_CLOCK_NEVER INT64_MAX

#endif
