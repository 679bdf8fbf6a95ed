/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_page - what came of simulated days, for one who reads of berth first: three sentences and a
 * drawing of the node, 80 columns wide. */
#ifndef BERTH_BENCH_DAY_PAGE_H
#define BERTH_BENCH_DAY_PAGE_H

#include "tests/bench/day_scenes.h"
#include "tests/bench/day_sim.h"

/* What came of the same jobs. */
struct day_page_side {
    struct day_tally all; /* days together */
    double core_s;        /* that cores worked, seconds */
};

struct day_page {
    const struct day_sim *sim;
    struct day_page_side slurm, berth;
    struct day_scenes scenes; /* with berth */
};

/* Returns the days' sum. */
struct day_tally day_page_sum(const struct day_tally *day, size_t days);

/* Prints the page. */
void day_page_print(const struct day_page *page);

#endif
