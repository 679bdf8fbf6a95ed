/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - how long NuCore takes, and whether it proves what it finds:
 *
 *     tests/bench/nucore [-n SEEDS] [-s FIRST] [-m WORD] [-t SECONDS] [-l SECONDS] [-c] [-p]
 *
 * For each shape (nodes x cores, traffic, kind of machine; several programs): seeds FIRST .. (1),
 * SEEDS of them (20), each with at most so many SECONDS (-t 10); the median and the worst CPU time,
 * and the limit for the worst; how many were proven to be optimal, and how many of these to be the
 * first of the equally good. -m: only shapes whose line has this word. -l: also GLPK on the paper's
 * own formulation (eq. 5.18) with so many seconds each: its median, and by how much the objectives
 * differ at most where both are optimal. -c: exit status 1 where a limit is missed or something is
 * not proven. -p: nothing is solved; each shape of one program whose links are direct is printed as
 * `berthctl model nucore` reads it, a line each, with -t for its limit. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "tests/bench/numa_json.h"
#include "tests/bench/numa_paper.h"
#include "tests/bench/numa_random.h"
#include "enum_table.h"

#define SEEDS_MAX 1000
#define PROGRAMS_MAX 8

enum kind { UNEQUAL, ALIKE, ROOF, ALIKE_ROOF, HOPS, KINDS };

static const char *const TABLE(kind_name, KINDS) = {
    ROW(UNEQUAL) = "unequal",       ROW(ALIKE) = "alike", ROW(ROOF) = "roof",
    ROW(ALIKE_ROOF) = "alike+roof", ROW(HOPS) = "hops",
};
TABLE_COMPLETE(kind_name);

struct shape {
    size_t nodes;
    unsigned cores;
    enum numa_traffic traffic;
    enum kind kind;
    size_t programs;
    double limit_s;
};

static const struct shape shapes[] = {
    {8, 6, NUMA_SHARED, UNEQUAL, 1, 5e-3},
    {8, 6, NUMA_RING, UNEQUAL, 1, 5e-3},
    {8, 6, NUMA_PARTIAL, UNEQUAL, 1, 5e-3},
    {8, 6, NUMA_DENSE, UNEQUAL, 1, 5e-3},
    {8, 6, NUMA_RING, ALIKE, 1, 5e-3},
    {8, 6, NUMA_DENSE, ALIKE, 1, 5e-3},
    {8, 6, NUMA_DENSE, ROOF, 1, 5e-3},
    {8, 6, NUMA_DENSE, HOPS, 1, 5e-2},
    {16, 64, NUMA_RING, UNEQUAL, 1, 1},
    {16, 64, NUMA_RING, ALIKE, 1, 1},
    {16, 64, NUMA_RING, ROOF, 1, 1},
    {16, 64, NUMA_RING, ALIKE_ROOF, 1, 1},
    {16, 64, NUMA_DENSE, UNEQUAL, 1, 1},
    {16, 64, NUMA_DENSE, ALIKE, 1, 1},
    {16, 64, NUMA_DENSE, ROOF, 1, 1},
    {16, 64, NUMA_DENSE, ALIKE_ROOF, 1, 1},
    {8, 128, NUMA_SHARED, UNEQUAL, 1, 50e-3},
    {8, 128, NUMA_RING, UNEQUAL, 1, 50e-3},
    {8, 128, NUMA_PARTIAL, UNEQUAL, 1, 50e-3},
    {8, 128, NUMA_DENSE, UNEQUAL, 1, 1},
    {100, 128, NUMA_SHARED, UNEQUAL, 1, 0.3},
    {100, 128, NUMA_PARTIAL, UNEQUAL, 1, 0.3},
    {100, 512, NUMA_SHARED, UNEQUAL, 1, 1.5},
    {2, 16, NUMA_PARTIAL, ROOF, 2, INFINITY},
    {2, 64, NUMA_RING, ALIKE_ROOF, 4, INFINITY},
    {4, 16, NUMA_PARTIAL, ROOF, 3, INFINITY},
    {16, 64, NUMA_DENSE, HOPS, 1, INFINITY},
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

/* ---- one instance ---- */

struct figures {
    double ours[SEEDS_MAX], paper[SEEDS_MAX];
    size_t proven, settled, late, compared;
    double difference;
};

struct wanted {
    size_t seeds;
    uint64_t first;
    double ours_s, paper_s;
    const char *word;
    bool check, print;
};

/* Our optimum; NAN where it took too long. */
static double solve_ours(const struct numem_machine *machine, const struct nucore_program *program,
                         size_t programs, double limit_s, size_t k, struct figures *figures)
{
    double start_s = now_s(), end_s = start_s + limit_s;
    struct nucore nucore = {.machine = machine,
                            .program = program,
                            .programs = programs,
                            .stop = is_late,
                            .stop_arg = &end_s};
    unsigned allocation[NUMEM_NODES_MAX * PROGRAMS_MAX];
    struct numem_usage usage[PROGRAMS_MAX] = {{0}};
    struct nucore_result result = {.allocation = allocation, .usage = usage};

    if (nucore_solve(&nucore, &result) < 0) {
        fprintf(stderr, "nucore_solve failed\n");
        exit(1);
    }
    figures->ours[k] = now_s() - start_s;
    figures->proven += result.status == NUCORE_OPTIMAL;
    figures->settled += result.status == NUCORE_OPTIMAL && result.settled;
    return result.status == NUCORE_OPTIMAL ? result.objective : NAN;
}

static void solve_paper(const struct numa *numa, double ours, double limit_s, size_t k,
                        struct figures *figures)
{
    double start_s = now_s();
    struct paper_found found = paper_nucore(&numa->machine, &numa->program.use, limit_s);

    figures->paper[k] = now_s() - start_s;
    figures->late += !found.optimal;
    if (!found.optimal || isnan(ours))
        return;
    figures->compared++;
    figures->difference =
        fmax(figures->difference, fabs(found.objective - ours) / fmax(1, fabs(ours)));
}

static struct numa_wish wish_of(const struct shape *shape, uint64_t seed)
{
    return (struct numa_wish){.traffic = shape->traffic,
                              .nodes = shape->nodes,
                              .cores = shape->cores,
                              .asymmetric = seed % 2,
                              .hops = shape->kind == HOPS,
                              .alike = shape->kind == ALIKE || shape->kind == ALIKE_ROOF,
                              .roof = shape->kind == ROOF || shape->kind == ALIKE_ROOF,
                              .seed = seed};
}

static void print(const struct shape *shape, const struct wanted *wanted)
{
    struct numa numa;

    if (shape->programs > 1 || shape->kind == HOPS)
        return;
    for (size_t k = 0; k < wanted->seeds; k++) {
        struct numa_wish wish = wish_of(shape, wanted->first + k);

        numa_make(&numa, &wish);
        numa_json(&numa, wanted->ours_s, stdout);
        numa_free(&numa);
    }
}

static void measure(const struct shape *shape, const struct wanted *wanted, size_t k,
                    struct figures *figures)
{
    uint64_t seed = wanted->first + k;
    struct numa_wish wish = wish_of(shape, seed);
    struct nucore_program program[PROGRAMS_MAX];
    struct numa numa[PROGRAMS_MAX];
    double ours;

    for (size_t p = 0; p < shape->programs; p++) {
        wish.seed = seed + 100000 * p;
        numa_make(&numa[p], &wish);
        program[p] = numa[p].program;
    }
    ours = solve_ours(&numa[0].machine, program, shape->programs, wanted->ours_s, k, figures);
    if (wanted->paper_s > 0 && shape->programs == 1)
        solve_paper(&numa[0], ours, wanted->paper_s, k, figures);
    for (size_t p = 0; p < shape->programs; p++)
        numa_free(&numa[p]);
}

/* ---- a line ---- */

static void print_paper(const struct figures *f, const struct wanted *wanted)
{
    printf("  %s%10.1f", f->late > wanted->seeds / 2 ? ">" : " ",
           array_median((double *)f->paper, wanted->seeds) * 1e3);
    if (f->compared)
        printf("  %.1e (%zu)", f->difference, f->compared);
}

/* Returns whether all is as it should be. */
static bool run(const struct shape *shape, const char *name, const struct wanted *wanted)
{
    static struct figures figures;
    size_t n = wanted->seeds;
    double median;

    figures = (struct figures){.difference = 0};
    for (size_t k = 0; k < n; k++)
        measure(shape, wanted, k, &figures);
    median = array_median(figures.ours, n);
    printf("%-36s %9.2f %9.2f ", name, median * 1e3, figures.ours[n - 1] * 1e3);
    if (isfinite(shape->limit_s))
        printf("%8.0f", shape->limit_s * 1e3);
    else
        printf("%8s", "-");
    printf("  %3zu of %-3zu  %3zu", figures.proven, n, figures.settled);
    if (wanted->paper_s > 0 && shape->programs == 1)
        print_paper(&figures, wanted);
    printf("\n");
    fflush(stdout);
    return !isfinite(shape->limit_s) ||
           (figures.ours[n - 1] <= shape->limit_s && figures.proven == n);
}

static void print_head(const struct wanted *wanted)
{
    printf(
        "CPU times in ms                         median     worst    limit  proven     settled%s\n",
        wanted->paper_s > 0 ? "  GLPK, paper's; difference (of)" : "");
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

static void read_options(int argc, char **argv, struct wanted *wanted)
{
    int option;

    while ((option = getopt(argc, argv, "n:s:m:t:l:cp")) != -1) {
        if (option == 'n')
            wanted->seeds = (size_t)number(optarg, 1, SEEDS_MAX);
        else if (option == 's')
            wanted->first = (uint64_t)number(optarg, 0, 1e9);
        else if (option == 'm')
            wanted->word = optarg;
        else if (option == 't')
            wanted->ours_s = number(optarg, 0, 1e5);
        else if (option == 'l')
            wanted->paper_s = number(optarg, 0, 1e5);
        else if (option == 'c')
            wanted->check = true;
        else if (option == 'p')
            wanted->print = true;
        else
            exit(2);
    }
}

int main(int argc, char **argv)
{
    struct wanted wanted = {.seeds = 20, .first = 1, .ours_s = 10, .word = ""};
    bool good = true;

    read_options(argc, argv, &wanted);
    if (!wanted.print)
        print_head(&wanted);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const struct shape *shape = &shapes[i];
        char name[64];

        snprintf(name, sizeof(name), "%zux%u %s %s, %zu program%s", shape->nodes, shape->cores,
                 numa_traffic_name[shape->traffic], kind_name[shape->kind], shape->programs,
                 shape->programs > 1 ? "s" : "");
        if (strstr(name, wanted.word) && wanted.print)
            print(shape, &wanted);
        else if (strstr(name, wanted.word))
            good &= run(shape, name, &wanted);
    }
    return wanted.check && !good;
}
