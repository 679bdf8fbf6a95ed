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
#include "tests/bench/runs.h"

#define PROGRAMS_MAX 64

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
    const struct run *one = runs_find(runs, name, 1, RUNS_MEMORY);
    size_t member[CONTEND_GROUP_MAX];
    double slowdown[CONTEND_GROUP_MAX];

    for (size_t n = 2; n <= domain->cores && n <= CONTEND_GROUP_MAX; n++) {
        const struct run *run = runs_find(runs, name, n, RUNS_MEMORY);
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
        struct app app = app_of(run, runs_find(runs, run->app, 1, RUNS_CACHE));

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

    if (!contend || runs_read(text, &runs, err) < 0) {
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
