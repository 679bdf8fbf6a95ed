/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_json - a machine and a program as `berthctl model nucore` reads them. */
#ifndef BERTH_BENCH_NUMA_JSON_H
#define BERTH_BENCH_NUMA_JSON_H

#include <stdio.h>

#include "tests/bench/numa_random.h"

/* Prints them as one line; the search may take so many seconds. Without routes: each pair of nodes
 * has a link. */
void numa_json(const struct numa *numa, double limit_s, FILE *out);

#endif
