/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mono - the clock that nobody sets. */
#ifndef BERTH_MONO_H
#define BERTH_MONO_H

double mono_s(void); /* CLOCK_MONOTONIC in seconds */

#endif
