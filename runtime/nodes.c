/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nodes - see nodes.h.
 *
 * The page is read when its generation is another one than before, by one thread; the others go on
 * with what they have. It is read into a copy first: only what berthd did not write meanwhile is
 * believed. Then each CPU's domain is a byte that changes by itself, and a reader has the old one
 * or the new one.
 *
 * A thread asks for its CPU once in ASK_AGAIN calls. */
#include "runtime/nodes.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"

#define ASK_AGAIN 16
#define NOT_READ 1 /* a generation that no whole page has */

static struct {
    _Atomic uint8_t of_cpu[RT_PAGE_CPUS];
    _Atomic uint32_t count;
    _Atomic uint32_t cpus;       /* of the page; 0: none */
    _Atomic uint32_t generation; /* of the page that they were read from */
    atomic_flag busy;
} domains = {.count = 1, .generation = NOT_READ, .busy = ATOMIC_FLAG_INIT};

/* What NODES_ENV says. */
static struct {
    bool lists;    /* the domains of CPUs are those of the words */
    unsigned deal; /* threads are dealt to so many domains; 0: they are not */
    bool wander;
    _Atomic unsigned dealt;
} played;

struct mine {
    unsigned turn; /* 0: none yet */
    uint8_t domain, calls_left;
};

static __thread struct mine mine __attribute__((tls_model("initial-exec")));

/* ---- the page ---- */

/* Writes down each CPU's domain, and returns how many domains there are, and CPUs. */
static unsigned fold(const uint8_t *from, uint8_t *domain, uint32_t *cpus)
{
    bool seen[NODES_MAX] = {false};
    unsigned count = 0;

    *cpus = 0;
    for (size_t cpu = 0; cpu < RT_PAGE_CPUS; cpu++) {
        domain[cpu] = 0;
        if (from[cpu] == RT_NO_DOMAIN)
            continue;
        ++*cpus;
        domain[cpu] = from[cpu] % NODES_MAX;
        count += !seen[domain[cpu]];
        seen[domain[cpu]] = true;
    }
    return count;
}

static void copy(const uint8_t *shared, uint8_t *to)
{
    for (size_t cpu = 0; cpu < RT_PAGE_CPUS; cpu++)
        to[cpu] = __atomic_load_n(&shared[cpu], __ATOMIC_RELAXED);
}

static void publish(const uint8_t *domain, unsigned count)
{
    for (size_t cpu = 0; cpu < RT_PAGE_CPUS; cpu++)
        atomic_store_explicit(&domains.of_cpu[cpu], domain[cpu], memory_order_relaxed);
    atomic_store(&domains.count, count ? count : 1);
}

static void read_page(const struct rt_page *page, uint32_t generation)
{
    uint8_t node[RT_PAGE_CPUS], cache[RT_PAGE_CPUS], domain[RT_PAGE_CPUS];
    uint32_t cpus;
    unsigned count;

    copy(page->node, node);
    copy(page->cache, cache);
    atomic_thread_fence(memory_order_acquire);
    if (__atomic_load_n(&page->generation, __ATOMIC_RELAXED) != generation)
        return;
    count = fold(node, domain, &cpus);
    if (count < 2)
        count = fold(cache, domain, &cpus);
    publish(domain, count);
    atomic_store(&domains.cpus, cpus);
    atomic_store(&domains.generation, generation);
}

static void look_at_page(void)
{
    const struct rt_page *page = rt_page(RT_THROTTLE | RT_FLEX | RT_COHORT);
    uint32_t generation = page ? __atomic_load_n(&page->generation, __ATOMIC_ACQUIRE) : NOT_READ;

    if (generation % 2 == 1 || generation == atomic_load(&domains.generation) ||
        atomic_flag_test_and_set(&domains.busy))
        return;
    read_page(page, generation);
    atomic_flag_clear(&domains.busy);
}

/* The thread that was reading, where there was one, is not in the child. */
static void in_child(void)
{
    atomic_flag_clear(&domains.busy);
}

/* ---- what is played ---- */

/* Takes a list of CPUs, 0-3,5, as the domain's, and returns what comes after it; NULL: no list. */
static const char *take_list(const char *text, uint8_t domain, uint8_t *of_cpu)
{
    do {
        char *end;
        unsigned long from = strtoul(text, &end, 10), to = from;

        if (end != text && *end == '-') {
            text = end + 1;
            to = strtoul(text, &end, 10);
        }
        if (end == text || to < from || to >= RT_PAGE_CPUS)
            return NULL;
        memset(of_cpu + from, domain, to - from + 1);
        text = end;
    } while (*text++ == ',');
    return text - 1;
}

static int play_lists(const char *text)
{
    uint8_t of_cpu[RT_PAGE_CPUS] = {0};
    unsigned count = 0;

    do {
        text = count < NODES_MAX ? take_list(text, (uint8_t)count, of_cpu) : NULL;
        if (!text)
            return -1;
        count++;
    } while (*text++ == '|');
    if (text[-1])
        return -1;
    publish(of_cpu, count);
    played.lists = true;
    return 0;
}

static int play_deal(const char *text)
{
    char *end;
    unsigned long count = strtoul(text + 1, &end, 10);

    if (end == text + 1 || *end || count < 1 || count > NODES_MAX)
        return -1;
    played.deal = (unsigned)count;
    played.wander = *text == '~';
    return 0;
}

int nodes_play(const char *words)
{
    played.lists = played.wander = false;
    played.deal = 0;
    mine = (struct mine){0};
    atomic_store(&domains.generation, NOT_READ);
    if (!words)
        return 0;
    return *words == '*' || *words == '~' ? play_deal(words) : play_lists(words);
}

static unsigned dealt_domain(void)
{
    if (mine.turn == 0)
        mine.turn = 1 + atomic_fetch_add(&played.dealt, 1);
    else if (played.wander)
        mine.turn++;
    return (mine.turn - 1) % played.deal;
}

/* ---- what is asked ---- */

unsigned nodes_domain(void)
{
    int cpu;

    if (played.deal)
        return dealt_domain();
    if (mine.calls_left > 0) {
        mine.calls_left--;
        return mine.domain;
    }
    if (!played.lists)
        look_at_page();
    cpu = sched_getcpu();
    mine.domain = cpu >= 0 && cpu < RT_PAGE_CPUS
                      ? atomic_load_explicit(&domains.of_cpu[cpu], memory_order_relaxed)
                      : 0;
    mine.calls_left = ASK_AGAIN - 1;
    return mine.domain;
}

unsigned nodes_domains(void)
{
    if (played.deal)
        return played.deal;
    if (!played.lists)
        look_at_page();
    return atomic_load(&domains.count);
}

unsigned nodes_cpus(void)
{
    if (!played.lists)
        look_at_page();
    return atomic_load(&domains.cpus);
}

__attribute__((constructor)) static void begin(void)
{
    const char *words = getenv(NODES_ENV);

    if (words && nodes_play(words) < 0)
        nodes_play(NULL);
    if (getenv(RT_PAGE_ENV))
        pthread_atfork(NULL, NULL, in_child);
}
