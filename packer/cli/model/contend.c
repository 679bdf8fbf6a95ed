/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contend - the slowdown model as JSON: all pairs of the programs, and the groups that
 * are asked for; and in notes what was not known and so assumed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/slowdown/contend.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "packer/cli/model/models.h"
#include "packer/cli/plan/apps.h"
#include "packer/cli/plan/pairs.h"

#define NAMED_MAX 5 /* programs that a note names */

/* ---- groups ---- */

/* Reads the programs of groups[g] into member. Returns how many they are; 0 and err. */
static size_t read_group(const struct ctl_apps *apps, struct json_object *list, size_t g,
                         size_t member[CONTEND_GROUP_MAX], struct berth_error *err)
{
    struct json_object *names = json_object_array_get_idx(list, g);
    size_t n = json_object_array_length(names);

    if (n == 0 || n > CONTEND_GROUP_MAX) {
        berth_error_set(err, "groups[%zu]: 1 to %d programs expected, not %zu", g,
                        CONTEND_GROUP_MAX, n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct json_object *element = json_object_array_get_idx(names, i);
        const char *name =
            json_object_is_type(element, json_type_string) ? json_text(element) : NULL;
        long found = name ? ctl_apps_index(apps, name) : -1;

        if (found < 0) {
            berth_error_set(err, "groups[%zu][%zu]: %.300s is no program of apps", g, i,
                            json_object_to_json_string(element));
            return 0;
        }
        member[i] = (size_t)found;
    }
    return n;
}

static struct json_object *predict_group(const struct contend *contend, struct json_object *names,
                                         size_t n, const size_t *member)
{
    struct json_object *group = json_object_new_object();
    double slowdown[CONTEND_GROUP_MAX];

    contend_group(contend, n, member, slowdown);
    json_object_object_add(group, "apps", json_object_get(names));
    json_object_object_add(group, "slowdown",
                           json_new_list(n, &json_number, slowdown, sizeof(slowdown[0])));
    return group;
}

/* Answers input.groups, where there are any. 0, or -1 and err. */
static int add_groups(struct json_object *output, const struct ctl_apps *apps,
                      const struct contend *contend, struct json_object *input,
                      struct berth_error *err)
{
    struct json_object *list, *groups;
    size_t member[CONTEND_GROUP_MAX];

    if (!json_object_object_get(input, "groups"))
        return 0;
    if (ctl_input_list(input, "groups", json_type_array, &list, err) < 0)
        return -1;
    groups = json_object_new_array();
    json_object_object_add(output, "groups", groups);
    for (size_t g = 0; g < json_object_array_length(list); g++) {
        size_t n = read_group(apps, list, g, member, err);

        if (n == 0)
            return -1;
        json_object_array_add(
            groups, predict_group(contend, json_object_array_get_idx(list, g), n, member));
    }
    return 0;
}

/* ---- notes ---- */

static const struct note {
    unsigned assumed;
    const char *text;
} notes[] = {
    {CONTEND_IPC, "ipc unknown: one instruction per cycle is assumed"},
    {CONTEND_SDP, "sdp unknown: hits are taken to be spread evenly over the ways"},
    {CONTEND_HITS, "llc_apki unknown, and no sdp: no hits, so only memory matters"},
    {CONTEND_MISSES, "no sdp, llc_mpki, mem_read_gbps or mem_gbps: no misses are assumed"},
    {CONTEND_SHARE, "sdp_demand and sdp_prefetch unknown: all that hits is taken for demands"},
    {CONTEND_DEMAND, "sdp_demand, sdp_prefetch and llc_demand_mpki unknown: all accesses are taken "
                     "for demands"},
    {CONTEND_WRITES,
     "mem_write_gbps, mem_gbps and llc_wb_apki unknown: no write-backs are assumed"},
};
static const struct note machine_notes[] = {
    {CONTEND_CLOCK, "machine.clock_ghz unknown: 3 is assumed"},
    {CONTEND_BYTES, "machine.llc_bytes unknown: 1 MiB is assumed"},
    {CONTEND_WAYS, "machine.llc_ways unknown: those of the largest profile are assumed"},
    {CONTEND_LINE, "machine.line_bytes unknown: 64 is assumed"},
    {CONTEND_BANDWIDTH, "machine.dram_gbps unknown: nothing waits for the channel to memory"},
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
            json_object_array_add(list, note);
    }
    for (size_t i = 0; i < sizeof(machine_notes) / sizeof(machine_notes[0]); i++)
        if (contend_assumed(contend, apps->n) & machine_notes[i].assumed)
            json_object_array_add(list, json_object_new_string(machine_notes[i].text));
    if (json_object_array_length(list) > 0)
        json_object_object_add(output, "notes", list);
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

static struct json_object *predict_pairs(const struct ctl_apps *apps, const struct contend *contend,
                                         struct berth_error *err)
{
    struct app_pair *pair = ctl_pairs_alloc(apps, err), *next = pair;
    struct json_object *pairs;

    if (!pair)
        return NULL;
    for (size_t i = 0; i < apps->n; i++)
        for (size_t j = i; j < apps->n; j++)
            *next++ = contend_pair(contend, i, j);
    pairs = ctl_pairs_new(apps, pair);
    if (!pairs)
        berth_error_set(err, "apps: out of memory");
    return pairs;
}

static struct json_object *predict(const struct ctl_apps *apps, const struct contend *contend,
                                   struct json_object *input, struct berth_error *err)
{
    struct json_object *output = json_object_new_object();
    struct json_object *pairs;

    if (add_groups(output, apps, contend, input, err) < 0 ||
        !(pairs = predict_pairs(apps, contend, err))) {
        json_object_put(output);
        return NULL;
    }
    json_object_object_add(output, "pairs", pairs);
    add_notes(output, apps, contend);
    return output;
}

struct json_object *ctl_model_contend(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct contend *contend = NULL;
    struct ctl_apps apps;

    if (ctl_apps_read(&apps, input, err) < 0)
        return NULL;
    if (check_machine(&apps.machine, err) == 0) {
        contend = contend_new(apps.n, apps.app, &apps.machine, NULL);
        if (contend)
            output = predict(&apps, contend, input, err);
        else
            berth_error_set(err, "apps: %s", strerror(errno));
    }
    contend_free(contend);
    ctl_apps_free(&apps);
    return output;
}
