/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/moves.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tasks/objects.h"
#include "tasks/wake.h"

void *moves_map(struct berth_tasks *pool, unsigned number, size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED)
        return NULL;
    pool->region[number] = (struct region){.base = base, .bytes = bytes};
    return base;
}

void moves_begin_domain(struct domain *domain)
{
    pthread_mutex_init(&domain->lock, NULL);
    atomic_store(&domain->memory_node, -1);
}

/* A domain that a step is moved to is begun by whoever notices it. */
static int add_domains(struct berth_tasks *pool, unsigned domains)
{
    while (pool->domains < domains) {
        struct domain *domain = moves_map(pool, pool->domains, sizeof(*domain));

        if (!domain)
            return -1;
        moves_begin_domain(domain);
        pool->domain[pool->domains] = domain;
        atomic_fetch_add_explicit(&pool->domains, 1, memory_order_release);
    }
    return 0;
}

static void set_place(struct worker *worker, const struct place *place)
{
    struct domain *domain = worker->pool->domain[place->domain];
    uint32_t members = (uint32_t)load_u32(&domain->members);

    atomic_store_explicit(&domain->member[members], (uint16_t)worker->number, memory_order_relaxed);
    atomic_store_explicit(&domain->members, members + 1, memory_order_release);
    atomic_store_explicit(&worker->cpu, place->exists ? place->cpu : -1, memory_order_relaxed);
    atomic_store_explicit(&worker->domain, place->domain, memory_order_release);
}

int moves_assign(struct berth_tasks *pool, const struct places *places)
{
    if (add_domains(pool, places->domains) < 0)
        return -1;
    for (unsigned d = 0; d < pool->domains; d++)
        atomic_store_explicit(&pool->domain[d]->members, 0, memory_order_relaxed);
    for (unsigned i = 0; i < pool->n; i++)
        set_place(pool->worker[i], places_of(places, i, pool->n));
    return 0;
}

int moves_pin_to(int cpu)
{
    cpu_set_t set[PLACES_CPUS / CPU_SETSIZE];

    memset(set, 0, sizeof(set));
    CPU_SET_S((size_t)cpu, sizeof(set), set);
    return sched_setaffinity(0, sizeof(set), set);
}

void moves_note_memory(const struct berth_tasks *pool, struct domain *domain)
{
    unsigned node;

    if (!pool->faked && getcpu(NULL, &node) == 0)
        atomic_store_explicit(&domain->memory_node, (int)node, memory_order_relaxed);
}

void moves_pin(struct worker *me)
{
    int cpu = atomic_load_explicit(&me->cpu, memory_order_relaxed);

    if (cpu >= 0 && moves_pin_to(cpu) == 0)
        moves_note_memory(me->pool, domain_of(me));
}

/* ---- the step is moved ---- */

/* Under the lock. Nothing is done with what was written meanwhile: the next look finds it whole. */
static void read_anew(struct berth_tasks *pool, uint32_t generation)
{
    struct places *places = places_read_whole(&pool->source, generation);

    if (places && moves_assign(pool, places) == 0) {
        objects_forget(pool);
        atomic_store(&pool->generation, generation);
        atomic_fetch_add(&pool->layout, 1);
        for (unsigned i = 0; i < pool->n; i++)
            wake_worker(pool->worker[i]);
    }
    free(places);
}

void moves_follow(struct worker *me)
{
    struct berth_tasks *pool = me->pool;
    uint32_t now = places_generation(&pool->source), layout = (uint32_t)load_u32(&pool->layout);

    if (now % 2 == 0 && now != load_u32(&pool->generation) &&
        pthread_mutex_trylock(&pool->moving) == 0) {
        read_anew(pool, now);
        pthread_mutex_unlock(&pool->moving);
        layout = (uint32_t)load_u32(&pool->layout);
    }
    if (me->layout == layout)
        return;
    me->layout = layout;
    moves_pin(me);
}
