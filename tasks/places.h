/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - the CPUs that workers are pinned to, and the domains of stealing that these belong to:
 * memory nodes where there are several, else last level caches.
 *
 * They come from the step's page (runtime/page.h) where BERTH_RT_PAGE names one, which berthd
 * writes anew when it moves the step; else from /sys. BERTH_TASKS_NODES="0-1|2-3" fakes nodes, and
 * CPUs that the machine need not have, for tests. */
#ifndef BERTH_TASKS_PLACES_H
#define BERTH_TASKS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/page.h"
#include "tasks/berth_tasks.h"

#define PLACES_CPUS RT_PAGE_CPUS

struct place {
    int cpu;
    bool exists; /* a thread may be pinned to it */
    unsigned domain;
};

struct places {
    unsigned n, domains;
    bool faked;                      /* what the kernel knows of memory is not of these nodes */
    struct place place[PLACES_CPUS]; /* by domain */
};

struct places_source {
    const struct rt_page *page; /* NULL: there is none */
    const char *faked;          /* NULL: not */
};

/* Returns the place of the i-th of n workers: they are spread evenly over the places. */
static inline const struct place *places_of(const struct places *places, unsigned i, unsigned n)
{
    return &places->place[(uint64_t)i * places->n / n];
}

/* Finds where places come from, as the environment says. A page that is none is left alone. */
void places_open(struct places_source *source);

/* Lets go of it. */
void places_close(struct places_source *source);

/* Returns a number that changes when the places have; odd while they do. */
uint32_t places_generation(const struct places_source *source);

/* Reads the places that there are now, at least one. */
void places_read(const struct places_source *source, struct places *places);

/* Reads them into memory that the caller frees. Returns NULL where they are of another generation
 * afterwards: they were written meanwhile; or where there is no memory. */
struct places *places_read_whole(const struct places_source *source, uint32_t generation);

#endif
