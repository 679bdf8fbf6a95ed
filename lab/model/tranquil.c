/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tranquil - the model tranquil: what is in effect after each burst of readings. */
#include <math.h>

#include "models/inside/tranquil.h"
#include "models/placing/dio_power.h"
#include "lab/model/models.h"

/* Readings of a burst; those that are null are NAN. */
struct readings {
    double *miss, *icx;
    size_t misses, icxs;
};

struct input {
    struct readings *burst;
    size_t n;
    struct {
        double miss_pmi;
    } thresholds;
    enum tranquil_rule rule;
};

static const double unknown = NAN;
#define READINGS(member, n)                                                                        \
    JSON_VALUES(struct readings, #member, member, n, OPTIONAL, 0, 0, &unknown, .max = 1e12)

static const struct json_field burst_fields[] = {READINGS(miss, misses), READINGS(icx, icxs),
                                                 JSON_END};
static const struct json_field threshold_fields[] = {
    JSON_RANGE(struct input, "miss_pmi", thresholds.miss_pmi, OPTIONAL, 0, HUGE_VAL),
    JSON_END,
};
static const struct json_field input_fields[] = {
    JSON_CHOICE(struct input, "rule", rule, OPTIONAL, tranquil_rule_name),
    {.name = "thresholds", .kind = JSON_STRUCT, .fields = threshold_fields},
    JSON_STRUCTS(struct input, "bursts", burst, n, REQUIRED, 1, 0, burst_fields, NULL),
    JSON_END,
};

/* Says which list of a burst is too long. */
static int check_readings(size_t i, const char *key, size_t n, struct berth_error *err)
{
    if (n <= TRANQUIL_READINGS)
        return 0;
    return berth_error_set(err, "bursts[%zu].%s: at most %d readings expected, not %zu", i, key,
                           TRANQUIL_READINGS, n);
}

static void fill(double *value, const double *list, size_t n)
{
    for (size_t i = 0; i < TRANQUIL_READINGS; i++)
        value[i] = i < n ? list[i] : NAN;
}

static struct json_object *compare(double before, double before_sd, double after, double after_sd)
{
    static const struct json_field reading = {.kind = JSON_NUMBER, .max = 1e12};
    double values[] = {before, before_sd, after, after_sd};

    return json_new_list(4, &reading, values, sizeof(values[0]));
}

/* The state, as explain has it. */
static struct json_object *describe(const struct tranquil *tranquil)
{
    struct json_object *output = json_object_new_object();
    const struct tranquil_profile *before = &tranquil->before, *after = &tranquil->after;
    unsigned slice_ms = tranquil->policy.slice_ms;

    json_add_text(output, "next", tranquil_state_name[tranquil->state]);
    json_add_u64(output, "pass", tranquil->pass);
    json_add_text(output, "memory", tranquil_memory_name[tranquil->policy.memory]);
    json_add_text(output, "class", slice_ms ? "batch" : "default");
    json_add(output, "slice_ms", slice_ms ? json_object_new_uint64(slice_ms) : NULL);
    if (!tranquil->tried || tranquil->state == TRANQUIL_TRIAL)
        return output;
    json_add_bool(output, "kept", tranquil->kept);
    json_add(output, "miss", compare(before->miss, before->miss_sd, after->miss, after->miss_sd));
    json_add(output, "icx", compare(before->icx, before->icx_sd, after->icx, after->icx_sd));
    return output;
}

static int follow_bursts(void *of, struct json_object *output, struct berth_error *err)
{
    const struct input *in = of;
    const struct tranquil_rules rules = {.miss = in->thresholds.miss_pmi, .rule = in->rule};
    struct json_object *after = json_object_new_array();
    struct tranquil tranquil = {0};

    json_add(output, "after", after);
    for (size_t i = 0; i < in->n; i++) {
        const struct readings *read = &in->burst[i];
        struct tranquil_burst burst = {.n = read->misses > read->icxs ? read->misses : read->icxs};

        if (check_readings(i, "miss", read->misses, err) < 0 ||
            check_readings(i, "icx", read->icxs, err) < 0)
            return -1;
        if (burst.n == 0)
            return berth_error_set(err, "bursts[%zu].miss: missing, and icx, too", i);
        fill(burst.miss, read->miss, read->misses);
        fill(burst.icx, read->icx, read->icxs);
        tranquil_burst(&tranquil, &rules, &burst);
        json_append(after, describe(&tranquil));
    }
    return 0;
}

CTL_FILTER(tranquil, struct input, input_fields, follow_bursts,
           .thresholds = {DIO_POWER_DEVIL_MISS_PMI}, .rule = TRANQUIL_SIGNIFICANT);
