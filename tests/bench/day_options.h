/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_options - the command line of tests/bench/day. */
#ifndef BERTH_BENCH_DAY_OPTIONS_H
#define BERTH_BENCH_DAY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/bench/day_feed.h"
#include "tests/bench/day_sim.h"

#define DAY_POLICIES_MAX 16
#define DAY_CONF_MAX 32

/* A policy of berthd, with further lines of berth.conf of its own. */
struct day_policy {
    const char *name; /* NULL: berthd's own default */
    const char *conf[DAY_CONF_MAX + 1];
    size_t confs;
    char title[64]; /* as the command line has it; "": what berthd says */
};

struct day_options {
    struct day_plan plan;
    struct day_study study;
    struct day_sizes sizes;
    const char *file, *topology, *store;
    const struct day_machine *machine; /* NULL: none was named */
    long set;                          /* -1: all */
    double control;                    /* percent; 0: there is no trial */
    bool json, page, null, wrong, free;
    size_t policies, confs;
    struct day_policy policy[DAY_POLICIES_MAX];
    const char *conf[DAY_CONF_MAX + 1];
};

/* Takes the command line; a mistake ends the program with one line and status 2, --help with 0. The
 * plan points to the sizes: free them with day_sizes_free, and copy no options. */
void day_options_take(struct day_options *options, int argc, char **argv);

#endif
