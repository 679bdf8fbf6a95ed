/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observed - see observed.h */
#include "lab/plan/observed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"

#define SLOWDOWN_MAX 1e6
#define SOLVES_MAX 10000 /* a few are the rule */
#define EXACT 1e-9       /* an error of 0, in words that evidence takes for one that is known */

/* One element of the list. */
struct observed {
    const char *app;
    struct json_object *beside;
    double slowdown, error;
};

static const struct json_field fields[] = {
    {JSON_AT(struct observed, "app", app, REQUIRED), .kind = JSON_BORROWED,
     .max = CTL_APPS_NAME_MAX},
    {JSON_AT(struct observed, "beside", beside, REQUIRED), .kind = JSON_ANY_ARRAY},
    JSON_RANGE(struct observed, "slowdown", slowdown, REQUIRED, -1, SLOWDOWN_MAX),
    JSON_RANGE(struct observed, "error", error, OPTIONAL, 0, SLOWDOWN_MAX),
    JSON_END,
};

enum evidence_rung ctl_observed_rung(const struct app *app)
{
    bool misses = !isnan(app->llc_mpki) || !isnan(app->mem_gbps) || !isnan(app->mem_read_gbps);

    if (app->sdp.ways > 0 && !isnan(app->ipc))
        return EVIDENCE_DISTANCES;
    if (misses && !isnan(app->llc_apki) && !isnan(app->ipc))
        return EVIDENCE_COUNTERS;
    return misses || app->sdp.ways > 0 ? EVIDENCE_MISSRATE : EVIDENCE_AVERAGE;
}

/* Fills in what each of n programs is predicted to contribute to the slowdown of one: as much as
 * beside it alone. */
static void fill_parts(const struct contend *contend, size_t program, size_t n,
                       const size_t *beside, double *part)
{
    for (size_t i = 0; i < n; i++)
        part[i] = contend_pair(contend, program, beside[i]).a_given_b;
}

/* Tells evidence what was observed of member[0] beside the others of n. */
static int observe(struct evidence *evidence, const struct contend *contend,
                   const struct observed *observed, size_t n, const size_t *member,
                   struct berth_error *err)
{
    double slowdown[CONTEND_GROUP_MAX], part[CONTEND_GROUP_MAX];
    struct evidence_seen seen = {.program = member[0], .n = n - 1, .beside = &member[1]};

    contend_group(contend, n, member, slowdown);
    fill_parts(contend, member[0], n - 1, &member[1], part);
    seen.part = part;
    seen.predicted = slowdown[0];
    seen.slowdown = observed->slowdown;
    seen.error = observed->error == 0 ? EXACT : observed->error;
    seen.weight = 1;
    if (evidence_observe(evidence, &seen) < 0)
        return berth_error_set(err, "observed: %s", strerror(errno));
    return 0;
}

/* Reads observed[k]. 0, or -1 and err. */
static int read_one(struct evidence *evidence, const struct ctl_apps *apps,
                    const struct contend *contend, struct json_object *list, size_t k,
                    struct berth_error *err)
{
    struct observed observed = {.error = NAN};
    size_t member[CONTEND_GROUP_MAX], n;
    struct berth_error why;
    char what[48];
    long found;

    if (json_read(json_object_array_get_idx(list, k), fields, &observed, &why) < 0)
        return berth_error_set(err, "observed[%zu].%s", k, why.text);
    found = ctl_apps_index(apps, observed.app);
    if (found < 0)
        return berth_error_set(err, "observed[%zu].app: \"%.300s\" is no program of apps", k,
                               observed.app);
    snprintf(what, sizeof(what), "observed[%zu].beside", k);
    n = ctl_apps_members(apps, observed.beside, what, CONTEND_GROUP_MAX - 1, &member[1], err);
    if (n == 0)
        return -1;
    member[0] = (size_t)found;
    return observe(evidence, contend, &observed, n + 1, member, err);
}

static struct evidence *evidence_of(const struct ctl_apps *apps)
{
    struct evidence *evidence = evidence_new(NULL);

    for (size_t i = 0; evidence && i < apps->n; i++)
        if (evidence_program(evidence, i,
                             evidence_constants.doubt[ctl_observed_rung(&apps->app[i])]) < 0) {
            evidence_free(evidence);
            evidence = NULL;
        }
    return evidence;
}

int ctl_observed_read(struct evidence **evidence, const struct ctl_apps *apps,
                      const struct contend *contend, struct json_object *input,
                      struct berth_error *err)
{
    struct json_object *list = json_find(input, "observed");

    *evidence = NULL;
    if (!list || (json_object_is_type(list, json_type_array) && !json_object_array_length(list)))
        return 0;
    if (ctl_input_list(input, "observed", json_type_object, &list, err) < 0)
        return -1;
    *evidence = evidence_of(apps);
    if (!*evidence)
        return berth_error_set(err, "observed: %s", strerror(errno));
    for (size_t k = 0; k < json_object_array_length(list); k++)
        if (read_one(*evidence, apps, contend, list, k, err) < 0) {
            evidence_free(*evidence);
            *evidence = NULL;
            return -1;
        }
    for (int i = 0; i < SOLVES_MAX && evidence_solve(*evidence) > 0; i++)
        ;
    return 0;
}

void ctl_observed_correct(const struct evidence *evidence, const struct contend *contend,
                          const size_t *app, size_t n, const size_t *member, double *slowdown,
                          double *error)
{
    size_t beside[CONTEND_GROUP_MAX], number[CONTEND_GROUP_MAX];
    double part[CONTEND_GROUP_MAX];

    for (size_t i = 0; i < n; i++) {
        size_t others = 0;

        for (size_t j = 0; j < n; j++)
            if (j != i) {
                number[others] = app ? app[member[j]] : member[j];
                beside[others++] = member[j];
            }
        if (others > 1)
            fill_parts(contend, member[i], others, beside, part);
        slowdown[i] = evidence_correct(evidence, app ? app[member[i]] : member[i], others, number,
                                       others > 1 ? part : NULL, slowdown[i], &error[i]);
    }
}
