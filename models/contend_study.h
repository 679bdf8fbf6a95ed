/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_study - what contend tabulates of each program alone, so that half a million pairs take
 * less than a second. Only for contend.c and contend_study.c. */
#ifndef MODELS_CONTEND_STUDY_H
#define MODELS_CONTEND_STUDY_H

#include "contend.h"

#define CONTEND_STEPS 4                         /* points of time per doubling */
#define CONTEND_POINTS (64 * CONTEND_STEPS + 1) /* 2^0 .. 2^64 ns */

/* One program. Curves have a point for each number of ways, 0 .. ways, and are per instruction of
 * one of its cores. */
struct study {
    double ns;                           /* per instruction, alone */
    double hit_ns;                       /* of that, waiting for hits */
    double footprint[CONTEND_POINTS];    /* ways that it touches within 2^(point/CONTEND_STEPS) ns,
                                            alone */
    double misses[CONTEND_WAYS_MAX + 1]; /* those whose whole latency it waits for */
    double late[CONTEND_WAYS_MAX +
                1]; /* those, prefetches too, whose delay in the queue it waits for */
    double lines[CONTEND_WAYS_MAX + 1]; /* lines that its cores read and write in memory */
    unsigned assumed;
};

struct contend {
    size_t n, ways;
    struct contend_constants constants;
    double line_ns; /* the channel's time for one line; 0: it never fills */
    unsigned assumed;
    struct study study[];
};

/* The delay in the channel's queue at that load, when it takes line_ns for a line. */
double contend_queue_ns(const struct contend *contend, double line_ns, double load);

#endif
