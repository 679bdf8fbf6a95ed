/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_published - the figures that the papers print, and ours, computed now: a line each. A line
 * whose figure of ours is not the one that stands here fails; "match" and "differs" are about the
 * papers. What needs measurements that are not printed is computed elsewhere, or cannot be; its
 * line says so.
 *
 *     tests/unit/models/test_published
 *
 * B: Blagodurov 2010, W: Wang 2015, P: Pusukuri 2012, R: Porterfield 2012, V: Vikranth 2018;
 * where W prints no input, the line names what was taken. */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "models/energy/power.h"
#include "models/inside/adapt.h"
#include "models/inside/faithful.h"
#include "models/numa/dramon.h"
#include "models/numa/flexthread.h"
#include "models/partition/matching.h"
#include "models/placing/di.h"
#include "models/placing/dio_power.h"
#include "models/placing/isolate.h"
#include "models/tasks/locality.h"
#include "models/tasks/steal.h"
#include "models/tasks/threshold.h"
#include "tests/unit/common/machine.h"
#include "tests/unit/common/numa_scene.h"
#include "tests/unit/common/throttle_scene.h"

#define DEVIL DIO_POWER_DEVIL_MISS_PMI

static unsigned failed;

/* Prints a line: the document's place, what it is, what is published, and ours, which has to be
 * `known`; the verdict is about the two in the middle. */
static void line(const char *place, const char *what, const char *published, const char *known,
                 const char *verdict, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

static void line(const char *place, const char *what, const char *published, const char *known,
                 const char *verdict, const char *format, ...)
{
    char ours[128];
    va_list arguments;
    bool as_known;

    va_start(arguments, format);
    vsnprintf(ours, sizeof(ours), format, arguments);
    va_end(arguments);
    as_known = strcmp(ours, known) == 0;
    printf("%-12s %-47s %-19s %-19s %s\n", place, what, published, ours,
           as_known ? verdict : "CHANGED");
    if (!as_known)
        printf("%-12s ours was %s\n", "", known);
    failed += !as_known;
}

/* A share that was measured is close to the published one within so much; else it differs. */
#define CLOSE 0.05

static void share(const char *place, const char *what, double published, const char *known,
                  double ours)
{
    double apart = fabs(ours - published);
    char text[16];

    snprintf(text, sizeof(text), "%.2f", published);
    line(place, what, text, known,
         apart < 0.005    ? "match"
         : apart <= CLOSE ? "close"
                          : "differs",
         "%.2f", ours);
}

/* Says whether three figures are in the order of those that are published, too. */
static const char *order(const double *published, const double *ours)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            if ((published[i] > published[j]) != (ours[i] > ours[j]))
                return "differs: in another order";
    return "as ordered, another program";
}

/* Prints a line of what is not computed here. */
static void elsewhere(const char *place, const char *what, const char *published, const char *why)
{
    printf("%-12s %-47s %-19s %-19s %s\n", place, what, published, "-", why);
}

/* ---- B: pairs ---- */

enum { MCF, MILC, GAMESS, NAMD, PROGRAMS };

static const double table_1[PROGRAMS * PROGRAMS] = {48.01, 65.63, 2.0,   2.11, 24.75, 45.39,
                                                    1.23,  1.11,  2.67,  4.48, -1.01, -1.21,
                                                    1.48,  3.45,  -1.19, -0.93};

static double both(size_t a, size_t b)
{
    return table_1[a * PROGRAMS + b] + table_1[b * PROGRAMS + a];
}

static void print_pairs(void)
{
    size_t mate[PROGRAMS] = {0};
    double total = NAN, worst = 0;

    line("B Table I", "edge of MCF and MILC, %", "90.4", "90.38", "match", "%.2f", both(MCF, MILC));
    if (matching_pairs(PROGRAMS, table_1, 2, mate, &total) < 0)
        failed++;
    for (size_t i = 1; i < PROGRAMS; i++)
        worst = fmax(worst, both(MCF, i) + both(1 + i % 3, 1 + (i + 1) % 3));
    line("B Fig. 2", "best schedule, sum of %", "by Jiang", "MCF beside GAMESS 9.23", "match",
         "MCF beside %s %.2f", mate[MCF] == GAMESS ? "GAMESS" : "another", total);
    line("B Fig. 2", "worst schedule, sum of %", "-", "87.98", "-", "%.2f", worst);
    line("B 5.2", "DI above the optimum, points of an average", "2", "0.02",
         "below: of Table I's programs only", "%.2f",
         (both(MCF, NAMD) + both(MILC, GAMESS) - total) / PROGRAMS);
    elsewhere("B Fig. 3", "Pain, miss rate, SDC above the optimum", "1, little, < random",
              "tests/bench/figure3 FILE: data not printed");
}

/* ---- B: places on the Xeon: two packages of two caches of two cores ---- */

static const size_t xeon[] = {2, 2, 2};

/* Writes the caches of four threads, as "0 2 3 1". */
static const char *caches(const size_t *core, size_t n, char text[32])
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, 32 - used, "%s%zu", i ? " " : "", core[i] / 2);
    return text;
}

static const char *place_di(const double *miss_pmi, size_t n, char text[32])
{
    struct di_unit unit[8];
    struct machine machine;
    size_t core[8] = {0};

    machine_make(&machine, xeon);
    for (size_t i = 0; i < n; i++)
        unit[i] = (struct di_unit){miss_pmi[i], 1};
    failed += di_place(&machine.di, n, unit, core) < 0;
    return caches(core, n, text);
}

static const char *place_power(const double *miss_pmi, bool printed, char text[32])
{
    const struct cluster_rule rule = {DEVIL, printed};
    struct machine machine;
    size_t core[4] = {0};

    machine_make(&machine, xeon);
    failed += dio_power_place(&machine.di, &rule, 4, miss_pmi, core) < 0;
    return caches(core, 4, text);
}

static void print_places(void)
{
    static const double namd[] = {40, 40, 40, 40}, mcf_namd[] = {21000, 20000, 40, 40};
    static const double four[] = {9000, 8000, 7000, 6000}, two[] = {9000, 8000, 20, 10};
    static const double one[] = {9000, 30, 20, 10};
    char text[32];

    line("B Table V", "DIO, workload 1: caches of four NAMD", "one each", "0 2 3 1", "match", "%s",
         place_di(namd, 4, text));
    line("B Table V", "DIO, workload 2: MCF 1, 2, NAMD 1, 2", "MCF apart", "0 2 3 1", "match", "%s",
         place_di(mcf_namd, 4, text));
    line("B Table V", "DIO-POWER, LAMP 1: four Apache", "one each", "0 2 3 1", "match", "%s",
         place_power(four, false, text));
    line("B Table V", "DIO-POWER, LAMP 2: A0 A1 M0 M1, balanced", "0 1 0 1", "0 1 1 0",
         "differs: dio_power_order", "%s", place_power(two, false, text));
    line("B Table V", "  with dio_power_order = printed", "0 1 0 1", "0 1 0 1", "match", "%s",
         place_power(two, true, text));
    line("B Fig. 16", "DIO-POWER, LAMP 3: one Apache", "cluster", "0 1 1 0", "match", "%s",
         place_power(one, false, text));
}

static void print_isolation(void)
{
    static const size_t opteron[] = {2, 1, 4};
    struct isolate_unit unit[8];
    bool isolated[8] = {false};
    size_t core[8] = {0}, others = 0;
    struct machine machine;

    machine_make(&machine, opteron);
    for (size_t i = 0; i < 8; i++) /* four Apache, the first of them chosen, and four MySQL */
        unit[i] = (struct isolate_unit){.unit = {i < 4 ? 9000 - 100.0 * (double)i : 20, 1},
                                        .group = i,
                                        .prioritised = i == 0,
                                        .sensitive = i < 4};
    failed += isolate_place(&machine.di, 0, DEVIL, 8, unit, core, isolated) < 0;
    for (size_t i = 1; i < 4; i++)
        others += core[i] / 4 == core[0] / 4;
    line("B 5.3", "Apache beside the chosen one", "0", "0", "match", "%zu", others);
}

/* ---- B: power ---- */

static void print_power(void)
{
    static const struct {
        const char *what, *known;
        double spread_w, cluster_w;
    } row[] = {{"break-even slowdown, workload 1, %", "11.2", 94, 76},
               {"break-even slowdown, workload 2, %", "37.8", 171, 90},
               {"break-even slowdown, workload 3, %", "21.7", 154, 104},
               {"  workload 3 with 200 W idle, %", "7.9", 354, 304}};

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        line("B Table V", row[i].what, "not printed", row[i].known, "from its watts", "%.1f",
             100 * power_break_even(row[i].spread_w, row[i].cluster_w));
}

/* ---- W: DraMon ---- */

static void print_dramon(void)
{
    const double channels = 2, banks = 8, ranks = 1;

    line("W 4.5.3", "P_SmBk of two channels, eight banks, %", "6.25", "6.25", "match", "%.2f",
         100 / (banks * ranks * channels));
    line("W 4.5.3", "P_DfCh, %", "50", "50", "match", "%.0f", 100 * (1 - 1 / channels));
    line("W 4.5.3", "bank reuse distances 1 and 8, %", "87.5, 12.5", "87.5, 12.5", "match",
         "%.1f, %.1f", 100 * dramon_brd_runtime[0].probability,
         100 * dramon_brd_runtime[1].probability);
    elsewhere("W 4.6", "accuracy of DraMon-T, DraMon-R, %", "97.6, 95.7",
              "not computable: inputs not printed");
}

/* ---- W: NuCore ---- */

static void vector(const char *table, const char *what, struct numa_scene *s, const char *published)
{
    unsigned allocation[8] = {0};
    struct numem_usage usage = {0};
    struct nucore_result result = {.allocation = allocation, .usage = &usage};
    char text[64] = "";
    size_t used = 0;

    failed += nucore_solve(&s->nucore, &result) < 0;
    for (size_t i = 0; i < s->nodes; i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "", allocation[i]);
    line(table, what, published, published, "match (input assumed)", "%s", text);
}

static void intel(struct numa_scene *s)
{
    numa_scene_init(s, 4, 8, 20.26, 0.24, 10.8, 17.5);
}

static void print_intel(void)
{
    static const char *const table = "W Table 5.3";
    struct numa_scene s;

    intel(&s);
    numa_share(&s, 1.1);
    vector(table, "streamcluster (shared 1.1 GB/s a core)", &s, "8 8 3 0");
    intel(&s);
    numa_share(&s, 0.74);
    vector(table, "canneal (shared .74)", &s, "8 8 8 4");
    intel(&s);
    numa_share(&s, 1.3);
    vector(table, "facesim (shared 1.3)", &s, "8 8 0 0");
    intel(&s);
    numa_all_to_all(&s, 4, 1);
    vector(table, "sp.C-x/y/zsolve (own 4, others 1)", &s, "3 3 3 3");
    intel(&s);
    numa_all_to_all(&s, 3, 1.5);
    vector(table, "  (own 3, others 1.5)", &s, "3 3 3 3");
    intel(&s);
    for (size_t i = 0; i < 4; i++)
        for (unsigned c = 0; c <= 8; c++)
            s.table[i][c] = c < 7 ? 2.6 * c : 18.2;
    vector(table, "mg.D-resid (2.6 to 18.2)", &s, "7 7 7 7");
}

static void print_amd(void)
{
    static const char *const table = "W Table 5.5";
    struct numa_scene s;

    numa_opteron(&s);
    numa_share(&s, 1.4);
    vector(table, "streamcluster (shared 1.4)", &s, "6 0 0 0 0 0 0 0");
    numa_opteron(&s);
    numa_share(&s, 0.4);
    vector(table, "canneal (shared .40)", &s, "6 6 6 3 0 0 0 0");
    numa_opteron(&s);
    numa_share(&s, 0.52);
    vector(table, "facesim (shared .52)", &s, "6 6 4 0 0 0 0 0");
    numa_opteron(&s);
    numa_all_to_all(&s, 2.5, 1);
    vector(table, "sp.C-x/y/zsolve (own 2.5, others 1)", &s, "1 1 1 1 1 1 1 1");
    numa_opteron(&s);
    numa_partly_shared(&s, 1.2, 0.11);
    vector(table, "dgemm ACML (own 1.2, shared .11)", &s, "3 6 6 6 6 6 6 6");
    numa_opteron(&s);
    numa_partly_shared(&s, 1.3, 0.125);
    vector(table, "dgemm MKL (own 1.3, shared .125)", &s, "2 6 6 6 6 6 6 6");
    numa_opteron(&s);
    numa_write_ring(&s, 0.5);
    vector(table, "mg.D-rprj3 (ring of writes, .50)", &s, "6 5 6 6 6 4 6 4");
    elsewhere(table, "sp.C-rhs, mg.D-interp", "-", "not computable: traffic not described");
    elsewhere("W Table 5.7", "time to solve 4x8 .. 100x512, s", "0.02 .. 237.9",
              "tests/bench/nucore");
}

/* ---- W: FlexThread ---- */

static void print_flexthread(void)
{
    const struct flexthread intel32 = {8, 32, 0.05, 0.05, 667, 200, 2000};
    static const size_t threads[] = {128, 256, 512, 768, 1024};
    double most[5], fewer[5];

    for (size_t i = 0; i < 5; i++) {
        most[i] = 100 * flexthread_slowdown_max(threads[i], 1, 48, NULL);
        fewer[i] = 100 * flexthread_slowdown_max(threads[i], 1, 32, NULL);
    }
    line("W 6.2", "32 threads on 28 cores, slower by %", "75", "75", "match", "%.0f",
         100 * flexthread_slowdown(32, 28));
    line("W 6.2", "4, 16, 128 threads on 3 cores, %", "52, 14, 2", "50.0, 12.5, 0.8",
         "differs: the paper's arithmetic", "%.1f, %.1f, %.1f", 100 * flexthread_slowdown(4, 3),
         100 * flexthread_slowdown(16, 3), 100 * flexthread_slowdown(128, 3));
    line("W Table 6.1", "128 .. 1024 threads, worst of 48 cores, %", "32, 15, 8, 5, 3",
         "31, 15, 8, 5, 3", "match (rounded up)", "%.0f, %.0f, %.0f, %.0f, %.0f", most[0], most[1],
         most[2], most[3], most[4]);
    line("W Table 6.1", "  of 32 cores, as its caption says, %", "32, 15, 8, 5, 3",
         "21, 9, 5, 2, 3", "differs: the caption", "%.0f, %.0f, %.0f, %.0f, %.0f", fewer[0],
         fewer[1], fewer[2], fewer[3], fewer[4]);
    line("W 6.6.2", "most threads for 5 % of synchronisation", "272", "272", "match", "%zu",
         flexthread_max(&intel32));
    line("W 6.6.3", "threads chosen", "256", "256", "match", "%zu",
         flexthread_count(&intel32, FLEXTHREAD_NOISE));
}

/* ---- P ---- */

static void print_faithful(void)
{
    struct faithful ammp = {0};
    unsigned first;

    faithful_take(&ammp, NAN, 0.84);
    first = ammp.quantum_ms;
    faithful_take(&ammp, NAN, 0.12);
    line("P Table 5.1", "ammp's phases, 84 and 12 % locks, ms", "200, 20", "200, 20", "match",
         "%u, %u", first, ammp.quantum_ms);
}

/* Lock times follow from the predictions in sets, what is left of eq. 6.1 from those on all. */
static void print_adapt(void)
{
    static const unsigned configuration[] = {64, 64, 40, 24};
    static const struct adapt_program fa_sm[] = {{.threads = 49, .lock = 2.1, .lat = 34.25},
                                                 {.threads = 32, .lock = 4.6, .lat = 28.875}};
    struct adapt_question question = {&adapt_pusukuri, 64, 2, fa_sm, 2, configuration};
    double usr[2];

    adapt_predict(&question, 0, usr);
    line("P Table 6.6", "FA and SM on all cores, user %", "56.4, 45.2", "56.4, 45.2", "match",
         "%.1f, %.1f", usr[0], usr[1]);
    adapt_predict(&question, 1, usr);
    line("P Table 6.6", "  on 40 and 24 cores", "44.5, 41.6", "44.5, 41.6", "match", "%.1f, %.1f",
         usr[0], usr[1]);
    line("P Table 6.6", "  chosen", "all cores", "all cores", "match", "%s",
         adapt_best(&question) == 0 ? "all cores" : "sets");
}

/* ---- R ---- */

/* Counts and times of the paper's Strassen beside those of a program of ours. */
static void print_throttle(void)
{
    static const unsigned hold[] = {SATURATION_HOLD_LAZY, SATURATION_HOLD_BASELINE,
                                    SATURATION_HOLD_AGGRESSIVE};
    static const double reduced[] = {8, 65, 225}, seconds[] = {12.34, 11.16, 11.36},
                        rest[] = {68.8, 34.5, 24.4};
    double ours[3][3];
    struct throttle_outcome now;
    struct throttle_scene scene;

    throttle_scene_make(&scene, 1);
    for (size_t i = 0; i < 3; i++) {
        scene.program.rules.hold = hold[i];
        throttle_run(&scene.program, &now);
        ours[0][i] = (double)now.reduced;
        ours[1][i] = now.seconds;
        ours[2][i] = now.idle_thread_s;
    }
    line("R Table 3", "Strassen, lazy, baseline, aggressive: reduced", "8, 65, 225", "22, 129, 148",
         order(reduced, ours[0]), "%.0f, %.0f, %.0f", ours[0][0], ours[0][1], ours[0][2]);
    line("R Table 3", "  seconds", "12.3, 11.2, 11.4", "17.6, 17.1, 16.9", order(seconds, ours[1]),
         "%.1f, %.1f, %.1f", ours[1][0], ours[1][1], ours[1][2]);
    line("R Table 3", "  thread seconds at rest", "68.8, 34.5, 24.4", "122.3, 109.5, 108.3",
         order(rest, ours[2]), "%.1f, %.1f, %.1f", ours[2][0], ours[2][1], ours[2][2]);
}

/* ---- V ---- */

/* t0, t1, t3 and t5 use s0, the others s1; a letter a task. */
static void print_locality(void)
{
    static const size_t first[] = {0, 1, 2, 3, 4, 5, 6}, use[] = {0, 0, 1, 0, 1, 0},
                        node[] = {0, 1};
    const struct locality example = {6, first, use, 2, node, 2};
    char nodes[7] = "";
    double row[2];

    for (size_t t = 0; t < 6; t++) {
        locality_similarity(&example, t, row);
        nodes[t] = (char)('0' + locality_node(2, row));
    }
    line("V 5.4.1", "nodes of t0 .. t5 (by the matrix)", "001010", "001010", "match", "%s", nodes);
}

/* What became of steals, over five seeds: trees of 100000 tasks of 10 us on two domains, with the
 * latencies of the thesis' machine. */
static struct steal_outcome run_steals(unsigned each, enum steal_policy policy)
{
    static const double latency_s[] = {77.3e-9, 124.7e-9, 122.8e-9, 75.0e-9};
    struct steal_outcome sum = {0}, one;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        const unsigned cores[] = {each, each};
        const struct steal_program program = {.kind = STEAL_TREE,
                                              .n = 100000,
                                              .mean_s = 10e-6,
                                              .sd_s = 3e-6,
                                              .domains = 2,
                                              .cores = cores,
                                              .latency_s = latency_s,
                                              .push_s = 100e-9,
                                              .pop_s = 100e-9,
                                              .capacity = THRESHOLD_CAPACITY,
                                              .policy = policy,
                                              .seed = seed};

        if (steal_run(&program, &one) < 0)
            continue;
        sum.journeys += one.journeys;
        sum.misses += one.misses;
        sum.steals += one.steals;
        sum.remote += one.remote;
    }
    return sum;
}

/* The mean over pools as large as the thesis'. */
static double mean_miss_ratio(enum steal_policy policy)
{
    double sum = 0;

    for (unsigned each = 2; each <= 12; each += 2) {
        struct steal_outcome now = run_steals(each, policy);

        sum += (double)now.misses / (double)(now.misses + now.journeys) / 6;
    }
    return sum;
}

static void print_steal(void)
{
    struct steal_outcome random = run_steals(12, STEAL_RANDOM),
                         topology = run_steals(12, STEAL_TOPOLOGY);

    share("V T3.2", "random attempts that miss, mean (inputs assumed)", .40, "0.58",
          mean_miss_ratio(STEAL_RANDOM));
    share("V T3.3", "constrained ones (inputs assumed)", .13, "0.05",
          mean_miss_ratio(STEAL_THRESHOLD));
    share("V T4.2", "remote tasks, random, 24 workers (inputs assumed)", .5, "0.54",
          (double)random.remote / (double)random.steals);
    share("V T4.3", "remote tasks, by topology (inputs assumed)", 0, "0.10",
          (double)topology.remote / (double)topology.steals);
}

int main(void)
{
    printf("%-12s %-47s %-19s %-19s %s\n", "where", "what", "published", "ours", "verdict");
    print_pairs();
    print_places();
    print_isolation();
    print_power();
    print_dramon();
    print_intel();
    print_amd();
    print_flexthread();
    elsewhere("P Table 2.2", "ferret's threads, and the last that are tried", "63, 71",
              "tests/unit/models/inside/test_reinforce");
    print_faithful();
    print_adapt();
    print_throttle();
    print_locality();
    print_steal();
    if (failed)
        printf("%u of ours have changed: mend the model, or say here why\n", failed);
    return failed ? 1 : 0;
}
