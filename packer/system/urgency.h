/* SPDX-License-Identifier: GPL-2.0-or-later */
/* urgency - how soon a thread gets a CPU where many want one.
 *
 * Linux divides CPUs among sessions first (sched_autogroup, sched(7)), and by nice(2) only within
 * each: of 100 steps that start at once each slurmstepd is a session. Then a daemon that answers
 * all of them has to be put first as a session. Measured, 100 steps at once on 2 cores: a request
 * waited 148 ms for berthd (median; at most 223), with URGENCY_NICE for both 0.2 ms (at most 10).
 */
#ifndef BERTH_SYSTEM_URGENCY_H
#define BERTH_SYSTEM_URGENCY_H

#include "packer/base/error.h"

#define URGENCY_NICE (-10)

/* Lets the calling thread go before others, and its session, if this process leads it (as systemd
 * starts a service; else it is somebody's terminal). Threads and processes that it starts are as
 * nice as any. Returns 0, or -1 and err with what was refused, the rest is done. */
int urgency_raise(struct berth_error *err);

/* Gives way: a child that was just forked leaves the session, for one that comes after all others.
 * Calls nothing that may not be called after fork(2); what is refused is left. */
void urgency_yield(void);

#endif
