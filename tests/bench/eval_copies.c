/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval_copies - see eval.h: runs of MPI programs with 1, 2, .. ranks in one memory domain. What all
 * do is the same, so n ranks are n copies of one that does an n-th of it.
 *
 * The truth lies between two figures. Cycles per instruction leave out what ranks wait for each
 * other in the message library, which runs many instructions while it waits; the time times the
 * ranks has all of it. Both are evaluated, and their mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/eval.h"

#define RUNS_MAX 4096
#define COLUMNS_MAX 32
#define PROGRAMS_MAX 64

enum column { APP, RANKS, TIME, INSTR, CYCLES, READ, WRITE, L3, COLUMNS };

struct run {
    const char *app;
    size_t ranks;
    double time_s, instructions, cycles, read_gbps, write_gbps, l3_gbps;
};

struct runs {
    size_t n;
    struct run run[RUNS_MAX];
};

/* ---- reading ---- */

static double figure(char *const *field, size_t count, size_t column, double scale)
{
    char *end;
    double value;

    if (column >= count || !*field[column])
        return NAN;
    value = strtod(field[column], &end);
    return *end ? NAN : value * scale;
}

static size_t split(char *line, char *field[COLUMNS_MAX])
{
    size_t n = 0;

    for (char *next; line && n < COLUMNS_MAX; line = next) {
        next = strpbrk(line, ",\r");
        if (next)
            *next++ = 0;
        field[n++] = line;
    }
    return n;
}

static void read_run(struct runs *runs, char *line, const size_t *column)
{
    char *field[COLUMNS_MAX];
    size_t n = split(line, field);
    struct run *run = &runs->run[runs->n];
    double ranks = figure(field, n, column[RANKS], 1);

    if (!(ranks >= 1) || column[APP] >= n)
        return;
    *run = (struct run){field[column[APP]],
                        (size_t)ranks,
                        figure(field, n, column[TIME], 1),
                        figure(field, n, column[INSTR], 1),
                        figure(field, n, column[CYCLES], 1),
                        figure(field, n, column[READ], 1e-3),
                        figure(field, n, column[WRITE], 1e-3),
                        figure(field, n, column[L3], 1e-3)};
    runs->n++;
}

static int read_runs(char *text, struct runs *runs, struct berth_error *err)
{
    static const char *const name[COLUMNS] = {"app",    "ranks",        "runtime_s",     "instr",
                                              "cycles", "mem_read_mbs", "mem_write_mbs", "l3_mbs"};
    char *field[COLUMNS_MAX], *line = strsep(&text, "\n");
    size_t column[COLUMNS], n = split(line, field);

    for (size_t i = 0; i < COLUMNS; i++) {
        for (column[i] = 0; column[i] < n && strcmp(field[column[i]], name[i]) != 0;)
            column[i]++;
        if (column[i] == n)
            return berth_error_set(err, "no column %s", name[i]);
    }
    while ((line = strsep(&text, "\n")) && runs->n < RUNS_MAX)
        if (*line)
            read_run(runs, line, column);
    return 0;
}

/* ---- one program ---- */

/* Finds a run of that many ranks: one with the memory's traffic, or the L3's. */
static const struct run *find(const struct runs *runs, const char *app, size_t ranks, bool l3)
{
    for (size_t i = 0; i < runs->n; i++)
        if (runs->run[i].ranks == ranks && strcmp(runs->run[i].app, app) == 0 &&
            !isnan(l3 ? runs->run[i].l3_gbps : runs->run[i].read_gbps))
            return &runs->run[i];
    return NULL;
}

/* What one rank alone tells. The L3's traffic is what the cores take from it and what they put
 * there, alike where programs stream. */
static struct app app_of(const struct run *one, const struct run *l3)
{
    double pki = one->time_s / one->instructions * 1e9 / 64 * 1e3; /* lines of 1 GB/s */
    struct app app = {.ipc = one->instructions / one->cycles,
                      .llc_apki = NAN,
                      .llc_mpki = one->read_gbps * pki,
                      .llc_demand_mpki = NAN,
                      .llc_wb_apki = NAN,
                      .mem_gbps = one->read_gbps + one->write_gbps,
                      .mem_read_gbps = one->read_gbps,
                      .mem_write_gbps = one->write_gbps,
                      .cores = 1};

    if (l3)
        app.llc_apki =
            fmax(app.llc_mpki, l3->l3_gbps / 2 * l3->time_s / l3->instructions * 1e9 / 64 * 1e3);
    return app;
}

/* Errors in points, against cycles per instruction, time, and the mean of both. */
struct errors {
    size_t n;
    double error[3][RUNS_MAX];
};

static void evaluate_app(const struct runs *runs, const char *name, const struct contend *contend,
                         size_t slot, const struct eval_domain *domain, struct errors *errors)
{
    const struct run *one = find(runs, name, 1, false);
    size_t member[CONTEND_GROUP_MAX];
    double slowdown[CONTEND_GROUP_MAX];

    for (size_t n = 2; n <= domain->cores && n <= CONTEND_GROUP_MAX; n++) {
        const struct run *run = find(runs, name, n, false);
        double truth[3];

        if (!run)
            continue;
        for (size_t i = 0; i < n; i++)
            member[i] = slot;
        contend_group(contend, n, member, slowdown);
        truth[0] = run->cycles / run->instructions / (one->cycles / one->instructions) - 1;
        truth[1] = (double)n * run->time_s / one->time_s - 1;
        truth[2] = (truth[0] + truth[1]) / 2;
        for (size_t i = 0; i < 3; i++)
            errors->error[i][errors->n] = 100 * (slowdown[0] - truth[i]);
        errors->n++;
        if (domain->each)
            printf("  %-10s %3zu  contend %6.1f  by cpi %6.1f  by time %6.1f\n", name, n,
                   100 * slowdown[0], 100 * truth[0], 100 * truth[1]);
    }
}

static void print_errors(struct errors *errors)
{
    static const char *const against[3] = {"cycles per instruction", "time x ranks",
                                           "mean of both"};

    for (size_t i = 0; i < 3; i++) {
        double sum = 0;

        for (size_t k = 0; k < errors->n; k++) {
            sum += errors->error[i][k];
            errors->error[i][k] = fabs(errors->error[i][k]);
        }
        printf("  against %-22s  median error %5.1f  bias %+6.1f points  (%zu)\n", against[i],
               eval_median(errors->n, errors->error[i]), sum / (double)errors->n, errors->n);
    }
}

/* Gives each program with a run of one rank a slot; returns how many. */
static size_t study(const struct runs *runs, struct contend **contend, const char *name[])
{
    size_t n = 0;

    for (size_t i = 0; i < runs->n && n < PROGRAMS_MAX; i++) {
        const struct run *run = &runs->run[i];
        struct app app = app_of(run, find(runs, run->app, 1, true));

        if (run->ranks != 1 || isnan(run->read_gbps))
            continue;
        if (contend_set(contend, n, &app) == 0)
            name[n++] = run->app;
    }
    return n;
}

int eval_copies(char *text, const struct eval_domain *domain,
                const struct contend_constants *constants, struct berth_error *err)
{
    const struct app_machine machine = {.llc_bytes = domain->llc_bytes,
                                        .dram_gbps = domain->dram_gbps,
                                        .clock_ghz = domain->clock_ghz,
                                        .llc_ways = domain->ways,
                                        .line_bytes = 64,
                                        .own_prefetchers = true,
                                        .dram_calibrated = domain->calibrated};
    static struct runs runs;
    static struct errors errors;
    const char *name[PROGRAMS_MAX];
    struct contend *contend = contend_new(0, NULL, &machine, constants);
    size_t n;

    if (!contend || read_runs(text, &runs, err) < 0) {
        contend_free(contend);
        return -1;
    }
    n = study(&runs, &contend, name);
    printf(
        "n copies in a memory domain of %zu cores: %g GB/s%s, %g GHz, cache of %g MiB, %zu ways\n",
        domain->cores, domain->dram_gbps, domain->calibrated ? " measured" : " nominal",
        domain->clock_ghz, domain->llc_bytes / (1 << 20), domain->ways);
    for (size_t i = 0; i < n; i++)
        evaluate_app(&runs, name[i], contend, i, domain, &errors);
    print_errors(&errors);
    contend_free(contend);
    return 0;
}
