/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_bar - how far a simulation is, where somebody looks on, and only if it takes its time. */
#ifndef BERTH_BENCH_DAY_BAR_H
#define BERTH_BENCH_DAY_BAR_H

/* What is shown from now on; the name stays where it is. */
void day_bar_begin(const char *name);
void day_bar_show(double part);
void day_bar_end(void);

#endif
