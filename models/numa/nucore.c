/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - see nucore.h
 *
 * One program: nodes that no traffic and no link couples are solved apart (nucore_part.h). Several:
 * first each one alone, where fairness asks for what it gets there; then all together. */
#include "models/numa/nucore.h"
#include <math.h>
#include <stdlib.h>

#include "models/numa/nucore_part.h"
#include "models/numa/numem_constraint.h"
#include "enum_table.h"

const char *nucore_status_name(enum nucore_status status)
{
    static const char *const TABLE(names, NUCORE_STATUSES) = {
        ROW(NUCORE_OPTIMAL) = "optimal",
        ROW(NUCORE_LIMIT) = "limit",
        ROW(NUCORE_UNKNOWN) = "unknown",
        ROW(NUCORE_INFEASIBLE) = "infeasible",
    };
    TABLE_COMPLETE(names);

    return names[status];
}

struct nucore_work {
    const struct nucore *nucore;
    const struct numem_machine *machine;
    size_t nodes, programs;
    const struct numem_program **use;
    double *gain, *wanted, *solo, *floor;
    unsigned *cores_min, *cores_max;
    struct allot_best best;
    enum allot_end end;
    size_t culprit; /* programs + 1: nobody */
    bool floored;   /* several programs, and somebody gets so much at least */
};

static struct part whole_part(const struct nucore_work *w)
{
    return (struct part){.nucore = w->nucore,
                         .use = w->use,
                         .gain = w->gain,
                         .cores_min = w->cores_min,
                         .cores_max = w->cores_max};
}

/* ---- one program: parts ---- */

static size_t find_root(size_t *up, size_t node)
{
    while (up[node] != node)
        node = up[node] = up[up[node]];
    return node;
}

/* up[]: a forest in which nodes that anything couples have the same root, their lowest one. */
static void join(size_t *up, size_t a, size_t b)
{
    a = find_root(up, a);
    b = find_root(up, b);
    if (a < b)
        up[b] = a;
    else
        up[a] = b;
}

static int find_parts(const struct nucore_work *w, size_t *up)
{
    struct flows *flows = flows_new(w->machine, w->use, w->programs, NULL);
    bool whole = w->cores_min[0] > 0 || w->nucore->program[0].cores_max > 0;

    if (!flows)
        return -1;
    for (size_t i = 0; i < w->nodes; i++)
        up[i] = whole ? 0 : i;
    for (size_t k = 0; k < flows->flows; k++)
        join(up, flows->flow[k].from, flows->flow[k].to);
    for (size_t k = 0; k < flows->links; k++)
        for (size_t j = 1; j < flows->link[k].flows; j++)
            join(up, flows->flow[flows->link[k].flow[0]].from,
                 flows->flow[flows->link[k].flow[j]].from);
    flows_free(flows);
    return 0;
}

/* A node alone: looks at every count. */
static void solve_node(struct nucore_work *w, size_t i)
{
    const struct numem_machine *m = w->machine;
    const unsigned *least = w->nucore->program[0].least;
    double most = -INFINITY;

    for (unsigned c = least ? least[i] : 0; c <= nucore_most(w->nucore, 0, i); c++) {
        double demand = w->use[0]->local_demand[i][c];
        double objective = w->gain[0] * fmin(demand, m->alpha[i]) - c;

        if (m->beta[i] * demand > m->alpha[i] || objective < most - allot_tie(most))
            continue;
        most = fmax(most, objective);
        w->best.allocation[i] = c;
    }
    w->best.objective += most;
    w->best.bound += most;
}

static void solve_parts(struct nucore_work *w, size_t *up, bool *in)
{
    struct part part = whole_part(w);

    part.in = in;
    w->best.found = w->best.settled = true;
    w->end = ALLOT_DONE;
    for (size_t root = 0; root < w->nodes && w->end != ALLOT_FAILED; root++) {
        struct allot_best best = {.allocation = w->best.allocation};
        enum allot_end end;
        size_t size = 0;

        for (size_t i = 0; i < w->nodes; i++)
            size += in[i] = find_root(up, i) == root;
        if (size <= 1) {
            if (size == 1)
                solve_node(w, root);
            continue;
        }
        end = part_solve(&part, &best);
        w->end = end == ALLOT_DONE ? w->end : end;
        w->best.found &= best.found;
        w->best.settled &= best.settled;
        w->best.objective += best.objective;
        w->best.bound += best.bound;
    }
}

static int solve_one(struct nucore_work *w)
{
    size_t *up = calloc(w->nodes, sizeof(*up));
    bool *in = calloc(w->nodes, sizeof(*in));

    w->end = ALLOT_FAILED;
    if (up && in && find_parts(w, up) == 0)
        solve_parts(w, up, in);
    free(up);
    free(in);
    return w->end == ALLOT_FAILED ? -1 : 0;
}

/* ---- several programs ---- */

/* solo[p]: the bandwidth of the program alone on the machine. 0; 1: stopped; -1. */
static int solve_solos(struct nucore_work *w)
{
    struct nucore alone = *w->nucore;
    struct nucore_result result;
    struct numem_usage usage;
    int rc = 0;

    alone.programs = 1;
    result.allocation = calloc(w->nodes, sizeof(*result.allocation));
    if (!result.allocation)
        return -1;
    for (size_t p = 0; p < w->programs && rc == 0; p++) {
        usage = (struct numem_usage){0};
        result = (struct nucore_result){.allocation = result.allocation, .usage = &usage};
        alone.program = &w->nucore->program[p];
        rc = nucore_solve(&alone, &result);
        if (rc == 0 && result.status == NUCORE_INFEASIBLE)
            w->culprit = p;
        else if (rc == 0 && result.status != NUCORE_OPTIMAL)
            rc = 1;
        w->solo[p] = usage.bandwidth;
        w->floor[p] = fmax(w->floor[p], w->nucore->fairness * usage.bandwidth * (1 - 1e-9));
    }
    free(result.allocation);
    return rc;
}

static void solve_together(struct nucore_work *w, const double *floor, bool any)
{
    struct part part = whole_part(w);

    part.floor = floor;
    part.any = any;
    w->end = part_solve(&part, &w->best);
}

/* Finds who cannot have what fairness asks for: the first one whose bound cannot be met together
 * with those of the programs before it; where there is no solution without any bound, nobody. */
static void find_culprit(struct nucore_work *w)
{
    double floor[NUCORE_PROGRAMS_MAX] = {0};

    w->culprit = w->programs;
    solve_together(w, floor, true);
    for (size_t p = 0; p < w->programs && w->best.found && w->end == ALLOT_DONE; p++) {
        floor[p] = w->floor[p];
        solve_together(w, floor, true);
        w->culprit = p;
    }
    w->best.found = false;
}

static int solve_many(struct nucore_work *w)
{
    int rc;

    for (size_t p = 0; p < w->programs; p++) {
        w->gain[p] = w->wanted[p] > 0
                         ? w->nucore->program[p].weight / w->wanted[p] / NUCORE_SPEED_PER_CORE
                         : 0;
    }
    if (w->nucore->fairness > 0) {
        rc = solve_solos(w);
        if (rc != 0) {
            w->end = rc < 0 ? ALLOT_FAILED : ALLOT_STOPPED;
            return rc < 0 ? -1 : 0;
        }
        if (w->culprit < w->programs)
            return 0;
    }
    solve_together(w, w->floored ? w->floor : NULL, false);
    if (w->end == ALLOT_DONE && !w->best.found && w->floored)
        find_culprit(w);
    return w->end == ALLOT_FAILED ? -1 : 0;
}

/* ---- the answer ---- */

static void fill_result(const struct nucore_work *w, const struct flows *f, const double *local,
                        const double *amount, struct nucore_result *result)
{
    double unit = w->programs > 1 ? NUCORE_SPEED_PER_CORE : 1;

    result->objective = 0;
    for (size_t p = 0; p < w->programs; p++) {
        constraint_fill_usage(f, w->best.allocation, local, amount, p, w->nucore->program[p].most,
                              &result->usage[p]);
        result->objective += w->gain[p] * unit * result->usage[p].bandwidth;
        if (result->speed)
            result->speed[p] = w->wanted[p] > 0 ? result->usage[p].bandwidth / w->wanted[p] : 1;
    }
    for (size_t cell = 0; cell < w->programs * w->nodes; cell++) {
        result->objective -= unit * w->best.allocation[cell];
        result->allocation[cell] = w->best.allocation[cell];
    }
    result->bound = result->status == NUCORE_OPTIMAL
                        ? result->objective
                        : fmax(w->best.bound * unit, result->objective);
}

/* Works out the traffic of the best allocation. */
static int describe(const struct nucore_work *w, struct nucore_result *result)
{
    struct flows *f = flows_new(w->machine, w->use, w->programs, NULL);
    double *local = calloc(w->programs * w->nodes, sizeof(*local));
    double *amount = f ? calloc(f->flows + 1, sizeof(*amount)) : NULL;
    struct flows_aim aim = {.gain = w->gain, .floor = w->floored ? w->floor : NULL};
    int rc = -1;

    if (local && amount)
        rc = flows_solve(f, w->best.allocation, &aim, local, amount);
    if (rc == 0)
        fill_result(w, f, local, amount, result);
    flows_free(f);
    free(local);
    free(amount);
    return rc == 0 ? 0 : -1;
}

static int finish(struct nucore_work *w, struct nucore_result *result)
{
    result->culprit = w->culprit;
    result->settled = w->best.found && w->best.settled;
    result->objective = -INFINITY;
    result->bound = w->best.bound;
    for (size_t p = 0; result->solo && p < w->programs; p++)
        result->solo[p] = w->wanted[p] > 0 ? w->solo[p] / w->wanted[p] : w->solo[p] + 1;
    if (w->best.found)
        result->status = w->end == ALLOT_DONE ? NUCORE_OPTIMAL : NUCORE_LIMIT;
    else
        result->status = w->end == ALLOT_DONE ? NUCORE_INFEASIBLE : NUCORE_UNKNOWN;
    return w->best.found ? describe(w, result) : 0;
}

static void work_free(struct nucore_work *w)
{
    free(w->use);
    free(w->gain);
    free(w->cores_min);
    free(w->best.allocation);
}

/* Returns what all cores that the program may have would ask for. */
static double bandwidth_wanted(const struct nucore *nucore, size_t p)
{
    const struct numem_program *program = &nucore->program[p].use;
    size_t n = nucore->machine->nodes;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        sum += program->local_demand[i][nucore_most(nucore, p, i)];
        for (size_t j = 0; j < n; j++)
            if (i != j)
                sum += program->read_solo[j * n + i] * nucore_most(nucore, p, i) +
                       program->write_solo[j * n + i] * nucore_most(nucore, p, j);
    }
    return sum;
}

static int work_init(struct nucore_work *w, const struct nucore *nucore)
{
    size_t programs = nucore->programs;

    *w = (struct nucore_work){.nucore = nucore,
                              .machine = nucore->machine,
                              .nodes = nucore->machine->nodes,
                              .programs = programs,
                              .culprit = programs};
    w->use = calloc(programs, sizeof(*w->use));
    w->gain = calloc(4 * programs, sizeof(*w->gain));
    w->cores_min = calloc(2 * programs, sizeof(*w->cores_min));
    w->best.allocation = calloc(programs * w->nodes, sizeof(*w->best.allocation));
    if (!w->use || !w->gain || !w->cores_min || !w->best.allocation) {
        work_free(w);
        return -1;
    }
    w->wanted = w->gain + programs;
    w->solo = w->gain + 2 * programs;
    w->floor = w->gain + 3 * programs;
    w->cores_max = w->cores_min + programs;
    for (size_t p = 0; p < programs; p++) {
        w->use[p] = &nucore->program[p].use;
        w->wanted[p] = bandwidth_wanted(nucore, p);
        w->gain[p] = NUCORE_CORES_PER_GBPS;
        w->solo[p] = NAN;
        w->floor[p] = nucore->program[p].floor * (1 - 1e-9);
        w->floored |= programs > 1 && (w->floor[p] > 0 || nucore->fairness > 0);
        w->cores_min[p] = nucore->program[p].cores_min;
        w->cores_max[p] = nucore->program[p].cores_max;
        for (size_t i = 0; nucore->program[p].cores_max == 0 && i < w->nodes; i++)
            w->cores_max[p] += nucore_most(nucore, p, i);
    }
    return 0;
}

/* Sets w->culprit where cores are too few for one program, or (programs) for all. */
static bool is_hopeless(struct nucore_work *w)
{
    double all = 0, needed = 0;

    for (size_t i = 0; i < w->nodes; i++)
        all += w->machine->cores[i];
    for (size_t p = 0; p < w->programs; p++) {
        const unsigned *least = w->nucore->program[p].least;
        double sum = 0, most = 0;

        for (size_t i = 0; i < w->nodes; i++) {
            sum += least ? least[i] : 0;
            most += nucore_most(w->nucore, p, i);
        }
        w->culprit = p;
        if (fmax(sum, w->cores_min[p]) > fmin(most, w->cores_max[p]))
            return true;
        needed += fmax(sum, w->cores_min[p]);
    }
    w->culprit = w->programs;
    return needed > all;
}

int nucore_solve(const struct nucore *nucore, struct nucore_result *result)
{
    struct nucore_work w;
    int rc = 0;

    if (nucore_check(nucore, NULL, NULL) < 0 || work_init(&w, nucore) < 0)
        return -1;
    if (!is_hopeless(&w))
        rc = nucore->programs == 1 ? solve_one(&w) : solve_many(&w);
    if (rc == 0)
        rc = finish(&w, result);
    work_free(&w);
    return rc;
}
