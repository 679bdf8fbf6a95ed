/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_truth - see day_truth.h */
#include "tests/bench/day_truth.h"

#include <math.h>
#include <stdlib.h>

size_t day_truth_sets(struct json_object *file)
{
    struct json_object *sets;

    return json_object_object_get_ex(file, "sets", &sets) ? json_object_array_length(sets) : 1;
}

static struct json_object *set_of(struct json_object *file, size_t set)
{
    struct json_object *sets;

    return json_object_object_get_ex(file, "sets", &sets) ? json_object_array_get_idx(sets, set)
                                                          : file;
}

/* ---- the machine and its programs ---- */

/* Copies a figure of the machine under the name that ctl_apps_read knows. */
static void copy(struct json_object *from, const char *key, struct json_object *to, const char *as)
{
    struct json_object *value;

    if (json_object_object_get_ex(from, key, &value))
        json_object_object_add(to, as, json_object_get(value));
}

static struct json_object *machine_of(struct json_object *from)
{
    struct json_object *to = json_object_new_object();
    double sets = json_object_get_double(json_object_object_get(from, "llc_sets")),
           ways = json_object_get_double(json_object_object_get(from, "llc_ways")),
           line = json_object_get_double(json_object_object_get(from, "line"));

    if (sets > 0)
        json_object_object_add(to, "llc_bytes", json_object_new_double(sets * ways * line));
    copy(from, "line", to, "line_bytes");
    copy(from, "dram_peak_gbps", to, "dram_gbps");
    copy(from, "llc_bytes", to, "llc_bytes");
    copy(from, "llc_ways", to, "llc_ways");
    copy(from, "line_bytes", to, "line_bytes");
    copy(from, "dram_gbps", to, "dram_gbps");
    copy(from, "clock_ghz", to, "clock_ghz");
    return to;
}

static struct json_object *translate(struct json_object *set)
{
    struct json_object *output = json_object_new_object();

    json_object_object_add(output, "machine", machine_of(json_object_object_get(set, "machine")));
    copy(set, "apps", output, "apps");
    return output;
}

/* ---- the matrix ---- */

static int read_row(struct day_truth *truth, struct json_object *row, size_t i,
                    struct berth_error *err)
{
    size_t n = truth->apps.n;

    if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) != n)
        return berth_error_set(err, "corun_degradation[%zu]: %zu numbers expected", i, n);
    for (size_t j = 0; j < n; j++) {
        struct json_object *value = json_object_array_get_idx(row, j);

        truth->slowdown[i * n + j] = value ? fmax(json_object_get_double(value), 0) : NAN;
        truth->guessed += !value;
    }
    return 0;
}

/* Returns the mean of every step-th value from `first` on that is known. */
static double mean_of(const struct day_truth *truth, size_t first, size_t step, size_t count)
{
    double sum = 0, n = 0;

    for (size_t k = 0; k < count; k++) {
        double value = truth->slowdown[first + k * step];

        if (!isnan(value))
            sum += value, n++;
    }
    return n > 0 ? sum / n : 0;
}

static void guess_missing(struct day_truth *truth)
{
    size_t n = truth->apps.n;
    double all = mean_of(truth, 0, 1, n * n);

    for (size_t i = 0; i < n * n && truth->guessed; i++)
        if (isnan(truth->slowdown[i]))
            truth->slowdown[i] =
                all > 0 ? mean_of(truth, i / n * n, 1, n) * mean_of(truth, i % n, n, n) / all : 0;
}

static int read_matrix(struct day_truth *truth, struct json_object *rows, struct berth_error *err)
{
    size_t n = truth->apps.n;

    if (!json_object_is_type(rows, json_type_array) || json_object_array_length(rows) != n)
        return berth_error_set(err, "corun_degradation: %zu rows expected", n);
    truth->slowdown = calloc(n * n, sizeof(*truth->slowdown));
    if (!truth->slowdown)
        return berth_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (read_row(truth, json_object_array_get_idx(rows, i), i, err) < 0)
            return -1;
    guess_missing(truth);
    return 0;
}

int day_truth_read(struct day_truth *truth, struct json_object *file, size_t set,
                   struct berth_error *err)
{
    struct json_object *object = set_of(file, set);

    *truth = (struct day_truth){.line_bytes = 64, .clock_ghz = 2};
    if (!object)
        return berth_error_set(err, "sets: no set %zu", set);
    truth->input = translate(object);
    if (ctl_apps_read(&truth->apps, truth->input, err) < 0 ||
        read_matrix(truth, json_object_object_get(object, "corun_degradation"), err) < 0) {
        day_truth_free(truth);
        return -1;
    }
    if (truth->apps.machine.line_bytes)
        truth->line_bytes = (double)truth->apps.machine.line_bytes;
    if (!isnan(truth->apps.machine.clock_ghz))
        truth->clock_ghz = truth->apps.machine.clock_ghz;
    return 0;
}

void day_truth_nobody(struct day_truth *truth)
{
    for (size_t i = 0; i < truth->apps.n * truth->apps.n; i++) {
        truth->slowdown[i] = 0;
        if (truth->sibling)
            truth->sibling[i] = 0;
    }
}

/* Returns how many programs have fewer misses than i, or as many and stand before it. */
static size_t rank_of(const struct ctl_apps *apps, size_t i)
{
    size_t rank = 0;

    for (size_t k = 0; k < apps->n; k++) {
        double less = apps->app[i].llc_mpki - apps->app[k].llc_mpki;

        rank += less > 0 || (less == 0 && k < i);
    }
    return rank;
}

int day_truth_wrong(struct day_truth *truth, struct berth_error *err)
{
    size_t n = truth->apps.n;
    size_t *of = calloc(n, sizeof(*of)); /* by rank, end to end */
    double *slowdown = calloc(n * n, sizeof(*slowdown));

    if (!of || !slowdown) {
        free(of);
        free(slowdown);
        return berth_no_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (rank_of(&truth->apps, k) == n - 1 - rank_of(&truth->apps, i))
                of[i] = k;
    for (size_t i = 0; i < n * n; i++)
        slowdown[i] = day_truth_pair(truth, i / n, of[i % n]);
    free(of);
    free(truth->slowdown);
    truth->slowdown = slowdown;
    return 0;
}

void day_truth_free(struct day_truth *truth)
{
    ctl_apps_free(&truth->apps);
    free(truth->slowdown);
    free(truth->sibling);
    json_object_put(truth->input);
}
