/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolate - DI for threads of which some are chosen to be isolated from contention: the prioritised
 * mode of DIO (Blagodurov 2010, section 5.3).
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef MODELS_ISOLATE_H
#define MODELS_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "di.h"

struct isolate_thread {
    double miss_pmi;  /* LLC misses per million instructions */
    bool prioritised; /* chosen by its user */
    bool sensitive;   /* suffers from contention; devils do, by rule */
};

/* Place n threads; those that miss `devil_miss_pmi` and more are devils. A thread that is both
 * prioritised and sensitive gets a domain, an entity of level `level` of the machine, whose other
 * tenants are no devils: peaceful threads may still share it, so nothing is wasted. Isolated
 * threads are placed first, then devils, then the others, each by descending miss rate (of equal
 * ones, in their order) as DI places them. Isolation ends where the devils that are left would find
 * no core outside of the isolated domains: from there on, the chosen are placed as the others are.
 *
 * core[i] receives the core of thread i, isolated[i] whether it is isolated. Returns the number of
 * isolated threads; -1 with errno EINVAL (a machine of less than two levels or as di_place refuses
 * it, no such level above the cores, a miss rate that is negative or not finite) or ENOMEM. */
long isolate_place(const struct di_machine *machine, size_t level, double devil_miss_pmi, size_t n,
                   const struct isolate_thread *thread, size_t *core, bool *isolated);

/* The same at the level where the most threads can be isolated; of equal ones the outermost, which
 * isolates best. *level receives it. */
long isolate_place_best(const struct di_machine *machine, double devil_miss_pmi, size_t n,
                        const struct isolate_thread *thread, size_t *core, bool *isolated,
                        size_t *level);

#endif
