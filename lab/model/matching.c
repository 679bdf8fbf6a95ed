/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matching - the perfect policy as a filter: who should share a cache with whom, when it
 * is known what each suffers beside each. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "models/partition/partition.h"
#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "lab/plan/apps.h"

#define BOUND_GROUPS 4000000 /* these take some seconds, and a hundred megabytes */

struct input {
    struct json_object *names;
    double *degradation; /* [n * n] */
    struct partition partition;
    double time_limit_s;
};

/* ---- the input ---- */

static int compare_names(const void *a, const void *b)
{
    struct json_object *const *x = a, *const *y = b;

    return strcmp(json_object_get_string(*x), json_object_get_string(*y));
}

/* Checks that all names differ; sorted has room for them. */
static int check_distinct(struct json_object *names, struct json_object **sorted,
                          struct berth_error *err)
{
    size_t n = json_object_array_length(names), last = n - 1;

    for (size_t i = 0; i < n; i++)
        sorted[i] = json_object_array_get_idx(names, i);
    qsort(sorted, n, sizeof(struct json_object *), compare_names);
    for (size_t i = 1; i < n; i++) {
        if (compare_names(&sorted[i - 1], &sorted[i]) != 0)
            continue;
        while (json_object_array_get_idx(names, last) != sorted[i - 1] &&
               json_object_array_get_idx(names, last) != sorted[i])
            last--;
        return berth_error_set(err, "apps[%zu]: %s is there twice", last,
                               json_object_to_json_string(sorted[i]));
    }
    return 0;
}

static int check_names(struct json_object *names, struct berth_error *err)
{
    size_t n = json_object_array_length(names);
    struct json_object **sorted;
    int rc;

    for (size_t i = 0; i < n; i++) {
        const char *name = json_text(json_object_array_get_idx(names, i));

        if (!name || !name[0] || strlen(name) > CTL_APPS_NAME_MAX)
            return berth_error_set(err, "apps[%zu]: a name of 1 to %d bytes expected", i,
                                   CTL_APPS_NAME_MAX);
    }
    sorted = calloc(n, sizeof(struct json_object *));
    if (!sorted)
        return berth_error_set(err, "apps: out of memory");
    rc = check_distinct(names, sorted, err);
    free(sorted);
    return rc;
}

static int read_degradation(struct input *input, struct json_object *object,
                            struct berth_error *err)
{
    static const struct json_field item = {.kind = JSON_NUMBER,
                                           .need = JSON_REQUIRED,
                                           .min = -CTL_APPS_NUMBER_MAX,
                                           .max = CTL_APPS_NUMBER_MAX};
    size_t n = input->partition.n;

    input->degradation = calloc(n * n, sizeof(*input->degradation));
    if (!input->degradation)
        return berth_error_set(err, "degradation: out of memory");
    return json_get_matrix(json_find(object, "degradation"), "degradation", n, n, &item,
                           input->degradation, sizeof(*input->degradation), err);
}

/* Reads "group", "groups" and "time_limit_s". */
static int read_caches(struct input *input, struct json_object *object, struct berth_error *err)
{
    size_t n = input->partition.n, least;
    uint32_t group = 2, groups;

    if (json_get_u32(object, "group", JSON_OPTIONAL, &group, err) < 0)
        return -1;
    if (group == 0)
        return berth_error_set(err, "group: at least 1 expected");
    least = (n - 1) / group + 1;
    groups = (uint32_t)least;
    if (json_get_u32(object, "groups", JSON_OPTIONAL, &groups, err) < 0)
        return -1;
    if (groups < least)
        return berth_error_set(err, "groups: %zu programs need at least %zu groups of %u", n, least,
                               group);
    input->partition.group = group;
    input->partition.groups = groups;
    return ctl_input_time_limit(object, &input->time_limit_s, err);
}

static int input_read(struct input *input, struct json_object *object, struct berth_error *err)
{
    *input = (struct input){0};
    if (ctl_input_list(object, "apps", json_type_string, &input->names, err) < 0)
        return -1;
    input->partition.n = json_object_array_length(input->names);
    if (input->partition.n > PARTITION_PROGRAMS_MAX)
        return berth_error_set(err, "apps: at most %d expected", PARTITION_PROGRAMS_MAX);
    if (check_names(input->names, err) < 0 || read_caches(input, object, err) < 0)
        return -1;
    return read_degradation(input, object, err);
}

/* ---- the answer ---- */

/* Returns the names of each group. */
static struct json_object *name_groups(const struct input *input, const size_t *group_of)
{
    struct json_object *groups = json_object_new_array();

    for (size_t i = 0; i < input->partition.n; i++) {
        if (group_of[i] == json_object_array_length(groups))
            json_append(groups, json_object_new_array());
        json_append(json_object_array_get_idx(groups, group_of[i]),
                    json_object_get(json_object_array_get_idx(input->names, i)));
    }
    return groups;
}

/* Returns how far the total may be above the optimum, as a fraction of the total. */
static double gap(const struct partition_found *found)
{
    if (found->optimal)
        return 0;
    return found->total == 0 ? INFINITY : (found->total - found->bound) / fabs(found->total);
}

static struct json_object *describe(const struct input *input, const size_t *group_of,
                                    const struct partition_found *found)
{
    struct json_object *output = json_object_new_object();

    json_add(output, "groups", name_groups(input, group_of));
    json_add_double(output, "total", found->total);
    if (!found->optimal ||
        (input->partition.group > 2 && input->partition.n > PARTITION_EXACT_MAX)) {
        json_add_number(output, "lower_bound", found->bound);
        json_add_measure(output, "gap", gap(found));
        json_add_text(output, "status", found->optimal ? "optimal" : "feasible");
    }
    return output;
}

static struct json_object *solve(struct input *input, struct berth_error *err)
{
    struct partition *partition = &input->partition;
    struct partition_pairs pairs = {.n = partition->n, .degradation = input->degradation};
    double end_s = clock_s() + input->time_limit_s;
    size_t *group_of = calloc(partition->n, sizeof(*group_of));
    struct json_object *output = NULL;
    struct partition_found found;

    partition->cost = partition_pairs_cost;
    partition->arg = &pairs;
    partition->pairwise = true;
    partition->stop = ctl_input_is_late;
    partition->stop_arg = &end_s;
    partition->bound_groups = BOUND_GROUPS;
    if (group_of && partition_solve(partition, group_of, &found) == 0)
        output = describe(input, group_of, &found);
    else
        berth_error_set(err, "degradation: %s", strerror(errno));
    free(group_of);
    return output;
}

static struct json_object *matching_of(struct json_object *object, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct input input;

    if (input_read(&input, object, err) == 0)
        output = solve(&input, err);
    free(input.degradation);
    return output;
}

const struct ctl_filter ctl_filter_matching = {.whole = matching_of};
