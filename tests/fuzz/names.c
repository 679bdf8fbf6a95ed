/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz targets of the short texts: CPU lists and names of steps, read and written and read; what a
 * package takes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/cpus.h"
#include "packer/conf/watts.h"
#include "packer/wire/wire.h"
#include "tests/fuzz/fuzz.h"

static const char *const cpus_seeds[] = {"",       "0",    "0-3,8\n", " 1,2,3 ",
                                         "0-2047", "2047", "7,5,6-6", NULL};
static const char *const step_seeds[] = {
    "4711.0", "4711", "1.batch", "1.extern", "1.interactive", "4294967295.4294967295", NULL};
static const char *const watts_seeds[] = {"idle=40W,core=6W",
                                          "core=1.5W,idle=40W,dram=3W,sleep=10W", NULL};

static void one_cpus(const uint8_t *data, size_t size)
{
    struct cpus set, again, before;
    char text[CPUS_TEXT_MAX], *input = fuzz_text(data, size);

    memset(&set, 0x5a, sizeof(set));
    before = set;
    errno = 0;
    if (cpus_parse(&set, input) < 0) {
        fuzz_assert(cpus_equal(&set, &before));
        fuzz_assert(errno == EINVAL || errno == ERANGE);
    } else {
        fuzz_assert(cpus_format(&set, text, sizeof(text)) == 0);
        fuzz_assert(cpus_parse(&again, text) == 0 && cpus_equal(&set, &again));
    }
    free(input);
}

static void one_step(const uint8_t *data, size_t size)
{
    char name[WIRE_STEP_NAME_MAX], *input = fuzz_text(data, size);
    struct wire_step_id id = {7, 8}, again;

    if (wire_step_parse(input, &id) < 0) {
        fuzz_assert(errno == EINVAL && id.job == 7 && id.step == 8);
    } else {
        wire_step_name(id, name);
        fuzz_assert(wire_step_parse(name, &again) == 0);
        fuzz_assert(again.job == id.job && again.step == id.step);
    }
    free(input);
}

static void one_watts(const uint8_t *data, size_t size)
{
    char *input = fuzz_text(data, size);
    struct berth_error err = {""};
    struct energy_watts watts;

    if (energy_watts_parse(&watts, input, &err) < 0) {
        fuzz_assert(err.text[0]);
    } else {
        fuzz_assert(watts.idle >= 0 && watts.idle <= 10000 && watts.core >= 0);
        fuzz_assert(watts.sleep <= watts.idle && watts.dram >= 0);
    }
    free(input);
}

const struct fuzz_target fuzz_cpus = {.name = "cpus", .one = one_cpus, .seed = cpus_seeds};
const struct fuzz_target fuzz_step_name = {
    .name = "step_name", .one = one_step, .seed = step_seeds};
const struct fuzz_target fuzz_energy_watts = {
    .name = "energy_watts", .one = one_watts, .seed = watts_seeds};
