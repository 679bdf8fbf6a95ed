/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - the slowdown model as JSON: all pairs of the programs, and the groups that
 * are asked for, corrected by what was observed; and in notes what was not known and so assumed. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "lab/plan/observed.h"
#include "lab/plan/apps.h"
#include "lab/plan/pairs.h"

#define NAMED_MAX 5 /* programs that a note names */

/* ---- groups ---- */

/* What is predicted with, and what corrects it; NULL where nothing was observed. */
struct forecast {
    const struct ctl_apps *apps;
    const struct contend *contend;
    struct evidence *evidence;
    bool sibling; /* pairs are on hardware threads of one core */
};

static struct json_object *predict_group(const struct forecast *forecast, struct json_object *names,
                                         size_t n, const size_t *member)
{
    struct json_object *group = json_object_new_object();
    double slowdown[CONTEND_GROUP_MAX], error[CONTEND_GROUP_MAX];

    contend_group(forecast->contend, n, member, slowdown);
    if (forecast->evidence)
        ctl_observed_correct(forecast->evidence, forecast->contend, NULL, n, member, slowdown,
                             error);
    json_add(group, "apps", json_object_get(names));
    json_add(group, "slowdown", json_new_list(n, &json_number, slowdown, sizeof(slowdown[0])));
    if (forecast->evidence)
        json_add(group, "error", json_new_list(n, &json_number, error, sizeof(error[0])));
    return group;
}

/* Answers input.groups, where there are any. 0, or -1 and err. */
static int add_groups(struct json_object *output, const struct forecast *forecast,
                      struct json_object *input, struct berth_error *err)
{
    struct json_object *list, *groups;
    size_t member[CONTEND_GROUP_MAX];

    if (!json_find(input, "groups"))
        return 0;
    if (ctl_input_list(input, "groups", json_type_array, &list, err) < 0)
        return -1;
    groups = json_object_new_array();
    json_add(output, "groups", groups);
    for (size_t g = 0; g < json_object_array_length(list); g++) {
        struct json_object *names = json_object_array_get_idx(list, g);
        char what[32];
        size_t n;

        snprintf(what, sizeof(what), "groups[%zu]", g);
        n = ctl_apps_members(forecast->apps, names, what, CONTEND_GROUP_MAX, member, err);
        if (n == 0)
            return -1;
        json_append(groups, predict_group(forecast, names, n, member));
    }
    return 0;
}

/* ---- notes ---- */

static const struct note {
    unsigned assumed;
    const char *text;
} notes[] = {
    {CONTEND_IPC, "ipc unknown: one instruction per cycle is assumed"},
    {CONTEND_SDP,
     "sdp unknown: hits are taken to fall off as 1 - exp(-x / 0.22) with the part x of the cache"},
    {CONTEND_HITS, "llc_apki unknown, and no sdp: no hits, so only memory matters"},
    {CONTEND_MISSES, "no sdp, llc_mpki, mem_read_gbps or mem_gbps: no misses are assumed"},
    {CONTEND_SHARE, "sdp_demand and sdp_prefetch unknown: all that hits is taken for demands"},
    {CONTEND_DEMAND, "sdp_demand, sdp_prefetch and llc_demand_mpki unknown: all accesses are taken "
                     "for demands"},
    {CONTEND_WRITES,
     "mem_write_gbps and llc_wb_apki unknown: a quarter of the traffic is taken to be written"},
};
static const struct note machine_notes[] = {
    {CONTEND_CLOCK, "machine.clock_ghz unknown: 3 is assumed"},
    {CONTEND_BYTES, "machine.llc_bytes unknown: 1 MiB is assumed"},
    {CONTEND_WAYS, "machine.llc_ways unknown: those of the largest profile are assumed, or 16"},
    {CONTEND_LINE, "machine.line_bytes unknown: 64 is assumed"},
    {CONTEND_BANDWIDTH,
     "machine.dram_gbps unknown: one channel is assumed, and what programs take"},
};

/* Returns "why (a, b, and 3 more)", with the programs of which the note is true; NULL for none. */
static struct json_object *make_note(const struct note *note, const struct ctl_apps *apps,
                                     const struct contend *contend)
{
    char text[256 + NAMED_MAX * (CTL_APPS_NAME_MAX + 2)];
    size_t used = 0, count = 0;

    for (size_t i = 0; i < apps->n; i++)
        if (contend_assumed(contend, i) & note->assumed && count++ < NAMED_MAX)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     count == 1 ? "" : ", ", apps->name[i]);
    if (count == 0)
        return NULL;
    if (count > NAMED_MAX)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, ", and %zu more", count - NAMED_MAX);
    snprintf(text + used, sizeof(text) - used, ": %s", note->text);
    return json_object_new_string(text);
}

static void add_notes(struct json_object *output, const struct ctl_apps *apps,
                      const struct contend *contend)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        struct json_object *note = make_note(&notes[i], apps, contend);

        if (note)
            json_append(list, note);
    }
    for (size_t i = 0; i < sizeof(machine_notes) / sizeof(machine_notes[0]); i++)
        if (contend_assumed(contend, apps->n) & machine_notes[i].assumed)
            json_append(list, json_object_new_string(machine_notes[i].text));
    if (json_object_array_length(list) > 0)
        json_add(output, "notes", list);
    else
        json_object_put(list);
}

/* ---- the model ---- */

static int check_machine(const struct app_machine *machine, struct berth_error *err)
{
    const struct {
        const char *name;
        double value;
    } figure[] = {{"llc_bytes", machine->llc_bytes},
                  {"dram_gbps", machine->dram_gbps},
                  {"clock_ghz", machine->clock_ghz}};

    for (size_t i = 0; i < sizeof(figure) / sizeof(figure[0]); i++)
        if (figure[i].value < CONTEND_LEAST)
            return berth_error_set(err, "machine.%s: at least %g expected", figure[i].name,
                                   CONTEND_LEAST);
    return 0;
}

/* Predicts pair k of all; the errors of what is corrected go to error[2k] and error[2k + 1]. */
static struct app_pair predict_pair(const struct forecast *forecast, size_t i, size_t j,
                                    double error[2])
{
    struct app_pair pair =
        (forecast->sibling ? contend_siblings : contend_pair)(forecast->contend, i, j);
    double slowdown[2] = {pair.a_given_b, pair.b_given_a};

    if (!forecast->evidence)
        return pair;
    ctl_observed_correct(forecast->evidence, forecast->contend, NULL, 2, (size_t[]){i, j}, slowdown,
                         error);
    return (struct app_pair){slowdown[0] + slowdown[1], slowdown[0], slowdown[1]};
}

static struct json_object *predict_pairs(const struct forecast *forecast, struct berth_error *err)
{
    const struct ctl_apps *apps = forecast->apps;
    struct app_pair *pair = ctl_pairs_alloc(apps, err);
    double *error = NULL, none[2];
    struct json_object *pairs;
    size_t k = 0;

    if (!pair)
        return NULL;
    if (forecast->evidence && !(error = calloc(ctl_pairs_count(apps->n), sizeof(none)))) {
        free(pair);
        berth_error_set(err, "apps: out of memory");
        return NULL;
    }
    for (size_t i = 0; i < apps->n; i++)
        for (size_t j = i; j < apps->n; j++, k++)
            pair[k] = predict_pair(forecast, i, j, error ? &error[2 * k] : none);
    pairs = ctl_pairs_new(apps, pair, error);
    if (!pairs)
        berth_error_set(err, "apps: out of memory");
    return pairs;
}

/* ---- the clock ---- */

/* Adds what each program loses by the clock with half and all cores of its package busy, where the
 * machine's clock is known. No pair and no group has that in it. */
static void add_clock(struct json_object *output, const struct forecast *forecast)
{
    const struct clock_curve *clock = &forecast->apps->machine.clock;
    struct json_object *list;
    double half;

    if (!clock_is_known(clock))
        return;
    half = fmax(1, floor((double)clock->cores / 2));
    list = json_object_new_array();
    json_add(output, "clock", list);
    for (size_t i = 0; i < forecast->apps->n; i++) {
        struct json_object *app = json_object_new_object();

        json_add(app, "app", json_object_new_string(forecast->apps->name[i]));
        json_add(app, "half", json_object_new_double(contend_clock(forecast->contend, i, half)));
        json_add(app, "all",
                 json_object_new_double(contend_clock(forecast->contend, i, (double)clock->cores)));
        json_append(list, app);
    }
}

static struct json_object *predict(const struct forecast *forecast, struct json_object *input,
                                   struct berth_error *err)
{
    struct json_object *output = json_object_new_object();
    struct json_object *pairs;

    if (add_groups(output, forecast, input, err) < 0 || !(pairs = predict_pairs(forecast, err))) {
        json_object_put(output);
        return NULL;
    }
    json_add(output, "pairs", pairs);
    add_clock(output, forecast);
    add_notes(output, forecast->apps, forecast->contend);
    return output;
}

/* Predicts with programs that are studied, and with what was observed of them. */
static struct json_object *observe_and_predict(const struct ctl_apps *apps,
                                               const struct contend *contend,
                                               struct json_object *input, struct berth_error *err)
{
    static const struct json_field field = {
        .name = "sibling", .kind = JSON_BOOL, .need = JSON_OPTIONAL, .size = sizeof(bool)};
    struct forecast forecast = {.apps = apps, .contend = contend};
    struct json_object *output = NULL;

    if (json_get(input, &field, &forecast.sibling, err) == 0 &&
        ctl_observed_read(&forecast.evidence, apps, contend, input, err) == 0)
        output = predict(&forecast, input, err);
    evidence_free(forecast.evidence);
    return output;
}

static struct json_object *contend_of(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct contend *contend = NULL;
    struct ctl_apps apps;

    if (ctl_apps_read(&apps, input, err) < 0)
        return NULL;
    if (check_machine(&apps.machine, err) == 0) {
        contend = contend_new(apps.n, apps.app, &apps.machine, NULL);
        if (contend)
            output = observe_and_predict(&apps, contend, input, err);
        else
            berth_error_set(err, "apps: %s", strerror(errno));
    }
    contend_free(contend);
    ctl_apps_free(&apps);
    return output;
}

const struct ctl_filter ctl_filter_contend = {.whole = contend_of};
