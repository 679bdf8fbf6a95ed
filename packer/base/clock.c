/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - see clock.h */
#include "packer/base/clock.h"

uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double clock_s(void)
{
    return (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

double clock_sooner(double a_s, double b_s)
{
    return a_s < 0 || (b_s >= 0 && b_s < a_s) ? b_s : a_s;
}
