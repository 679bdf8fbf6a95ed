/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - reads the clocks, each as one number. */
#ifndef BERTH_BASE_CLOCK_H
#define BERTH_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC, which nobody sets, in seconds. */
double clock_s(void);

/* Returns the sooner of two times; < 0: never. */
double clock_sooner(double a_s, double b_s);

/* Returns any clock in nanoseconds. */
uint64_t clock_ns(clockid_t clock);

/* Waits, with the mutex let go, for a change or for the time at_s of CLOCK_MONOTONIC, which the
 * condition has to have (INFINITY: for a change only). Returns false where that time has come. */
bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *mutex, double at_s);

#endif
