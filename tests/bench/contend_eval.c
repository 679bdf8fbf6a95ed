/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_eval - contend beside other models, against measured or simulated slowdowns.
 *
 * usage: contend_eval FILE [--domain=CORES] [--dram-gbps=X] [--calibrated] [--clock=GHZ]
 *                     [--llc-bytes=X] [--ways=N] [--each] [CONSTANT=VALUE ...]
 *
 * FILE is a set {"machine":{..},"apps":[app,...],"corun_degradation":[[...]]}, or {"sets":[set,
 * ...]}: row i is what app i suffers beside column j, null where it was not measured; the machine
 * in berthctl's words, or with llc_sets, llc_ways, line and dram_peak_gbps. Prints for each model
 * the rank correlation (Spearman) with the truth, the median error and the bias, and the gap: how
 * far above the best pairing the one is that the model chooses, mean over all workloads of 4, 6, 8
 * programs, in points of slowdown per program; then the gaps where some of the pairs were observed.
 *
 * Or FILE is a table (csv) of runs of MPI programs with the columns app, ranks, runtime_s, instr,
 * cycles, mem_read_mbs, mem_write_mbs and l3_mbs: n ranks of one memory domain are n copies. The
 * options say what machine that was; their defaults are one of the four domains of 2 x Xeon 8360Y.
 *
 * The constants of contend may be set, so that they can be fitted by a program around this one. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/cli/common/input.h"
#include "tests/bench/eval.h"

#define DRAWS 5

/* ---- a set ---- */

static void print_row(const struct eval_set *set, const char *name, const double *matrix,
                      bool slowdowns)
{
    size_t n = set->apps.n, count = 0, others = 0;
    double *truth = calloc(4 * n * n, sizeof(*truth)), *said = truth + n * n;
    double *error = said + n * n, *other = error + n * n, sum = 0;

    if (!truth)
        return;
    for (size_t i = 0; matrix && i < n * n; i++)
        if (!isnan(set->truth[i]) && i / n != i % n) {
            truth[others] = set->truth[i];
            other[others++] = matrix[i];
        }
    printf("  %-10s", name);
    if (matrix)
        printf("  %6.3f", eval_spearman(others, truth, other));
    for (size_t i = 0; matrix && i < n * n; i++)
        if (!isnan(set->truth[i])) {
            truth[count] = set->truth[i];
            said[count] = matrix[i];
            sum += 100 * (said[count] - truth[count]);
            error[count] = 100 * fabs(said[count] - truth[count]);
            count++;
        }
    if (matrix)
        printf("  %6.3f", eval_spearman(count, truth, said));
    else
        printf("  %6s  %6s", "-", "-");
    if (matrix && slowdowns)
        printf("  %6.1f  %+6.1f", eval_median(count, error), sum / (double)count);
    else
        printf("  %6s  %6s", "-", "-");
    for (size_t programs = 4; programs <= 8; programs += 2)
        printf("  %6.2f", programs <= n ? eval_gap(set, matrix, programs) : NAN);
    printf("\n");
    free(truth);
}

/* Prints the gaps where that part of the pairs was observed, mean of some draws. */
static void print_observed(const struct eval_set *set, double part, const char *words)
{
    size_t n = set->apps.n;
    double *seen = calloc(2 * n * n, sizeof(*seen)), *matrix = seen + n * n, gap = 0;

    for (uint64_t draw = 0; seen && draw < DRAWS; draw++) {
        eval_observe(set, part, draw, seen);
        eval_rank_one(n, seen, matrix);
        gap += eval_gap(set, matrix, 4) / DRAWS;
    }
    if (seen)
        printf("  %s of the pairs observed: gap of 4: rank one %.2f\n", words, gap);
    free(seen);
}

static int evaluate(struct json_object *object, const struct contend_constants *constants)
{
    struct berth_error err = {""};
    struct eval_set set;
    double *matrix;

    if (eval_set_read(&set, object, &err) < 0) {
        fprintf(stderr, "contend_eval: %s\n", err.text);
        return -1;
    }
    matrix = calloc(set.apps.n * set.apps.n, sizeof(*matrix));
    printf("%zu programs\n  %-10s  %6s  %6s  %6s  %6s  %6s  %6s  %6s\n", set.apps.n, "", "rank",
           "+self", "median", "bias", "gap 4", "gap 6", "gap 8");
    if (matrix && eval_contend(&set, constants, matrix) == 0)
        print_row(&set, "contend", matrix, true);
    if (matrix && eval_missrate(&set, matrix) == 0)
        print_row(&set, "miss rate", matrix, false);
    if (matrix && eval_pain(&set, matrix) == 0)
        print_row(&set, "Pain", matrix, false);
    print_row(&set, "by lot", NULL, false);
    if (matrix && eval_rank_one(set.apps.n, set.truth, matrix) == 0)
        print_row(&set, "rank one", matrix, true);
    print_observed(&set, 0.5, "half");
    print_observed(&set, 1, "all");
    free(matrix);
    eval_set_free(&set);
    return 0;
}

static int evaluate_sets(const char *path, const struct contend_constants *constants)
{
    struct berth_error err;
    struct json_object *input = ctl_input_read(path, &err), *sets = NULL;
    int rc = 0;

    if (!input) {
        fprintf(stderr, "contend_eval: %s: %s\n", path, err.text);
        return -1;
    }
    if (json_object_object_get_ex(input, "sets", &sets) &&
        json_object_is_type(sets, json_type_array))
        for (size_t i = 0; i < json_object_array_length(sets); i++)
            rc |= evaluate(json_object_array_get_idx(sets, i), constants);
    else
        rc = evaluate(input, constants);
    json_object_put(input);
    return rc;
}

static int evaluate_copies(const char *path, const struct eval_domain *domain,
                           const struct contend_constants *constants)
{
    struct berth_error err = {"out of memory"};
    size_t length;
    char *text = ctl_input_text(path, &length, &err);
    int rc = text ? eval_copies(text, domain, constants, &err) : -1;

    if (rc < 0)
        fprintf(stderr, "contend_eval: %s: %s\n", path, err.text);
    free(text);
    return rc;
}

/* ---- the command line ---- */

/* Reads "name=value" of one of the constants. */
static int set_constant(struct contend_constants *constants, const char *text)
{
    const struct {
        const char *name;
        double *value;
    } constant[] = {{"hit_ns", &constants->hit_ns},
                    {"miss_ns", &constants->miss_ns},
                    {"core_cpi", &constants->core_cpi},
                    {"exposed", &constants->exposed},
                    {"prefetched", &constants->prefetched},
                    {"queue", &constants->queue},
                    {"channel_gbps", &constants->channel_gbps},
                    {"reachable", &constants->reachable},
                    {"lost", &constants->lost},
                    {"alone", &constants->alone},
                    {"write", &constants->write},
                    {"written", &constants->written},
                    {"spread", &constants->spread},
                    {"port", &constants->port},
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

static int usage(void)
{
    fprintf(stderr, "usage: contend_eval FILE [--domain=CORES] [--dram-gbps=X] [--calibrated] "
                    "[--clock=GHZ] [--llc-bytes=X] [--ways=N] [--each] [CONSTANT=VALUE ...]\n");
    return 2;
}

static int read_options(int argc, char **argv, struct eval_domain *domain)
{
    static const struct option options[] = {{"domain", required_argument, NULL, 'd'},
                                            {"dram-gbps", required_argument, NULL, 'g'},
                                            {"calibrated", no_argument, NULL, 'm'},
                                            {"clock", required_argument, NULL, 'c'},
                                            {"llc-bytes", required_argument, NULL, 'l'},
                                            {"ways", required_argument, NULL, 'w'},
                                            {"each", no_argument, NULL, 'e'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        double value = optarg ? strtod(optarg, NULL) : 1;

        if (option == '?' || !(value > 0))
            return -1;
        switch (option) {
        case 'd':
            domain->cores = (size_t)value;
            break;
        case 'g':
            domain->dram_gbps = value;
            break;
        case 'm':
            domain->calibrated = true;
            break;
        case 'c':
            domain->clock_ghz = value;
            break;
        case 'l':
            domain->llc_bytes = value;
            break;
        case 'w':
            domain->ways = (size_t)value;
            break;
        default:
            domain->each = true;
            break;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct contend_constants constants = contend_constants;
    struct eval_domain domain = {
        .cores = 18, .ways = 12, .dram_gbps = 102.4, .clock_ghz = 2.4, .llc_bytes = 27 << 20};
    const char *end;

    if (read_options(argc, argv, &domain) < 0 || optind >= argc)
        return usage();
    for (int i = optind + 1; i < argc; i++)
        if (set_constant(&constants, argv[i]) < 0)
            return usage();
    end = strrchr(argv[optind], '.');
    if (end && strcmp(end, ".csv") == 0)
        return evaluate_copies(argv[optind], &domain, &constants) < 0;
    return evaluate_sets(argv[optind], &constants) < 0;
}
