/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nucore - how long NuCore takes, and how near it comes to the optimum:
 *
 *     tests/bench/nucore [-n SEEDS] [-s FIRST] [-m WORD] [-t SECONDS] [-l SECONDS] [-c] [-p]
 *
 * For each shape (nodes x cores, traffic, kind of machine; several programs): seeds FIRST .. (1),
 * SEEDS of them (20), each with at most so many SECONDS (-t 10); the median and the worst CPU time,
 * and the limit for the worst; how many ended by themselves. -m: only shapes whose line has this
 * word. -l: then GLPK looks for something better for so many seconds each: its median time; how
 * many were proven; how many of these NuCore had found; and by how much of the objective it missed
 * them, the mean and the worst in percent. -c: exit status 1 where a limit is missed. -p: nothing
 * is solved; each shape of one program whose links are direct is printed as `berthctl model nucore`
 * reads it, a line each, with -t for its limit. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "lab/model/nucore_proof.h"
#include "tests/bench/numa_json.h"
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
    {4, 64, NUMA_PARTIAL, ROOF, 2, INFINITY},
    {4, 64, NUMA_RING, ROOF, 3, INFINITY},
    {4, 64, NUMA_DENSE, ROOF, 4, INFINITY},
    {4, 64, NUMA_DENSE, UNEQUAL, 3, INFINITY},
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
    double ours[SEEDS_MAX], proof[SEEDS_MAX];
    size_t ended, proven, best;
    double missed, worst; /* of the proven optima, as fractions; missed: added up */
};

struct wanted {
    size_t seeds;
    uint64_t first;
    double ours_s, proof_s;
    const char *word;
    bool check, print;
};

static void solve(const struct nucore *nucore, size_t k, struct figures *figures,
                  struct nucore_result *result)
{
    double start_s = now_s();

    if (nucore_solve(nucore, result) < 0) {
        fprintf(stderr, "nucore_solve failed\n");
        exit(1);
    }
    figures->ours[k] = now_s() - start_s;
    figures->ended += result->status == NUCORE_FOUND;
}

static void prove(const struct nucore *nucore, double limit_s, size_t k, struct figures *figures,
                  struct nucore_result *result)
{
    double start_s = now_s(), found = result->objective, bound, missed;
    struct berth_error err;

    if (nucore_prove(nucore, limit_s, result, &bound, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    figures->proof[k] = now_s() - start_s;
    if (result->status != NUCORE_OPTIMAL)
        return;
    missed = (result->objective - found) / fabs(result->objective);
    figures->proven++;
    figures->best += missed <= NUCORE_PROOF_LEAST;
    figures->missed += missed;
    figures->worst = fmax(figures->worst, missed);
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
    unsigned allocation[NUMEM_NODES_MAX * PROGRAMS_MAX];
    struct numem_usage usage[PROGRAMS_MAX] = {{0}};
    struct nucore_result result = {.allocation = allocation, .usage = usage};
    double end_s;
    struct nucore nucore = {.machine = &numa[0].machine,
                            .program = program,
                            .programs = shape->programs,
                            .stop = is_late,
                            .stop_arg = &end_s};

    for (size_t p = 0; p < shape->programs; p++) {
        wish.seed = seed + 100000 * p;
        numa_make(&numa[p], &wish);
        program[p] = numa[p].program;
    }
    end_s = now_s() + wanted->ours_s;
    solve(&nucore, k, figures, &result);
    if (wanted->proof_s > 0 && result.status == NUCORE_FOUND)
        prove(&nucore, wanted->proof_s, k, figures, &result);
    for (size_t p = 0; p < shape->programs; p++)
        numa_free(&numa[p]);
}

/* ---- a line ---- */

static void print_proof(const struct figures *f, const struct wanted *wanted)
{
    printf("  %10.1f  %3zu  %3zu", array_median((double *)f->proof, wanted->seeds) * 1e3, f->proven,
           f->best);
    if (f->proven > 0)
        printf("  %.5f %.5f", 100 * f->missed / (double)f->proven, 100 * f->worst);
}

/* Returns whether all is as it should be. */
static bool run(const struct shape *shape, const char *name, const struct wanted *wanted)
{
    static struct figures figures;
    size_t n = wanted->seeds;
    double median;

    figures = (struct figures){.missed = 0};
    for (size_t k = 0; k < n; k++)
        measure(shape, wanted, k, &figures);
    median = array_median(figures.ours, n);
    printf("%-36s %9.2f %9.2f ", name, median * 1e3, figures.ours[n - 1] * 1e3);
    if (isfinite(shape->limit_s))
        printf("%8.0f", shape->limit_s * 1e3);
    else
        printf("%8s", "-");
    printf("  %3zu of %-3zu", figures.ended, n);
    if (wanted->proof_s > 0)
        print_proof(&figures, wanted);
    printf("\n");
    fflush(stdout);
    return !isfinite(shape->limit_s) ||
           (figures.ours[n - 1] <= shape->limit_s && figures.ended == n);
}

static void print_head(const struct wanted *wanted)
{
    printf("CPU times in ms                         median     worst    limit  ended %s\n",
           wanted->proof_s > 0 ? "      GLPK  proven best  missed: mean, worst %" : "");
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
            wanted->proof_s = number(optarg, 0, 1e5);
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
