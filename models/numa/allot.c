/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allot - see allot.h
 *
 * Depth first, and the child first that has more cores, as a GB/s is worth many of them. A box that
 * has nothing better than the best, but may have its equal, is kept for allot_settle.c. */
#include "models/numa/allot_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define CUT_ROUNDS 10 /* at the root */
#define VISITS 150    /* without an end; then allot_chain.c is tried */

/* Returns the bound that is known before anything is solved: memories deliver no more than alpha.
 */
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
        sum -= allot_count(a, cell, box->lo[cell]);
    }
    for (size_t i = 0; i < a->nodes; i++)
        sum += gain * fmin(a->flows->machine->alpha[i], most[i]);
    return sum;
}

/* Returns whether the box has nothing better than the best. */
static bool is_beaten(const struct allot *a, const struct box *box)
{
    return a->best->found && box->bound <= a->best->objective + allot_tie(a->best->objective);
}

static size_t width(const struct allot *a, const struct box *box)
{
    size_t sum = 0;

    for (size_t cell = 0; cell < a->cells; cell++)
        sum += box->hi[cell] - box->lo[cell];
    return sum;
}

/* Solves the relaxation, and again where its prices narrowed the box a good deal. */
static enum simplex_end narrow(struct allot *a, struct box *box)
{
    for (;;) {
        enum simplex_end end = relax_strengthen(a->relax, box, a->above, a->rounds);
        size_t before = width(a, box), after;

        a->rounds = 0;
        if (end != SIMPLEX_OPTIMAL)
            return end;
        box->bound = fmin(box->bound, relax_bound(a->relax));
        allot_try_rounding(a, box);
        if (!a->best->found)
            return end;
        if (!relax_tighten(a->relax, box, a->above))
            return SIMPLEX_CUTOFF;
        after = width(a, box);
        if (is_beaten(a, box) || after > before / 2 || after == 0)
            return end;
    }
}

enum visit_end { VISIT_DONE, VISIT_TIE, VISIT_STOPPED, VISIT_FAILED };

/* Returns whether nothing in the box has to be looked at any more but to settle ties. */
static bool is_tie(struct allot *a, const struct box *box)
{
    bool beaten = is_beaten(a, box), point = box_is_point(a, box);

    if (point && !beaten)
        allot_try_point(a, box);
    return beaten || point;
}

/* Keeps the first box, once it was narrowed, and the prices of its relaxation. */
static int keep_root(struct allot *a, const struct box *box)
{
    a->root = box_copy(a, box);
    if (a->scan)
        scan_keep_root(a, box);
    return a->root ? 0 : -1;
}

static enum visit_end visit(struct allot *a, struct box *box)
{
    enum simplex_end end;
    int rc = 0;

    if (box->bound <= a->above || !alike_narrow(a, box))
        return VISIT_DONE;
    if (is_tie(a, box))
        return VISIT_TIE;
    end = narrow(a, box);
    if (end == SIMPLEX_STOPPED)
        return VISIT_STOPPED;
    if (end == SIMPLEX_INFEASIBLE || end == SIMPLEX_CUTOFF || !alike_narrow(a, box))
        return VISIT_DONE;
    if (is_tie(a, box))
        return VISIT_TIE;
    if (a->visits == 1 && a->best->found && end == SIMPLEX_OPTIMAL && keep_root(a, box) < 0)
        return VISIT_FAILED;
    if (end == SIMPLEX_OPTIMAL) {
        enum scan_end scan = allot_scan(a, box);

        if (scan != SCAN_TOO_MANY)
            return scan == SCAN_MET ? VISIT_TIE : VISIT_DONE;
        rc = allot_branch(a, box);
    }
    if (rc == 0)
        rc = allot_split_first(a, box);
    return rc < 0 ? VISIT_FAILED : VISIT_DONE;
}

/* Looks whether nothing is better than the best, in all boxes. Then the box is the first one, and
 * no other one is left. */
static bool try_chain(struct allot *a, struct box *box)
{
    if (!a->root || !allot_chain(a, a->root))
        return false;
    box_assign(a, box, a->root);
    boxes_free(&a->open);
    boxes_free(&a->ties);
    return true;
}

/* Visits boxes until none is open, or (any) there is an allocation. */
static enum visit_end search(struct allot *a, bool any)
{
    enum visit_end end = VISIT_DONE;
    struct box *box;

    while (!(any && a->best->found) && (box = boxes_pop(&a->open))) {
        end = a->visits++ == VISITS && !any && try_chain(a, box) ? VISIT_TIE : visit(a, box);
        if (relax_has_failed(a->relax))
            end = VISIT_FAILED;
        if (end == VISIT_TIE || end == VISIT_STOPPED) {
            if (boxes_push(end == VISIT_TIE ? &a->ties : &a->open, box) < 0)
                return VISIT_FAILED;
        } else {
            box_free(box);
        }
        if (end == VISIT_STOPPED || end == VISIT_FAILED)
            return end;
    }
    return VISIT_DONE;
}

/* Returns what no allocation that has not been looked at exceeds. */
static double open_bound(const struct allot *a)
{
    double bound = a->best->found ? a->best->objective : -INFINITY;

    for (size_t k = 0; k < a->open.n; k++)
        bound = fmax(bound, a->open.box[k]->bound);
    return bound;
}

enum allot_end allot_solve(struct allot *a, bool any, struct allot_best *best)
{
    struct box *root = box_new(a);
    enum visit_end end;

    *best = (struct allot_best){.allocation = best->allocation};
    a->best = best;
    if (boxes_push(&a->open, root) < 0) {
        errno = ENOMEM;
        return ALLOT_FAILED;
    }
    if (!any) {
        root->bound = plain_bound(a, root);
        allot_try_extremes(a, root);
    }
    end = search(a, any);
    best->bound = end == VISIT_STOPPED ? open_bound(a) : best->objective;
    if (end == VISIT_DONE && best->found && !any) {
        int rc = allot_settle(a);

        if (rc < 0)
            end = VISIT_FAILED;
        best->settled = rc == 0;
        best->bound = best->objective;
    }
    if (end == VISIT_FAILED)
        errno = ENOMEM;
    return end == VISIT_DONE ? ALLOT_DONE : end == VISIT_STOPPED ? ALLOT_STOPPED : ALLOT_FAILED;
}

static void find_driven(struct allot *a)
{
    for (size_t k = 0; k < a->flows->flows; k++) {
        const struct flow *flow = &a->flows->flow[k];

        a->driven[flow->program * a->nodes + flow->to] += flow->read;
        a->driven[flow->program * a->nodes + flow->from] += flow->write;
    }
}

struct allot *allot_new(const struct relax_problem *problem, struct flows *flows,
                        const unsigned *cores_min, const unsigned *cores_max)
{
    struct allot *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    *a = (struct allot){.problem = problem,
                        .flows = flows,
                        .cores_min = cores_min,
                        .cores_max = cores_max,
                        .nodes = flows->machine->nodes,
                        .programs = flows->programs,
                        .above = -INFINITY,
                        .rounds = CUT_ROUNDS};
    a->cells = a->nodes * a->programs;
    a->relax = relax_new(problem);
    a->scan = a->programs == 1 ? scan_new(a) : NULL;
    a->driven = calloc(a->cells, sizeof(*a->driven));
    a->trial = calloc(a->cells, sizeof(*a->trial));
    a->local = calloc(a->cells, sizeof(*a->local));
    a->amount = calloc(flows->flows + 1, sizeof(*a->amount));
    a->share = calloc(a->nodes, sizeof(*a->share));
    a->before = calloc(a->nodes, sizeof(*a->before));
    a->fewest = calloc(2 * a->programs, sizeof(*a->fewest));
    if (a->relax && (a->scan || a->programs > 1) && a->driven && a->trial && a->local &&
        a->amount && a->share && a->before && a->fewest) {
        a->most = a->fewest + a->programs;
        for (size_t p = 0; p < a->programs; p++) {
            a->fewest[p] = cores_min[p];
            a->most[p] = cores_max[p];
        }
        find_driven(a);
        alike_find(a);
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
    scan_free(a->scan);
    boxes_free(&a->open);
    boxes_free(&a->ties);
    box_free(a->root);
    free(a->driven);
    free(a->trial);
    free(a->local);
    free(a->amount);
    free(a->share);
    free(a->before);
    free(a->fewest);
    free(a);
}
