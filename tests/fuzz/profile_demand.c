/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of a program's demand: what was taken is bandwidths, and can be written and taken
 * again as the same text. */
#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/profiles/profiles.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"curve_gbps\":[0,1.5,2]}",
    "{\"curve_gbps\":[0,1],\"read_solo_gbps\":[[0,1.5],[2,0]],\"write_solo_gbps\":[[0,1],[1,0]]}",
    "{\"read_solo_gbps\":[[3,1.5],[null,null]],\"write_solo_gbps\":[[0,null],[1,null]],"
    "\"matrix\":\"pages\",\"machine\":\"m\",\"measured_at\":1,\"seconds\":0.5,\"error\":0.01,"
    "\"disturbed\":true}",
    "{\"dram\":{\"hit\":0.75,\"miss\":0.125,\"conflict\":0.125,\"read_ratio\":1,\"ranks\":2}}",
    "{}",
    NULL};

static void again(const struct profile_demand *demand)
{
    struct json_object *first = profile_demand_json(demand), *second;
    struct profile_demand *back = profile_demand_parse(first, NULL);

    fuzz_assert(back);
    second = profile_demand_json(back);
    fuzz_assert(strcmp(json_object_to_json_string(first), json_object_to_json_string(second)) == 0);
    profile_demand_free(back);
    json_object_put(first);
    json_object_put(second);
}

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct json_object *object = json_parse((const char *)data, size, &err);
    struct profile_demand *demand;

    if (!object)
        return;
    demand = profile_demand_parse(object, &err);
    json_object_put(object);
    if (!demand) {
        fuzz_assert(err.text[0]);
        return;
    }
    for (size_t i = 0; demand->cores && i <= demand->cores; i++)
        fuzz_assert(demand->curve[i] >= 0 && isfinite(demand->curve[i]));
    fuzz_assert(!profile_dram_known(&demand->dram) ||
                (demand->dram.hit >= 0 && demand->dram.hit <= 1 && demand->dram.read_ratio >= 0));
    again(demand);
    profile_demand_free(demand);
}

const struct fuzz_target fuzz_profile_demand = {
    .name = "profile_demand", .one = one, .seed = seeds};
