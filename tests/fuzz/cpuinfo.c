/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target of the text of /proc/cpuinfo by which prefetchers are switched, or not. A hypervisor
 * chooses what stands there. */
#include <stdlib.h>
#include <string.h>

#include "packer/system/prefetchers.h"
#include "tests/fuzz/fuzz.h"

static const char *const cpuinfo_seeds[] = {
    "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n\n",
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n",
    "vendor_id: GenuineIntel\nmodel : 99999999999999999999\ncpu family : -6\n", NULL};

static void one_cpuinfo(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct berth_error err = {""};
    uint64_t mask = 77;

    if (prefetchers_by_cpuinfo(text, &mask, &err) < 0)
        fuzz_assert(err.text[0] && mask == 77);
    else
        fuzz_assert(mask == 0xf && strstr(text, "GenuineIntel"));
    free(text);
}

const struct fuzz_target fuzz_cpuinfo = {"cpuinfo", one_cpuinfo, cpuinfo_seeds, 1};
