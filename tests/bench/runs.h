/* SPDX-License-Identifier: GPL-2.0-or-later */
/* runs - a table of measured runs of programs at 1, 2, .. ranks, as comma separated values with a
 * line of columns: app, ranks, runtime_s, instr, cycles, mem_read_mbs, mem_write_mbs and l3_mbs,
 * and where they are known mem_mbs, pkg_j and dram_j. An empty cell was not measured. */
#ifndef BERTH_BENCH_RUNS_H
#define BERTH_BENCH_RUNS_H

#include <stddef.h>

#include "packer/base/error.h"

#define RUNS_MAX 4096

/* What was not measured is NAN. */
struct run {
    const char *app;
    size_t ranks;
    double time_s, instructions, cycles, read_gbps, write_gbps, l3_gbps, memory_gbps;
    double package_j, dram_j;
};

struct runs {
    size_t n;
    struct run run[RUNS_MAX];
};

/* Reads the table, from which the runs borrow. 0, or -1 and err: a column is missing. */
int runs_read(char *text, struct runs *runs, struct berth_error *err);

/* Finds the first run of that program with so many ranks of which that was measured; NULL. */
enum runs_group { RUNS_MEMORY, RUNS_CACHE };
const struct run *runs_find(const struct runs *runs, const char *app, size_t ranks,
                            enum runs_group group);

#endif
