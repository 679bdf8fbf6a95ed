/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bench - what the benchmarks share: an end with a reason, a folder, a clock, a node on paper. */
#ifndef BERTH_BENCH_BENCH_H
#define BERTH_BENCH_BENCH_H

#include <stdint.h>

#include "packer/conf/conf.h"

#define BENCH_CORES 192

struct packer;

/* Says what failed and why, and ends the program. */
void bench_die(const char *what, const char *why) __attribute__((noreturn));

/* Returns the CPU time of this thread in milliseconds. */
double bench_cpu_ms(void);

/* Makes a folder from a template as of mkdtemp(3), and has exit(3) remove it with all that is in
 * it. One of a program; path stays where it is. */
void bench_folder(char *path);

/* The same in TMPDIR or /tmp; path has room for BENCH_FOLDER_MAX. */
#define BENCH_FOLDER_MAX 84 /* a socket's name in it is short enough */
void bench_folder_make(char *path, size_t size);

/* Fills in what berthd's pipeline needs in this process, and no more: a node of 192 cores and 24
 * caches, of which nothing is enforced, learned, counted or metered; its files in the folder. */
void bench_conf(struct conf *conf, const char *folder);

/* Starts a step of one task on one core; its tag may be "". */
void bench_start(struct packer *packer, uint32_t job, const char *tag);

/* Writes into the folder's sys/ what RAPL of two packages, their DRAM and the machine counts after
 * so many seconds. */
void bench_meters(const char *folder, double s);

/* Writes the folder's machine.json, the machine profile of so many memory nodes with so many cores
 * each, of which half saturate their memory. */
void bench_machine(const char *folder, unsigned nodes, unsigned cores);

#endif
