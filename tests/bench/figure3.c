/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figure3 - how far the schemes' schedules are from the optimal one, as in Blagodurov 2010, Figure
 * 3; and what DI, Pain and contend make of the SPEC programs on 4, 16 and 24 caches.
 *
 *   figure3 MATRIX.json
 *     {"sets":[SET,...]} or one SET: {"machine":{...},"apps":[app,...],"corun_degradation":[[..]]}
 *     (or "degradation"): row i is what i suffers beside each. "machine" as for `berthctl model`;
 * or "llc_sets", "line" and "dram_peak_gbps". Schemes that know too little of the apps are left
 * out. Each workload of 4, 6 and 8 programs, two to a cache: those of distinct programs, and those
 *     that have programs more than once (the matrix' diagonal is two of a kind).
 *
 *     For each workload all schedules are tried. A scheme chooses the one of least score; of equals
 *     it has their average. Printed is the average degradation of a program above that of the
 *     optimal schedule, in points, averaged over the workloads.
 *
 *   figure3 --spec FILE.csv: see figure3_spec.c */
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/animal.h"
#include "models/slowdown/contend.h"
#include "models/slowdown/missrate.h"
#include "models/slowdown/pain.h"
#include "models/slowdown/sdc.h"
#include "lab/plan/apps.h"
#include "tests/bench/figure3.h"
#include "enum_table.h"

#define PROGRAMS_MAX 8
#define SCHEDULES_MAX 105    /* of eight programs on four caches: 7 * 5 * 3 */
#define WORKLOADS_MAX 100000 /* more are thinned out evenly */

enum scheme { CONTEND, MISSRATE, PAIN, SDC, ANIMAL, SCHEMES };
static const char *const TABLE(scheme_names, SCHEMES) = {
    ROW(CONTEND) = "contend", ROW(MISSRATE) = "DI/missrate", ROW(PAIN) = "pain",
    ROW(SDC) = "sdc",         ROW(ANIMAL) = "animal",
};
TABLE_COMPLETE(scheme_names);

int figure3_fail(const char *what, const char *why)
{
    fprintf(stderr, "figure3: %s: %s\n", what, why);
    return 1;
}

/* ---- what each scheme thinks of each pair ---- */

struct set {
    size_t n;
    struct ctl_apps apps;
    double *truth;          /* [n * n] what both suffer together */
    double *score[SCHEMES]; /* [n * n]; NULL: the scheme knows too little */
};

static bool all_have_profiles(const struct ctl_apps *apps)
{
    for (size_t i = 0; i < apps->n; i++)
        if (apps->app[i].sdp.ways == 0)
            return false;
    return true;
}

static bool all_have_rates(const struct ctl_apps *apps)
{
    for (size_t i = 0; i < apps->n; i++)
        if (isnan(missrate_of(&apps->app[i])))
            return false;
    return true;
}

static double score_of(enum scheme scheme, const struct ctl_apps *apps, struct contend *contend,
                       size_t i, size_t j)
{
    static const struct animal_limits limits = {ANIMAL_DEVIL_MISS_PMI, ANIMAL_TURTLE_ACCESS_PMI,
                                                ANIMAL_RABBIT_LOSS_PMI};
    const struct app *a = &apps->app[i], *b = &apps->app[j];
    size_t ways = apps->machine.llc_ways ? apps->machine.llc_ways : a->sdp.ways;
    struct pain first, second;

    switch (scheme) {
    case CONTEND:
        return contend_pair(contend, i, j).score;
    case MISSRATE:
        return missrate_pair(missrate_of(a), missrate_of(b)).score;
    case PAIN:
        first = pain_of(&a->sdp);
        second = pain_of(&b->sdp);
        return pain_pair(&first, &second).score;
    case SDC:
        return sdc_pair(&a->sdp, &b->sdp, ways).score;
    case ANIMAL:
        return animal_pair(animal_of(&a->sdp, &limits), animal_of(&b->sdp, &limits)).score;
    default:
        return 0;
    }
}

static void score_pairs(struct set *set)
{
    bool profiles = all_have_profiles(&set->apps), rates = all_have_rates(&set->apps);
    struct contend *contend =
        rates ? contend_new(set->n, set->apps.app, &set->apps.machine, NULL) : NULL;

    for (enum scheme scheme = 0; scheme < SCHEMES; scheme++) {
        if (scheme == CONTEND ? !contend : scheme == MISSRATE ? !rates : !profiles)
            continue;
        set->score[scheme] = calloc(set->n * set->n, sizeof(double));
        for (size_t i = 0; set->score[scheme] && i < set->n * set->n; i++)
            set->score[scheme][i] = score_of(scheme, &set->apps, contend, i / set->n, i % set->n);
    }
    contend_free(contend);
}

/* ---- workloads and their schedules ---- */

struct sum {
    size_t workloads;
    double optimal, worst, mean, scheme[SCHEMES];
};

/* Schedules of n programs: pairs of positions, one schedule after the other. */
struct schedules {
    size_t n, count;
    unsigned char mate[SCHEDULES_MAX][PROGRAMS_MAX];
};

static void list_schedules(struct schedules *all, unsigned char *mate, unsigned taken)
{
    size_t first = 0;

    while (first < all->n && taken >> first & 1)
        first++;
    if (first == all->n) {
        memcpy(all->mate[all->count++], mate, all->n);
        return;
    }
    for (size_t i = first + 1; i < all->n; i++)
        if (!(taken >> i & 1)) {
            mate[first] = (unsigned char)i;
            mate[i] = (unsigned char)first;
            list_schedules(all, mate, taken | 1u << first | 1u << i);
        }
}

/* Sum over the pairs of a schedule. */
static double total(const struct set *set, const double *pair, const size_t *program,
                    const struct schedules *all, size_t schedule)
{
    double sum = 0;

    for (size_t i = 0; i < all->n; i++)
        if (all->mate[schedule][i] > i)
            sum += pair[program[i] * set->n + program[all->mate[schedule][i]]];
    return sum;
}

/* The true average degradation, in points, of the schedule that a scheme chooses. */
static double chosen(const struct set *set, const double *score, const size_t *program,
                     const struct schedules *all, const double *truth)
{
    double least = INFINITY, sum = 0, each[SCHEDULES_MAX];
    size_t equals = 0;

    for (size_t i = 0; i < all->count; i++) {
        each[i] = total(set, score, program, all, i);
        least = fmin(least, each[i]);
    }
    for (size_t i = 0; i < all->count; i++)
        if (each[i] <= least + 1e-9 * fabs(least)) {
            sum += truth[i];
            equals++;
        }
    return sum / (double)equals;
}

static void add_workload(const struct set *set, const size_t *program, const struct schedules *all,
                         struct sum *sum)
{
    double truth[SCHEDULES_MAX], optimal = INFINITY, worst = -INFINITY, mean = 0;

    for (size_t i = 0; i < all->count; i++) {
        truth[i] = 100 * total(set, set->truth, program, all, i) / (double)all->n;
        optimal = fmin(optimal, truth[i]);
        worst = fmax(worst, truth[i]);
        mean += truth[i] / (double)all->count;
    }
    sum->workloads++;
    sum->optimal += optimal;
    sum->worst += worst - optimal;
    sum->mean += mean - optimal;
    for (enum scheme scheme = 0; scheme < SCHEMES; scheme++)
        if (set->score[scheme])
            sum->scheme[scheme] += chosen(set, set->score[scheme], program, all, truth) - optimal;
}

/* The next workload in ascending order, or false. */
static bool next_workload(size_t *program, size_t n, size_t programs, bool repeat)
{
    for (size_t i = n; i-- > 0;)
        if (program[i] < (repeat ? programs - 1 : programs - n + i)) {
            program[i]++;
            for (size_t j = i + 1; j < n; j++)
                program[j] = repeat ? program[i] : program[j - 1] + 1;
            return true;
        }
    return false;
}

/* With repetition: only those that have a program more than once. */
static bool wanted(const size_t *program, size_t n, bool repeat)
{
    for (size_t i = 1; repeat && i < n; i++)
        if (program[i] == program[i - 1])
            return true;
    return !repeat;
}

static double count_workloads(size_t programs, size_t n, bool repeat)
{
    double count = 1;

    for (size_t i = 0; i < n; i++)
        count *= (double)(repeat ? programs + n - 1 - i : programs - i) / (double)(i + 1);
    return count;
}

static struct sum all_workloads(const struct set *set, size_t n, bool repeat)
{
    double thin = fmax(1, count_workloads(set->n, n, repeat) / WORKLOADS_MAX), next = 0, at = 0;
    struct schedules all = {.n = n};
    unsigned char mate[PROGRAMS_MAX];
    size_t program[PROGRAMS_MAX];
    struct sum sum = {0};

    list_schedules(&all, mate, 0);
    for (size_t i = 0; i < n; i++)
        program[i] = repeat ? 0 : i;
    if (!repeat && set->n < n)
        return sum;
    do {
        if (at++ < next)
            continue;
        next += thin;
        if (wanted(program, n, repeat))
            add_workload(set, program, &all, &sum);
    } while (next_workload(program, n, set->n, repeat));
    return sum;
}

static void print_sum(const struct set *set, size_t n, bool repeat, const struct sum *sum)
{
    double count = (double)sum->workloads;

    if (sum->workloads == 0)
        return;
    printf("%zu programs, %s: %zu workloads; optimal %.2f %%\n", n,
           repeat ? "some more than once" : "distinct", sum->workloads, sum->optimal / count);
    for (enum scheme scheme = 0; scheme < SCHEMES; scheme++)
        if (set->score[scheme])
            printf("  %-12s %7.2f\n", scheme_names[scheme], sum->scheme[scheme] / count);
    printf("  %-12s %7.2f\n  %-12s %7.2f\n", "random", sum->mean / count, "worst",
           sum->worst / count);
}

/* ---- reading a matrix ---- */

/* "machine" as the models take it, from figures of another name where it lacks its own. */
static void rename_figures(struct json_object *machine)
{
    double sets = json_object_get_double(json_object_object_get(machine, "llc_sets"));
    double ways = json_object_get_double(json_object_object_get(machine, "llc_ways"));
    struct json_object *line = json_object_object_get(machine, "line"),
                       *peak = json_object_object_get(machine, "dram_peak_gbps");

    if (line && !json_object_object_get(machine, "line_bytes"))
        json_object_object_add(machine, "line_bytes", json_object_get(line));
    if (peak && !json_object_object_get(machine, "dram_gbps"))
        json_object_object_add(machine, "dram_gbps", json_object_get(peak));
    if (line && sets > 0 && !json_object_object_get(machine, "llc_bytes"))
        json_object_object_add(machine, "llc_bytes",
                               json_object_new_double(sets * ways * json_object_get_double(line)));
}

/* Names alone become apps of which nothing is known. */
static void name_apps(struct json_object *input)
{
    struct json_object *apps = json_object_object_get(input, "apps");

    for (size_t i = 0;
         json_object_is_type(apps, json_type_array) && i < json_object_array_length(apps); i++) {
        struct json_object *app = json_object_array_get_idx(apps, i), *named;

        if (!json_object_is_type(app, json_type_string))
            continue;
        named = json_object_new_object();
        json_object_object_add(named, "name", json_object_get(app));
        json_object_array_put_idx(apps, i, named);
    }
}

static int read_truth(struct set *set, struct json_object *rows)
{
    double *truth = calloc(set->n * set->n, sizeof(*truth));

    if (!truth || !json_object_is_type(rows, json_type_array) ||
        json_object_array_length(rows) != set->n) {
        free(truth);
        return -1;
    }
    for (size_t i = 0; i < set->n * set->n; i++) {
        size_t x = i / set->n, y = i % set->n;
        struct json_object *row = json_object_array_get_idx(rows, x), *cell;

        cell = json_object_is_type(row, json_type_array) ? json_object_array_get_idx(row, y) : NULL;
        if (!cell || !isfinite(json_object_get_double(cell))) {
            free(truth);
            return -1;
        }
        truth[x * set->n + y] += json_object_get_double(cell);
        truth[y * set->n + x] += json_object_get_double(cell);
    }
    set->truth = truth;
    return 0;
}

static void free_set(struct set *set)
{
    ctl_apps_free(&set->apps);
    free(set->truth);
    for (enum scheme scheme = 0; scheme < SCHEMES; scheme++)
        free(set->score[scheme]);
}

static int print_set(struct json_object *input)
{
    struct json_object *rows = json_object_object_get(input, "corun_degradation");
    struct set set = {0};
    struct berth_error err;

    rename_figures(json_object_object_get(input, "machine"));
    name_apps(input);
    if (ctl_apps_read(&set.apps, input, &err) < 0)
        return figure3_fail("apps", err.text);
    set.n = set.apps.n;
    if (read_truth(&set, rows ? rows : json_object_object_get(input, "degradation")) < 0) {
        free_set(&set);
        return figure3_fail("degradation", "a square of numbers expected, a row for each of apps");
    }
    score_pairs(&set);
    printf("%zu programs; points of degradation above the optimal schedule\n", set.n);
    for (size_t n = 4; n <= PROGRAMS_MAX; n += 2)
        for (int repeat = 0; repeat < 2; repeat++) {
            struct sum sum = all_workloads(&set, n, repeat);

            print_sum(&set, n, repeat, &sum);
        }
    free_set(&set);
    return 0;
}

static int print_matrix(const char *path)
{
    struct json_object *input = json_object_from_file(path), *sets = NULL;
    int rc = 0;

    if (!json_object_is_type(input, json_type_object)) {
        json_object_put(input);
        return figure3_fail(path, "a JSON object expected");
    }
    if (!json_object_object_get_ex(input, "sets", &sets))
        rc = print_set(input);
    else if (!json_object_is_type(sets, json_type_array))
        rc = figure3_fail("sets", "array expected");
    else
        for (size_t i = 0; rc == 0 && i < json_object_array_length(sets); i++)
            rc = print_set(json_object_array_get_idx(sets, i));
    json_object_put(input);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "--spec") == 0)
        return figure3_spec(argc - 2, argv + 2);
    if (argc != 2 || argv[1][0] == '-') {
        fputs("usage: figure3 MATRIX.json\n"
              "       figure3 --spec FILE.csv [WAY_BYTES [DRAM_GBPS [CLOCK_GHZ]]]\n",
              stderr);
        return 2;
    }
    return print_matrix(argv[1]);
}
