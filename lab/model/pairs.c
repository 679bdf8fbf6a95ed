/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - the models that score pairs of programs: missrate, pain, sdc, animal.
 *
 * All have the same shape: what a scheme wants to know of each program is found once, then each
 * pair is scored from it. */
#include <math.h>
#include <stdlib.h>

#include "models/slowdown/animal.h"
#include "models/slowdown/missrate.h"
#include "models/slowdown/pain.h"
#include "models/slowdown/sdc.h"
#include "packer/base/json.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"
#include "lab/plan/apps.h"
#include "lab/plan/pairs.h"

/* Holds what the schemes know of one program, each its part. */
struct known {
    const struct app_sdp *sdp;
    size_t cache_ways; /* of the cache that all programs share */
    double miss_pmi;
    struct pain pain;
    enum animal animal;
};

struct study {
    struct ctl_apps apps;
    struct known *known; /* [apps.n] */
};

/* Ways of the cache that all programs share: the machine's, else of the largest profile. */
static size_t shared_ways(const struct ctl_apps *apps)
{
    size_t ways = apps->machine.llc_ways;

    for (size_t i = 0; apps->machine.llc_ways == 0 && i < apps->n; i++)
        if (apps->app[i].sdp.ways > ways)
            ways = apps->app[i].sdp.ways;
    return ways;
}

/* Studies the programs, each of which must have a profile. */
static int study_profiles(struct study *study, struct json_object *input, struct berth_error *err)
{
    const struct ctl_apps *apps = &study->apps;
    size_t ways = shared_ways(apps);

    (void)input;
    for (size_t i = 0; i < apps->n; i++) {
        const struct app_sdp *sdp = &apps->app[i].sdp;

        if (sdp->ways == 0)
            return berth_error_set(err, "apps[%zu].sdp: missing, %s has no stack-distance profile",
                                   i, apps->name[i]);
        study->known[i] = (struct known){.sdp = sdp, .cache_ways = ways, .pain = pain_of(sdp)};
    }
    return 0;
}

static int study_rates(struct study *study, struct json_object *input, struct berth_error *err)
{
    const struct ctl_apps *apps = &study->apps;

    (void)input;
    for (size_t i = 0; i < apps->n; i++) {
        study->known[i].miss_pmi = missrate_of(&apps->app[i]);
        if (isnan(study->known[i].miss_pmi))
            return berth_error_set(err, "apps[%zu].llc_mpki: missing, and %s has no sdp", i,
                                   apps->name[i]);
    }
    return 0;
}

static int read_limits(struct animal_limits *limits, struct json_object *input,
                       struct berth_error *err)
{
    *limits = (struct animal_limits){.devil_miss_pmi = ANIMAL_DEVIL_MISS_PMI,
                                     .turtle_access_pmi = ANIMAL_TURTLE_ACCESS_PMI,
                                     .rabbit_loss_pmi = ANIMAL_RABBIT_LOSS_PMI};
    if (ctl_input_threshold(input, "devil_miss_pmi", &limits->devil_miss_pmi, err) < 0 ||
        ctl_input_threshold(input, "turtle_access_pmi", &limits->turtle_access_pmi, err) < 0)
        return -1;
    return ctl_input_threshold(input, "rabbit_loss_pmi", &limits->rabbit_loss_pmi, err);
}

static int study_animals(struct study *study, struct json_object *input, struct berth_error *err)
{
    struct animal_limits limits;

    if (read_limits(&limits, input, err) < 0 || study_profiles(study, input, err) < 0)
        return -1;
    for (size_t i = 0; i < study->apps.n; i++)
        study->known[i].animal = animal_of(study->known[i].sdp, &limits);
    return 0;
}

/* Returns {"pairs":[...]}, or NULL and err. */
static struct json_object *study_score(const struct study *study,
                                       struct app_pair (*score)(const struct known *a,
                                                                const struct known *b),
                                       struct berth_error *err)
{
    struct app_pair *pair = ctl_pairs_alloc(&study->apps, err), *next = pair;
    struct json_object *pairs, *output;

    if (!pair)
        return NULL;
    for (size_t i = 0; i < study->apps.n; i++)
        for (size_t j = i; j < study->apps.n; j++)
            *next++ = score(&study->known[i], &study->known[j]);
    pairs = ctl_pairs_new(&study->apps, pair, NULL);
    output = json_object_new_object();
    if (pairs && output && json_object_object_add(output, "pairs", pairs) == 0)
        return output;
    json_object_put(output);
    json_object_put(pairs);
    berth_error_set(err, "apps: out of memory");
    return NULL;
}

/* Returns {"name":"class",...}. */
static struct json_object *list_classes(const struct study *study)
{
    struct json_object *classes = json_object_new_object();

    for (size_t i = 0; i < study->apps.n; i++)
        json_add(classes, study->apps.name[i],
                 json_object_new_string(animal_name(study->known[i].animal)));
    return classes;
}

/* ---- the schemes ---- */

static struct app_pair score_missrate(const struct known *a, const struct known *b)
{
    return missrate_pair(a->miss_pmi, b->miss_pmi);
}

static struct app_pair score_pain(const struct known *a, const struct known *b)
{
    return pain_pair(&a->pain, &b->pain);
}

static struct app_pair score_sdc(const struct known *a, const struct known *b)
{
    return sdc_pair(a->sdp, b->sdp, a->cache_ways);
}

static struct app_pair score_animal(const struct known *a, const struct known *b)
{
    return animal_pair(a->animal, b->animal);
}

static struct json_object *
score_all(struct json_object *input,
          int (*learn)(struct study *study, struct json_object *input, struct berth_error *err),
          struct app_pair (*score)(const struct known *a, const struct known *b),
          struct berth_error *err)
{
    struct json_object *output = NULL;
    struct study study = {.known = NULL};

    if (ctl_apps_read(&study.apps, input, err) < 0)
        return NULL;
    study.known = calloc(study.apps.n, sizeof(*study.known));
    if (!study.known)
        berth_error_set(err, "apps: out of memory");
    else if (learn(&study, input, err) == 0)
        output = study_score(&study, score, err);
    if (output && learn == study_animals)
        json_add(output, "classes", list_classes(&study));
    free(study.known);
    ctl_apps_free(&study.apps);
    return output;
}

#define SCHEME(name, learn)                                                                        \
    static struct json_object *name##_pairs(struct json_object *input, struct berth_error *err)    \
    {                                                                                              \
        return score_all(input, learn, score_##name, err);                                         \
    }                                                                                              \
    const struct ctl_filter ctl_filter_##name = {.whole = name##_pairs};
SCHEME(missrate, study_rates)
SCHEME(pain, study_profiles)
SCHEME(sdc, study_profiles)
SCHEME(animal, study_animals)
