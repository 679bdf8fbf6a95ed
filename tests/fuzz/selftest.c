/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target that crashes on purpose, soon, and not before it was looked for: it writes behind its
 * memory, which AddressSanitizer sees. */
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

static const char *const seeds[] = {"berth", NULL};

static void one(const uint8_t *data, size_t size)
{
    volatile char *volatile copy = malloc(8); /* no compiler knows its size */

    if (size > 8 && data[0] == '!') {
        copy[size] = 0;
        fuzz_assert(!"a target that crashes on purpose");
    }
    free((void *)copy);
}

const struct fuzz_target fuzz_selftest = {.name = "selftest", .one = one, .seed = seeds};
