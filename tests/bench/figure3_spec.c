/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figure3_spec - DI, Pain and contend on 4, 16 and 24 caches with programs that were measured with
 * 1 .. n ways of a cache.
 *
 * The file has a header line with BENCH, NR_WAYS, ipc, llcrpki (accesses) and llcmpki (misses), in
 * any order, and a line for each program and number of ways. A program's stack-distance profile is
 * what each way more saves:
 *   hits[w] = max(0, m[w - 1] - m[w]) * 1000, m[0] = llcrpki, m[w] = min(llcmpki of 1 .. w ways)
 *   misses = m[n] * 1000
 * (per million instructions; hits[1] is the most recently used position; a curve that rises by
 * noise stays level). ipc is that with all ways, memory traffic what these misses make at that
 * speed.
 *
 * There is no truth to judge by: contend itself does. So this tells how much DI and Pain lose if
 * contend is right, and how much there is to lose, not who is right. Workloads are drawn at random,
 * with repetition, from a fixed seed; random is a random placement. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/partition.h"
#include "models/placing/di.h"
#include "models/slowdown/contend.h"
#include "models/slowdown/pain.h"
#include "packer/base/clock.h"
#include "tests/bench/figure3.h"
#include "enum_table.h"

#define PROGRAMS_MAX 256
#define WAYS_MAX 64
#define DRAWS 10
#define LIMIT_S 1.0
#define PATIENCE 60  /* disturbances in vain */
#define UNITS_MAX 96 /* 24 caches of four cores */
#define CACHES_MAX 24

struct program {
    char name[64];
    double misses[WAYS_MAX + 1]; /* per 1000 instructions, over the ways; NAN: not measured */
    double hits[WAYS_MAX];
    struct app app;
};

struct spec {
    size_t n, ways;
    struct program program[PROGRAMS_MAX];
    struct app_machine machine;
};

/* ---- the file ---- */

enum column { BENCH, NR_WAYS, IPC, ACCESSES, MISSES, COLUMNS };
static const char *const TABLE(column_names, COLUMNS) = {
    ROW(BENCH) = "BENCH",      ROW(NR_WAYS) = "NR_WAYS", ROW(IPC) = "ipc",
    ROW(ACCESSES) = "llcrpki", ROW(MISSES) = "llcmpki",
};
TABLE_COMPLETE(column_names);

/* The fields of a line that are wanted, as text; 0, or -1 when one is missing. */
static int split(char *line, const size_t *at, const char **field)
{
    size_t i = 0, found = 0;

    for (char *next; line; line = next, i++) {
        next = strpbrk(line, ",\r\n");
        if (next)
            *next++ = 0;
        for (enum column column = 0; column < COLUMNS; column++)
            if (at[column] == i) {
                field[column] = line;
                found++;
            }
    }
    return found == COLUMNS ? 0 : -1;
}

static int read_header(char *line, size_t *at)
{
    size_t i = 0, found = 0;

    for (char *name = strtok(line, ",\r\n"); name; name = strtok(NULL, ",\r\n"), i++)
        for (enum column column = 0; column < COLUMNS; column++)
            if (strcmp(name, column_names[column]) == 0) {
                at[column] = i;
                found++;
            }
    return found == COLUMNS ? 0 : -1;
}

static struct program *find_program(struct spec *spec, const char *name)
{
    struct program *program;

    for (size_t i = 0; i < spec->n; i++)
        if (strcmp(spec->program[i].name, name) == 0)
            return &spec->program[i];
    if (spec->n == PROGRAMS_MAX)
        return NULL;
    program = &spec->program[spec->n++];
    snprintf(program->name, sizeof(program->name), "%s", name);
    for (size_t i = 0; i <= WAYS_MAX; i++)
        program->misses[i] = NAN;
    return program;
}

static int read_line(struct spec *spec, char *line, const size_t *at)
{
    const char *field[COLUMNS];
    struct program *program;
    unsigned long ways;

    if (split(line, at, field) < 0)
        return -1;
    ways = strtoul(field[NR_WAYS], NULL, 10);
    program = find_program(spec, field[BENCH]);
    if (!program || ways < 1 || ways > WAYS_MAX)
        return -1;
    program->misses[ways] = strtod(field[MISSES], NULL);
    if (ways == 1)
        program->misses[0] = strtod(field[ACCESSES], NULL);
    if (ways >= spec->ways) {
        spec->ways = ways;
        program->app.ipc = strtod(field[IPC], NULL);
    }
    return 0;
}

static int read_file(struct spec *spec, const char *path)
{
    size_t at[COLUMNS];
    char line[4096];
    FILE *file = fopen(path, "r");
    int rc = -1;

    if (!file)
        return -1;
    if (fgets(line, sizeof(line), file))
        rc = read_header(line, at);
    while (rc == 0 && fgets(line, sizeof(line), file))
        rc = read_line(spec, line, at);
    fclose(file);
    return spec->n > 0 ? rc : -1;
}

/* The profile from the sweep. -1: a number of ways is missing. */
static int make_app(const struct spec *spec, struct program *program)
{
    double line_gbps =
        (double)spec->machine.line_bytes * program->app.ipc * spec->machine.clock_ghz;
    double misses = program->misses[0];

    for (size_t i = 1; i <= spec->ways; i++) {
        if (!(program->misses[i] >= 0 && program->misses[0] >= 0))
            return -1;
        program->hits[i - 1] = 1000 * fmax(0, misses - program->misses[i]);
        misses = fmin(misses, program->misses[i]);
    }
    program->app = (struct app){
        .ipc = program->app.ipc,
        .llc_apki = program->misses[0],
        .llc_mpki = misses,
        .llc_demand_mpki = NAN,
        .llc_wb_apki = NAN,
        .mem_gbps = misses / 1000 * line_gbps,
        .mem_read_gbps = NAN,
        .mem_write_gbps = NAN,
        .cores = 1,
        .sdp = {.ways = spec->ways, .hits = program->hits, .misses = 1000 * misses},
    };
    return 0;
}

/* ---- workloads ---- */

struct workload {
    size_t n;
    size_t program[UNITS_MAX];
    double end_s;                  /* of the search */
    const struct contend *contend; /* of the programs */
    struct pain pain[PROGRAMS_MAX];
    struct partition problem;
};

static double contend_cost(const size_t *member, size_t n, void *arg)
{
    const struct workload *workload = arg;
    double slowdown[UNITS_MAX], sum = 0;
    size_t program[UNITS_MAX] = {0};

    for (size_t i = 0; i < n; i++)
        program[i] = workload->program[member[i]];
    contend_group(workload->contend, n, program, slowdown);
    for (size_t i = 0; i < n; i++)
        sum += slowdown[i];
    return sum;
}

static double pain_cost(const size_t *member, size_t n, void *arg)
{
    const struct workload *workload = arg;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            sum += pain_pair(&workload->pain[workload->program[member[i]]],
                             &workload->pain[workload->program[member[j]]])
                       .score;
    return sum;
}

static void place_by_di(const struct spec *spec, const struct workload *workload, size_t *cache)
{
    size_t none[CACHES_MAX] = {0}, parent[UNITS_MAX], core[UNITS_MAX];
    size_t caches = workload->problem.groups, cores = workload->n;
    const struct di_level level[] = {{caches, none}, {cores, parent}};
    const struct di_machine machine = {2, level};
    struct di_unit unit[UNITS_MAX];

    for (size_t i = 0; i < cores; i++) {
        parent[i] = i * caches / cores;
        unit[i] = (struct di_unit){1000 * spec->program[workload->program[i]].app.llc_mpki, 1};
    }
    di_place(&machine, workload->n, unit, core);
    for (size_t i = 0; i < workload->n; i++)
        cache[i] = parent[core[i]];
}

/* Average predicted slowdown in points. */
static double judge(struct workload *workload, const size_t *cache)
{
    workload->problem.cost = contend_cost;
    return 100 * partition_cost(&workload->problem, cache) / (double)workload->n;
}

static double search(struct workload *workload, const size_t *start, bool pain)
{
    struct partition_found found;
    size_t cache[UNITS_MAX];

    workload->problem.cost = pain ? pain_cost : contend_cost;
    workload->problem.pairwise = pain;
    workload->problem.start = start;
    workload->end_s = clock_s() + LIMIT_S;
    if (partition_solve(&workload->problem, cache, &found) < 0)
        return NAN;
    return judge(workload, cache);
}

static bool is_late(void *end_s)
{
    return clock_s() >= *(const double *)end_s;
}

static void draw(struct workload *workload, const struct spec *spec, size_t caches, size_t cores)
{
    workload->n = caches * cores;
    for (size_t i = 0; i < workload->n; i++)
        workload->program[i] = (size_t)random() % spec->n;
    workload->problem = (struct partition){.n = workload->n,
                                           .kind = workload->program,
                                           .groups = caches,
                                           .group = cores,
                                           .arg = workload,
                                           .stop = is_late,
                                           .stop_arg = &workload->end_s,
                                           .patience = PATIENCE};
}

static void print_size(struct workload *workload, const struct spec *spec, size_t caches,
                       size_t cores)
{
    double contend = 0, di = 0, pain = 0, chance = 0;

    srandom(1);
    for (int i = 0; i < DRAWS; i++) {
        size_t by_di[UNITS_MAX], cache[UNITS_MAX];

        draw(workload, spec, caches, cores);
        place_by_di(spec, workload, by_di);
        di += judge(workload, by_di) / DRAWS;
        for (size_t j = 0; j < workload->n; j++)
            cache[j] = j / cores; /* drawn at random: any order is */
        chance += judge(workload, cache) / DRAWS;
        pain += search(workload, by_di, true) / DRAWS;
        contend += search(workload, by_di, false) / DRAWS;
    }
    printf("%6zu %5zu %9.2f %9.2f %9.2f %9.2f\n", caches, cores, contend, di - contend,
           pain - contend, chance - contend);
}

static double argument(int argc, char **argv, int at, double otherwise)
{
    return argc > at ? strtod(argv[at], NULL) : otherwise;
}

/* Its default machine: 2.5 MiB a way and 2.2 GHz, as such files of a Xeon E5 v4 show (bandwidth
 * over misses, occupancy over ways), and 20 GB/s behind each cache. */
int figure3_spec(int argc, char **argv)
{
    static const size_t caches[] = {4, 16, 24};
    static struct spec spec;
    struct app app[PROGRAMS_MAX];
    struct workload workload;
    struct contend *contend;

    spec.machine = (struct app_machine){.line_bytes = 64,
                                        .dram_gbps = argument(argc, argv, 2, 20),
                                        .clock_ghz = argument(argc, argv, 3, 2.2)};
    if (read_file(&spec, argv[0]) < 0)
        return figure3_fail(argv[0], "no lines of BENCH, NR_WAYS, ipc, llcrpki, llcmpki");
    spec.machine.llc_ways = spec.ways;
    spec.machine.llc_bytes = argument(argc, argv, 1, 2.5 * (1 << 20)) * (double)spec.ways;
    for (size_t i = 0; i < spec.n; i++) {
        if (make_app(&spec, &spec.program[i]) < 0)
            return figure3_fail(spec.program[i].name, "not measured with each number of ways");
        app[i] = spec.program[i].app;
        workload.pain[i] = pain_of(&app[i].sdp);
    }
    contend = contend_new(spec.n, app, &spec.machine, NULL);
    if (!contend)
        return figure3_fail(argv[0], "figures out of range");
    workload.contend = contend;
    printf("%zu programs, %zu ways of %.0f bytes, %.1f GB/s, %.1f GHz; %d workloads each\n"
           "average slowdown in %% as contend predicts it; the others in points above\n\n"
           "caches cores   contend        di      pain    random\n",
           spec.n, spec.ways, spec.machine.llc_bytes / (double)spec.ways, spec.machine.dram_gbps,
           spec.machine.clock_ghz, DRAWS);
    for (size_t cores = 2; cores <= 4; cores += 2)
        for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
            print_size(&workload, &spec, caches[i], cores);
    contend_free(contend);
    return 0;
}
