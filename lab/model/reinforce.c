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
static const struct profile unset = {.lock = NAN, .vcx = NAN, .migr = NAN};

struct input {
    double cores, t_min, t_max, t_step;
    struct reinforce_thresholds thresholds;
    struct profile *profile; /* with threads rising */
    size_t n;
};

static const struct json_field input_fields[] = {
    JSON_WHOLE(struct input, "cores", cores, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_min", t_min, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_max", t_max, REQUIRED, 1, MOST_THREADS),
    JSON_WHOLE(struct input, "t_step", t_step, REQUIRED, 1, MOST_THREADS),
    JSON_NESTED(struct input, "thresholds", thresholds, REQUIRED, threshold_fields),
    JSON_STRUCTS(struct input, "profiles", profile, n, OPTIONAL, 1, 0, profile_fields, &unset),
    JSON_END,
};

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

/* ---- the search ---- */

static double between(double a, double b, double part)
{
    return a + part * (b - a);
}

/* Finds the profile of so many threads. 0; 1: it is on the line between the next ones; -1: there is
 * none on one side. */
static int look_up(const struct profile *profile, size_t n, unsigned threads,
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
        int rc = look_up(profile, n, reinforce->next, &found);

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

static int add_search(void *of, struct json_object *output, struct berth_error *err)
{
    struct input *in = of;
    const struct reinforce_rules rules = {(unsigned)in->cores, (unsigned)in->t_min,
                                          (unsigned)in->t_max, (unsigned)in->t_step,
                                          in->thresholds};
    struct json_object *tried = json_object_new_array(), *line = json_object_new_array();
    struct reinforce reinforce = {0};
    int rc = -1;

    if (in->t_max < in->t_min)
        berth_error_set(err, "t_max: %g: at least t_min (%g) expected", in->t_max, in->t_min);
    else if (!in->profile)
        berth_error_set(err, "profiles: missing");
    else if (sort(in->profile, in->n, err) == 0)
        rc = search(&reinforce, &rules, in->profile, in->n, tried, line, err);
    json_add_u64(output, "threads", reinforce.best);
    json_add(output, "tried", tried);
    json_add_text(output, "ended", reinforce_end_name[reinforce.end]);
    if (json_object_array_length(line) > 0)
        json_add(output, "interpolated", line);
    else
        json_object_put(line);
    return rc;
}

CTL_FILTER(reinforce, struct input, input_fields, add_search,
           .thresholds = {NAN, NAN, NAN, NAN, NAN});
