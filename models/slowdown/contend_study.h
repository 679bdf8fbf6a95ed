/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_study - what contend tabulates of each program alone, so that half a million pairs take
 * less than a second. Only for contend.c and contend_study.c. */
#ifndef BERTH_MODELS_SLOWDOWN_CONTEND_STUDY_H
#define BERTH_MODELS_SLOWDOWN_CONTEND_STUDY_H

#include "models/slowdown/contend.h"

#define CONTEND_STEPS 4                         /* points of time per doubling */
#define CONTEND_POINTS (64 * CONTEND_STEPS + 1) /* 2^0 .. 2^64 ns */

/* One program. Curves have a point for each number of ways, 0 .. ways, and are per instruction of
 * one of its cores. */
struct study {
    double ns;                            /* per instruction, alone */
    double footprint[CONTEND_POINTS];     /* ways that it touches within 2^(point/CONTEND_STEPS)
                                             ns, alone */
    double wait_ns[CONTEND_WAYS_MAX + 1]; /* for memory while the channel is idle */
    double late[CONTEND_WAYS_MAX + 1];    /* lines whose delay by others it waits for */
    double copy_ns[CONTEND_WAYS_MAX + 1]; /* what comes to these two when nothing is prefetched */
    double copy_late[CONTEND_WAYS_MAX + 1];
    double lines[CONTEND_WAYS_MAX + 1]; /* that its cores read in memory, and as many for those that
                                           they write */
    unsigned assumed;
};

struct contend {
    size_t n, room, ways;
    struct app_machine machine;
    struct contend_constants constants;
    double line_bytes;
    double line_ns; /* the channel's time for one line at its peak; 0: it never fills */
    unsigned assumed;
    struct study study[];
};

#endif
