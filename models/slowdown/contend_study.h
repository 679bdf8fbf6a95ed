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
    double ns;         /* per instruction, alone */
    double gbps;       /* that its cores ask of memory, alone, as lines counts it */
    double queue;      /* by which memory's time grows for it with its load, besides the roof */
    double alone_time; /* that a line takes it alone, of what it takes while memory is idle */
    double works;      /* part of its time alone in which its core works */
    double use;        /* part of what a core can do that it has, alone; 0: it is nobody */
    double read_gbps;  /* that each of its cores reads, alone */
    double cores;
    unsigned assumed;
    struct study_point point[CONTEND_WAYS_MAX + 1];
};

/* What the ways to memory can carry, GB/s (0: whatever is asked), and how sharp their roof is. */
struct study_ways {
    double memory_gbps, port_gbps;
    double roof;
};

struct contend {
    size_t n, room, ways, cells;
    struct app_machine machine;
    struct contend_constants constants;
    double line_bytes;
    double seen_gbps; /* the most that a memory node gave */
    double core_gbps; /* that one core can read: measured, or assumed and no less than was seen */
    struct study_ways carry;
    double uses; /* the sum of study.use, and of how many */
    size_t users;
    unsigned assumed;
    struct study study[];
};

/* Finds what the ways of this machine carry, by what is known of it now. */
struct study_ways ways_of(const struct contend *contend);

/* Returns a line's time for a program alone, of what it takes while memory is idle. */
double ways_alone(const struct study_ways *ways, const struct study *study);

#endif
