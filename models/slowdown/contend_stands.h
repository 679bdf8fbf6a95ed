/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_stands - who is where, and the two halves of an equilibrium: what programs have of their
 * caches at given speeds, and how long the ways to memory take with given shares. Only for
 * contend.c, contend_share.c and contend_way.c. */
#ifndef BERTH_MODELS_SLOWDOWN_CONTEND_STANDS_H
#define BERTH_MODELS_SLOWDOWN_CONTEND_STANDS_H

#include <stdbool.h>

#include "models/slowdown/contend_study.h"

#define STANDS_ROOT_MAX 60    /* steps towards a root; a few are the rule */
#define STANDS_TOLERANCE 1e-3 /* of a program's time */

/* Those who run the same program on the same cache and memory node: they are all alike. */
struct tenant {
    const struct study *study;
    size_t program, memory;
    struct tenant *next;   /* on the same cache; NULL: the last */
    struct tenant *behind; /* the same memory node; NULL: the last */
    double count;
    bool copied; /* the program is on this cache more than once */
    struct contend_apart apart;
    size_t cell;        /* in which its footprint ended last */
    double ns;          /* per instruction now */
    double base_ns;     /* with its present share, while memory is as it was alone */
    double late_ns;     /* of that, what grows with memory's time */
    double gbps;        /* that it would ask of memory if an instruction took 1 ns */
    double memory_time; /* that a line takes now, of what it takes while memory is idle */
    double port_time;   /* what comes to that at the cache's port */
};

/* The way to a memory node, or a cache's port, the way from a cache to all of them. */
struct way {
    struct tenant *first; /* NULL: nobody */
    bool port;
    double gbps;    /* that it can carry; 0: nobody asks anything, or nothing is known of it */
    double others;  /* GB/s asked of it by who is not here */
    double stretch; /* of the last turn; 0: there was none */
};

struct cache {
    struct way port; /* its first is the first on the cache */
    double time;     /* ns in which the footprints fill it; INFINITY: they never do */
};

/* Who is where. */
struct stands {
    const struct contend *contend;
    const struct study_ways *carry;
    size_t n, caches, memories;
    struct tenant *tenant;
    struct cache *cache;
    struct way *memory;
};

/* Whether a program is alone on a cache, or behind a memory node, as it was studied. */
static inline bool stand_is_alone(const struct tenant *first, const struct tenant *second)
{
    return !second && first->count == 1 && first->apart.lost == 0 && first->apart.crowd <= 0 &&
           first->apart.small == 0 && first->apart.siblings == 0;
}

/* Finds what each program has of a cache at the present speeds: what it waits for, and asks of
 * memory. */
void cache_share(const struct contend *contend, struct cache *cache);

/* Opens the ways for as many caches and memory nodes as there are, with nobody on them; others_gbps
 * is what others ask of each memory node. */
void ways_open(struct stands *stands, double others_gbps);

/* Returns a program's time per instruction when a line takes it that long. */
double tenant_ns(const struct tenant *tenant, double time);

/* Finds how long a line takes the programs on a way. */
void way_time(const struct stands *stands, struct way *way);

#endif
