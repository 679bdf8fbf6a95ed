/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend_eval - contend beside other models, against measured or simulated slowdowns.
 *
 * usage: contend_eval FILE [--domain=CORES] [--dram-gbps=X] [--calibrated] [--clock=GHZ]
 *                     [--llc-bytes=X] [--ways=N] [--each] [--seed=N] [--draws=N]
 *                     [--noise=time|slowdown|points] [--directions] [--setting=WORD]
 *                     [--without=NAME] [CONSTANT=VALUE ...]
 *
 * FILE is a set {"machine":{..},"apps":[app,...],"corun_degradation":[[...]]}, or {"sets":[set,
 * ...]}: row i is what app i suffers beside column j, null where it was not measured; the machine
 * in berthctl's words, or with llc_sets, llc_ways, line and dram_peak_gbps. "sibling":true: the
 * pairs ran on hardware threads of one core. A set that was measured with turbo (or boost), or with
 * powersave, says so in "clock" or in its "source", or --setting does: what a machine's clock does
 * then, where its "clock" does not tell. Prints for each model
 * the rank correlation (Spearman) with the truth, the median error and the bias, and the gap: how
 * far above the best pairing the one is that the model chooses, mean over all workloads of 4, 6, 8
 * programs, in points of slowdown per program; then median errors and gaps where half and all of
 * the pairs were observed, with 5 % of noise (of the time, of the slowdown, or 5 points): mean of
 * some draws, and there the bias is that of the pairs that were not observed. "clock" fits to what
 * was observed two figures, by how much the clock falls from one busy core to half of the cores
 * that the largest pair has, and from there to all: a program on one core loses other than one on
 * many. A pair is observed in both directions, or each by itself. --without leaves a program out: a
 * set of few says little where the figures of one are of another machine.
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

enum { ERROR, BIAS, GAP_4, GAP_6, MEASURES };

/* Adds what a draw's gaps and median error are to the means of all, and the bias of the pairs that
 * were not observed. */
static void add_draw(const struct eval_set *set, const double *matrix, const double *seen,
                     double share, double sum[MEASURES])
{
    size_t n = set->apps.n, count = 0, others = 0;
    double *error = calloc(n * n, sizeof(*error)), bias = 0;

    for (size_t i = 0; error && i < n * n; i++)
        if (!isnan(set->truth[i])) {
            error[count++] = 100 * fabs(matrix[i] - set->truth[i]);
            bias += isnan(seen[i]) ? 100 * (matrix[i] - set->truth[i]) : 0;
            others += isnan(seen[i]);
        }
    sum[ERROR] += share * (error ? eval_median(count, error) : NAN);
    sum[BIAS] += share * bias / (double)others;
    sum[GAP_4] += share * eval_gap(set, matrix, 4);
    sum[GAP_6] += share * eval_gap(set, matrix, 6);
    free(error);
}

static void print_means(const char *part, const char *name, const double mean[MEASURES])
{
    printf("  %-4s observed: %-11s  %6.1f", part, name, mean[ERROR]);
    if (isnan(mean[BIAS]))
        printf("  %6s", "-");
    else
        printf("  %+6.1f", mean[BIAS]);
    printf("  %6.2f  %6.2f  %6s\n", mean[GAP_4], mean[GAP_6], "-");
}

/* Prints how good the clock's part, a rank-one fit and evidence, with contend's predictions, are
 * where that part of the pairs was observed: means of some draws. works: of each program. */
static void print_observed(const struct eval_set *set, const double *predicted, const double *works,
                           const struct eval_observing *how, double part, const char *words)
{
    size_t n = set->apps.n;
    double *seen = calloc(2 * n * n, sizeof(*seen)), *matrix = seen + n * n;
    double clock[MEASURES] = {0}, rank_one[MEASURES] = {0}, evidence[MEASURES] = {0};
    double share = 1.0 / how->draws;

    for (unsigned draw = 0; seen && draw < how->draws; draw++) {
        eval_observe(set, how, part, draw, seen);
        eval_clock_fit(set, works, predicted, seen, matrix);
        add_draw(set, matrix, seen, share, clock);
        if (eval_rank_one(n, seen, matrix) == 0)
            add_draw(set, matrix, seen, share, rank_one);
        if (eval_evidence(set, how->noise, predicted, seen, matrix) == 0)
            add_draw(set, matrix, seen, share, evidence);
    }
    free(seen);
    print_means(words, "clock", clock);
    print_means(words, "rank one", rank_one);
    print_means(words, "evidence", evidence);
}

static int evaluate(struct json_object *object, const struct contend_constants *constants,
                    const struct eval_observing *how)
{
    struct berth_error err = {""};
    struct eval_set set;
    double *matrix, *works;

    if (eval_set_read(&set, object, how->without, &err) < 0) {
        fprintf(stderr, "contend_eval: %s\n", err.text);
        return -1;
    }
    eval_clock_set(&set, how->setting);
    matrix = calloc(set.apps.n * set.apps.n, sizeof(*matrix));
    works = calloc(set.apps.n, sizeof(*works));
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
    if (matrix && works && eval_contend(&set, constants, matrix) == 0 &&
        eval_clock_works(&set, constants, works) == 0) {
        print_observed(&set, matrix, works, how, 0.5, "half");
        print_observed(&set, matrix, works, how, 1, "all");
    }
    free(works);
    free(matrix);
    eval_set_free(&set);
    return 0;
}

static int evaluate_sets(const char *path, const struct contend_constants *constants,
                         const struct eval_observing *how)
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
            rc |= evaluate(json_object_array_get_idx(sets, i), constants, how);
    else
        rc = evaluate(input, constants, how);
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
                    {"port_gbps", &constants->port_gbps},
                    {"core_gbps", &constants->core_gbps},
                    {"sibling", &constants->sibling},
                    {"culprit", &constants->culprit},
                    {"unclocked", &constants->unclocked},
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
    fprintf(stderr,
            "usage: contend_eval FILE [--domain=CORES] [--dram-gbps=X] [--calibrated] "
            "[--clock=GHZ] [--llc-bytes=X] [--ways=N] [--each] [--seed=N] [--draws=N] "
            "[--noise=time|slowdown|points] [--directions] [--setting=%s] [--without=NAME] "
            "[CONSTANT=VALUE ...]\n",
            eval_clock_words());
    return 2;
}

/* Reads one of the words of --noise. */
static int read_noise(const char *text, enum eval_noise *noise)
{
    static const char *const word[] = {"time", "slowdown", "points"};

    for (size_t i = 0; i < 3; i++)
        if (strcmp(text, word[i]) == 0) {
            *noise = (enum eval_noise)i;
            return 0;
        }
    return -1;
}

static int read_options(int argc, char **argv, struct eval_domain *domain,
                        struct eval_observing *how)
{
    static const struct option options[] = {{"domain", required_argument, NULL, 'd'},
                                            {"dram-gbps", required_argument, NULL, 'g'},
                                            {"calibrated", no_argument, NULL, 'm'},
                                            {"clock", required_argument, NULL, 'c'},
                                            {"llc-bytes", required_argument, NULL, 'l'},
                                            {"ways", required_argument, NULL, 'w'},
                                            {"each", no_argument, NULL, 'e'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"draws", required_argument, NULL, 'n'},
                                            {"noise", required_argument, NULL, 'o'},
                                            {"directions", no_argument, NULL, 'i'},
                                            {"setting", required_argument, NULL, 't'},
                                            {"without", required_argument, NULL, 'x'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        double value = optarg ? strtod(optarg, NULL) : 1;

        if (option == 'o' && read_noise(optarg, &how->noise) == 0)
            continue;
        if (option == 't' || option == 'x') {
            *(option == 't' ? &how->setting : &how->without) = optarg;
            continue;
        }
        if (option == '?' || !(option == 's' ? value >= 0 : value > 0))
            return -1;
        switch (option) {
        case 's':
            how->seed = (unsigned)value;
            break;
        case 'n':
            how->draws = (unsigned)value;
            break;
        case 'i':
            how->directions = true;
            break;
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
    struct eval_observing how = {.draws = 5};
    const char *end;

    if (read_options(argc, argv, &domain, &how) < 0 || optind >= argc)
        return usage();
    for (int i = optind + 1; i < argc; i++)
        if (set_constant(&constants, argv[i]) < 0)
            return usage();
    end = strrchr(argv[optind], '.');
    if (end && strcmp(end, ".csv") == 0)
        return evaluate_copies(argv[optind], &domain, &constants) < 0;
    return evaluate_sets(argv[optind], &constants, &how) < 0;
}
