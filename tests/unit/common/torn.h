/* SPDX-License-Identifier: GPL-2.0-or-later */
/* torn - counts what readers of a blackboard see of sections that are half of one writing and half
 * of another, while one thread writes as fast as it can. */
#ifndef BERTH_TESTS_TORN_H
#define BERTH_TESTS_TORN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TORN_READERS_MAX 64

struct torn_counts {
    uint64_t reads; /* that brought something */
    uint64_t
        torn; /* of them: what does not belong together, or is older than what was read before */
    uint64_t busy;    /* reads that brought nothing */
    uint64_t changes; /* reads that brought something else than the one before */
    uint64_t writes;
    double seconds;
};

struct torn_plan {
    unsigned readers; /* 1 .. TORN_READERS_MAX */
    uint64_t reads;   /* of each */
    unsigned pause;   /* the writer waits after each writing for 0 to so many turns of a loop; 0: it
                         writes all the time, and readers seldom find it at rest */
    bool unguarded;   /* they read as if there were no counter: torn sections are to be expected */
};

/* Writes one section of a blackboard at `path`, which is made for it, until each of the readers has
 * read it that many times. 0, or -1 with errno. */
int torn_run(const char *path, const struct torn_plan *plan, struct torn_counts *counts);

#endif
