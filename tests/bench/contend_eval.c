/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_eval - contend and Pain against measured or simulated slowdowns.
 *
 * usage: contend_eval FILE [CONSTANT=VALUE ...]
 *
 * FILE: {"sets":[{"machine":{"clock_ghz","llc_sets","llc_ways","line","dram_peak_gbps"},
 * "apps":[app,...],"corun_degradation":[[...]]}]}; row i is what app i suffers beside column j,
 * null where it was not measured. Prints for each set the rank correlation (Spearman) with the
 * truth, the median error, and the gap: how far above the best pairing the one is that the model
 * chooses, mean over all workloads of four programs, in points of degradation per program. The
 * constants of contend may be set, so that they can be fitted by a program around this one. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "models/slowdown/pain.h"
#include "packer/cli/common/input.h"
#include "packer/cli/plan/apps.h"

struct set {
    struct ctl_apps apps;
    double *truth, *contend, *pain; /* [n][n], NAN where unknown */
};

static double at(const struct set *set, const double *matrix, size_t i, size_t j)
{
    return matrix[i * set->apps.n + j];
}

/* ---- reading ---- */

static double number(struct json_object *object, const char *key)
{
    return json_object_get_double(json_object_object_get(object, key));
}

/* The set in the words of ctl_apps_read. */
static struct json_object *translate(struct json_object *set)
{
    struct json_object *from = json_object_object_get(set, "machine"), *output, *machine;

    output = json_object_new_object();
    machine = json_object_new_object();
    json_object_object_add(machine, "llc_bytes",
                           json_object_new_double(number(from, "llc_sets") *
                                                  number(from, "llc_ways") * number(from, "line")));
    json_object_object_add(machine, "llc_ways", json_object_new_int((int)number(from, "llc_ways")));
    json_object_object_add(machine, "line_bytes", json_object_new_int((int)number(from, "line")));
    json_object_object_add(machine, "dram_gbps",
                           json_object_new_double(number(from, "dram_peak_gbps")));
    json_object_object_add(machine, "clock_ghz", json_object_new_double(number(from, "clock_ghz")));
    json_object_object_add(output, "machine", machine);
    json_object_object_add(output, "apps", json_object_get(json_object_object_get(set, "apps")));
    return output;
}

static int read_truth(struct set *set, struct json_object *rows)
{
    size_t n = set->apps.n;

    if (!json_object_is_type(rows, json_type_array) || json_object_array_length(rows) != n)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);

        if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) != n)
            return -1;
        for (size_t j = 0; j < n; j++) {
            struct json_object *value = json_object_array_get_idx(row, j);

            set->truth[i * n + j] = value ? json_object_get_double(value) : NAN;
        }
    }
    return 0;
}

static int predict(struct set *set, const struct contend_constants *constants)
{
    const struct ctl_apps *apps = &set->apps;
    struct contend *contend = contend_new(apps->n, apps->app, &apps->machine, constants);

    if (!contend)
        return -1;
    for (size_t i = 0; i < apps->n; i++)
        for (size_t j = 0; j < apps->n; j++) {
            struct pain a = pain_of(&apps->app[i].sdp), b = pain_of(&apps->app[j].sdp);

            set->contend[i * apps->n + j] = contend_pair(contend, i, j).a_given_b;
            set->pain[i * apps->n + j] = pain_pair(&a, &b).a_given_b;
        }
    contend_free(contend);
    return 0;
}

/* ---- measures ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Ranks of values, equal ones sharing their mean rank; quadratic. */
static void rank(size_t n, const double *value, double *ranks)
{
    for (size_t i = 0; i < n; i++) {
        double less = 0, equal = 0;

        for (size_t j = 0; j < n; j++) {
            less += value[j] < value[i];
            equal += value[j] == value[i];
        }
        ranks[i] = less + (equal - 1) / 2;
    }
}

static double spearman(size_t n, const double *a, const double *b)
{
    double *rank_a = calloc(2 * n, sizeof(*rank_a)), *rank_b = rank_a + n;
    double mean = ((double)n - 1) / 2, ab = 0, aa = 0, bb = 0;

    if (!rank_a)
        return NAN;
    rank(n, a, rank_a);
    rank(n, b, rank_b);
    for (size_t i = 0; i < n; i++) {
        ab += (rank_a[i] - mean) * (rank_b[i] - mean);
        aa += (rank_a[i] - mean) * (rank_a[i] - mean);
        bb += (rank_b[i] - mean) * (rank_b[i] - mean);
    }
    free(rank_a);
    return ab / sqrt(aa * bb);
}

static double median_error(size_t n, const double *truth, const double *predicted, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = 100 * fabs(predicted[i] - truth[i]);
    qsort(scratch, n, sizeof(*scratch), compare);
    return n ? (scratch[(n - 1) / 2] + scratch[n / 2]) / 2 : NAN;
}

/* Points of degradation per program of the pairing {a,b} {c,d}. */
static double pairing(const struct set *set, const double *matrix, const size_t of[4])
{
    double sum = 0;

    for (size_t i = 0; i < 4; i += 2)
        sum += at(set, matrix, of[i], of[i + 1]) + at(set, matrix, of[i + 1], of[i]);
    return 100 * sum / 4;
}

/* How far the pairing of these four that `matrix` likes best is above the best; with matrix NULL,
 * how far one drawn by lot is, on average. NAN where the truth is not known. */
static double gap_of_four(const struct set *set, const double *matrix, const size_t four[4])
{
    static const size_t way[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
    double best = INFINITY, chosen = NAN, least = INFINITY, sum = 0;

    for (size_t k = 0; k < 3; k++) {
        size_t of[4] = {four[way[k][0]], four[way[k][1]], four[way[k][2]], four[way[k][3]]};
        double truth = pairing(set, set->truth, of);
        double predicted = matrix ? pairing(set, matrix, of) : 0;

        sum += truth;
        best = fmin(best, truth);
        if (predicted < least) {
            least = predicted;
            chosen = truth;
        }
    }
    return isnan(sum) ? NAN : (matrix ? chosen : sum / 3) - best;
}

static double gap(const struct set *set, const double *matrix)
{
    size_t n = set->apps.n, of[4], count = 0;
    double sum = 0;

    for (of[0] = 0; of[0] < n; of[0]++)
        for (of[1] = of[0] + 1; of[1] < n; of[1]++)
            for (of[2] = of[1] + 1; of[2] < n; of[2]++)
                for (of[3] = of[2] + 1; of[3] < n; of[3]++) {
                    double one = gap_of_four(set, matrix, of);

                    if (!isnan(one)) {
                        sum += one;
                        count++;
                    }
                }
    return count ? sum / (double)count : NAN;
}

/* ---- output ---- */

/* Correlation and error over the pairs, with or without those of a program and itself. */
static void print_pairs(const struct set *set, bool self)
{
    size_t n = set->apps.n, count = 0;
    double *truth = calloc(4 * n * n, sizeof(*truth));
    double *contend = truth + n * n, *pain = contend + n * n, *scratch = pain + n * n;

    if (!truth)
        return;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (!isnan(at(set, set->truth, i, j)) && (self || i != j)) {
                truth[count] = at(set, set->truth, i, j);
                contend[count] = at(set, set->contend, i, j);
                pain[count++] = at(set, set->pain, i, j);
            }
    printf("  %-18s %4zu  rank correlation %6.3f  Pain %6.3f   median error %5.1f points\n",
           self ? "with self pairs" : "different programs", count, spearman(count, truth, contend),
           spearman(count, truth, pain), median_error(count, truth, contend, scratch));
    free(truth);
}

static int evaluate(struct json_object *object, const struct contend_constants *constants)
{
    struct json_object *input = translate(object);
    struct berth_error err = {"bad corun_degradation"};
    struct set set = {0};
    int rc = -1;

    if (ctl_apps_read(&set.apps, input, &err) == 0) {
        size_t cells = set.apps.n * set.apps.n;

        set.truth = calloc(3 * cells, sizeof(*set.truth));
        set.contend = set.truth + cells;
        set.pain = set.contend + cells;
        if (set.truth &&
            read_truth(&set, json_object_object_get(object, "corun_degradation")) == 0 &&
            predict(&set, constants) == 0) {
            print_pairs(&set, false);
            print_pairs(&set, true);
            printf(
                "  points above the best pairing of four: contend %.2f  Pain %.2f  by lot %.2f\n",
                gap(&set, set.contend), gap(&set, set.pain), gap(&set, NULL));
            rc = 0;
        }
        free(set.truth);
        ctl_apps_free(&set.apps);
    }
    if (rc < 0)
        fprintf(stderr, "contend_eval: %s\n", err.text);
    json_object_put(input);
    return rc;
}

/* "name=value" of one of the constants. */
static int set_constant(struct contend_constants *constants, const char *text)
{
    const struct {
        const char *name;
        double *value;
    } constant[] = {{"hit_ns", &constants->hit_ns},     {"miss_ns", &constants->miss_ns},
                    {"core_cpi", &constants->core_cpi}, {"exposed", &constants->exposed},
                    {"doubt", &constants->doubt},       {"prefetched", &constants->prefetched},
                    {"queue_ns", &constants->queue_ns}, {"write", &constants->write},
                    {"copies", &constants->copies}};

    for (size_t i = 0; i < sizeof(constant) / sizeof(constant[0]); i++) {
        size_t length = strlen(constant[i].name);
        char *end;

        if (strncmp(text, constant[i].name, length) == 0 && text[length] == '=') {
            *constant[i].value = strtod(text + length + 1, &end);
            return end > text + length + 1 && !*end && *constant[i].value >= 0 ? 0 : -1;
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    struct contend_constants constants = contend_constants;
    struct json_object *input, *sets;
    struct berth_error err;
    int rc = 0;

    for (int i = 2; i < argc; i++)
        if (set_constant(&constants, argv[i]) < 0)
            argc = 0;
    if (argc < 2) {
        fprintf(stderr,
                "usage: contend_eval FILE [hit_ns|miss_ns|core_cpi|exposed|doubt|prefetched|"
                "queue_ns|write|copies=VALUE ...]\n");
        return 2;
    }
    input = ctl_input_read(argv[1], &err);
    if (!input || ctl_input_list(input, "sets", json_type_object, &sets, &err) < 0) {
        fprintf(stderr, "contend_eval: %s: %s\n", argv[1], err.text);
        json_object_put(input);
        return 1;
    }
    for (size_t i = 0; i < json_object_array_length(sets); i++) {
        printf("set %zu\n", i);
        rc |= evaluate(json_object_array_get_idx(sets, i), &constants);
    }
    json_object_put(input);
    return rc ? 1 : 0;
}
