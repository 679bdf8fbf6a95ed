/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot_impl - what the allot files share. */
#ifndef BERTH_MODELS_NUMA_ALLOT_IMPL_H
#define BERTH_MODELS_NUMA_ALLOT_IMPL_H

#include "models/numa/allot.h"

#define ALLOT_WHOLE 1e-6 /* cores: so near to a whole number is one */

/* A stack that owns its boxes. */
struct boxes {
    size_t n, size;
    struct box **box;
};

/* What decides between allocations that are as good; then, which has more cores on lower nodes. */
struct rank {
    size_t nodes;  /* cells in use */
    double spread; /* of the bandwidth of a core, summed over programs */
};

struct allot {
    const struct relax_problem *problem;
    struct flows *flows;
    const unsigned *cores_min, *cores_max;
    size_t nodes, programs, cells;
    struct relax *relax;
    struct boxes open; /* still to be looked at */
    struct boxes ties; /* these have nothing better than the best, but perhaps its equals */
    struct allot_best *best;
    double above;     /* what is not above it is not looked for: the best's equals are above it */
    bool settling;    /* among the best's equals */
    struct rank rank; /* settling: of the best */
    size_t work;      /* settling: flows that may still be worked out */
    double *fewest, *most;  /* of each program: cores, in all that is looked for */
    struct scan *scan;      /* NULL: several programs */
    unsigned rounds;        /* of cuts, for the next box */
    size_t visits;          /* of boxes */
    struct box *root;       /* the first box, as far as it was narrowed; NULL: not yet */
    double *driven;         /* of each cell: the flows that one of its cores drives */
    unsigned *trial;        /* scratch: an allocation */
    double *local, *amount; /* scratch: its traffic */
    double *share;          /* scratch: of each node */
    size_t *before;         /* of each node: the last one before it that is alike, or itself */
};

static inline unsigned allot_count(const struct allot *a, size_t cell, size_t point)
{
    return a->problem->points[cell].count[point];
}

/* ---- allot_alike.c ---- */

/* Finds a->before. */
void alike_find(struct allot *a);

/* Returns whether a ring of nodes, which has one program, can be turned: then the first node has no
 * fewer cores than any other one in the first of the best. */
bool alike_turns(const struct allot *a);

/* Takes from the box what has more cores of the first program on a node than on one before it that
 * is alike. Returns false where nothing is left. */
bool alike_narrow(const struct allot *a, struct box *box);

/* ---- allot_box.c ---- */

/* Returns the last point of the box with no more cores than the relaxation gives the cell. */
size_t allot_below(const struct allot *a, const struct box *box, size_t cell);

/* Returns the box of all allocations; NULL with errno ENOMEM. */
struct box *box_new(const struct allot *a);
struct box *box_copy(const struct allot *a, const struct box *box);
void box_assign(const struct allot *a, struct box *box, const struct box *from);
void box_free(struct box *box);
bool box_is_point(const struct allot *a, const struct box *box);

/* Puts the box (NULL: there was no memory for it) on the stack, which owns it from now on. Returns
 * 0, or -1 with errno ENOMEM. */
int boxes_push(struct boxes *boxes, struct box *box);
struct box *boxes_pop(struct boxes *boxes); /* the caller's; NULL: it is empty */
void boxes_free(struct boxes *boxes);

/* Puts the box's two halves on the stack of open ones: cell's points up to split, and the rest. */
int allot_split(struct allot *a, const struct box *box, size_t cell, size_t split);

/* Splits the first cell that is no point: no cores from some, or in halves. Returns 0, or -1 with
 * errno ENOMEM. */
int allot_split_first(struct allot *a, const struct box *box);

/* Splits the box where the relaxation's optimum is no allocation. Returns 1; 0: it is one; -1 with
 * errno ENOMEM. */
int allot_branch(struct allot *a, const struct box *box);

/* ---- allot_try.c ---- */

/* Each of these may find a better allocation; then it is the best. */
void allot_try_extremes(struct allot *a, const struct box *box);
void allot_try_rounding(struct allot *a, const struct box *box);
void allot_try_point(struct allot *a, const struct box *box);

/* Returns what an allocation's objective must be above to be taken. */
double allot_goal(const struct allot *a);

/* Returns whether the allocation's objective is above that; where it is above the goal, too, the
 * allocation is the best one now. Settling: it must come before the best. */
bool allot_try(struct allot *a, const unsigned *allocation, double above);

/* ---- allot_scan.c ---- */

/* What a relaxation's prices say. */
struct prices {
    double bound;
    double *loss;        /* of each cell's points: how far the bound falls */
    double *idle, *over; /* of each node: relax_misses */
};

enum scan_end {
    SCAN_NOTHING, /* the box has nothing above a->above */
    SCAN_MET,     /* it has, and none that is better than the best */
    SCAN_TOO_MANY /* nothing is known */
};

/* Looks through the box, right after relax_tighten; may find a better allocation. */
enum scan_end allot_scan(struct allot *a, const struct box *box);
struct scan *scan_new(const struct allot *a); /* NULL: errno ENOMEM */
void scan_free(struct scan *scan);

/* Keeps the prices of the first box's relaxation, right after relax_tighten: they hold for all
 * boxes in it. */
void scan_keep_root(struct allot *a, const struct box *box);

/* Returns the prices of the first relaxation, and how many points a cell has room for there; NULL:
 * there is none yet. */
const struct prices *scan_root(const struct allot *a, size_t *points);

/* ---- allot_chain.c ---- */

/* Looks through a box in which neighbours only have traffic with one another; may find a better
 * allocation. Returns whether nothing else in it is better than the best. */
bool allot_chain(struct allot *a, const struct box *box);

/* ---- allot_rank.c ---- */

size_t allot_nodes(const struct allot *a, const unsigned *allocation);
double allot_spread(struct allot *a, const unsigned *allocation);

/* Returns whether the allocation comes before the best, if it is as good; *rank is its own then. */
bool allot_precedes(struct allot *a, const unsigned *allocation, struct rank *rank);

/* Returns whether an allocation may come before the best that has these cores up to that cell, and
 * at least that many cells in use. */
bool allot_may_precede(const struct allot *a, const unsigned *cores, size_t cell, size_t nodes);

/* Returns whether no allocation in the box comes before the best. Takes from the box what does not
 * where that is simple. */
bool allot_is_outranked(const struct allot *a, struct box *box);

/* ---- allot_settle.c ---- */

/* Makes the best the first of its equals, in the boxes of ties: as far as it is found with a
 * certain amount of work. Returns 0; 1: it may not be the first; -1 with errno ENOMEM. */
int allot_settle(struct allot *a);

#endif
