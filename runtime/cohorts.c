/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cohorts - see cohorts.h.
 *
 * They are in memory that is all 0 in a child of fork (lines_map). The domains' parts lie by
 * domain: each page is its node's who touches it first. A lock that was never destroyed keeps its
 * cohort (C++ does not destroy mutexes) until another at its address is given one. */
#include "runtime/cohorts.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/crowd.h"
#include "runtime/lines.h"
#include "runtime/nodes.h"
#include "runtime/rt.h"

#define GIVEN_AFTER 16 /* changes of domain, of those who have waited */
#define PROBES 8
#define BOUND_MAX 1000000
#define NOT_ASKED UINT32_MAX
#define BEGINS 1u

struct cohorts {
    _Atomic uintptr_t lock[COHORTS]; /* its address; 0: it is nobody's; and BEGINS: not yet */
    struct cohort cohort[COHORTS];
    _Alignas(4096) struct cohort_domain domain[COHORT_DOMAINS][COHORTS];
};

static _Atomic(struct cohorts *) cohorts;
static uint32_t bound_asked = NOT_ASKED;

__attribute__((constructor)) static void begin(void)
{
    const char *asked = getenv(RT_COHORT_ENV);
    char *end;
    unsigned long number = asked ? strtoul(asked, &end, 10) : 0;

    if (asked && *asked >= '0' && *asked <= '9' && !*end && number <= BOUND_MAX)
        bound_asked = (uint32_t)number;
    if (rt_named())
        crowd_begin();
}

bool cohorts_rest(void)
{
    return bound_asked == NOT_ASKED && crowd_is(nodes_cpus);
}

bool cohorts_note(uint64_t *noted)
{
    uint32_t last = (uint32_t)(*noted >> 32), changes = (uint32_t)*noted, domain;

    if (!rt_page(RT_COHORT | RT_FLEX))
        return false;
    domain = nodes_domain() + 1;
    changes += last && last != domain;
    *noted = (uint64_t)domain << 32 | changes;
    return changes >= GIVEN_AFTER && !cohorts_rest();
}

/* ---- the table ---- */

/* Of two threads that come first at once, one's memory is lost. */
static struct cohorts *all_cohorts(void)
{
    struct cohorts *all = atomic_load(&cohorts), *other = NULL;

    if (all)
        return all;
    all = lines_map(sizeof(*all));
    return !all || atomic_compare_exchange_strong(&cohorts, &other, all) ? all : other;
}

static size_t place_of(const void *lock, size_t probe)
{
    return ((size_t)(((uintptr_t)lock >> 2) * 0x9e3779b97f4a7c15 >> 40) + probe) % COHORTS;
}

static size_t look_for(struct cohorts *all, const void *lock)
{
    for (size_t i = 0; i < PROBES; i++)
        if (atomic_load_explicit(&all->lock[place_of(lock, i)], memory_order_acquire) ==
            (uintptr_t)lock)
            return place_of(lock, i);
    return COHORTS_NONE;
}

/* Returns a place that is the lock's from now on, or was that of one at its address. */
static size_t take_place(struct cohorts *all, const void *lock)
{
    size_t found = look_for(all, lock);
    uintptr_t nobody;

    for (size_t i = 0; i < PROBES && found == COHORTS_NONE; i++) {
        nobody = 0;
        if (atomic_compare_exchange_strong(&all->lock[place_of(lock, i)], &nobody,
                                           (uintptr_t)lock | BEGINS))
            found = place_of(lock, i);
    }
    return found;
}

size_t cohorts_give(void *lock, const struct cohort_global *global)
{
    struct cohorts *all = all_cohorts();
    size_t i = all ? take_place(all, lock) : COHORTS_NONE;

    if (i == COHORTS_NONE)
        return i;
    for (size_t d = 0; d < COHORT_DOMAINS; d++)
        all->cohort[i].domain[d] = &all->domain[d][i];
    cohort_begin(&all->cohort[i], global, lock,
                 bound_asked != NOT_ASKED ? bound_asked : COHORT_BOUND);
    atomic_store(&all->lock[i], (uintptr_t)lock);
    return i;
}

struct cohort *cohorts_at(size_t i, const void *lock)
{
    struct cohorts *all = atomic_load_explicit(&cohorts, memory_order_acquire);

    return all && i < COHORTS && atomic_load(&all->lock[i]) == (uintptr_t)lock ? &all->cohort[i]
                                                                               : NULL;
}

struct cohort *cohorts_find(const void *lock)
{
    struct cohorts *all = atomic_load_explicit(&cohorts, memory_order_acquire);

    return all ? cohorts_at(look_for(all, lock), lock) : NULL;
}

void cohorts_drop(const void *lock)
{
    struct cohorts *all = atomic_load(&cohorts);
    size_t i = all ? look_for(all, lock) : COHORTS_NONE;

    if (i != COHORTS_NONE)
        atomic_store(&all->lock[i], 0);
}
