/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_demand - what a program asks of a machine's memory, from and to JSON (profiles.h). */
#include <math.h>
#include <stdlib.h>

#include "models/numa/dramon.h"
#include "models/numa/numem.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/profiles/db.h"
#include "packer/profiles/profiles.h"
#include "enum_table.h"

void profile_demand_free(struct profile_demand *demand)
{
    if (!demand)
        return;
    free(demand->curve);
    free(demand->read_solo);
    free(demand->write_solo);
    free(demand);
}

bool profile_dram_known(const struct profile_dram *dram)
{
    return fabs(dram->hit + dram->miss + dram->conflict - 1) <= DRAMON_SUM_TOLERANCE;
}

static const struct json_field gbps_item = {
    .kind = JSON_NUMBER, .need = JSON_REQUIRED, .max = NUMEM_GBPS_MAX};

static int read_curve(struct json_object *object, struct profile_demand *demand,
                      struct berth_error *err)
{
    struct json_object *list = NULL;
    size_t n;

    if (json_get_array(object, "curve_gbps", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    if (!list)
        return 0;
    n = json_object_array_length(list);
    if (n < 2 || n > NUMEM_CORES_MAX + 1)
        return berth_error_set(err, "curve_gbps: the bandwidth of 0, 1, .. cores expected");
    demand->curve = calloc(n, sizeof(*demand->curve));
    if (!demand->curve)
        return berth_no_memory(err);
    demand->cores = n - 1;
    if (json_get_list(list, "curve_gbps", n, &gbps_item, demand->curve, sizeof(double), err) < 0)
        return -1;
    return demand->curve[0] > 0 ? berth_error_set(err, "curve_gbps[0]: no cores ask for nothing")
                                : 0;
}

static const char *const TABLE(profile_matrix_name, PROFILE_MATRICES) = {
    ROW(PROFILE_MATRIX_TOLD) = NULL, ROW(PROFILE_MATRIX_PAGES) = "pages",
    ROW(PROFILE_MATRIX_COUNTED) = "counted"};
TABLE_COMPLETE(profile_matrix_name);

/* Of what was measured some is not known. */
static const struct json_field measured_item = {.kind = JSON_NUMBER, .max = NUMEM_GBPS_MAX};

static const struct json_field measured_fields[] = {
    JSON_FIELD(struct profile_demand, "machine", machine, REQUIRED),
    JSON_RANGE(struct profile_demand, "measured_at", measured_at, REQUIRED, 0, PROFILE_LATEST),
    JSON_RANGE(struct profile_demand, "seconds", seconds, REQUIRED, 0, 1e9),
    JSON_RANGE(struct profile_demand, "error", error, REQUIRED, 0, 1e12),
    JSON_FIELD(struct profile_demand, "disturbed", disturbed, REQUIRED),
    JSON_END,
};

#define SPEED_MAX 1e18

static const struct json_field speed_fields[] = {
    JSON_RANGE(struct profile_speed, "cores", cores, REQUIRED, 1, 1e6),
    JSON_FIELD(struct profile_speed, "shape", shape, OPTIONAL),
    JSON_RANGE(struct profile_speed, "instructions_per_s", instructions_per_s, REQUIRED, 1,
               SPEED_MAX),
    JSON_RANGE(struct profile_speed, "error", error, REQUIRED, 0, 1e12),
    JSON_RANGE(struct profile_speed, "windows", windows, REQUIRED, 1, 1e12),
    JSON_RANGE(struct profile_speed, "misses", misses, OPTIONAL, 0, SPEED_MAX),
    JSON_RANGE(struct profile_speed, "bytes", bytes, OPTIONAL, 0, SPEED_MAX),
    JSON_END,
};

static int read_speed(struct json_object *object, struct profile_speed *speed,
                      struct berth_error *err)
{
    struct json_object *inner = NULL;

    *speed = (struct profile_speed){.misses = NAN, .bytes = NAN};
    if (json_get_object(object, "speed", JSON_OPTIONAL, &inner, err) < 0)
        return -1;
    if (inner && json_read(inner, speed_fields, speed, err) < 0)
        return berth_error_before(err, "speed.");
    return 0;
}

static int read_measured(struct json_object *object, struct profile_demand *demand,
                         struct berth_error *err)
{
    int word = -1; /* PROFILE_MATRIX_TOLD has none */

    if (json_get_word(object, "matrix", JSON_OPTIONAL, profile_matrix_name + 1,
                      PROFILE_MATRICES - 1, &word, err) < 0)
        return -1;
    demand->matrix = (enum profile_matrix)(word + 1);
    if (!demand->matrix)
        return 0;
    if (json_read(object, measured_fields, demand, err) < 0)
        return -1;
    return read_speed(object, &demand->speed, err);
}

/* Reads one of the matrices: as many rows as the other one has, if that was read. */
static int read_matrix(struct json_object *object, const char *key, struct profile_demand *demand,
                       double **out, struct berth_error *err)
{
    struct json_object *rows = NULL;
    size_t n;

    if (json_get_array(object, key, JSON_OPTIONAL, &rows, err) < 0)
        return -1;
    if (!rows)
        return 0;
    n = json_object_array_length(rows);
    if (n < 1 || n > NUMEM_NODES_MAX || (demand->nodes && n != demand->nodes))
        return berth_error_set(err, "%s: a row for each node expected, 1 to %d, in both matrices",
                               key, NUMEM_NODES_MAX);
    *out = calloc(n * n, sizeof(**out));
    if (!*out)
        return berth_no_memory(err);
    demand->nodes = n;
    for (size_t i = 0; i < n * n; i++)
        (*out)[i] = NAN;
    return json_get_matrix(rows, key, n, n, demand->matrix ? &measured_item : &gbps_item, *out,
                           sizeof(**out), err);
}

#define RATIO(member, need) JSON_RANGE(struct profile_dram, #member, member, need, 0, 1)

static const struct json_field dram_fields[] = {
    RATIO(hit, REQUIRED),
    RATIO(miss, REQUIRED),
    RATIO(conflict, REQUIRED),
    RATIO(read_ratio, REQUIRED),
    JSON_RANGE(struct profile_dram, "issue_rate_single", issue_rate_single, OPTIONAL, 0, 1e12),
    RATIO(wtr, OPTIONAL),
    RATIO(rtr, OPTIONAL),
    JSON_WHOLE(struct profile_dram, "ranks", ranks, OPTIONAL, 1, 1e6),
    JSON_END,
};

static int read_dram(struct json_object *object, struct profile_dram *dram, struct berth_error *err)
{
    struct json_object *ratios = NULL;

    *dram = (struct profile_dram){.hit = NAN, .issue_rate_single = NAN, .ranks = NAN};
    if (json_get_object(object, "dram", JSON_OPTIONAL, &ratios, err) < 0)
        return -1;
    if (!ratios)
        return 0;
    if (json_read(ratios, dram_fields, dram, err) < 0)
        return berth_error_before(err, "dram.");
    return profile_dram_known(dram)
               ? 0
               : berth_error_set(err, "dram: hit, miss and conflict that sum to 1 expected");
}

struct profile_demand *profile_demand_parse(struct json_object *object, struct berth_error *err)
{
    struct profile_demand *demand = calloc(1, sizeof(*demand));

    if (!demand) {
        berth_no_memory(err);
        return NULL;
    }
    if (!json_object_is_type(object, json_type_object))
        berth_error_set(err, "an object expected");
    else if (read_measured(object, demand, err) == 0 && read_curve(object, demand, err) == 0 &&
             read_dram(object, &demand->dram, err) == 0 &&
             read_matrix(object, "read_solo_gbps", demand, &demand->read_solo, err) == 0 &&
             read_matrix(object, "write_solo_gbps", demand, &demand->write_solo, err) == 0) {
        if (!demand->read_solo == !demand->write_solo &&
            (demand->cores || demand->nodes || profile_dram_known(&demand->dram)))
            return demand;
        berth_error_set(err,
                        "curve_gbps, dram, or both read_solo_gbps and write_solo_gbps expected");
    }
    profile_demand_free(demand);
    return NULL;
}

struct json_object *profile_demand_json(const struct profile_demand *demand)
{
    const struct json_field *item = demand->matrix ? &measured_item : &gbps_item;
    struct json_object *object = json_object_new_object(), *dram, *speed;
    size_t n = demand->nodes, size = sizeof(double);

    json_add(object, "curve_gbps",
             demand->cores ? json_new_list(demand->cores + 1, &gbps_item, demand->curve, size)
                           : NULL);
    json_add(object, "read_solo_gbps",
             n ? json_new_matrix(n, n, item, demand->read_solo, size) : NULL);
    json_add(object, "write_solo_gbps",
             n ? json_new_matrix(n, n, item, demand->write_solo, size) : NULL);
    if (profile_dram_known(&demand->dram)) {
        dram = json_object_new_object();
        json_write(dram, dram_fields, &demand->dram);
        json_add(object, "dram", dram);
    }
    if (!demand->matrix)
        return object;
    json_add_text(object, "matrix", profile_matrix_name[demand->matrix]);
    json_write(object, measured_fields, demand);
    if (demand->speed.cores > 0) {
        speed = json_object_new_object();
        json_write(speed, speed_fields, &demand->speed);
        json_add(object, "speed", speed);
    }
    return object;
}
