/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mono - the clock that nobody sets, and the others in the same unit. */
#ifndef BERTH_BASE_CLOCK_H
#define BERTH_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

double mono_s(void);                /* CLOCK_MONOTONIC in seconds */
uint64_t clock_ns(clockid_t clock); /* any clock in nanoseconds */

#endif
