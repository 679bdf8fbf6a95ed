/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt - `berthctl calibrate --adapt PATH`: a site's own coefficients of ADAPT
 * (models/inside/adapt.h), by least squares over recorded runs.
 *
 * PATH is a file, or a folder of such files: those whose names begin with a point are left out. A
 * file has a JSON object a line: what a program did alone ("a"), on how many cores, and its user
 * time then; with "b", what another one did alone, it ran beside that on all cores (PAAP), else in
 * a set of so many cores (PACC). */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/inside/adapt.h"
#include "packer/base/array.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "probe/calibrate/calibrate.h"
#include "packer/cli/common/ctl.h"
#include "packer/cli/common/input.h"

#define MOST_CORES 65536
#define PREDICTORS_MAX (ADAPT_PAAP - 1)

struct program {
    double threads, sys, lat, lock, mpa;
};

#define PERCENT(member) JSON_RANGE(struct program, #member, member, REQUIRED, 0, 100)
static const struct json_field program_fields[] = {
    JSON_WHOLE(struct program, "threads", threads, REQUIRED, 1, 65536),
    PERCENT(sys),
    PERCENT(lat),
    PERCENT(lock),
    JSON_RANGE(struct program, "mpa", mpa, REQUIRED, 0, 1),
    JSON_END,
};

struct run {
    double cores, usr;
    struct program a, b;
};

static const struct json_field run_fields[] = {
    JSON_WHOLE(struct run, "cores", cores, REQUIRED, 1, MOST_CORES),
    JSON_RANGE(struct run, "usr", usr, REQUIRED, 0, 100),
    JSON_NESTED(struct run, "a", a, REQUIRED, program_fields),
    JSON_NESTED(struct run, "b", b, OPTIONAL, program_fields),
    JSON_END,
};

/* The runs of one of the models. */
struct rows {
    const char *name, *what;
    size_t k, n, room_x, room_y;
    double *x, *y; /* [n * k], [n] */
};

/* ---- the file ---- */

static struct adapt_program program_of(const struct program *is)
{
    return (struct adapt_program){.threads = (unsigned)is->threads,
                                  .sys = is->sys,
                                  .lat = is->lat,
                                  .lock = is->lock,
                                  .mpa = is->mpa};
}

static int add_row(struct rows *rows, const double *x, double y, struct berth_error *err)
{
    if (array_grow(&rows->x, &rows->room_x, (rows->n + 1) * rows->k, sizeof(*rows->x)) < 0 ||
        array_grow(&rows->y, &rows->room_y, rows->n + 1, sizeof(*rows->y)) < 0)
        return berth_no_memory(err);
    memcpy(&rows->x[rows->n * rows->k], x, rows->k * sizeof(*x));
    rows->y[rows->n++] = y;
    return 0;
}

static int add_run(struct rows *paap, struct rows *pacc, struct json_object *object,
                   struct berth_error *err)
{
    struct adapt_program a, b;
    double x[PREDICTORS_MAX];
    struct run run = {.cores = 0};

    if (!json_object_is_type(object, json_type_object))
        return berth_error_set(err, "an object expected");
    if (json_read(object, run_fields, &run, err) < 0)
        return -1;
    a = program_of(&run.a);
    b = program_of(&run.b);
    if (b.threads) {
        adapt_paap_row(&a, &b, (unsigned)run.cores, x);
        return add_row(paap, x, run.usr, err);
    }
    adapt_pacc_row(&a, run.cores, x);
    return add_row(pacc, x, run.usr, err);
}

static int read_file(const char *path, struct rows *paap, struct rows *pacc,
                     struct berth_error *err)
{
    size_t length = 0, number = 1;
    char *text = ctl_input_text(path, &length, err), *line = text, *end;
    int rc = text ? 0 : -1;

    for (; rc == 0 && line && *line; line = end ? end + 1 : NULL, number++) {
        struct json_object *object;

        end = strchr(line, '\n');
        object = json_parse(line, end ? (size_t)(end - line) : strlen(line), err);
        rc = object ? add_run(paap, pacc, object, err) : -1;
        json_object_put(object);
        if (rc < 0)
            berth_error_before(err, "%zu: ", number);
    }
    free(text);
    return rc < 0 ? berth_error_before(err, "%s:", path) : 0;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Reads the file, or all files of the folder, in the order of their names. */
static int read_runs(const char *path, struct rows *paap, struct rows *pacc,
                     struct berth_error *err)
{
    struct dirent **entry;
    int n = scandir(path, &entry, is_shown, alphasort), rc = 0;

    if (n < 0)
        return errno == ENOTDIR || strcmp(path, "-") == 0
                   ? read_file(path, paap, pacc, err)
                   : berth_error_set(err, "%s: %s", path, strerror(errno));
    for (int i = 0; i < n; i++) {
        char file[PATH_MAX];

        snprintf(file, sizeof(file), "%s/%s", path, entry[i]->d_name);
        rc = rc < 0 ? rc : read_file(file, paap, pacc, err);
        free(entry[i]);
    }
    free(entry);
    return rc;
}

/* ---- the fit ---- */

/* Fits one of the models. Returns 0, or 1 after saying why not. */
static int fit(const struct rows *rows, struct adapt_fit *fitted)
{
    switch (adapt_fit(rows->n, rows->k, rows->x, rows->y, fitted)) {
    case ADAPT_FITTED:
        return 0;
    case ADAPT_TOO_FEW:
        return ctl_fail("calibrate", "--adapt: %zu run%s %s: at least %d are needed for %s",
                        rows->n, rows->n == 1 ? "" : "s", rows->what, ADAPT_PAIRS_MIN, rows->name);
    default:
        return ctl_fail("calibrate",
                        "--adapt: runs %s do not tell what is due to what: one of the "
                        "figures of %s never varies, or only with others",
                        rows->what, rows->name);
    }
}

static void add_fit(struct json_object *adapt, const struct rows *rows, const struct adapt_fit *is)
{
    struct json_object *quality = json_object_new_object();
    char key[32];

    json_add(adapt, rows->name,
             json_new_list(rows->k + 1, &json_number, is->coefficient, sizeof(double)));
    json_add_u64(quality, "runs", rows->n);
    json_add_number(quality, "r2", is->r2);
    json_add_double(quality, "smape", is->smape);
    json_add_number(quality, "unseen_smape", is->unseen_smape);
    snprintf(key, sizeof(key), "%s_fit", rows->name);
    json_add(adapt, key, quality);
}

static int print(const char *path, const struct rows *paap, const struct rows *pacc)
{
    struct json_object *output, *adapt;
    struct adapt_fit together, apart;

    if (fit(paap, &together) != 0 || fit(pacc, &apart) != 0)
        return 1;
    output = json_object_new_object();
    adapt = json_object_new_object();
    add_fit(adapt, paap, &together);
    add_fit(adapt, pacc, &apart);
    json_add_text(adapt, "source", path);
    json_add(output, "adapt", adapt);
    return ctl_print_json(output);
}

int calibrate_adapt(const char *path)
{
    struct rows paap = {.name = "paap", .what = "beside another", .k = ADAPT_PAAP - 1};
    struct rows pacc = {.name = "pacc", .what = "in a set of cores", .k = ADAPT_PACC - 1};
    struct berth_error err;
    int rc = read_runs(path, &paap, &pacc, &err);

    rc = rc < 0 ? ctl_fail("calibrate", "%s", err.text) : print(path, &paap, &pacc);
    free(paap.x);
    free(paap.y);
    free(pacc.x);
    free(pacc.y);
    return rc;
}
