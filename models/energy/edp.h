/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edp - energy-delay product: does saving energy pay for the time that it costs?
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_ENERGY_EDP_H
#define BERTH_MODELS_ENERGY_EDP_H

/* Returns the classic one, J s: energy * time. */
double edp_classic(double energy_j, double seconds);

/* Returns Blagodurov 2010, eq. 9: energy / (instructions per second) = average power * time^2 /
 * instructions; J s per instruction. */
double edp_per_instruction(double energy_j, double seconds, double instructions);

#endif
