/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apps - {"apps":[...],"machine":{...}}: what a user says about programs and their machine, as
 * the models take it. */
#ifndef BERTH_LAB_PLAN_APPS_H
#define BERTH_LAB_PLAN_APPS_H

#include <json-c/json.h>
#include <stddef.h>

#include "models/slowdown/app.h"
#include "packer/base/error.h"

#define CTL_APPS_WAYS_MAX 64     /* of a profile and of the machine's cache */
#define CTL_APPS_NUMBER_MAX 1e12 /* a greater figure is a mistake, whatever it measures */
#define CTL_APPS_NAME_MAX 255    /* bytes */

struct ctl_apps {
    size_t n;
    struct app *app;   /* [n] */
    const char **name; /* [n], borrowed from the input: not empty, distinct but in a workload */
    struct app_machine machine;
    double *hits; /* of all profiles */
};

/* Reads and checks "apps" (at least one) and "machine" (may be absent: nothing is known of it).
 * Every figure is finite, not negative and at most CTL_APPS_NUMBER_MAX; what is absent or null is
 * unknown (app.h), but an app's cores: 1. Fields that are not app.h's are ignored. 0, or -1 and err
 * which names the field: "apps[2].sdp.hits[3]: -1: between 0 and ..". Free with ctl_apps_free. */
int ctl_apps_read(struct ctl_apps *apps, struct json_object *input, struct berth_error *err);

/* Reads a workload in the same way. A program may be there more than once: names need not be
 * distinct. */
int ctl_apps_read_workload(struct ctl_apps *apps, struct json_object *input,
                           struct berth_error *err);
void ctl_apps_free(struct ctl_apps *apps);

/* Returns the (first) app of that name; -1 when there is none. */
long ctl_apps_index(const struct ctl_apps *apps, const char *name);

/* Finds the programs that an array names, 1 to `most` of them. `what` is what errors call the
 * array: "groups[1][2]: "x" is no program of apps". Returns how many they are; 0 and err. */
size_t ctl_apps_members(const struct ctl_apps *apps, struct json_object *names, const char *what,
                        size_t most, size_t *member, struct berth_error *err);

#endif
