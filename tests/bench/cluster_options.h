/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_options - the command line of tests/bench/cluster. */
#ifndef BERTH_BENCH_CLUSTER_OPTIONS_H
#define BERTH_BENCH_CLUSTER_OPTIONS_H

#include "tests/bench/cluster_sample.h"
#include "tests/bench/day_machines.h"

#define CLUSTER_CHOICES_MAX 24

struct cluster_options {
    const char *file, *log, *topology;
    const struct day_machine *machine; /* NULL: none was named */
    struct cluster_plan plan;
    struct day_noise noise;
    struct cluster_sample sample;
    enum day_socket socket;
    long set;
    size_t seeds, look, choices;
    const struct cluster_choice *choice[CLUSTER_CHOICES_MAX];
    bool inside[CLUSTER_INSIDES];
    double known;   /* part of the jobs whose program steering knows */
    double learned; /* part of what berth predicts that is the truth */
    bool idle, backfill, null, json;
    double idle_w, busy_w; /* of a core: of the node's constant power, and what it takes more */
};

extern const char *const cluster_inside_name[CLUSTER_INSIDES];

/* Takes the command line; a mistake ends the program with one line and status 2, --help with 0. */
void cluster_options_take(struct cluster_options *options, int argc, char **argv);

#endif
