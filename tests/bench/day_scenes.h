/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_scenes - what somebody sees who looks at the simulated node every half hour: who shares a
 * cache with whom, as Slurm put the jobs and as they stand, and what each suffers there. */
#ifndef BERTH_BENCH_DAY_SCENES_H
#define BERTH_BENCH_DAY_SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/bench/day_sim.h"

/* A running job. */
struct day_seat {
    size_t app;
    size_t llc[DAY_WHERES];      /* with most of its cores */
    double slowdown[DAY_WHERES]; /* a fraction of its time alone */
};

struct day_scene {
    int64_t at; /* nanoseconds since the simulation began */
    size_t n;
    struct day_seat *seat;   /* [n] */
    double lost[DAY_WHERES]; /* part of its cores' time that the node loses */
};

struct day_scenes {
    size_t n, room;
    struct day_scene *scene; /* [n] in the order of time */
    int64_t next;            /* when to look again */
};

/* Looks, if it is time to, and remembers what is seen: for sim->seen. */
void day_scenes_see(void *scenes, const struct day_sim *sim);

/* Returns the scene that gains most nearly what the whole day (of which this is the tally) gains
 * over Slurm's places; the earliest of equal ones. NULL: nothing was seen. It stays the scenes'. */
const struct day_scene *day_scenes_usual(const struct day_scenes *scenes,
                                         const struct day_tally *day);

void day_scenes_free(struct day_scenes *scenes);

#endif
