/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pressure - the stage that tells berth-steer, by the ledger's database, how busy the memory of the
 * node is. It wakes nobody: it looks in turns that there are anyway. */
#ifndef BERTH_DAEMON_PRESSURE_H
#define BERTH_DAEMON_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#define PRESSURE_NEXT_S 30 /* it is told that seldom */
#define PRESSURE_LAST_S                                                                            \
    300 /* and that often at least: berth-steer forgets what is older than 600 s */
#define PRESSURE_NOISE (1 / 16.) /* less than that is no change */

/* Says whether a pressure is to be told: after the last one, which was told at last_s (0: none
 * was). Times in seconds. A pressure of NAN is never told. */
bool pressure_is_news(double pressure, int64_t now_s, double last, int64_t last_s);

#endif
