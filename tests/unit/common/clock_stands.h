/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock_stands - a clock that stands, or goes as the test says: how old things are does not depend
 * on how long the test itself takes, which on a machine with other work is any time. For the one
 * file of a program that is linked with -Wl,--wrap=clock_s. */
#ifndef BERTH_TESTS_CLOCK_STANDS_H
#define BERTH_TESTS_CLOCK_STANDS_H

static double clock_stands_s = 1e6;

double __wrap_clock_s(void);
double __wrap_clock_s(void)
{
    return clock_stands_s;
}

#endif
