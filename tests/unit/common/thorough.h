/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thorough - BERTH_THOROUGH=1 has the tests whose strength grows with their length run as long as
 * they would need when nobody waits: tests/nightly sets it. Without it each of them is as long as it
 * takes to find the faults that it is for. */
#ifndef BERTH_TESTS_THOROUGH_H
#define BERTH_TESTS_THOROUGH_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool thorough(void)
{
    const char *asked = getenv("BERTH_THOROUGH");

    return asked && strcmp(asked, "1") == 0;
}

#endif
