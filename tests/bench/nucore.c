/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - how long NuCore takes, beside GLPK on the paper's own formulation (eq. 5.18) of the same
 * instances, in one run: tests/bench/nucore [-n INSTANCES] [-l SECONDS for each of GLPK's].
 *
 * For each size and kind of traffic: ours, the median and the worst of the instances; GLPK's
 * median,
 * ">" where it did not end in time; the ratio of the two; and by how much the objectives differ at
 * most, where GLPK's is the optimum. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "tests/bench/numa_paper.h"
#include "tests/bench/numa_random.h"

#define INSTANCES_MAX 100
#define OURS_S 60.0

struct row {
    size_t nodes;
    unsigned cores;
    enum numa_traffic traffic;
    double target_s; /* issue 4's */
};

static const struct row rows[] = {
    {8, 6, NUMA_SHARED, 5e-3},     {8, 6, NUMA_RING, 5e-3},      {8, 6, NUMA_PARTIAL, 5e-3},
    {8, 6, NUMA_DENSE, 5e-3},      {8, 128, NUMA_SHARED, 50e-3}, {8, 128, NUMA_RING, 50e-3},
    {8, 128, NUMA_PARTIAL, 50e-3}, {8, 128, NUMA_DENSE, 1},      {100, 128, NUMA_SHARED, 0.3},
    {100, 128, NUMA_PARTIAL, 0.3}, {100, 512, NUMA_SHARED, 1.5},
};

/* CPU time: nothing here waits, and other programs do not count. */
static double now_s(void)
{
    return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static bool is_late(void *end_s)
{
    return now_s() >= *(const double *)end_s;
}

/* Our optimum and the time it took; NAN where it took too long. */
static double solve_ours(const struct numa *numa, double *seconds)
{
    double start_s = now_s(), end_s = start_s + OURS_S;
    struct nucore nucore = {.machine = &numa->machine,
                            .program = &numa->program,
                            .programs = 1,
                            .stop = is_late,
                            .stop_arg = &end_s};
    unsigned allocation[NUMEM_NODES_MAX];
    struct numem_usage usage = {0};
    struct nucore_result result = {.allocation = allocation, .usage = &usage};

    if (nucore_solve(&nucore, &result) < 0) {
        fprintf(stderr, "nucore_solve failed\n");
        exit(1);
    }
    *seconds = now_s() - start_s;
    return result.status == NUCORE_OPTIMAL ? result.objective : NAN;
}

struct figures {
    double ours[INSTANCES_MAX], paper[INSTANCES_MAX];
    size_t ours_late, paper_late, compared;
    double difference;
};

static void measure(const struct row *row, uint64_t seed, double limit_s, size_t k,
                    struct figures *figures)
{
    struct numa_wish wish = {.traffic = row->traffic,
                             .nodes = row->nodes,
                             .cores = row->cores,
                             .asymmetric = seed % 2,
                             .seed = seed};
    struct paper_found found;
    struct numa numa;
    double ours, start_s;

    numa_make(&numa, &wish);
    ours = solve_ours(&numa, &figures->ours[k]);
    figures->ours_late += isnan(ours);
    start_s = now_s();
    found = limit_s > 0 ? paper_nucore(&numa.machine, &numa.program.use, limit_s)
                        : (struct paper_found){.objective = NAN};
    figures->paper[k] = now_s() - start_s;
    figures->paper_late += !found.optimal;
    if (found.optimal && !isnan(ours)) {
        figures->compared++;
        figures->difference =
            fmax(figures->difference, fabs(found.objective - ours) / fmax(1, fabs(ours)));
    }
    numa_free(&numa);
}

static void print_row(const struct row *row, struct figures *f, size_t n)
{
    double ours = array_median(f->ours, n), paper = array_median(f->paper, n);
    bool late = f->paper_late > n / 2;

    printf("%3zux%-4u %-8s %9.2f %9.2f %9.0f  %s%10.1f %s%9.0f ", row->nodes, row->cores,
           numa_traffic_name[row->traffic], ours * 1e3, f->ours[n - 1] * 1e3, row->target_s * 1e3,
           late ? ">" : " ", paper * 1e3, late ? ">" : " ", paper / ours);
    if (f->compared)
        printf("%11.1e (%zu)\n", f->difference, f->compared);
    else
        printf("%11s\n", "-");
    if (f->ours_late)
        printf("         %zu of ours took more than %g s\n", f->ours_late, OURS_S);
    fflush(stdout);
}

static double number(const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= least && value <= most)) {
        fprintf(stderr, "nucore: %s: a number of %g to %g expected\n", text, least, most);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    double limit_s = 10;
    size_t n = 5;
    int option;

    while ((option = getopt(argc, argv, "n:l:")) != -1) {
        if (option == 'n')
            n = (size_t)number(optarg, 1, INSTANCES_MAX);
        else if (option == 'l')
            limit_s = number(optarg, 0, 1e5);
        else
            return 2;
    }
    printf("CPU times in ms             ours                 target   GLPK, paper's\n"
           "machine  traffic     median     worst              formulation      ratio  "
           "difference (of)\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct figures figures = {0};

        for (size_t k = 0; k < n; k++)
            measure(&rows[i], 1000 * i + k + 1, limit_s, k, &figures);
        print_row(&rows[i], &figures, n);
    }
    return 0;
}
