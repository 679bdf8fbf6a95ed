/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot - see allot.h
 *
 * Depth first, and the child first that has more cores, as a GB/s is worth many of them. Where the
 * sum of a program's cores is no whole number, that is what is branched on: cores that can be
 * exchanged for one another make every single one of them a bad choice. */
#include "allot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nucore.h"

#define CUT_ROUNDS 10 /* at the root */
#define WHOLE 1e-6    /* cores: so near to a whole number is one */

struct allot {
    const struct relax_problem *problem;
    struct flows *flows;
    size_t nodes, programs, cells;
    struct relax *relax;
    struct box **stack;
    size_t depth, stack_size;
    struct allot_best *best; /* of the search that is on */
    double cutoff;           /* what is not above it is not looked for */
    const struct box *root;
    double *driven;         /* of each cell: the flows that one of its cores drives */
    unsigned *trial;        /* scratch: an allocation */
    double *local, *amount; /* scratch: its traffic */
};

double allot_tie(double objective)
{
    return NUCORE_TIE * (1 + fabs(objective) / 1000);
}

/* ---- boxes ---- */

static struct box *box_allocate(size_t cells, size_t programs)
{
    struct box *box = calloc(1, sizeof(*box));

    if (!box)
        return NULL;
    box->lo = calloc(2 * cells, sizeof(*box->lo));
    box->hi = box->lo + cells;
    box->sum_lo = calloc(2 * programs, sizeof(*box->sum_lo));
    box->sum_hi = box->sum_lo + programs;
    box->bound = INFINITY;
    if (box->lo && box->sum_lo)
        return box;
    box_free(box);
    return NULL;
}

void box_free(struct box *box)
{
    if (!box)
        return;
    free(box->lo);
    free(box->sum_lo);
    free(box);
}

struct box *box_new(const struct relax_problem *problem, const unsigned *cores_min,
                    const unsigned *cores_max)
{
    size_t programs = problem->flows->programs, cells = programs * problem->flows->machine->nodes;
    struct box *box = box_allocate(cells, programs);

    for (size_t cell = 0; box && cell < cells; cell++)
        box->hi[cell] = problem->points[cell].n - 1;
    for (size_t p = 0; box && p < programs; p++) {
        box->sum_lo[p] = cores_min[p];
        box->sum_hi[p] = cores_max[p];
    }
    return box;
}

struct box *box_copy(const struct allot *a, const struct box *box)
{
    struct box *copy = box_allocate(a->cells, a->programs);

    if (!copy)
        return NULL;
    memcpy(copy->lo, box->lo, 2 * a->cells * sizeof(*copy->lo));
    memcpy(copy->sum_lo, box->sum_lo, 2 * a->programs * sizeof(*copy->sum_lo));
    copy->bound = box->bound;
    return copy;
}

/* The stack takes the box. */
static int push(struct allot *a, struct box *box)
{
    if (box && a->depth == a->stack_size) {
        size_t size = 2 * a->stack_size + 64;
        struct box **more = realloc(a->stack, size * sizeof(struct box *));

        if (!more) {
            box_free(box);
            return -1;
        }
        a->stack = more;
        a->stack_size = size;
    }
    if (!box)
        return -1;
    a->stack[a->depth++] = box;
    return 0;
}

/* ---- allocations ---- */

double allot_objective(struct allot *a, const unsigned *allocation)
{
    struct flows_aim aim = {.gain = a->problem->gain,
                            .floor = a->problem->floor,
                            .stop = a->problem->stop,
                            .stop_arg = a->problem->stop_arg};
    double objective = 0;

    if (flows_solve(a->flows, allocation, &aim, a->local, a->amount) != 0)
        return NAN;
    for (size_t k = 0; k < a->flows->flows; k++)
        objective += a->problem->gain[a->flows->flow[k].program] * a->amount[k];
    for (size_t cell = 0; cell < a->cells; cell++)
        objective += a->problem->gain[cell / a->nodes] * a->local[cell] - allocation[cell];
    return objective;
}

/* Does the machine have these cores, and may each program have them? */
static bool is_allowed(const struct allot *a, const unsigned *allocation)
{
    for (size_t p = 0; p < a->programs; p++) {
        double sum = 0;

        for (size_t i = 0; i < a->nodes; i++)
            sum += allocation[p * a->nodes + i];
        if (sum < a->root->sum_lo[p] || sum > a->root->sum_hi[p])
            return false;
    }
    for (size_t i = 0; a->programs > 1 && i < a->nodes; i++) {
        double sum = 0;

        for (size_t cell = i; cell < a->cells; cell += a->nodes)
            sum += allocation[cell];
        if (sum > a->flows->machine->cores[i])
            return false;
    }
    return true;
}

/* Take the allocation if it is the best so far. */
static bool try_allocation(struct allot *a, const unsigned *allocation)
{
    double objective;

    if (!is_allowed(a, allocation))
        return false;
    objective = allot_objective(a, allocation);
    if (!(objective > a->cutoff))
        return false;
    a->best->found = true;
    a->best->objective = objective;
    a->cutoff = objective + allot_tie(objective);
    memcpy(a->best->allocation, allocation, a->cells * sizeof(*allocation));
    return true;
}

static unsigned count_of(const struct allot *a, size_t cell, size_t point)
{
    return a->problem->points[cell].count[point];
}

/* The last point of the box with no more cores than the relaxation gives the cell. */
static size_t below(const struct allot *a, const struct box *box, size_t cell)
{
    double cores = relax_cores(a->relax, cell) + WHOLE;
    size_t lo = box->lo[cell], hi = box->hi[cell];

    while (lo < hi) {
        size_t middle = hi - (hi - lo) / 2;

        if (count_of(a, cell, middle) <= cores)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

/* The relaxation's optimum, rounded: to the next count above from that part of a core on. */
static void round_cores(struct allot *a, const struct box *box, double from)
{
    for (size_t cell = 0; cell < a->cells; cell++) {
        size_t point = below(a, box, cell);
        double rest = relax_cores(a->relax, cell) - count_of(a, cell, point);

        if (point < box->hi[cell] && rest > WHOLE && rest >= from)
            point++;
        a->trial[cell] = count_of(a, cell, point);
    }
}

/* Is it better with another point of the cell? */
static bool move(struct allot *a, const struct box *box, size_t cell, int step)
{
    unsigned before = a->trial[cell];
    size_t point = box->lo[cell];

    while (point < box->hi[cell] && count_of(a, cell, point) < before)
        point++;
    if (count_of(a, cell, point) != before ||
        (step < 0 ? point == box->lo[cell] : point == box->hi[cell]))
        return false;
    a->trial[cell] = count_of(a, cell, step < 0 ? point - 1 : point + 1);
    if (try_allocation(a, a->trial))
        return true;
    a->trial[cell] = before;
    return false;
}

/* Single steps from the best allocation, as long as they lead to a better one. */
static void climb(struct allot *a, const struct box *box)
{
    bool better = true;

    memcpy(a->trial, a->best->allocation, a->cells * sizeof(*a->trial));
    while (better) {
        better = false;
        for (size_t cell = 0; cell < a->cells; cell++)
            if (box->lo[cell] < box->hi[cell])
                better |= move(a, box, cell, -1) || move(a, box, cell, 1);
    }
}

static void try_rounding(struct allot *a, const struct box *box)
{
    bool better;

    round_cores(a, box, 0);
    better = try_allocation(a, a->trial);
    round_cores(a, box, 0.5);
    better |= try_allocation(a, a->trial);
    if (better)
        climb(a, box);
}

/* What is known before anything is solved: memories deliver no more than alpha. */
static double plain_bound(const struct allot *a, const struct box *box)
{
    double sum = 0, gain = 0, most[NUMEM_NODES_MAX] = {0};

    for (size_t p = 0; p < a->programs; p++)
        gain = fmax(gain, a->problem->gain[p]);
    for (size_t k = 0; k < a->flows->flows; k++)
        most[a->flows->flow[k].from] += a->flows->flow[k].max;
    for (size_t cell = 0; cell < a->cells; cell++) {
        double demand = 0;

        for (size_t k = box->lo[cell]; k <= box->hi[cell]; k++)
            demand = fmax(demand, a->problem->points[cell].demand[k]);
        most[cell % a->nodes] += demand;
        sum -= count_of(a, cell, box->lo[cell]);
    }
    for (size_t i = 0; i < a->nodes; i++)
        sum += gain * fmin(a->flows->machine->alpha[i], most[i]);
    return sum;
}

/* Give the cell its next count, if the node and the program have the cores. */
static bool give(struct allot *a, const struct box *box, size_t cell, double *node, double *program)
{
    size_t point = box->lo[cell];
    double more;

    while (point < box->hi[cell] && count_of(a, cell, point) <= a->trial[cell])
        point++;
    more = (double)count_of(a, cell, point) - a->trial[cell];
    if (more <= 0 || more > *node || more > *program)
        return false;
    a->trial[cell] = count_of(a, cell, point);
    *node -= more;
    *program -= more;
    return true;
}

/* The fewest cores, and all of them, to the programs in turn: allocations to begin with. */
static void try_extremes(struct allot *a, const struct box *box)
{
    double node[NUMEM_NODES_MAX], program[NUCORE_PROGRAMS_MAX];
    bool given = true;

    for (size_t i = 0; i < a->nodes; i++)
        node[i] = a->flows->machine->cores[i];
    for (size_t p = 0; p < a->programs; p++)
        program[p] = box->sum_hi[p];
    for (size_t cell = 0; cell < a->cells; cell++) {
        a->trial[cell] = count_of(a, cell, box->lo[cell]);
        node[cell % a->nodes] -= a->trial[cell];
        program[cell / a->nodes] -= a->trial[cell];
    }
    try_allocation(a, a->trial); /* that never takes long */
    while (given) {
        given = false;
        for (size_t cell = 0; cell < a->cells; cell++)
            given |= give(a, box, cell, &node[cell % a->nodes], &program[cell / a->nodes]);
    }
    try_allocation(a, a->trial);
}

/* ---- branching ---- */

static int push_copies(struct allot *a, const struct box *box, struct box **less, struct box **more)
{
    *less = box_copy(a, box);
    if (push(a, *less) < 0)
        return -1;
    *more = box_copy(a, box);
    return push(a, *more);
}

/* 1: there were two children, 0: the sums are whole numbers, -1. */
static int branch_sum(struct allot *a, const struct box *box)
{
    for (size_t p = 0; p < a->programs; p++) {
        struct box *less, *more;
        double sum = 0;

        for (size_t i = 0; i < a->nodes; i++)
            sum += relax_cores(a->relax, p * a->nodes + i);
        if (fabs(sum - round(sum)) <= WHOLE)
            continue;
        if (push_copies(a, box, &less, &more) < 0)
            return -1;
        less->sum_hi[p] = floor(sum);
        more->sum_lo[p] = ceil(sum);
        return 1;
    }
    return 0;
}

/* GB/s that one core more or less of the cell moves. */
static double weight(const struct allot *a, size_t cell, size_t point)
{
    const struct points *points = &a->problem->points[cell];
    double moved = a->driven[cell];

    if (point + 1 < points->n)
        moved += fabs(points->demand[point + 1] - points->demand[point]) /
                 ((double)points->count[point + 1] - points->count[point]);
    return moved;
}

/* How badly the relaxation's optimum misses the cell's counts: cores from the next one, times what
 * they move; or what it has more than a count of its own gives. */
static double miss(const struct allot *a, const struct box *box, size_t cell)
{
    double cores = relax_cores(a->relax, cell), rest;
    size_t point = below(a, box, cell);

    rest = fabs(cores - count_of(a, cell, point));
    if (point < box->hi[cell])
        rest = fmin(rest, count_of(a, cell, point + 1) - cores);
    if (rest > WHOLE)
        return 1 + rest * weight(a, cell, point);
    return fmin(1, relax_excess(a->relax, cell));
}

static int branch_cell(struct allot *a, const struct box *box)
{
    size_t chosen = a->cells, split;
    double worst = -1;
    struct box *less, *more;

    for (size_t cell = 0; cell < a->cells; cell++) {
        double missed = box->lo[cell] < box->hi[cell] ? miss(a, box, cell) : -1;

        if (missed > worst) {
            worst = missed;
            chosen = cell;
        }
    }
    if (chosen == a->cells)
        return 0;
    split = below(a, box, chosen);
    split -= split == box->hi[chosen];
    if (push_copies(a, box, &less, &more) < 0)
        return -1;
    less->hi[chosen] = split;
    more->lo[chosen] = split + 1;
    return 0;
}

static int branch(struct allot *a, const struct box *box)
{
    int rc = branch_sum(a, box);

    if (rc != 0)
        return rc < 0 ? -1 : 0;
    return branch_cell(a, box);
}

static bool is_point(const struct allot *a, const struct box *box)
{
    return memcmp(box->lo, box->hi, a->cells * sizeof(*box->lo)) == 0;
}

static int leaf(struct allot *a, const struct box *box)
{
    for (size_t cell = 0; cell < a->cells; cell++)
        a->trial[cell] = count_of(a, cell, box->lo[cell]);
    try_allocation(a, a->trial);
    return 0;
}

/* The relaxation, and again where its prices narrowed the box a good deal. */
static enum simplex_end narrow(struct allot *a, struct box *box)
{
    for (;;) {
        enum simplex_end end =
            relax_strengthen(a->relax, box, a->cutoff, box == a->root ? CUT_ROUNDS : 0);
        size_t before = 0, after = 0;

        if (end != SIMPLEX_OPTIMAL)
            return end;
        box->bound = fmin(box->bound, relax_bound(a->relax));
        try_rounding(a, box);
        if (!isfinite(a->cutoff))
            return end;
        for (size_t cell = 0; cell < a->cells; cell++)
            before += box->hi[cell] - box->lo[cell];
        if (!relax_tighten(a->relax, box, a->cutoff))
            return SIMPLEX_CUTOFF;
        for (size_t cell = 0; cell < a->cells; cell++)
            after += box->hi[cell] - box->lo[cell];
        if (after > before / 2 || after == 0)
            return end;
    }
}

/* Look at one box. 0, 1: stopped, -1: no memory. */
static int visit(struct allot *a, struct box *box)
{
    enum simplex_end end;

    if (box->bound <= a->cutoff)
        return 0;
    if (is_point(a, box))
        return leaf(a, box);
    end = narrow(a, box);
    if (end == SIMPLEX_STOPPED)
        return 1;
    if (end == SIMPLEX_INFEASIBLE || end == SIMPLEX_CUTOFF || box->bound <= a->cutoff)
        return 0;
    if (is_point(a, box))
        return leaf(a, box);
    return end == SIMPLEX_FAILED ? branch_cell(a, box) : branch(a, box);
}

static enum allot_end finish(struct allot *a, int rc, const struct box *last)
{
    double bound = a->best->found ? a->best->objective : -INFINITY;

    if (rc > 0)
        bound = fmax(bound, last->bound);
    while (a->depth > 0) {
        struct box *box = a->stack[--a->depth];

        bound = rc > 0 ? fmax(bound, box->bound) : bound;
        box_free(box);
    }
    a->best->bound = bound;
    if (rc < 0)
        errno = ENOMEM;
    return rc < 0 ? ALLOT_FAILED : rc > 0 ? ALLOT_STOPPED : ALLOT_DONE;
}

enum allot_end allot_search(struct allot *a, struct box *root, double above, bool any,
                            struct allot_best *best)
{
    struct box *box = NULL;
    enum allot_end end;
    int rc;

    *best = (struct allot_best){.allocation = best->allocation};
    a->best = best;
    a->cutoff = above;
    a->root = root;
    if (!any) {
        root->bound = fmin(root->bound, plain_bound(a, root));
        try_extremes(a, root);
    }
    rc = visit(a, root);
    while (rc == 0 && a->depth > 0 && !(any && best->found)) {
        box_free(box);
        box = a->stack[--a->depth];
        rc = visit(a, box);
    }
    end = finish(a, rc, box ? box : root);
    box_free(box);
    return end;
}

enum allot_end allot_narrow(struct allot *a, struct box *box, double above)
{
    enum simplex_end end = relax_solve(a->relax, box, above);

    if (end == SIMPLEX_OPTIMAL)
        relax_tighten(a->relax, box, above);
    return end == SIMPLEX_STOPPED ? ALLOT_STOPPED : ALLOT_DONE;
}

static void find_driven(struct allot *a)
{
    for (size_t k = 0; k < a->flows->flows; k++) {
        const struct flow *flow = &a->flows->flow[k];

        a->driven[flow->program * a->nodes + flow->to] += flow->read;
        a->driven[flow->program * a->nodes + flow->from] += flow->write;
    }
}

struct allot *allot_new(const struct relax_problem *problem, struct flows *flows)
{
    struct allot *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->problem = problem;
    a->flows = flows;
    a->nodes = flows->machine->nodes;
    a->programs = flows->programs;
    a->cells = a->nodes * a->programs;
    a->relax = relax_new(problem);
    a->driven = calloc(a->cells, sizeof(*a->driven));
    a->trial = calloc(a->cells, sizeof(*a->trial));
    a->local = calloc(a->cells, sizeof(*a->local));
    a->amount = calloc(flows->flows + 1, sizeof(*a->amount));
    if (a->relax && a->driven && a->trial && a->local && a->amount) {
        find_driven(a);
        return a;
    }
    allot_free(a);
    errno = ENOMEM;
    return NULL;
}

void allot_free(struct allot *a)
{
    if (!a)
        return;
    relax_free(a->relax);
    free(a->stack);
    free(a->driven);
    free(a->trial);
    free(a->local);
    free(a->amount);
    free(a);
}
