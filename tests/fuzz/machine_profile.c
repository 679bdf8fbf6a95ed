/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the machine profile: a refused file is named; what was read can be written, read
 * again and written as the same text, and NuMem's machine is whole or refused. */
#include <stdlib.h>
#include <string.h>

#include "packer/machine/profile.h"
#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {
    "{\"version\":1,\"source\":\"measured\",\"host\":\"n1\",\"date\":\"2026-11-21T14:26:09Z\","
    "\"runs\":5,\"nodes\":[{\"node\":0,\"cpus\":\"0-1\",\"cores\":2,\"local_gbps\":[0,9.5,12],"
    "\"local_spread\":[null,0.1,0.2],\"alpha_gbps\":20.26,\"beta\":0.24,\"correlation\":0.96},"
    "{\"node\":1,\"cores\":1,\"alpha_gbps\":8.1,\"beta\":0.4}],"
    "\"uni_gbps\":[[null,10.8],[10.8,null]],\"bi_gbps\":[[null,17.5],[17.5,null]],"
    "\"latency_ns\":[[90,140],[140,90]],\"route\":[[null,[[0,1]]],[[[1,0]],null]]}",
    "{\"version\":1,\"nodes\":[{\"cores\":1}]}", "{}", NULL};

static void again(const struct machine_profile *profile)
{
    struct json_object *first = machine_profile_json(profile), *second;
    struct machine_profile *back = machine_profile_parse(first, NULL);

    fuzz_assert(back);
    second = machine_profile_json(back);
    fuzz_assert(strcmp(json_object_to_json_string(first), json_object_to_json_string(second)) == 0);
    machine_profile_free(back);
    json_object_put(first);
    json_object_put(second);
}

static void one(const uint8_t *data, size_t size)
{
    struct berth_error err = {""};
    struct machine_profile *profile =
        machine_profile_read(fuzz_file("machine.json", data, size), &err);
    struct numem_machine *machine;

    if (!profile) {
        fuzz_assert(strstr(err.text, "machine.json: "));
        return;
    }
    again(profile);
    machine = machine_profile_numem(profile, &err);
    fuzz_assert(machine || strstr(err.text, ": not known"));
    for (size_t i = 0; machine && i < machine->nodes; i++)
        fuzz_assert(machine->alpha[i] >= 0 && machine->beta[i] <= 1 && machine->cores[i] > 0);
    machine_profile_numem_free(machine);
    machine_profile_free(profile);
}

const struct fuzz_target fuzz_machine_profile = {
    .name = "machine_profile", .one = one, .seed = seeds};
