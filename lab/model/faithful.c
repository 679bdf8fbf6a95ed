/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faithful - the model faithful: the quantum of one sample, or the changes along a series. */
#include <math.h>

#include "models/inside/faithful.h"
#include "lab/model/models.h"

struct sample {
    double miss_ratio, lock; /* NAN: not known */
};
#define UNKNOWN                                                                                    \
    {                                                                                              \
        NAN, NAN                                                                                   \
    }

struct input {
    struct sample one, *series;
    size_t n;
};

#define SAMPLE(type, of)                                                                           \
    JSON_RANGE(type, "miss_ratio", of miss_ratio, OPTIONAL, 0, 1),                                 \
        JSON_RANGE(type, "lock", of lock, OPTIONAL, 0, 1)

static const struct json_field sample_fields[] = {SAMPLE(struct sample, ), JSON_END};
static const struct json_field input_fields[] = {
    SAMPLE(struct input, one.),
    JSON_STRUCTS(struct input, "samples", series, n, OPTIONAL, 1, 0, sample_fields,
                 &(const struct sample)UNKNOWN),
    JSON_END,
};

static void add_quantum(struct json_object *output, double scaling, unsigned quantum_ms)
{
    json_add_double(output, "scaling", scaling);
    json_add_u64(output, "quantum_ms", quantum_ms);
}

static struct json_object *changes_of(const struct input *in)
{
    struct json_object *changes = json_object_new_array(), *change;
    struct faithful faithful = {0};

    for (size_t i = 0; i < in->n; i++) {
        if (!faithful_take(&faithful, in->series[i].miss_ratio, in->series[i].lock))
            continue;
        change = json_object_new_object();
        json_add_u64(change, "sample", i);
        add_quantum(change, faithful.scaling, faithful.quantum_ms);
        json_append(changes, change);
    }
    return changes;
}

static int add_quanta(void *of, struct json_object *output, struct berth_error *err)
{
    const struct input *in = of;
    double scaling = faithful_scaling(in->one.miss_ratio, in->one.lock);

    if (in->series)
        json_add(output, "changes", changes_of(in));
    else if (isnan(scaling))
        return berth_error_set(err, "miss_ratio: missing, and lock, too; or samples");
    else
        add_quantum(output, scaling, faithful_quantum_ms(scaling));
    return 0;
}

CTL_FILTER(faithful, struct input, input_fields, add_quanta, .one = UNKNOWN);
