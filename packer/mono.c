/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mono - see mono.h */
#include "mono.h"

#include <time.h>

double mono_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
