/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_counts - see render_counts.h */
#include "packer/daemon/render_counts.h"

#include <math.h>

#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/observe/reuse.h"
#include "packer/observe/window.h"

static struct json_object *estimate(double mean, double error)
{
    struct json_object *object;

    if (isnan(mean))
        return NULL;
    object = json_object_new_object();
    json_add_measure(object, "mean", mean);
    json_add_measure(object, "error", error);
    return object;
}

/* Rates of the present phase. */
static struct json_object *phase_rates(const struct step *step)
{
    struct json_object *object = json_object_new_object();
    double mean, error;

    for (size_t i = 0; i < RATES; i++)
        json_add(object, rate_info[i].name,
                 step_counts_rate(step, i, &mean, &error) ? estimate(mean, error) : NULL);
    return object;
}

/* Of the whole run, windows of one kind. */
static struct json_object *run_rates(const struct step_counts *counts, bool beside)
{
    const struct rate *rates = beside ? counts->beside : counts->alone;
    struct json_object *object = json_object_new_object(), *list = json_object_new_object();

    json_add_u64(object, "windows", counts->ended[beside]);
    json_add_double(object, "seconds", counts->seconds[beside]);
    for (size_t i = 0; i < RATES; i++)
        json_add(list, rate_info[i].name, estimate(rate_mean(&rates[i]), rate_error(&rates[i])));
    json_add(object, "rates", list);
    return object;
}

/* Its online stack-distance profile; NULL where there is none. */
static struct json_object *online_sdp(const struct packer *packer, const struct step *step)
{
    struct json_object *object;
    struct reuse_sdp sdp;

    if (reuse_sdp(packer, step, &sdp) < 0)
        return NULL;
    object = json_object_new_object();
    json_add(object, "hits", json_new_list(sdp.ways, &json_number, sdp.hits, sizeof(double)));
    json_add_measure(object, "misses", sdp.misses);
    json_add_measure(object, "misses_error", sdp.misses_error);
    json_add_u64(object, "samples", sdp.samples);
    return object;
}

static struct json_object *used_backends(const struct packer *packer)
{
    struct json_object *list = json_object_new_array();
    struct counters_about about;

    for (size_t i = 0; counters_about(packer->state->counters, i, &about); i++)
        if (about.used)
            json_append(list, json_object_new_string(about.name));
    return list;
}

struct json_object *render_counts(const struct packer *packer, const struct step *step)
{
    const struct step_counts *counts = step->counts;
    const struct counters_sample *last = counts ? &counts->last : NULL;
    struct json_object *object;

    if (!counts)
        return NULL;
    object = json_object_new_object();
    json_add(object, "backends", used_backends(packer));
    json_add_u64(object, "windows", counts->windows);
    json_add_u64(object, "phase", counts->phase.number);
    json_add(object, "rates", phase_rates(step));
    json_add(object, "alone", run_rates(counts, false));
    json_add(object, "beside", run_rates(counts, true));
    json_add(object, "sdp", online_sdp(packer, step));
    json_add_measure(object, "threads",
                     counters_know(last, COUNTER_THREADS) ? last->value[COUNTER_THREADS] : NAN);
    json_add(object, "rss_node",
             last->nodes ? json_new_list(last->nodes, &json_number, last->rss_node, sizeof(double))
                         : NULL);
    return object;
}

struct json_object *render_backends(const struct packer *packer)
{
    struct json_object *list = json_object_new_array(), *object;
    struct counters_about about;

    for (size_t i = 0; counters_about(packer->state->counters, i, &about); i++) {
        object = json_object_new_object();
        json_add_text(object, "name", about.name);
        json_add_bool(object, "used", about.used);
        json_add_text(object, "say", about.say);
        json_append(list, object);
    }
    return list;
}
