/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - see clock.h */
#include "packer/base/clock.h"

#include <errno.h>
#include <math.h>

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

bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *mutex, double at_s)
{
    struct timespec until;

    if (isinf(at_s)) {
        pthread_cond_wait(changed, mutex);
        return true;
    }
    until.tv_sec = (time_t)at_s;
    until.tv_nsec = (long)((at_s - (double)until.tv_sec) * 1e9);
    return pthread_cond_timedwait(changed, mutex, &until) != ETIMEDOUT;
}
