/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval_set - see eval.h: sets of programs, and what models say of their pairs. */
#include "tests/bench/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/missrate.h"
#include "models/slowdown/pain.h"

#define FIT_STEPS 200 /* of a rank-one fit; it is at rest long before */

/* ---- reading ---- */

/* Gives the machine the names of ctl_apps_read where it has others. */
static void translate(struct json_object *machine)
{
    const char *const name[][2] = {{"line", "line_bytes"}, {"dram_peak_gbps", "dram_gbps"}};
    struct json_object *sets = json_object_object_get(machine, "llc_sets"), *value;

    for (size_t i = 0; i < 2; i++)
        if ((value = json_object_object_get(machine, name[i][0])))
            json_object_object_add(machine, name[i][1], json_object_get(value));
    if (sets)
        json_object_object_add(
            machine, "llc_bytes",
            json_object_new_double(
                json_object_get_double(sets) *
                json_object_get_double(json_object_object_get(machine, "llc_ways")) *
                json_object_get_double(json_object_object_get(machine, "line_bytes"))));
}

static int read_truth(struct eval_set *set, struct json_object *rows)
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

/* Returns the text that tells at which setting of the clock the set was measured: "clock", else its
 * source; NULL for none. */
static const char *clock_word(struct json_object *object)
{
    struct json_object *text = json_object_object_get(object, "clock");

    if (!text)
        text = json_object_object_get(object, "source");
    return json_object_is_type(text, json_type_string) ? json_object_get_string(text) : NULL;
}

static bool is_named(struct json_object *app, const char *name)
{
    const char *its = json_object_get_string(json_object_object_get(app, "name"));

    return its && strcmp(its, name) == 0;
}

static size_t length_of(struct json_object *list)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

/* Takes what a list has there, if it has that much. */
static void delete_at(struct json_object *list, size_t i)
{
    if (i < length_of(list))
        json_object_array_del_idx(list, i, 1);
}

/* Takes a program out of a set. Returns false where there is none of that name. */
static bool leave_out(struct json_object *object, const char *name)
{
    struct json_object *apps = json_object_object_get(object, "apps");
    struct json_object *rows = json_object_object_get(object, "corun_degradation");
    size_t i = 0, n = length_of(apps);

    while (i < n && !is_named(json_object_array_get_idx(apps, i), name))
        i++;
    delete_at(apps, i);
    delete_at(rows, i);
    for (size_t j = 0; j < length_of(rows); j++)
        delete_at(json_object_array_get_idx(rows, j), i);
    return i < n;
}

int eval_set_read(struct eval_set *set, struct json_object *object, const char *without,
                  struct berth_error *err)
{
    struct json_object *rows = json_object_object_get(object, "corun_degradation");

    *set = (struct eval_set){
        .sibling = json_object_get_boolean(json_object_object_get(object, "sibling"))};
    if (without && !leave_out(object, without))
        return berth_error_set(err, "no program %s", without);
    if (json_object_object_get(object, "machine"))
        translate(json_object_object_get(object, "machine"));
    if (ctl_apps_read(&set->apps, object, err) < 0)
        return -1;
    set->truth = calloc(set->apps.n * set->apps.n, sizeof(*set->truth));
    if (set->truth && read_truth(set, rows) == 0) {
        eval_clock_set(set, clock_word(object));
        return 0;
    }
    eval_set_free(set);
    return berth_error_set(err, "bad corun_degradation");
}

void eval_set_free(struct eval_set *set)
{
    free(set->truth);
    ctl_apps_free(&set->apps);
}

/* ---- opinions ---- */

int eval_contend(const struct eval_set *set, const struct contend_constants *constants,
                 double *matrix)
{
    const struct ctl_apps *apps = &set->apps;
    struct contend *contend = contend_new(apps->n, apps->app, &apps->machine, constants);

    if (!contend)
        return -1;
    for (size_t i = 0; i < apps->n; i++)
        for (size_t j = 0; j < apps->n; j++) {
            double busy = (double)(apps->app[i].cores + (set->sibling ? 0 : apps->app[j].cores));

            matrix[i * apps->n + j] =
                (set->sibling ? contend_siblings : contend_pair)(contend, i, j).a_given_b +
                contend_clock(contend, i, busy);
        }
    contend_free(contend);
    return 0;
}

int eval_missrate(const struct eval_set *set, double *matrix)
{
    size_t n = set->apps.n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            matrix[i * n + j] =
                missrate_pair(missrate_of(&set->apps.app[i]), missrate_of(&set->apps.app[j]))
                    .a_given_b;
    return 0;
}

int eval_pain(const struct eval_set *set, double *matrix)
{
    size_t n = set->apps.n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            struct pain a, b;

            if (!set->apps.app[i].sdp.ways || !set->apps.app[j].sdp.ways)
                return -1;
            a = pain_of(&set->apps.app[i].sdp);
            b = pain_of(&set->apps.app[j].sdp);
            matrix[i * n + j] = pain_pair(&a, &b).a_given_b;
        }
    return 0;
}

/* Makes to[i] the least-squares factor of row i (step 1 of the columns, or the other way round),
 * given the other factors. */
static void fit_factor(size_t n, const double *seen, bool columns, const double *given, double *to)
{
    for (size_t i = 0; i < n; i++) {
        double ab = 0, bb = 0;

        for (size_t j = 0; j < n; j++) {
            double value = columns ? seen[j * n + i] : seen[i * n + j];

            if (isnan(value))
                continue;
            ab += value * given[j];
            bb += given[j] * given[j];
        }
        if (bb > 0)
            to[i] = ab / bb;
    }
}

int eval_rank_one(size_t n, const double *seen, double *matrix)
{
    double *sensitivity = calloc(2 * n, sizeof(*sensitivity)), *pressure = sensitivity + n;

    if (!sensitivity)
        return -1;
    for (size_t i = 0; i < n; i++)
        sensitivity[i] = pressure[i] = 0.3;
    for (int i = 0; i < FIT_STEPS; i++) {
        fit_factor(n, seen, false, pressure, sensitivity);
        fit_factor(n, seen, true, sensitivity, pressure);
    }
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = sensitivity[i / n] * pressure[i % n];
    free(sensitivity);
    return 0;
}
