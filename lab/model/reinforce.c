/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reinforce - the model reinforce: Thread Reinforcer's search over profiles that are given.
 *
 * The search asks for counts that a published table may not have. One between two that are given
 * has its figures on the line between theirs, and the answer names it: it was not measured. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/inside/reinforce.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

#define MOST_THREADS 65536
#define MOST 1e12

#define THRESHOLD(member, need)                                                                    \
    JSON_RANGE(struct reinforce_thresholds, #member, member, need, -MOST, MOST)

static const struct json_field threshold_fields[] = {
    THRESHOLD(cpu_util_delta, REQUIRED), THRESHOLD(lock, OPTIONAL),
    THRESHOLD(lock_delta, OPTIONAL),     THRESHOLD(vcx_delta, OPTIONAL),
    THRESHOLD(migr_delta, OPTIONAL),     JSON_END,
};

struct input {
    double cores, t_min, t_max, t_step;
    struct reinforce_thresholds thresholds;
};

static const struct json_field input_fields[] = {
    JSON_WHOLE(struct input, "cores", cores, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_min", t_min, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_max", t_max, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_step", t_step, REQUIRED, 1, MOST_THREADS),
    JSON_NESTED(struct input, "thresholds", thresholds, REQUIRED, threshold_fields),
    JSON_END,
};

struct profile {
    double threads, cpu_util, lock, vcx, migr;
};

static const struct json_field profile_fields[] = {
    JSON_WHOLE(struct profile, "threads", threads, REQUIRED, 1, MOST_THREADS),
    JSON_RANGE(struct profile, "cpu_util", cpu_util, REQUIRED, 0, MOST),
    JSON_RANGE(struct profile, "lock", lock, OPTIONAL, 0, MOST),
    JSON_RANGE(struct profile, "vcx", vcx, OPTIONAL, 0, MOST),
    JSON_RANGE(struct profile, "migr", migr, OPTIONAL, 0, MOST),
    JSON_END,
};
static const struct json_field profile_item = {
    .kind = JSON_STRUCT, .need = JSON_REQUIRED, .fields = profile_fields};

/* ---- the input ---- */

static int read_rules(struct json_object *object, struct reinforce_rules *rules,
                      struct berth_error *err)
{
    struct input input = {.thresholds = {NAN, NAN, NAN, NAN, NAN}};

    if (json_read(object, input_fields, &input, err) < 0)
        return -1;
    if (input.t_max < input.t_min)
        return berth_error_set(err, "t_max: %g: at least t_min (%g) expected", input.t_max,
                               input.t_min);
    *rules =
        (struct reinforce_rules){(unsigned)input.cores, (unsigned)input.t_min,
                                 (unsigned)input.t_max, (unsigned)input.t_step, input.thresholds};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct profile *x = a, *y = b;

    return (x->threads > y->threads) - (x->threads < y->threads);
}

/* Orders them by their threads. Of one number there may be one profile: 0, or -1 and err. */
static int sort(struct profile *profile, size_t n, struct berth_error *err)
{
    qsort(profile, n, sizeof(*profile), compare);
    for (size_t i = 1; i < n; i++)
        if (profile[i].threads == profile[i - 1].threads)
            return berth_error_set(err, "profiles: two of %g threads", profile[i].threads);
    return 0;
}

/* Returns the profiles, with threads rising, which the caller frees. */
static struct profile *read_profiles(struct json_object *object, size_t *n, struct berth_error *err)
{
    struct json_object *list;
    struct profile *profile;

    if (ctl_input_list(object, "profiles", json_type_object, &list, err) < 0)
        return NULL;
    *n = json_object_array_length(list);
    profile = calloc(*n, sizeof(*profile));
    if (!profile) {
        berth_error_set(err, "profiles: %s", strerror(ENOMEM));
        return NULL;
    }
    for (size_t i = 0; i < *n; i++)
        profile[i].lock = profile[i].vcx = profile[i].migr = NAN;
    if (json_get_list(list, "profiles", *n, &profile_item, profile, sizeof(*profile), err) == 0 &&
        sort(profile, *n, err) == 0)
        return profile;
    free(profile);
    return NULL;
}

/* ---- the search ---- */

static double between(double a, double b, double part)
{
    return a + part * (b - a);
}

/* Finds the profile of so many threads. 0; 1: it is on the line between the next ones; -1: there is
 * none on one side. */
static int find(const struct profile *profile, size_t n, unsigned threads,
                struct reinforce_profile *found)
{
    const struct profile *a, *b;
    double part;
    size_t i = 0;

    while (i < n && profile[i].threads < threads)
        i++;
    if (i == n || (i == 0 && profile[i].threads > threads))
        return -1;
    b = &profile[i];
    a = b->threads > threads ? b - 1 : b;
    part = a == b ? 0 : (threads - a->threads) / (b->threads - a->threads);
    *found = (struct reinforce_profile){
        between(a->cpu_util, b->cpu_util, part), between(a->lock, b->lock, part),
        between(a->vcx, b->vcx, part), between(a->migr, b->migr, part)};
    return a != b;
}

/* Runs the search, and adds the counts to lists: those that were tried, and of these the ones that
 * are between two profiles. 0, or -1 and err where one has no profile. */
static int search(struct reinforce *reinforce, const struct reinforce_rules *rules,
                  const struct profile *profile, size_t n, struct json_object *tried,
                  struct json_object *line, struct berth_error *err)
{
    reinforce_init(reinforce, rules);
    while (reinforce->next) {
        struct reinforce_profile found;
        int rc = find(profile, n, reinforce->next, &found);

        if (rc < 0)
            return berth_error_set(err, "profiles: none of %u threads, which are tried next",
                                   reinforce->next);
        json_append(tried, json_object_new_int64(reinforce->next));
        if (rc > 0)
            json_append(line, json_object_new_int64(reinforce->next));
        reinforce_run(reinforce, rules, &found);
    }
    return 0;
}

static struct json_object *answer(const struct reinforce_rules *rules,
                                  const struct profile *profile, size_t n, struct berth_error *err)
{
    struct json_object *output = json_object_new_object();
    struct json_object *tried = json_object_new_array(), *line = json_object_new_array();
    struct reinforce reinforce;
    int rc = search(&reinforce, rules, profile, n, tried, line, err);

    json_add_u64(output, "threads", reinforce.best);
    json_add(output, "tried", tried);
    json_add_text(output, "ended", reinforce_end_name[reinforce.end]);
    if (json_object_array_length(line) > 0)
        json_add(output, "interpolated", line);
    else
        json_object_put(line);
    if (rc == 0)
        return output;
    json_object_put(output);
    return NULL;
}

struct json_object *ctl_model_reinforce(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct reinforce_rules rules;
    struct profile *profile;
    size_t n;

    if (read_rules(input, &rules, err) < 0)
        return NULL;
    profile = read_profiles(input, &n, err);
    if (profile)
        output = answer(&rules, profile, n, err);
    free(profile);
    return output;
}
