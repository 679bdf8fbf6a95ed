/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - see nucore.h
 *
 * Of several programs each one is looked at alone first, where fairness asks for what it gets
 * there; then all together. */
#include "models/numa/nucore.h"
#include <math.h>
#include <stdlib.h>

#include "models/numa/ascent.h"
#include "models/numa/numem_constraint.h"
#include "enum_table.h"

const char *nucore_status_name(enum nucore_status status)
{
    static const char *const TABLE(names, NUCORE_STATUSES) = {
        ROW(NUCORE_OPTIMAL) = "optimal",       ROW(NUCORE_FOUND) = "found",
        ROW(NUCORE_LIMIT) = "limit",           ROW(NUCORE_UNKNOWN) = "unknown",
        ROW(NUCORE_INFEASIBLE) = "infeasible",
    };
    TABLE_COMPLETE(names);

    return names[status];
}

/* Returns what a program would ask for with all cores that it may have, GB/s. */
static double nucore_wanted(const struct nucore *nucore, size_t p)
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

double nucore_gain(const struct nucore *nucore, size_t p)
{
    double wanted = nucore_wanted(nucore, p);

    if (nucore->programs == 1)
        return NUCORE_CORES_PER_GBPS;
    return wanted > 0 ? nucore->program[p].weight / wanted / NUCORE_SPEED_PER_CORE : 0;
}

double nucore_floor(const struct nucore *nucore, size_t p, const double *solo)
{
    double floor = nucore->program[p].floor;

    if (nucore->programs == 1)
        return 0;
    if (nucore->fairness > 0)
        floor = fmax(floor, nucore->fairness * solo[p] * nucore_wanted(nucore, p));
    return floor * (1 - 1e-9);
}

struct nucore_work {
    const struct nucore *nucore;
    const struct numem_machine *machine;
    size_t nodes, programs;
    const struct numem_program **use;
    double *gain, *wanted, *solo, *floor;
    unsigned *cores_min, *cores_max, *allocation;
    enum ascent_end end;
    bool found;     /* the allocation gives everybody what he must have */
    bool floored;   /* several programs, and somebody gets so much at least */
    size_t culprit; /* programs + 1: nobody */
};

static void climb(struct nucore_work *w, const double *floor)
{
    const struct ascent ascent = {.nucore = w->nucore,
                                  .use = w->use,
                                  .gain = w->gain,
                                  .floor = floor,
                                  .cores_min = w->cores_min,
                                  .cores_max = w->cores_max};

    w->end = ascent_climb(&ascent, w->allocation, &w->found);
}

/* ---- the programs ---- */

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
        else if (rc == 0 && result.status != NUCORE_FOUND)
            rc = 1;
        w->solo[p] = usage.bandwidth;
        w->floor[p] = fmax(w->floor[p], w->nucore->fairness * usage.bandwidth * (1 - 1e-9));
    }
    free(result.allocation);
    return rc;
}

/* Finds who cannot have what he must: the first one whose bound cannot be met together with those
 * of the programs before it; where there is no solution without any bound, nobody. */
static void find_culprit(struct nucore_work *w)
{
    double floor[NUCORE_PROGRAMS_MAX] = {0};

    w->culprit = w->programs;
    climb(w, floor);
    for (size_t p = 0; p < w->programs && w->found && w->end == ASCENT_DONE; p++) {
        floor[p] = w->floor[p];
        climb(w, floor);
        w->culprit = p;
    }
    w->found = false;
}

static int solve(struct nucore_work *w)
{
    int rc;

    if (w->programs > 1 && w->nucore->fairness > 0) {
        rc = solve_solos(w);
        if (rc != 0) {
            w->end = rc < 0 ? ASCENT_FAILED : ASCENT_STOPPED;
            return rc < 0 ? -1 : 0;
        }
        if (w->culprit < w->programs)
            return 0;
    }
    climb(w, w->floored ? w->floor : NULL);
    if (w->end == ASCENT_DONE && !w->found && w->floored)
        find_culprit(w);
    return w->end == ASCENT_FAILED ? -1 : 0;
}

/* ---- the answer ---- */

static void fill_result(const struct nucore_work *w, const struct flows *f, const double *local,
                        const double *amount, struct nucore_result *result)
{
    double unit = w->programs > 1 ? NUCORE_SPEED_PER_CORE : 1;

    result->objective = 0;
    for (size_t p = 0; p < w->programs; p++) {
        constraint_fill_usage(f, w->allocation, local, amount, p, w->nucore->program[p].most,
                              &result->usage[p]);
        result->objective += w->gain[p] * unit * result->usage[p].bandwidth;
        if (result->speed)
            result->speed[p] = w->wanted[p] > 0 ? result->usage[p].bandwidth / w->wanted[p] : 1;
    }
    for (size_t cell = 0; cell < w->programs * w->nodes; cell++) {
        result->objective -= unit * w->allocation[cell];
        result->allocation[cell] = w->allocation[cell];
    }
}

/* Works out the traffic of the best allocation. */
static int describe(const struct nucore_work *w, struct nucore_result *result)
{
    struct flows *f = flows_new(w->machine, w->use, w->programs);
    double *local = calloc(w->programs * w->nodes, sizeof(*local));
    double *amount = f ? calloc(f->flows + 1, sizeof(*amount)) : NULL;
    struct flows_aim aim = {
        .gain = w->gain, .floor = w->floored ? w->floor : NULL, .above = -INFINITY};
    int rc = -1;

    if (local && amount)
        rc = flows_solve(f, w->allocation, &aim, local, amount);
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
    result->objective = -INFINITY;
    for (size_t p = 0; result->solo && p < w->programs; p++)
        result->solo[p] = w->wanted[p] > 0 ? w->solo[p] / w->wanted[p] : w->solo[p] + 1;
    if (w->found)
        result->status = w->end == ASCENT_DONE ? NUCORE_FOUND : NUCORE_LIMIT;
    else
        result->status = w->end == ASCENT_DONE ? NUCORE_INFEASIBLE : NUCORE_UNKNOWN;
    return w->found ? describe(w, result) : 0;
}

static void work_free(struct nucore_work *w)
{
    free(w->use);
    free(w->gain);
    free(w->cores_min);
    free(w->allocation);
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
    w->allocation = calloc(programs * w->nodes, sizeof(*w->allocation));
    if (!w->use || !w->gain || !w->cores_min || !w->allocation) {
        work_free(w);
        return -1;
    }
    w->wanted = w->gain + programs;
    w->solo = w->gain + 2 * programs;
    w->floor = w->gain + 3 * programs;
    w->cores_max = w->cores_min + programs;
    for (size_t p = 0; p < programs; p++) {
        w->use[p] = &nucore->program[p].use;
        w->wanted[p] = nucore_wanted(nucore, p);
        w->gain[p] = nucore_gain(nucore, p);
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
        rc = solve(&w);
    if (rc == 0)
        rc = finish(&w, result);
    work_free(&w);
    return rc;
}

int nucore_describe(const struct nucore *nucore, const unsigned *allocation,
                    struct nucore_result *result)
{
    struct nucore_work w;
    int rc;

    if (nucore_check(nucore, NULL, NULL) < 0 || work_init(&w, nucore) < 0)
        return -1;
    for (size_t p = 0; p < w.programs; p++)
        w.floor[p] = nucore_floor(nucore, p, result->solo);
    for (size_t cell = 0; cell < w.programs * w.nodes; cell++)
        w.allocation[cell] = allocation[cell];
    rc = describe(&w, result);
    work_free(&w);
    return rc;
}
