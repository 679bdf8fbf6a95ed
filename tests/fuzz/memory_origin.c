/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of what is kept of where dealt pages were: any file opens, or is refused with a
 * reason; what was read can be gone on with, and reads back. */
#include "packer/memory/origin.h"
#include "tests/fuzz/fuzz.h"

#define HEAD "berth origin 1                                                 \n"
#define ONE "        10               4d               0            3000   1\n"
#define TWO "        10               4d            4000            5000   0\n"
#define OTHER "         9               4d               0            1000   3\n"

static const char *const seeds[] = {
    HEAD ONE TWO OTHER, HEAD OTHER ONE, HEAD ONE ONE, HEAD, "", NULL};

static void one(const uint8_t *data, size_t size)
{
    const struct memory_run run = {10, 2, 77, 0x2000, 0x6000};
    const char *path = fuzz_file("dealt.1.0", data, size);
    struct berth_error err = {""};
    struct memory_origin *origin = memory_origin_open(path, &err);
    int node;

    if (!origin) {
        fuzz_assert(err.text[0]);
        return;
    }
    node = memory_origin_node(origin, 10, 77, 0x2000);
    fuzz_assert(memory_origin_add(origin, &run) == 0);
    fuzz_assert(memory_origin_node(origin, 10, 77, 0x2000) == (node < 0 ? 2 : node));
    memory_origin_release(origin);
    origin = memory_origin_open(path, &err);
    fuzz_assert(origin);
    fuzz_assert(memory_origin_node(origin, 10, 77, 0x2000) == (node < 0 ? 2 : node));
    fuzz_assert(memory_origin_node(origin, 10, 77, 0x5fff) >= 0);
    memory_origin_release(origin);
}

const struct fuzz_target fuzz_memory_origin = {.name = "memory_origin", .one = one, .seed = seeds};
