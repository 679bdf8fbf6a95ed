/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dramon - the model dramon: the bandwidth that cores of one node draw from its memory.
 */
#include <math.h>
#include <stdlib.h>

#include "models/numa/dramon.h"
#include "lab/model/models.h"

#define MOST_NS 1e9 /* a second */
#define LEAST 1e-9  /* of what must be more than 0 */

#define HARDWARE(key, member, min, max)                                                            \
    JSON_RANGE(struct dramon_hardware, key, member, REQUIRED, min, max)
#define SOFTWARE(member, need, min, max)                                                           \
    JSON_RANGE(struct software, #member, is.member, need, min, max)

struct software {
    struct dramon_software is;
    struct json_object *brd; /* NULL: not given */
};

static const struct json_field hardware_fields[] = {
    JSON_WHOLE(struct dramon_hardware, "channels", channels, REQUIRED, 1, 1e6),
    JSON_WHOLE(struct dramon_hardware, "banks", banks, REQUIRED, 1, 1e6),
    HARDWARE("tRCD_ns", trcd_ns, 0, MOST_NS),
    HARDWARE("tCAS_ns", tcas_ns, 0, MOST_NS),
    HARDWARE("tRP_ns", trp_ns, 0, MOST_NS),
    HARDWARE("tBurst_ns", tburst_ns, LEAST, MOST_NS),
    HARDWARE("tWR_ns", twr_ns, 0, MOST_NS),
    HARDWARE("tRTRS_ns", trtrs_ns, 0, MOST_NS),
    HARDWARE("tWTR_ns", twtr_ns, 0, MOST_NS),
    HARDWARE("tCK_ns", tck_ns, 0, MOST_NS),
    HARDWARE("request_bytes", request_bytes, LEAST, 1e12),
    HARDWARE("auto_close", auto_close, 0, 1e12),
    JSON_END,
};

static const struct json_field software_fields[] = {
    SOFTWARE(issue_rate_single, REQUIRED, 0, 1e12),
    SOFTWARE(hit, REQUIRED, 0, 1),
    SOFTWARE(miss, REQUIRED, 0, 1),
    SOFTWARE(conflict, REQUIRED, 0, 1),
    SOFTWARE(read_ratio, REQUIRED, 0, 1),
    SOFTWARE(wtr, REQUIRED, 0, 1),
    SOFTWARE(rtr, REQUIRED, 0, 1),
    JSON_WHOLE(struct software, "ranks", is.ranks, REQUIRED, 1, 1e6),
    SOFTWARE(same_row, OPTIONAL, 0, 1),
    SOFTWARE(same_bank, OPTIONAL, 0, 1),
    SOFTWARE(other_channel, OPTIONAL, 0, 1),
    JSON_ANY(struct software, "brd", brd, OPTIONAL, OBJECT),
    JSON_END,
};

struct input {
    struct dramon_hardware hardware;
    struct software software;
    double cores;
};

static const struct json_field input_fields[] = {
    JSON_NESTED(struct input, "hardware", hardware, REQUIRED, hardware_fields),
    JSON_NESTED(struct input, "software", software, REQUIRED, software_fields),
    JSON_WHOLE(struct input, "cores", cores, REQUIRED, 1, DRAMON_CORES_MAX),
    JSON_END,
};

static const struct json_field point_fields[] = {
    JSON_FIELD(struct dramon_point, "cores", cores, REQUIRED),
    JSON_FIELD(struct dramon_point, "gbps", gbps, REQUIRED),
    JSON_FIELD(struct dramon_point, "hit", hit, REQUIRED),
    JSON_FIELD(struct dramon_point, "miss", miss, REQUIRED),
    JSON_FIELD(struct dramon_point, "conflict", conflict, REQUIRED),
    JSON_FIELD(struct dramon_point, "latency_ns", latency_ns, REQUIRED),
    JSON_END,
};
static const struct json_field point_item = {.kind = JSON_STRUCT, .fields = point_fields};

/* ---- the input ---- */

/* Reads one field of "brd": a distance is the key, its probability the value. */
static int read_brd(struct json_object *brds, const char *key, struct dramon_brd *brd,
                    struct berth_error *err)
{
    struct json_field field = {
        .name = key, .kind = JSON_NUMBER, .need = JSON_REQUIRED, .min = 0, .max = 1};
    char *end;

    brd->distance = strtod(key, &end);
    if (end == key || *end || !(brd->distance > 0 && brd->distance <= 1e12))
        return berth_error_set(err, "brd: \"%.64s\": a distance in requests, above 0, expected",
                               key);
    return json_get(brds, &field, &brd->probability, err) < 0 ? berth_error_before(err, "brd.") : 0;
}

/* Reads "brd", which replaces the distances of section 4.5.3. */
static int read_brds(struct json_object *brds, struct dramon_brd *brd, struct dramon_software *sw,
                     struct berth_error *err)
{
    double sum = 0;
    size_t n = 0;

    if (!brds)
        return 0;
    if (json_object_object_length(brds) > DRAMON_BRD_MAX)
        return berth_error_set(err, "brd: at most %d distances expected", DRAMON_BRD_MAX);
    json_object_object_foreach(brds, key, value)
    {
        (void)value;
        if (read_brd(brds, key, &brd[n], err) < 0)
            return -1;
        sum += brd[n++].probability;
    }
    sw->brd = brd;
    sw->brds = n;
    if (fabs(sum - 1) > DRAMON_SUM_TOLERANCE)
        return berth_error_set(err, "brd: probabilities that sum to 1 expected, not to %g", sum);
    return 0;
}

static int check_software(struct software *software, struct dramon_brd *brd,
                          struct berth_error *err)
{
    const struct dramon_software *sw = &software->is;
    double sum = sw->hit + sw->miss + sw->conflict;

    if (fabs(sum - 1) > DRAMON_SUM_TOLERANCE)
        return berth_error_set(err, "software.hit, miss and conflict: a sum of 1 expected, not %g",
                               sum);
    return read_brds(software->brd, brd, &software->is, err) < 0
               ? berth_error_before(err, "software.")
               : 0;
}

/* ---- the answer ---- */

static int add_curve(void *of, struct json_object *output, struct berth_error *err)
{
    struct input *in = of;
    struct dramon_brd brd[DRAMON_BRD_MAX];
    size_t n = (size_t)in->cores;
    struct dramon_point *point = calloc(n, sizeof(*point));
    int rc = point ? check_software(&in->software, brd, err)
                   : berth_error_set(err, "cores: out of memory");

    if (rc == 0 && dramon_curve(&in->hardware, &in->software.is, n, point) < 0)
        rc = berth_error_set(err, "software.same_row, same_bank and other_channel: a sum of at "
                                  "most 1 expected"); /* the one check not of a field by itself */
    if (rc == 0)
        json_add(output, "curve", json_new_list(n, &point_item, point, sizeof(*point)));
    free(point);
    return rc;
}

CTL_FILTER(dramon, struct input, input_fields, add_curve,
           .software.is = {.same_row = NAN,
                           .same_bank = NAN,
                           .other_channel = NAN,
                           .brd = dramon_brd_runtime,
                           .brds = DRAMON_BRDS_RUNTIME});
