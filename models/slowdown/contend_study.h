/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_study - what contend tabulates of each program alone, so that half a million pairs take
 * less than a second. Only for contend*.c. */
#ifndef BERTH_MODELS_SLOWDOWN_CONTEND_STUDY_H
#define BERTH_MODELS_SLOWDOWN_CONTEND_STUDY_H

#include "models/slowdown/contend.h"

#define CONTEND_CELLS 32 /* at least so many parts of a cache have points of their own */

/* What a program waits for with a share of the cache; all per instruction of one of its cores. */
struct study_point {
    float time_ns; /* until it has touched that much of the cache, alone */
    float wait_ns; /* for memory while the way there is idle, more than with all of the cache */
    float late_ns; /* part of its time that grows with memory's */
    float copy_wait_ns, copy_late_ns; /* the same two beside a copy of itself */
    float lines; /* that its cores read in memory, and what those that they write count */
};

/* One program; point[0] is without cache, point[cells] with all of it. */
struct study {
    double ns;    /* per instruction, alone */
    double gbps;  /* that its cores ask of memory, alone, as lines counts it */
    double queue; /* by which memory's time grows for it with its load, besides the roof */
    unsigned assumed;
    struct study_point point[CONTEND_WAYS_MAX + 1];
};

struct contend {
    size_t n, room, ways, cells;
    struct app_machine machine;
    struct contend_constants constants;
    double line_bytes;
    double seen_gbps; /* the most that a memory node gave */
    unsigned assumed;
    struct study study[];
};

/* Finds what a memory node can give, GB/s, and over how many channels. */
void study_memory(const struct contend *contend, double *reachable_gbps, double *channels);

#endif
