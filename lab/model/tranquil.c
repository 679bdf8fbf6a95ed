/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tranquil - the model tranquil: what is in effect after each burst of readings. */
#include <math.h>

#include "models/inside/tranquil.h"
#include "models/placing/dio_power.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

static const struct json_field reading = {.kind = JSON_NUMBER, .min = 0, .max = 1e12};

/* Reads up to TRANQUIL_READINGS values, which may be null; none where there is no list. */
static int read_values(struct json_object *burst, const char *key, double *value, size_t *n,
                       struct berth_error *err)
{
    struct json_object *list = NULL;

    for (size_t i = 0; i < TRANQUIL_READINGS; i++)
        value[i] = NAN;
    if (json_get_array(burst, key, JSON_OPTIONAL, &list, err) < 0)
        return -1;
    if (!list)
        return 0;
    *n = json_object_array_length(list);
    if (*n > TRANQUIL_READINGS)
        return berth_error_set(err, "%s: at most %d readings expected, not %zu", key,
                               TRANQUIL_READINGS, *n);
    return json_get_list(list, key, *n, &reading, value, sizeof(*value), err);
}

static int read_burst(struct json_object *object, struct tranquil_burst *burst,
                      struct berth_error *err)
{
    size_t miss = 0, icx = 0;

    if (read_values(object, "miss", burst->miss, &miss, err) < 0 ||
        read_values(object, "icx", burst->icx, &icx, err) < 0)
        return -1;
    if (!miss && !icx)
        return berth_error_set(err, "miss: missing, and icx, too");
    burst->n = miss > icx ? miss : icx;
    return 0;
}

static struct json_object *compare(double before, double before_sd, double after, double after_sd)
{
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

static int read_rules(struct json_object *input, struct tranquil_rules *rules,
                      struct berth_error *err)
{
    int rule = TRANQUIL_SIGNIFICANT;

    rules->miss = DIO_POWER_DEVIL_MISS_PMI;
    if (json_get_word(input, "rule", JSON_OPTIONAL, tranquil_rule_name, TRANQUIL_RULES, &rule,
                      err) < 0)
        return -1;
    rules->rule = (enum tranquil_rule)rule;
    return ctl_input_threshold(input, "miss_pmi", &rules->miss, err);
}

struct json_object *ctl_model_tranquil(struct json_object *input, struct berth_error *err)
{
    struct json_object *bursts, *after, *output;
    struct tranquil tranquil = {0};
    struct tranquil_rules rules;
    struct tranquil_burst burst;

    if (read_rules(input, &rules, err) < 0 ||
        ctl_input_list(input, "bursts", json_type_object, &bursts, err) < 0)
        return NULL;
    after = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(bursts); i++) {
        if (read_burst(json_object_array_get_idx(bursts, i), &burst, err) < 0) {
            berth_error_before(err, "bursts[%zu].", i);
            json_object_put(after);
            return NULL;
        }
        tranquil_burst(&tranquil, &rules, &burst);
        json_append(after, describe(&tranquil));
    }
    output = json_object_new_object();
    json_add(output, "after", after);
    return output;
}
