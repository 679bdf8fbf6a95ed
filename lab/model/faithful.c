/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful - the model faithful: the quantum of one sample, or the changes along a series. */
#include <math.h>

#include "models/inside/faithful.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "lab/model/models.h"

struct sample {
    double miss_ratio, lock; /* NAN: not known */
};

static const struct json_field sample_fields[] = {
    JSON_RANGE(struct sample, "miss_ratio", miss_ratio, OPTIONAL, 0, 1),
    JSON_RANGE(struct sample, "lock", lock, OPTIONAL, 0, 1),
    JSON_END,
};

static int read_sample(struct json_object *object, struct sample *sample, struct berth_error *err)
{
    *sample = (struct sample){NAN, NAN};
    return json_read(object, sample_fields, sample, err);
}

static void add_quantum(struct json_object *output, double scaling, unsigned quantum_ms)
{
    json_add_double(output, "scaling", scaling);
    json_add_u64(output, "quantum_ms", quantum_ms);
}

static struct json_object *answer_one(struct json_object *input, struct berth_error *err)
{
    struct json_object *output;
    struct sample sample;
    double scaling;

    if (read_sample(input, &sample, err) < 0)
        return NULL;
    scaling = faithful_scaling(sample.miss_ratio, sample.lock);
    if (isnan(scaling)) {
        berth_error_set(err, "miss_ratio: missing, and lock, too; or samples");
        return NULL;
    }
    output = json_object_new_object();
    add_quantum(output, scaling, faithful_quantum_ms(scaling));
    return output;
}

static struct json_object *answer_series(struct json_object *input, struct berth_error *err)
{
    struct json_object *samples, *changes, *change, *output;
    struct faithful faithful = {0};
    struct sample sample;

    if (ctl_input_list(input, "samples", json_type_object, &samples, err) < 0)
        return NULL;
    changes = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(samples); i++) {
        if (read_sample(json_object_array_get_idx(samples, i), &sample, err) < 0) {
            json_object_put(changes);
            berth_error_before(err, "samples[%zu].", i);
            return NULL;
        }
        if (!faithful_take(&faithful, sample.miss_ratio, sample.lock))
            continue;
        change = json_object_new_object();
        json_add_u64(change, "sample", i);
        add_quantum(change, faithful.scaling, faithful.quantum_ms);
        json_append(changes, change);
    }
    output = json_object_new_object();
    json_add(output, "changes", changes);
    return output;
}

struct json_object *ctl_model_faithful(struct json_object *input, struct berth_error *err)
{
    return json_find(input, "samples") ? answer_series(input, err) : answer_one(input, err);
}
