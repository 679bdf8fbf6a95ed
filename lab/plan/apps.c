/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apps - see apps.h */
#include "lab/plan/apps.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "enum_table.h"

#define FIGURE(type, member)                                                                       \
    JSON_RANGE(struct type, #member, member, OPTIONAL, 0, CTL_APPS_NUMBER_MAX)
#define COUNT(type, member, most) JSON_RANGE(struct type, #member, member, OPTIONAL, 1, most)

static const char *const TABLE(threads_name, APP_THREADS) = {
    ROW(APP_MODEL) = "model", ROW(APP_SPREAD) = "spread", ROW(APP_PACK) = "pack"};
TABLE_COMPLETE(threads_name);

static const struct json_field app_fields[] = {
    FIGURE(app, ipc),
    FIGURE(app, clock_ghz),
    FIGURE(app, llc_apki),
    FIGURE(app, llc_mpki),
    FIGURE(app, llc_demand_mpki),
    FIGURE(app, llc_wb_apki),
    FIGURE(app, mem_gbps),
    FIGURE(app, mem_read_gbps),
    FIGURE(app, mem_write_gbps),
    JSON_RANGE(struct app, "shared", shared, OPTIONAL, 0, 1),
    JSON_CHOICE(struct app, "threads", threads, OPTIONAL, threads_name),
    COUNT(app, cores, UINT32_MAX),
    JSON_END,
};
static const struct json_field clock_fields[] = {
    FIGURE(clock_curve, one_ghz),
    FIGURE(clock_curve, half_ghz),
    FIGURE(clock_curve, all_ghz),
    COUNT(clock_curve, cores, 4096),
    JSON_END,
};
static const struct json_field machine_fields[] = {
    FIGURE(app_machine, llc_bytes),
    FIGURE(app_machine, dram_gbps),
    FIGURE(app_machine, port_gbps),
    FIGURE(app_machine, core_gbps),
    FIGURE(app_machine, clock_ghz),
    COUNT(app_machine, llc_ways, CTL_APPS_WAYS_MAX),
    COUNT(app_machine, line_bytes, 65536),
    COUNT(app_machine, caches, 4096),
    JSON_FIELD(struct app_machine, "own_prefetchers", own_prefetchers, OPTIONAL),
    JSON_FIELD(struct app_machine, "dram_calibrated", dram_calibrated, OPTIONAL),
    JSON_NESTED(struct app_machine, "clock", clock, OPTIONAL, clock_fields),
    JSON_END,
};

/* An app's profiles: where they are, and by which name. */
static const struct {
    const char *name;
    size_t offset;
} app_profiles[] = {
    {"sdp", offsetof(struct app, sdp)},
    {"sdp_demand", offsetof(struct app, sdp_demand)},
    {"sdp_prefetch", offsetof(struct app, sdp_prefetch)},
    {"sdp_writeback", offsetof(struct app, sdp_writeback)},
};
#define PROFILES (sizeof(app_profiles) / sizeof(app_profiles[0]))

static const struct json_field hit_item = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = CTL_APPS_NUMBER_MAX};
static const struct json_field profile_fields[] = {
    JSON_RANGE(struct app_sdp, "misses", misses, REQUIRED, 0, CTL_APPS_NUMBER_MAX),
    JSON_END,
};

/* ---- apps ---- */

/* Reads the hits of a profile to *hits on, which then points behind them, and its misses. */
static int read_profile(struct json_object *object, struct app_sdp *sdp, double **hits,
                        struct berth_error *err)
{
    struct json_object *list;

    if (json_get_array(object, "hits", JSON_REQUIRED, &list, err) < 0)
        return -1;
    sdp->ways = json_object_array_length(list);
    if (sdp->ways == 0 || sdp->ways > CTL_APPS_WAYS_MAX)
        return berth_error_set(err, "hits: 1 to %d ways expected, not %zu", CTL_APPS_WAYS_MAX,
                               sdp->ways);
    if (json_get_list(list, "hits", sdp->ways, &hit_item, *hits, sizeof(**hits), err) < 0 ||
        json_read(object, profile_fields, sdp, err) < 0)
        return -1;
    sdp->hits = *hits;
    *hits += sdp->ways;
    return 0;
}

static int read_app(struct json_object *object, struct app *app, double **hits,
                    struct berth_error *err)
{
    *app = app_unknown();
    if (json_read(object, app_fields, app, err) < 0)
        return -1;
    for (size_t i = 0; i < PROFILES; i++) {
        struct app_sdp *sdp = (struct app_sdp *)((char *)app + app_profiles[i].offset);
        struct json_object *profile = NULL;

        if (json_get_object(object, app_profiles[i].name, JSON_OPTIONAL, &profile, err) < 0)
            return -1;
        if (profile && read_profile(profile, sdp, hits, err) < 0)
            return berth_error_before(err, "%s.", app_profiles[i].name);
    }
    return 0;
}

static const char *read_name(struct json_object *app, struct json_object *taken, bool repeat,
                             struct berth_error *err)
{
    struct json_object *field = json_find(app, "name");
    const char *name = json_text(field);

    if (!field)
        berth_error_set(err, "name: missing");
    else if (!json_object_is_type(field, json_type_string))
        berth_error_set(err, "name: string expected, not %s",
                        json_type_to_name(json_object_get_type(field)));
    else if (!name || !name[0] || strlen(name) > CTL_APPS_NAME_MAX)
        berth_error_set(err, "name: 1 to %d bytes expected, none of them NUL", CTL_APPS_NAME_MAX);
    else if (repeat)
        return name;
    else if (json_object_object_get_ex(taken, name, NULL))
        berth_error_set(err, "name: %s is there twice", json_object_to_json_string(field));
    else if (json_object_object_add(taken, name, NULL) == 0)
        return name;
    else
        berth_error_set(err, "name: out of memory");
    return NULL;
}

static int read_list(struct ctl_apps *apps, struct json_object *list, bool repeat,
                     struct berth_error *err)
{
    struct json_object *taken = json_object_new_object();
    double *hits = apps->hits;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < apps->n; i++) {
        struct json_object *object = json_object_array_get_idx(list, i);

        apps->name[i] = read_name(object, taken, repeat, err);
        if (!apps->name[i] || read_app(object, &apps->app[i], &hits, err) < 0)
            rc = berth_error_before(err, "apps[%zu].", i);
    }
    json_object_put(taken);
    return rc;
}

static int read_machine(struct json_object *input, struct app_machine *machine,
                        struct berth_error *err)
{
    struct json_field field = {.name = "machine", .kind = JSON_STRUCT, .fields = machine_fields};

    *machine = (struct app_machine){.llc_bytes = NAN, .dram_gbps = NAN, .clock_ghz = NAN};
    return json_get(input, &field, machine, err);
}

static int read_all(struct ctl_apps *apps, struct json_object *input, bool repeat,
                    struct berth_error *err)
{
    struct json_object *list;

    *apps = (struct ctl_apps){0};
    if (ctl_input_list(input, "apps", json_type_object, &list, err) < 0)
        return -1;
    apps->n = json_object_array_length(list);
    apps->app = calloc(apps->n, sizeof(*apps->app));
    apps->name = calloc(apps->n, sizeof(*apps->name));
    apps->hits = calloc(apps->n, PROFILES * CTL_APPS_WAYS_MAX * sizeof(*apps->hits));
    if (!apps->app || !apps->name || !apps->hits)
        berth_error_set(err, "apps: out of memory");
    else if (read_machine(input, &apps->machine, err) == 0 &&
             read_list(apps, list, repeat, err) == 0)
        return 0;
    ctl_apps_free(apps);
    return -1;
}

int ctl_apps_read(struct ctl_apps *apps, struct json_object *input, struct berth_error *err)
{
    return read_all(apps, input, false, err);
}

int ctl_apps_read_workload(struct ctl_apps *apps, struct json_object *input,
                           struct berth_error *err)
{
    return read_all(apps, input, true, err);
}

void ctl_apps_free(struct ctl_apps *apps)
{
    free(apps->app);
    free(apps->name);
    free(apps->hits);
    *apps = (struct ctl_apps){0};
}

long ctl_apps_index(const struct ctl_apps *apps, const char *name)
{
    for (size_t i = 0; i < apps->n; i++)
        if (strcmp(apps->name[i], name) == 0)
            return (long)i;
    return -1;
}

size_t ctl_apps_members(const struct ctl_apps *apps, struct json_object *names, const char *what,
                        size_t most, size_t *member, struct berth_error *err)
{
    size_t n = json_object_array_length(names);

    if (n == 0 || n > most) {
        berth_error_set(err, "%s: 1 to %zu programs expected, not %zu", what, most, n);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct json_object *element = json_object_array_get_idx(names, i);
        const char *name =
            json_object_is_type(element, json_type_string) ? json_text(element) : NULL;
        long found = name ? ctl_apps_index(apps, name) : -1;

        if (found < 0) {
            berth_error_set(err, "%s[%zu]: %.300s is no program of apps", what, i,
                            json_object_to_json_string(element));
            return 0;
        }
        member[i] = (size_t)found;
    }
    return n;
}
