/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apps - see apps.h */
#include "packer/cli/plan/apps.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"

/* Fields that are one number; `name` is the key too. */
struct figure {
    const char *name;
    size_t offset;
};

#define FIGURE(type, name)                                                                         \
    {                                                                                              \
#name, offsetof(struct type, name)                                                         \
    }

static const struct figure app_figures[] = {
    FIGURE(app, ipc),           FIGURE(app, llc_apki),
    FIGURE(app, llc_mpki),      FIGURE(app, llc_demand_mpki),
    FIGURE(app, llc_wb_apki),   FIGURE(app, mem_gbps),
    FIGURE(app, mem_read_gbps), FIGURE(app, mem_write_gbps),
};
static const struct figure app_profiles[] = {
    FIGURE(app, sdp),
    FIGURE(app, sdp_demand),
    FIGURE(app, sdp_prefetch),
    FIGURE(app, sdp_writeback),
};
static const struct figure machine_figures[] = {
    FIGURE(app_machine, llc_bytes),
    FIGURE(app_machine, dram_gbps),
    FIGURE(app_machine, clock_ghz),
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int check_figure(const char *name, double value, struct berth_error *err)
{
    if (value < 0)
        return berth_error_set(err, "%s: negative", name);
    if (value > CTL_APPS_NUMBER_MAX)
        return berth_error_set(err, "%s: greater than %g", name, CTL_APPS_NUMBER_MAX);
    return 0;
}

/* Reads one figure; NAN where it is absent. */
static int read_figure(struct json_object *object, const char *key, enum json_need need,
                       double *value, struct berth_error *err)
{
    *value = NAN;
    return json_get_double(object, key, need, value, err) < 0 ? -1 : check_figure(key, *value, err);
}

static int read_figures(struct json_object *object, const struct figure *figure, size_t n,
                        void *into, struct berth_error *err)
{
    for (size_t i = 0; i < n; i++) {
        double *value = (double *)((char *)into + figure[i].offset);

        if (read_figure(object, figure[i].name, JSON_OPTIONAL, value, err) < 0)
            return -1;
    }
    return 0;
}

/* Reads a count from 1 to `most`; *count stays as it is where the field is absent. */
static int read_count(struct json_object *object, const char *key, uint32_t most, size_t *count,
                      struct berth_error *err)
{
    uint32_t value = 0;

    if (json_get_u32(object, key, JSON_OPTIONAL, &value, err) < 0)
        return -1;
    if (value == 0 && json_object_object_get(object, key))
        return berth_error_set(err, "%s: at least 1 expected", key);
    if (value > most)
        return berth_error_set(err, "%s: at most %u expected", key, most);
    if (value > 0)
        *count = value;
    return 0;
}

/* ---- profiles ---- */

static int read_hits(struct json_object *list, double *hits, struct berth_error *err)
{
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        struct json_object *hit = json_object_array_get_idx(list, i);
        char name[32];

        snprintf(name, sizeof(name), "hits[%zu]", i);
        if (!json_object_is_type(hit, json_type_double) && !json_object_is_type(hit, json_type_int))
            return berth_error_set(err, "%s: number expected, not %s", name,
                                   json_type_to_name(json_object_get_type(hit)));
        hits[i] = json_object_get_double(hit);
        if (!isfinite(hits[i]))
            return berth_error_set(err, "%s: not a finite number", name);
        if (check_figure(name, hits[i], err) < 0)
            return -1;
    }
    return 0;
}

/* Reads one profile, with its hits from *hits on, which then points behind them. The profile has no
 * ways where it is absent. */
static int read_profile(struct json_object *app, const char *key, struct app_sdp *sdp,
                        double **hits, struct berth_error *err)
{
    struct json_object *object = NULL, *list;
    struct berth_error why;

    if (json_get_object(app, key, JSON_OPTIONAL, &object, err) < 0)
        return -1;
    if (!object)
        return 0;
    if (json_get_array(object, "hits", JSON_REQUIRED, &list, &why) < 0)
        return berth_error_set(err, "%s.%.400s", key, why.text);
    sdp->ways = json_object_array_length(list);
    if (sdp->ways == 0 || sdp->ways > CTL_APPS_WAYS_MAX)
        return berth_error_set(err, "%s.hits: 1 to %d ways expected, not %zu", key,
                               CTL_APPS_WAYS_MAX, sdp->ways);
    if (read_hits(list, *hits, &why) < 0 ||
        read_figure(object, "misses", JSON_REQUIRED, &sdp->misses, &why) < 0)
        return berth_error_set(err, "%s.%.400s", key, why.text);
    sdp->hits = *hits;
    *hits += sdp->ways;
    return 0;
}

/* ---- apps ---- */

static int read_app(struct json_object *object, struct app *app, double **hits,
                    struct berth_error *err)
{
    *app = (struct app){.cores = 1};
    if (read_figures(object, app_figures, COUNT(app_figures), app, err) < 0 ||
        read_count(object, "cores", UINT32_MAX, &app->cores, err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT(app_profiles); i++) {
        struct app_sdp *sdp = (struct app_sdp *)((char *)app + app_profiles[i].offset);

        if (read_profile(object, app_profiles[i].name, sdp, hits, err) < 0)
            return -1;
    }
    return 0;
}

/* Returns the app's name, borrowed; `taken` has the names before it, which it may `repeat` or not.
 * NULL and err. */
static const char *read_name(struct json_object *app, struct json_object *taken, bool repeat,
                             struct berth_error *err)
{
    struct json_object *field = json_object_object_get(app, "name");
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
    else
        return json_object_object_add(taken, name, NULL) == 0 ? name : NULL;
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
        struct berth_error why = {"out of memory"};

        apps->name[i] = read_name(object, taken, repeat, &why);
        if (!apps->name[i] || read_app(object, &apps->app[i], &hits, &why) < 0)
            rc = berth_error_set(err, "apps[%zu].%.400s", i, why.text);
    }
    json_object_put(taken);
    return rc;
}

static int read_machine(struct json_object *input, struct app_machine *machine,
                        struct berth_error *err)
{
    struct json_object *object = NULL;
    struct berth_error why;

    *machine = (struct app_machine){.llc_bytes = NAN, .dram_gbps = NAN, .clock_ghz = NAN};
    if (json_get_object(input, "machine", JSON_OPTIONAL, &object, err) < 0)
        return -1;
    if (!object)
        return 0;
    if (read_figures(object, machine_figures, COUNT(machine_figures), machine, &why) < 0 ||
        read_count(object, "llc_ways", CTL_APPS_WAYS_MAX, &machine->llc_ways, &why) < 0 ||
        read_count(object, "line_bytes", 65536, &machine->line_bytes, &why) < 0 ||
        json_get_bool(object, "own_prefetchers", JSON_OPTIONAL, &machine->own_prefetchers, &why) <
            0)
        return berth_error_set(err, "machine.%.400s", why.text);
    return 0;
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
    apps->hits = calloc(apps->n, COUNT(app_profiles) * CTL_APPS_WAYS_MAX * sizeof(*apps->hits));
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
