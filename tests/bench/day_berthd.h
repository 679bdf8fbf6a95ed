/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_berthd - a placer that is the real berthd: behind its socket, by the clock of the simulation.
 *
 * It is told by the plugin's messages who starts and ends, reads what they count, and is asked
 * where each stands, and whether a moved job's memory is to follow it. Enforcement is dryrun: the
 * simulation does the moving. */
#ifndef BERTH_BENCH_DAY_BERTHD_H
#define BERTH_BENCH_DAY_BERTHD_H

#include "tests/bench/day_feed.h"

struct day_berthd;

/* Starts the berthd and the clock that lie beside this program in the build folder; all of its
 * files are in the folder, which has the machine. 0 and *placer, or -1 and err. */
int day_berthd_open(struct day_berthd **out, const char *folder, struct day_sim *sim,
                    const struct day_study *study, struct day_placer *placer,
                    struct berth_error *err);
void day_berthd_close(struct day_berthd *berthd); /* NULL is fine */

/* Returns the CPU time that it has used until the end of that day, seconds. */
double day_berthd_cpu_s(const struct day_berthd *berthd, size_t day);

/* Returns the policy that it says it has. */
const char *day_berthd_policy(const struct day_berthd *berthd);

#endif
