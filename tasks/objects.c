/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/objects.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "models/tasks/locality.h"
#include "tasks/pool.h"
#include "tasks/queues.h"

#define PAGE_SHIFT 12
#define NODE_BITS 10
#define SECONDS_BITS 8
#define PAGE_BITS 45 /* of 57-bit addresses */
#define NODE_NONE ((1 << NODE_BITS) - 1)

/* What the table has of a page. */
struct known {
    uint64_t page; /* address / 4 KiB */
    unsigned node; /* the kernel's number of it, or a domain where the page is expected */
    bool expected;
    uint8_t second;
};

/* The pages of a task's objects that are looked at. */
struct pages {
    size_t n;
    struct known known[OBJECTS_PAGES];
};

/* ---- the table ---- */

static _Atomic uint64_t *slot_of(struct berth_tasks *pool, uint64_t page)
{
    return &pool->object[(page * 0x9e3779b97f4a7c15u >> 40) % OBJECT_SLOTS];
}

static uint64_t packed(const struct known *known)
{
    return known->page << (NODE_BITS + SECONDS_BITS + 1) |
           (uint64_t)known->second << (NODE_BITS + 1) | (uint64_t)known->expected << NODE_BITS |
           known->node;
}

static struct known unpacked(uint64_t word)
{
    return (struct known){.page = word >> (NODE_BITS + SECONDS_BITS + 1),
                          .node = word & NODE_NONE,
                          .expected = word >> NODE_BITS & 1,
                          .second = (uint8_t)(word >> (NODE_BITS + 1))};
}

static void keep(struct berth_tasks *pool, const struct known *known)
{
    atomic_store_explicit(slot_of(pool, known->page), packed(known), memory_order_relaxed);
}

static uint8_t this_second(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint8_t)now.tv_sec;
}

/* Looks a page up. Says whether the kernel need not be asked. */
static bool is_known(struct berth_tasks *pool, struct known *known)
{
    struct known found =
        unpacked(atomic_load_explicit(slot_of(pool, known->page), memory_order_relaxed));

    if (found.page != known->page)
        return false;
    known->node = found.node;
    known->expected = found.expected;
    return pool->faked || (!found.expected && found.second == known->second);
}

void objects_forget(struct berth_tasks *pool)
{
    for (size_t i = 0; i < OBJECT_SLOTS; i++)
        atomic_store_explicit(&pool->object[i], 0, memory_order_relaxed);
}

/* ---- the kernel ---- */

/* Asks where pages are. A page that nobody has touched stays as it is: expected somewhere, or not.
 */
static void ask(struct pages *pages, const size_t *which, size_t n)
{
    void *address[OBJECTS_PAGES];
    int status[OBJECTS_PAGES];

    for (size_t i = 0; i < n; i++) {
        address[i] = (void *)(uintptr_t)(pages->known[which[i]].page << PAGE_SHIFT);
        status[i] = -ENOENT;
    }
    if (syscall(SYS_move_pages, 0, n, address, NULL, status, 0) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (status[i] >= 0 && status[i] < NODE_NONE) {
            pages->known[which[i]].node = (unsigned)status[i];
            pages->known[which[i]].expected = false;
        }
}

/* Finds out where all the pages are. Nodes that are faked the kernel does not know of. */
static void find_pages(struct berth_tasks *pool, struct worker *me, struct pages *pages)
{
    size_t which[OBJECTS_PAGES], n = 0;

    for (size_t i = 0; i < pages->n; i++)
        if (!is_known(pool, &pages->known[i]) && !pool->faked)
            which[n++] = i;
    if (!n)
        return;
    ask(pages, which, n);
    if (me)
        count(&me->counts.asked);
    for (size_t i = 0; i < n; i++)
        if (pages->known[which[i]].node != NODE_NONE)
            keep(pool, &pages->known[which[i]]);
}

/* Chooses pages evenly over the objects. */
static void choose_pages(const struct berth_task_object *objects, size_t n, struct pages *pages)
{
    size_t each = n < OBJECTS_PAGES ? OBJECTS_PAGES / n : 1;
    uint8_t second = this_second();

    pages->n = 0;
    for (size_t i = 0; i < n && pages->n < OBJECTS_PAGES; i++) {
        uintptr_t at = (uintptr_t)objects[i].address;
        uint64_t first = at >> PAGE_SHIFT,
                 all =
                     objects[i].bytes ? ((at + objects[i].bytes - 1) >> PAGE_SHIFT) - first + 1 : 0,
                 take = all < each ? all : each;

        for (uint64_t k = 0; k < take; k++)
            pages->known[pages->n++] =
                (struct known){.page = (first + k * all / take) & (((uint64_t)1 << PAGE_BITS) - 1),
                               .node = NODE_NONE,
                               .second = second};
    }
}

/* ---- domains ---- */

/* A domain that the step was moved away from has nobody who would run anything there. */
static bool is_of_node(const struct domain *domain, unsigned node)
{
    return load_u32(&domain->members) &&
           atomic_load_explicit(&domain->memory_node, memory_order_relaxed) == (int)node;
}

static size_t domain_of_node(struct berth_tasks *pool, unsigned node)
{
    size_t best = LOCALITY_NOWHERE;

    for (unsigned d = 0; d < pool->domains; d++)
        if (is_of_node(pool->domain[d], node) &&
            (best == LOCALITY_NOWHERE || queues_load(pool, d) < queues_load(pool, (unsigned)best)))
            best = d;
    return best;
}

static size_t domain_of_page(struct berth_tasks *pool, const struct known *known)
{
    if (known->node == NODE_NONE)
        return LOCALITY_NOWHERE;
    if (known->expected)
        return known->node < pool->domains ? known->node : LOCALITY_NOWHERE;
    return domain_of_node(pool, known->node);
}

/* Eq. 5.2, with the pages as objects. */
static size_t most_similar(struct berth_tasks *pool, const struct pages *pages)
{
    size_t first[] = {0, pages->n}, use[OBJECTS_PAGES], node[OBJECTS_PAGES];
    double row[BERTH_TASKS_DOMAINS_MAX];
    struct locality locality = {.tasks = 1,
                                .first = first,
                                .use = use,
                                .objects = pages->n,
                                .node = node,
                                .nodes = pool->domains};

    for (size_t i = 0; i < pages->n; i++) {
        use[i] = i;
        node[i] = domain_of_page(pool, &pages->known[i]);
    }
    locality_similarity(&locality, 0, row);
    return locality_node(pool->domains, row);
}

/* Expects the pages in a domain. */
static void bind(struct berth_tasks *pool, struct pages *pages, unsigned domain)
{
    for (size_t i = 0; i < pages->n; i++)
        if (pages->known[i].node == NODE_NONE) {
            pages->known[i].node = domain;
            pages->known[i].expected = true;
            keep(pool, &pages->known[i]);
        }
}

int objects_domain(struct berth_tasks *pool, struct worker *me,
                   const struct berth_task_object *objects, size_t n)
{
    struct pages pages;
    size_t domain;

    if (pool->domains < 2)
        return -1;
    choose_pages(objects, n, &pages);
    if (!pages.n)
        return -1;
    find_pages(pool, me, &pages);
    domain = most_similar(pool, &pages);
    if (domain == LOCALITY_NOWHERE)
        domain = queues_least(pool);
    bind(pool, &pages, (unsigned)domain);
    return (int)domain;
}
