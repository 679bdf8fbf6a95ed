/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search_impl - what the parts of a search share: search.c (the search), search_parts.c (what may
 * move, where to, at what price), search_lost.c (what a standing loses), search_even.c (how even it
 * is). Only for these. */
#ifndef BERTH_PLACE_SEARCH_IMPL_H
#define BERTH_PLACE_SEARCH_IMPL_H

#include "packer/place/forecast.h"
#include "packer/place/opinion.h"
#include "packer/place/search.h"

/* Seconds in which only a promise pays. */
#define HORIZON_LEAST 1e-3

/* Lost work that a core is taken to lose which has a devil on its cache that it was promised not to
 * have, and that it loses for each part of its time that it is slower than was allowed: far more
 * than there is to lose, so that a promise comes first, whatever it costs. */
#define BROKEN 1e5

/* The same for each part of its time that it is slower than is bearable: nothing that others gain
 * is worth that, but a promise is. */
#define UNBEARABLE 1e3

/* A part of a unit: its cores on one cache. */
struct part {
    size_t unit, cores, cache;
    size_t first;            /* of its cores, in by_part */
    size_t slot, stands_for; /* as forecast_pair wants it; by contend */
    double limit;            /* slowdown that its step may have; NAN: any */
    double bearable;         /* that others' gain may cost it at most; NAN: any */
    double rate;             /* misses per million instructions of a devil; 0: it is none */
    double suffers, presses; /* of its cores; by contend, so that the product of the one's and the
                                other's is lost work */
    double far_now;          /* how far apart its unit stood at the start (threads.h) */
    size_t word;             /* what its user insists on: enum threads_word */
    bool isolated, devil;
    bool apart; /* it is one core, and to the schemes a thread of its own */
    bool fresh; /* its step has just come, and moves for nothing */
    bool focus; /* of the unit that has come, whoever shares its cores */
};

/* What the cores on a cache lose. */
struct search_cache {
    double lost, gbps; /* their traffic */
    bool known;
};

struct search {
    bool divides; /* tasks may be divided over caches, in what is left to find */
    bool bears;   /* no step is to pay for others more than is bearable */
    const struct scene *scene;
    const struct place_terms *terms;
    struct units *units;
    enum wire_policy policy;
    struct opinion *opinion;
    size_t n, caches, fixed;
    struct part *part;           /* [n] */
    size_t *by_part;             /* [units->total] indices into units->from */
    size_t *cache_of;            /* [n] */
    size_t *cores, *kind, *like; /* [n] as improve wants them */
    size_t slots, *first_like;   /* [slots] scratch: the first of parts that are the same, hashed */
    size_t *room, *domain;       /* [caches] */
    size_t *wholes;              /* [caches] hardware cores, where each thread is a place */
    size_t *package;             /* [caches] */
    double *small;               /* [caches] what it has less than the largest (topo_small) */
    bool *held;                  /* [cores] somebody stands there who does not move */
    struct cpus *nodes;          /* [caches] memory nodes */
    double *price;               /* [n * caches] */
    double *asks, *minds;        /* [n] */
    bool *focus;                 /* [n] */
    struct forecast_core *core;  /* [cores in use] scratch; the first `fixed` do not move */
    double *slowdown;            /* [cores in use] scratch */
    double scale;                /* of scores: lost work each */
    double null_odds;            /* that nobody disturbs anybody: price_null() */
    size_t in_use;               /* cores of all at work */
    double *fixed_asks;          /* [caches] by domain: traffic of who does not move */
    size_t calls;                /* of lost_of: improve.h asks for before and after in turn */
    size_t *before_at;           /* [n] the standing that the next two are of */
    double before_lost;          /* by the whole node; NAN not known */
    struct search_cache *before; /* [caches] */
    bool before_known;
    bool guarded;        /* no standing is taken that is less even than the one at the start */
    double uneven;       /* DI's measure of that one */
    double *fixed_press; /* [caches] rates of who does not move */
    double *press;       /* [2 * caches + packages] scratch */
};

static inline const struct topo *search_topo(const struct search *search)
{
    return search->scene->packer->world.topo;
}

/* Is it for the sake of those who are fresh? */
static inline bool search_focuses(const struct search *search)
{
    return search->terms && (search->terms->fresh || search->terms->newcomers);
}

/* ---- search_parts.c ---- */

/* Finds the caches' room and memory nodes, and who is there and does not move. */
void search_machine(struct search *search);

/* Divides the units into parts, each on the cache where the search has put it so far (units->to),
 * and finds what it costs each part to end on each cache. Returns whether a unit was divided. */
bool search_parts(struct search *search);

/* ---- search_lost.c ---- */

/* Prepares what follows, for the parts where they stand: -1 with ENOMEM. */
int search_judge(struct search *search);

/* The truth and the guess of models/placing/improve.h; arg is a struct search. */
double search_lost(const size_t *cache_of, const size_t *touched, size_t n, void *arg);
double search_pair(size_t a, size_t b, void *arg);

/* ---- search_even.c ---- */

/* Returns what a core of the step counts for in DI's measure: its miss rate where it is a devil. */
double search_press(const struct packer *packer, const struct step *step);

/* Measures the standing at the start. */
void search_even_begin(struct search *search);

/* Returns what comes to the lost work of a standing by how even it is. */
double search_even_lost(struct search *search, const size_t *cache_of);

#endif
