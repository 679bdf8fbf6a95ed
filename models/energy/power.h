/* SPDX-License-Identifier: GPL-2.0-or-later */
/* power - what packages draw by what runs on them, and whether to spread or to cluster pays.
 *
 * A package draws asleep_w while nothing runs on it, and awake_w + core_w * (cores at work) while
 * something does: what makes DIO-POWER worth while is that asleep_w is less than awake_w
 * (Blagodurov 2010, section 6: package C-states). The three figures are fitted from intervals of
 * which the mean power and the mean number of cores at work are known.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ENERGY_POWER_H
#define BERTH_MODELS_ENERGY_POWER_H

#include <stdbool.h>
#include <stddef.h>

struct power_package {
    double asleep_w, awake_w, core_w; /* >= 0, asleep_w <= awake_w */
};

/* Returns what a package draws with so many cores at work; awake: somebody whose cores are not
 * counted is there. */
double power_watts(const struct power_package *package, double cores, bool awake);

/* Returns the energy-delay product, J s, of what `cores` cores would do alone in a second, on a
 * node that draws `watts` and does `work` cores' worth of it per second: it takes cores / work
 * seconds, so watts * (cores / work)^2 (Blagodurov 2010, eq. 9, average power * time^2, of equal
 * work). */
double power_edp(double watts, double cores, double work);

/* Returns by what fraction clustering may slow down what runs, so that its energy-delay product is
 * still no greater: sqrt(spread_w / cluster_w) - 1 (from eq. 9). spread_w and cluster_w (> 0), W,
 * are what the node draws either way. Blagodurov's Table V and remark below eq. 9 have power
 * relative to the idle machine: 94 W and 76 W there break even at 11.2 %. With the idle power
 * counted, which is what a site pays, less slowdown is allowed: 154 W and 104 W break even at 21.7
 * %, and on top of 200 W at 7.9 %. */
double power_break_even(double spread_w, double cluster_w);

/* ---- the fit ---- */

#define POWER_IDLE 0.05   /* cores at work, below which a package counts as asleep */
#define POWER_LEAST 10    /* seconds of each kind before a figure is known */
#define POWER_SPREAD 0.25 /* variance of the cores at work, from which their power can be told */

/* All zero: nothing was seen. What is older counts less: half as much after 700 seconds. */
struct power_fit {
    double asleep, asleep_w; /* weight, mean */
    double n, x, y, xx, xy;  /* awake: weight, and weighted sums of cores, power, .. */
};

/* Takes in an interval of `seconds`, its mean watts and its mean cores at work; it counts by its
 * length. One that has a figure that is not finite, or negative, or no length is left out. */
void power_fit_add(struct power_fit *fit, double seconds, double watts, double cores);

/* Fills in what is known of the package. Returns false where too little was seen asleep, awake, or
 * with different numbers of cores at work. */
bool power_fit_known(const struct power_fit *fit, struct power_package *package);

#endif
