/* SPDX-License-Identifier: GPL-2.0-or-later */
/* berthd - what the benchmarks do with a real berthd: it is started in a folder of its own, asked
 * as the plugin asks it, and measured from outside. */
#ifndef BERTH_BENCH_BERTHD_H
#define BERTH_BENCH_BERTHD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/wire/wire.h"

/* From now on it is berthd of that build folder, which may be of another tree: what that one does
 * not know is left out of its berth.conf. */
void bench_berthd_of(const char *build);

/* From now on it is started on that machine (hwloc's synthetic string, which stays the caller's),
 * in the place of BENCH_CORES cores. */
void bench_berthd_topology(const char *synthetic);

/* Whether it has a ledger from now on, a file of its folder; it has until this says otherwise. */
void bench_berthd_ledger(bool on);

/* Starts ./berthd of the build folder with its files in the folder and enforcement=dryrun on
 * BENCH_CORES cores and 24 caches (this machine has fewer), and returns when it can be asked; more:
 * further lines of berth.conf. BENCH_USER of the environment is the user that it runs as (root). It
 * stays until bench_berthd_stop. */
pid_t bench_berthd_start(const char *folder, const char *more);
void bench_berthd_stop(pid_t pid);

/* Who is asked from now on has its socket in that folder: one that was started otherwise. */
void bench_berthd_at(const char *folder);

/* Sends a request as the plugin does, from connect(2) to the whole answer. Returns how long that
 * took, in microseconds; -1: nobody listens. An answer that is not ok ends the program. */
double bench_ask(const struct wire_request *request);

/* Registers step 0 of a job: one task, which is this process, on core job % BENCH_CORES. Returns as
 * bench_ask. */
double bench_register(uint32_t job, const char *tag, pid_t pid);

/* The same of one that asks for throttle. */
double bench_register_throttled(uint32_t job, const char *tag, pid_t pid,
                                enum wire_throttle throttle);

/* Registers step 0 of a job that has the node to itself: task i, which is process pid[i], has core
 * i. Returns as bench_ask. */
double bench_register_whole(uint32_t job, const char *tag, const pid_t *pid, size_t n);

/* What the process has had of CPUs with all its threads, and waited for them, in microseconds. */
void bench_cpu_us(pid_t pid, double *run, double *wait);

/* A figure of /proc/PID/status, in KiB; -1: there is none. */
long bench_memory_kib(pid_t pid, const char *name);

#endif
