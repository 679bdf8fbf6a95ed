/* SPDX-License-Identifier: GPL-2.0-or-later */
/* size - what sizing costs and saves, on measured runs: tests/bench/size [-d CORES of a memory
 * domain] [-b GB/s that it can give] [-l PERCENT that may be lost] FILE.
 *
 * FILE is a table (runs.h) of programs with 1, 2, .. ranks, pinned one after the other, so that the
 * first ones fill one memory domain. A program is sized by what berthd would know of it before it
 * runs: what the fewest ranks in the table draw (one core, where that was measured), and what the
 * domain can give. That is -b, else the most that any *other* program drew from it. The truth, how
 * long it takes with so many cores and what the packages and the memory use, is for judging only.
 *
 * For each program: the size by the soft roof and by the hard minimum that it replaced, half of the
 * cores, and the fewest that are within 5 % of the time, which only the truth knows; time, energy
 * and energy times time against all cores. A count of ranks that was not measured lies on the line
 * between its neighbours (~). At last, how well the roof predicts what 2, 3, .. cores draw, with
 * its own p and with one that is fitted to the other programs. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/roof.h"
#include "packer/cli/common/input.h"
#include "tests/bench/eval.h"
#include "tests/bench/runs.h"
#include "enum_table.h"

#define PROGRAMS_MAX 64
#define CORES_MAX 256
#define DOMAIN_LEAST 2 /* cores */
#define LINEAR 0.05    /* so far from k times a domain's traffic are k domains, at most */
#define SATURATED 0.8  /* of as many times one core's traffic: less, where memory is full */
#define GOOD 0.05      /* of the time, that may be lost */
#define P_MOST 5.0     /* that a fit looks at */
#define P_STEP 0.05
#define ERRORS_MAX (PROGRAMS_MAX * CORES_MAX)

struct study {
    struct runs runs;
    size_t programs;
    const char *name[PROGRAMS_MAX];
    size_t domain; /* cores */
    double gbps;   /* that it can give; NAN: as the other programs show */
    double loss;
};

static const struct run *find(const struct study *study, size_t program, size_t ranks)
{
    return runs_find(&study->runs, study->name[program], ranks, RUNS_MEMORY);
}

/* ---- the truth ---- */

struct truth {
    double time_s, joules;
    bool between; /* not measured: on the line between its neighbours */
};

static double line(double a, double b, double part)
{
    return a + (b - a) * part;
}

static double energy_of(const struct run *run)
{
    return run->package_j + (isnan(run->dram_j) ? 0 : run->dram_j);
}

static struct truth truth_of(const struct study *study, size_t program, size_t cores)
{
    size_t below = cores, above = cores;
    const struct run *a, *b;
    double part;

    while (below > 1 && !find(study, program, below))
        below--;
    while (above < study->domain && !find(study, program, above))
        above++;
    a = find(study, program, below);
    b = find(study, program, above);
    a = a ? a : b;
    b = b ? b : a;
    part = above > below ? (double)(cores - below) / (double)(above - below) : 0;
    return (struct truth){line(a->time_s, b->time_s, part), line(energy_of(a), energy_of(b), part),
                          a->ranks != cores};
}

/* ---- what berthd would know ---- */

/* The run with the fewest ranks. */
static const struct run *fewest(const struct study *study, size_t program)
{
    size_t ranks = 1;

    while (ranks < study->domain && !find(study, program, ranks))
        ranks++;
    return find(study, program, ranks);
}

/* What one core draws alone: where that was not measured, as the roof has it of a few. */
static double alone_of(const struct study *study, size_t program, const struct roof *roof)
{
    const struct run *run = fewest(study, program);

    return roof_give(roof, roof_idle(roof, run->memory_gbps) / (double)run->ranks);
}

/* The most that was drawn by a program that fills the memory; 0: it does not. */
static double most_of(const struct study *study, size_t program)
{
    const struct run *few = fewest(study, program), *run;
    double most = 0;

    for (size_t c = 1; c <= study->domain; c++)
        if ((run = find(study, program, c)))
            most = fmax(most, run->memory_gbps);
    run = find(study, program, study->domain);
    if (run &&
        run->memory_gbps > SATURATED * few->memory_gbps * (double)run->ranks / (double)few->ranks)
        return 0;
    return most;
}

/* What the domain can give, as all programs but one show; the one where it is alone. */
static double reachable(const struct study *study, size_t but)
{
    double most = 0;

    if (!isnan(study->gbps))
        return study->gbps;
    for (size_t i = 0; i < study->programs; i++)
        if (i != but || study->programs == 1)
            most = fmax(most, most_of(study, i));
    return most;
}

/* ---- sizes ---- */

static size_t size_soft(const struct study *study, size_t program, double gbps)
{
    struct roof roof = roof_of(gbps);
    double curve[CORES_MAX + 1];

    roof_curve(&roof, alone_of(study, program, &roof), study->domain, curve);
    return roof_enough(curve, study->domain, study->loss);
}

/* The fewest cores with the greatest min(cores * one core's, all). */
static size_t size_hard(const struct study *study, size_t program, double gbps)
{
    const struct run *few = fewest(study, program);
    double cores = ceil(gbps / (few->memory_gbps / (double)few->ranks));

    return cores < (double)study->domain ? (size_t)cores : study->domain;
}

static double lost(const struct study *study, size_t program, size_t cores)
{
    return truth_of(study, program, cores).time_s / truth_of(study, program, study->domain).time_s -
           1;
}

/* Who knew: the fewest cores from which on all are within 5 % of the time. */
static size_t size_known(const struct study *study, size_t program)
{
    size_t cores = study->domain;

    while (cores > 1 && lost(study, program, cores - 1) <= GOOD)
        cores--;
    return cores;
}

/* ---- the table ---- */

enum way { SOFT, HARD, HALF, KNOWN, WAYS };
static const char *const TABLE(way_name, WAYS) = {
    ROW(SOFT) = "soft roof",
    ROW(HARD) = "hard minimum",
    ROW(HALF) = "half",
    ROW(KNOWN) = "who knew",
};
TABLE_COMPLETE(way_name);

struct totals {
    size_t good[WAYS], n;
    double cores[WAYS], time[WAYS], joules[WAYS], edp[WAYS], worst[WAYS]; /* logarithms, sums */
};

static void print_one(const struct study *study, size_t program, enum way way, size_t cores,
                      struct totals *totals)
{
    struct truth is = truth_of(study, program, cores),
                 all = truth_of(study, program, study->domain);
    double time = is.time_s / all.time_s, joules = is.joules / all.joules;

    totals->good[way] += time <= 1 + GOOD;
    totals->cores[way] += (double)cores / (double)study->domain;
    totals->time[way] += log(time);
    totals->joules[way] += log(joules);
    totals->edp[way] += log(time * joules);
    totals->worst[way] = fmax(totals->worst[way], time - 1);
    printf(" |%3zu%c%+6.1f %+6.1f %+6.1f", cores, is.between ? '~' : ' ', 100 * (time - 1),
           100 * (joules - 1), 100 * (time * joules - 1));
}

static void print_program(const struct study *study, size_t program, struct totals *totals)
{
    double gbps = reachable(study, program);
    struct truth all = truth_of(study, program, study->domain);
    size_t TABLE(cores, WAYS) = {ROW(SOFT) = size_soft(study, program, gbps), ROW(HARD) = size_hard(study, program, gbps),
                          ROW(HALF) = (study->domain + 1) / 2, ROW(KNOWN) = size_known(study, program),};
    TABLE_COMPLETE(cores);

    printf("%-10s %5.1f/%zu %6.1f %8.0f %7.1f", study->name[program],
           fewest(study, program)->memory_gbps, fewest(study, program)->ranks, gbps, all.time_s,
           all.joules / 1e3);
    for (enum way way = SOFT; way < WAYS; way++)
        print_one(study, program, way, cores[way], totals);
    printf("\n");
    totals->n++;
}

static void print_totals(const struct totals *totals)
{
    double n = (double)totals->n;

    printf("\n%-14s %14s %10s %8s %8s %8s %8s\n", "of these", "within 5 %", "cores %", "time",
           "worst", "energy", "EDP");
    for (enum way way = SOFT; way < WAYS; way++)
        printf("%-14s %9zu of %zu %10.0f %+8.1f %+8.1f %+8.1f %+8.1f\n", way_name[way],
               totals->good[way], totals->n, 100 * totals->cores[way] / n,
               100 * (exp(totals->time[way] / n) - 1), 100 * totals->worst[way],
               100 * (exp(totals->joules[way] / n) - 1), 100 * (exp(totals->edp[way] / n) - 1));
}

static void print_table(const struct study *study)
{
    struct totals totals = {0};

    printf("%-10s %7s %6s %8s %7s", "", "GB/s of", "domain", "all:", "");
    for (enum way way = SOFT; way < WAYS; way++)
        printf(" | %-23s", way == SOFT ? "size: soft roof" : way_name[way]);
    printf("\n%-10s %7s %6s %8s %7s", "program", "few", "GB/s", "time s", "kJ");
    for (enum way way = SOFT; way < WAYS; way++)
        printf(" |cores time %% energy    EDP");
    printf("\n");
    for (size_t i = 0; i < study->programs; i++)
        print_program(study, i, &totals);
    print_totals(&totals);
}

/* ---- how good the roof is ---- */

/* Adds the relative errors of what more cores of the program draw. */
static void add_errors(const struct study *study, size_t program, struct roof roof, size_t *n,
                       double *error)
{
    double curve[CORES_MAX + 1];
    const struct run *run;

    roof_curve(&roof, alone_of(study, program, &roof), study->domain, curve);
    for (size_t c = fewest(study, program)->ranks + 1; c <= study->domain; c++)
        if ((run = find(study, program, c)))
            error[(*n)++] = fabs(curve[c] / run->memory_gbps - 1);
}

/* The p with which the other programs that fill the memory are predicted best. */
static double fit(const struct study *study, size_t but)
{
    static double error[ERRORS_MAX];
    double best = NAN, least = HUGE_VAL;

    for (double p = 1; p <= P_MOST; p += P_STEP) {
        size_t n = 0;
        double median;

        for (size_t i = 0; i < study->programs; i++)
            if (i != but && most_of(study, i) > 0)
                add_errors(study, i, (struct roof){reachable(study, i), p}, &n, error);
        median = n ? eval_median(n, error) : HUGE_VAL;
        if (median < least) {
            least = median;
            best = p;
        }
    }
    return best;
}

static void print_fit(const struct study *study)
{
    static double own[ERRORS_MAX], fitted[ERRORS_MAX];
    size_t n_own = 0, n_fitted = 0;
    double p, low = HUGE_VAL, high = 0;

    for (size_t i = 0; i < study->programs; i++) {
        add_errors(study, i, roof_of(reachable(study, i)), &n_own, own);
        p = fit(study, i);
        if (isnan(p))
            return;
        low = fmin(low, p);
        high = fmax(high, p);
        add_errors(study, i, (struct roof){reachable(study, i), p}, &n_fitted, fitted);
    }
    printf("\ntraffic of more cores, predicted from that of few: median error %.1f %% with p %.2f; "
           "%.1f %% with a p\nthat is fitted to the other programs (%.2f to %.2f)\n",
           100 * eval_median(n_own, own), roof_of(reachable(study, 0)).sharp,
           100 * eval_median(n_fitted, fitted), low, high);
}

/* ---- reading ---- */

static size_t list_programs(struct study *study)
{
    size_t most = 0;

    for (size_t i = 0; i < study->runs.n; i++) {
        const struct run *run = &study->runs.run[i];
        size_t known = 0;

        if (isnan(run->memory_gbps) || isnan(run->time_s) || study->programs == PROGRAMS_MAX)
            continue;
        most = run->ranks > most ? run->ranks : most;
        while (known < study->programs && strcmp(study->name[known], run->app) != 0)
            known++;
        if (known == study->programs)
            study->name[study->programs++] = run->app;
    }
    return most;
}

/* How far 2, 3, .. times so many ranks are from 2, 3, .. times their traffic: of all of it. */
static double crooked(const struct study *study, size_t cores, size_t most)
{
    double off = 0, sum = 0;

    for (size_t i = 0; i < study->programs; i++)
        for (size_t k = 2; k * cores <= most; k++) {
            const struct run *one = find(study, i, cores), *many = find(study, i, k * cores);

            if (!one || !many)
                continue;
            off += fabs(many->memory_gbps - (double)k * one->memory_gbps);
            sum += many->memory_gbps;
        }
    return sum > 0 ? off / sum : 1;
}

/* The cores of a memory domain: the fewest of which 2, 3, .. times as many draw 2, 3, .. times as
 * much. */
static size_t find_domain(const struct study *study, size_t most)
{
    for (size_t cores = DOMAIN_LEAST; cores < most; cores++)
        if (most % cores == 0 && crooked(study, cores, most) <= LINEAR)
            return cores;
    return most;
}

static int complain(const char *path, const char *why)
{
    fprintf(stderr, "size: %s: %s\n", path, why);
    return 1;
}

static int evaluate(struct study *study, const char *path, size_t most)
{
    bool found = study->domain == 0;

    if (study->programs == 0)
        return complain(path, "no program with its time and its memory's traffic");
    if (found)
        study->domain = find_domain(study, most);
    if (study->domain > CORES_MAX)
        return complain(path, "a memory domain has at most 256 cores here: say how many (-d)");
    for (size_t i = 0; i < study->programs; i++)
        if (!fewest(study, i))
            return complain(path, "a program has no run within one memory domain");
    for (size_t i = 0; i < study->programs; i++)
        if (!(reachable(study, i) > 0))
            return complain(path, "too few programs fill the memory: say what it can give (-b)");
    printf("memory domain of %zu cores%s, %s; at most %g %% to be lost\n\n", study->domain,
           found ? " (as the traffic shows)" : "",
           isnan(study->gbps) ? "what it can give is the most that another program drew"
                              : "what it can give was said",
           100 * study->loss);
    print_table(study);
    print_fit(study);
    return 0;
}

static int usage(void)
{
    fprintf(stderr, "usage: size [-d CORES] [-b GBPS] [-l PERCENT] FILE\n");
    return 2;
}

int main(int argc, char **argv)
{
    static struct study study = {.gbps = NAN, .loss = 0.02};
    struct berth_error err = {"out of memory"};
    size_t length;
    char *text;
    int option, rc;

    while ((option = getopt(argc, argv, "d:b:l:")) >= 0)
        if (option == 'd')
            study.domain = strtoul(optarg, NULL, 10);
        else if (option == 'b')
            study.gbps = strtod(optarg, NULL);
        else if (option == 'l')
            study.loss = strtod(optarg, NULL) / 100;
        else
            return usage();
    if (optind + 1 != argc || !(study.loss >= 0 && study.loss < 1) || study.gbps <= 0)
        return usage();
    text = ctl_input_text(argv[optind], &length, &err);
    if (!text || runs_read(text, &study.runs, &err) < 0)
        rc = complain(argv[optind], err.text);
    else
        rc = evaluate(&study, argv[optind], list_programs(&study));
    free(text);
    return rc;
}
