/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siblings - who shares a core where --threads makes each hardware thread a place: those on a cache
 * are divided over its cores by the rule of models/placing/cosit.h, as berthd's searches guess. */
#ifndef BERTH_LAB_PLAN_SIBLINGS_H
#define BERTH_LAB_PLAN_SIBLINGS_H

#include "lab/plan/plan.h"

/* Adds to the slowdowns of n units on one cache what they lose by those on other threads of their
 * cores. Nothing without --threads. */
void ctl_plan_share_cores(const struct ctl_plan *plan, size_t n, const size_t *member,
                          double *slowdown);

/* Gives those on each cache their places by that rule. 0, or -1 with ENOMEM. */
int ctl_plan_seat(const struct ctl_plan *plan, size_t *core);

/* Adds a note for each core that several applications share. */
void ctl_plan_note_siblings(struct ctl_plan *plan);

#endif
