/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dramon - the model dramon: the bandwidth that cores of one node draw from its memory.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/numa/dramon.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
#include "packer/cli/model/models.h"

#define MOST_NS 1e9 /* a second */
#define LEAST 1e-9  /* of what must be more than 0 */

#define HARDWARE(field) offsetof(struct dramon_hardware, field)
static const struct ctl_number hardware_numbers[] = {
    {"channels", HARDWARE(channels), 1, 1e6, true, false},
    {"banks", HARDWARE(banks), 1, 1e6, true, false},
    {"tRCD_ns", HARDWARE(trcd_ns), 0, MOST_NS, false, false},
    {"tCAS_ns", HARDWARE(tcas_ns), 0, MOST_NS, false, false},
    {"tRP_ns", HARDWARE(trp_ns), 0, MOST_NS, false, false},
    {"tBurst_ns", HARDWARE(tburst_ns), LEAST, MOST_NS, false, false},
    {"tWR_ns", HARDWARE(twr_ns), 0, MOST_NS, false, false},
    {"tRTRS_ns", HARDWARE(trtrs_ns), 0, MOST_NS, false, false},
    {"tWTR_ns", HARDWARE(twtr_ns), 0, MOST_NS, false, false},
    {"tCK_ns", HARDWARE(tck_ns), 0, MOST_NS, false, false},
    {"request_bytes", HARDWARE(request_bytes), LEAST, 1e12, false, false},
    {"auto_close", HARDWARE(auto_close), 0, 1e12, false, false},
};

#define SOFTWARE(field) offsetof(struct dramon_software, field)
static const struct ctl_number software_numbers[] = {
    {"issue_rate_single", SOFTWARE(issue_rate_single), 0, 1e12, false, false},
    {"hit", SOFTWARE(hit), 0, 1, false, false},
    {"miss", SOFTWARE(miss), 0, 1, false, false},
    {"conflict", SOFTWARE(conflict), 0, 1, false, false},
    {"read_ratio", SOFTWARE(read_ratio), 0, 1, false, false},
    {"wtr", SOFTWARE(wtr), 0, 1, false, false},
    {"rtr", SOFTWARE(rtr), 0, 1, false, false},
    {"ranks", SOFTWARE(ranks), 1, 1e6, true, false},
    {"same_row", SOFTWARE(same_row), 0, 1, false, true},
    {"same_bank", SOFTWARE(same_bank), 0, 1, false, true},
    {"other_channel", SOFTWARE(other_channel), 0, 1, false, true},
};
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct input {
    struct dramon_hardware hardware;
    struct dramon_software software;
    struct dramon_brd brd[DRAMON_BRD_MAX];
    double cores;
};

/* ---- the input ---- */

/* Reads one field of "brd": a distance is the key, its probability the value. */
static int read_brd(const char *key, struct json_object *value, struct dramon_brd *brd,
                    struct berth_error *err)
{
    char *end;

    brd->distance = strtod(key, &end);
    if (end == key || *end || !(brd->distance > 0 && brd->distance <= 1e12))
        return berth_error_set(err, "brd: \"%.64s\": a distance in requests, above 0, expected",
                               key);
    if (!json_object_is_type(value, json_type_double) && !json_object_is_type(value, json_type_int))
        return berth_error_set(err, "brd.%.64s: a number expected, not %s", key,
                               json_type_to_name(json_object_get_type(value)));
    brd->probability = json_object_get_double(value);
    if (!(brd->probability >= 0 && brd->probability <= 1))
        return berth_error_set(err, "brd.%.64s: %.12g: between 0 and 1 expected", key,
                               brd->probability);
    return 0;
}

/* Reads "brd", or where it is absent takes the distances of section 4.5.3. */
static int read_brds(struct json_object *object, struct input *input, struct berth_error *err)
{
    struct json_object *brds = NULL;
    double sum = 0;
    size_t n = 0;

    input->software.brd = dramon_brd_runtime;
    input->software.brds = DRAMON_BRDS_RUNTIME;
    if (json_get_object(object, "brd", JSON_OPTIONAL, &brds, err) < 0)
        return -1;
    if (!brds)
        return 0;
    if (json_object_object_length(brds) > DRAMON_BRD_MAX)
        return berth_error_set(err, "brd: at most %d distances expected", DRAMON_BRD_MAX);
    json_object_object_foreach(brds, key, value)
    {
        if (read_brd(key, value, &input->brd[n], err) < 0)
            return -1;
        sum += input->brd[n++].probability;
    }
    input->software.brd = input->brd;
    input->software.brds = n;
    if (fabs(sum - 1) > DRAMON_SUM_TOLERANCE)
        return berth_error_set(err, "brd: probabilities that sum to 1 expected, not to %g", sum);
    return 0;
}

static int read_software(struct json_object *object, struct input *input, struct berth_error *err)
{
    struct dramon_software *sw = &input->software;
    double sum;

    *sw = (struct dramon_software){.same_row = NAN, .same_bank = NAN, .other_channel = NAN};
    if (ctl_input_numbers(object, software_numbers, COUNT(software_numbers), sw, err) < 0)
        return -1;
    sum = sw->hit + sw->miss + sw->conflict;
    if (fabs(sum - 1) > DRAMON_SUM_TOLERANCE)
        return berth_error_set(err, "hit, miss and conflict: a sum of 1 expected, not %g", sum);
    return read_brds(object, input, err);
}

static int input_read(struct input *input, struct json_object *object, struct berth_error *err)
{
    static const struct ctl_number cores = {"cores", 0, 1, DRAMON_CORES_MAX, true, false};
    struct json_object *hardware, *software;
    struct berth_error why;

    if (json_get_object(object, "hardware", JSON_REQUIRED, &hardware, err) < 0 ||
        json_get_object(object, "software", JSON_REQUIRED, &software, err) < 0)
        return -1;
    if (ctl_input_numbers(hardware, hardware_numbers, COUNT(hardware_numbers), &input->hardware,
                          &why) < 0)
        return berth_error_set(err, "hardware.%.400s", why.text);
    if (read_software(software, input, &why) < 0)
        return berth_error_set(err, "software.%.400s", why.text);
    return ctl_input_numbers(object, &cores, 1, &input->cores, err);
}

/* ---- the answer ---- */

static struct json_object *answer(const struct dramon_point *point, size_t n)
{
    struct json_object *output = json_object_new_object(), *curve = json_object_new_array();

    for (size_t i = 0; i < n; i++) {
        struct json_object *one = json_object_new_object();

        json_add_u64(one, "cores", point[i].cores);
        json_add_double(one, "gbps", point[i].gbps);
        json_add_double(one, "hit", point[i].hit);
        json_add_double(one, "miss", point[i].miss);
        json_add_double(one, "conflict", point[i].conflict);
        json_add_double(one, "latency_ns", point[i].latency_ns);
        json_object_array_add(curve, one);
    }
    json_object_object_add(output, "curve", curve);
    return output;
}

struct json_object *ctl_model_dramon(struct json_object *input, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct dramon_point *point;
    struct input in;

    if (input_read(&in, input, err) < 0)
        return NULL;
    point = calloc((size_t)in.cores, sizeof(*point));
    if (!point)
        berth_error_set(err, "cores: out of memory");
    else if (dramon_curve(&in.hardware, &in.software, (size_t)in.cores, point) == 0)
        output = answer(point, (size_t)in.cores);
    else /* the one check that is not of a field by itself */
        berth_error_set(err, "software.same_row, same_bank and other_channel: a sum of at most 1 "
                             "expected");
    free(point);
    return output;
}
