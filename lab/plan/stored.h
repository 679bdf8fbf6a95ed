/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored - measured pairs of a workload's programs, from an export of `berthctl pairs` or from this
 * machine's profile store, as what was observed (plan/observed.h). */
#ifndef BERTH_LAB_PLAN_STORED_H
#define BERTH_LAB_PLAN_STORED_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "lab/plan/apps.h"
#include "packer/conf/conf.h"

/* Adds to workload["observed"] the pairs of which all programs are among the apps, in front of what
 * is there, the oldest first. A program is the app whose "key" it has, whose "tag" is its tag, or
 * whose name is its tag, its path, or its path's last element; an app of several cores is one
 * program on all of them. *added (may be NULL) is how many. 0, or -1 and err: in a file, "line N:
 * why". */
int ctl_stored_read_file(struct json_object *workload, const struct ctl_apps *apps,
                         const char *path, size_t *added, struct berth_error *err);

/* The same from the profile store of the configuration, as far as we may see it, of machines of
 * that type. */
int ctl_stored_read_store(struct json_object *workload, const struct ctl_apps *apps,
                          const struct conf *conf, const char *type, size_t *added,
                          struct berth_error *err);

#endif
