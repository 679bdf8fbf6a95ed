/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dio_power - DIO-POWER: as few caches in use as keep devils apart, the rest idle.
 *
 * Blagodurov 2010, section 6, Algorithms 3 and 4, where these say what becomes of every thread.
 * Algorithm 3, line 8 marks as many caches as there are devils: none where there is none, and too
 * few where the others need more cores; and Algorithm 4 drops a thread that would meet a second
 * devil (its lines 5 to 9 have no else). Here no thread is lost. Pure arithmetic: no I/O, no clock,
 * no globals. */
#ifndef BERTH_MODELS_PLACING_DIO_POWER_H
#define BERTH_MODELS_PLACING_DIO_POWER_H

#include <stddef.h>

#include "models/placing/cluster.h"
#include "models/placing/di.h"

#define DIO_POWER_DEVIL_MISS_PMI 2000.0 /* "loosely", as the paper says */

/* Places n threads of these miss rates (LLC misses per million instructions); those of
 * `rule->devil_miss_pmi` and more are devils. Caches are the machine's last level but one. Only the
 * first k caches in depth-first order (of larger packages first, if they differ) are used: as many
 * as there are devils, at least one, at least so many that each thread has a core, at most all.
 * Among them threads are placed as DI places them, but a devil skips a cache that holds one while
 * one without has a free core. core[i] receives the core of thread i. Returns 0; -1 with errno
 * EINVAL (a machine of less than two levels or as di_place refuses it, a miss rate that is negative
 * or not finite) or ENOMEM, core[] then untouched. */
int dio_power_place(const struct di_machine *machine, const struct cluster_rule *rule, size_t n,
                    const double *miss_pmi, size_t *core);

#endif
