/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - see throttle.h.
 *
 * A thread that rests is bound to the instance of its loop: the how-many-eth of its region, by its
 * own count. Loops of a region come to their threads in the same order, though with nowait not at
 * the same time; a thread comes to the next one only when the last has no more chunks. So one word
 * says it all: the number of the loop that somebody has come to last, and whether it is over. A
 * thread whose own number is another one is late, and does not rest.
 *
 * That somebody is left over is in the same place: a thread lies down only while those that have
 * come to the loop are more than those that rest, itself included. What is counted too high for a
 * moment (a thread that has got up and has not said so yet) keeps others awake.
 *
 * A thread that lies down has said so before it looks at the word for the last time; who ends the
 * loop has written the word before he looks whether somebody rests: one of them sees the other. Who
 * rests looks around by himself every REST_NS, because he may be the one who reads the blackboard.
 *
 * A program may have a thread hold a lock while it comes for a chunk, and have others wait for it
 * in theirs. Where nobody comes for a chunk for FREE_NS, nobody rests in that loop any more:
 * nothing stands still. */
#include "runtime/throttle.h"

#include <pthread.h>
#include <time.h>

#include "runtime/contention.h"
#include "runtime/futex.h"
#include "runtime/rt.h"
#include "runtime/said.h"

#define SECOND_NS 1000000000u
#define REST_NS 10000000
#define FREE_NS (5 * (uint64_t)SECOND_NS)

#define OVER ((uint64_t)1)
#define CAME ((uint64_t)2)
#define NUMBER 32 /* in the upper half */

static __thread struct throttle_member *me __attribute__((tls_model("initial-exec")));
static uint32_t process; /* counts the forks that have led here */

/* ---- the word of a loop ---- */

static uint32_t number_of(uint64_t loop)
{
    return (uint32_t)(loop >> NUMBER);
}

static uint32_t came_to(uint64_t loop)
{
    return (uint32_t)loop >> 1;
}

/* Is it the member's loop, and has it more chunks? */
static bool goes_on(const struct throttle_member *member)
{
    uint64_t loop = atomic_load(&member->team->loop);

    return number_of(loop) == member->loops && !(loop & OVER);
}

/* ---- how many ---- */

static unsigned reduce(const struct rt_page *page, unsigned threads)
{
    unsigned told = __atomic_load_n(&page->threads, __ATOMIC_RELAXED), correct = threads;

    if (contention_is(page, contention_clock()))
        correct -= threads / CONTENTION_PART;
    if (rt_page(RT_THREADS) && told > 0 && told < correct)
        correct = told;
    return correct;
}

uint32_t throttle_most(const struct throttle_team *team)
{
    const struct rt_page *page = rt_page(RT_THROTTLE);
    uint32_t threads = atomic_load_explicit(&team->threads, memory_order_relaxed);

    return page ? threads - reduce(page, threads) : 0;
}

/* How many of them in one domain: as large a part of it as of the others, rounded so that they add
 * up. */
static uint32_t share_of(const struct throttle_team *team, unsigned domain, uint32_t most)
{
    uint64_t before = 0, here = atomic_load(&team->domain[domain].threads), all = 0;

    for (unsigned i = 0; i < NODES_MAX; i++) {
        uint32_t threads = atomic_load_explicit(&team->domain[i].threads, memory_order_relaxed);

        before += i < domain ? threads : 0;
        all += threads;
    }
    return all ? (uint32_t)(most * (before + here) / all - most * before / all) : 0;
}

/* ---- resting ---- */

static void ring(struct throttle_team *team)
{
    if (atomic_load(&team->asleep) == 0)
        return;
    atomic_fetch_add(&team->bell, 1);
    futex_wake(&team->bell, FUTEX_ALL);
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void wait_for_bell(struct throttle_team *team, uint32_t bell)
{
    uint64_t until_ns = clock_ns() + REST_NS;
    struct timespec until = {.tv_sec = (time_t)(until_ns / SECOND_NS),
                             .tv_nsec = (long)(until_ns % SECOND_NS)};

    futex_sleep_until(&team->bell, bell, CLOCK_MONOTONIC, &until);
}

/* Says that one more rests, where that leaves somebody. Returns whether it does. */
static bool say_asleep(const struct throttle_member *member, uint32_t most)
{
    struct throttle_team *team = member->team;
    uint32_t asleep = atomic_load(&team->asleep);

    do
        if (asleep >= most || !goes_on(member) || asleep + 1 >= came_to(atomic_load(&team->loop)))
            return false;
    while (!atomic_compare_exchange_weak(&team->asleep, &asleep, asleep + 1));
    return true;
}

static bool lie_down(const struct throttle_member *member, uint32_t most)
{
    struct throttle_team *team = member->team;
    _Atomic uint32_t *here = &team->domain[member->domain].asleep;

    if (!say_asleep(member, most))
        return false;
    if (atomic_fetch_add(here, 1) < share_of(team, member->domain, most))
        return true;
    atomic_fetch_sub(here, 1);
    atomic_fetch_sub(&team->asleep, 1);
    return false;
}

/* Is there room for one of those who rest in the domain? Then it is the caller's. */
static bool get_up(const struct throttle_member *member)
{
    struct throttle_team *team = member->team;
    _Atomic uint32_t *here = &team->domain[member->domain].asleep;
    uint32_t asleep = atomic_load(here);
    uint32_t share = share_of(team, member->domain, throttle_most(team));

    do
        if (asleep <= share)
            return false;
    while (!atomic_compare_exchange_weak(here, &asleep, asleep - 1));
    return true;
}

/* Nobody is to rest in the member's loop any more. */
static void end_loop(const struct throttle_member *member)
{
    struct throttle_team *team = member->team;
    uint64_t loop = atomic_load(&team->loop);

    while (number_of(loop) == member->loops && !(loop & OVER))
        if (atomic_compare_exchange_weak(&team->loop, &loop, loop | OVER)) {
            ring(team);
            return;
        }
}

/* Has nobody come for a chunk for too long? Then the loop is as if it were over. */
static bool free_all(const struct throttle_member *member)
{
    if (contention_clock() <= atomic_load(&member->team->taken_ns) + FREE_NS)
        return false;
    end_loop(member);
    return true;
}

/* Returns whether it has freed them all. */
static bool sleep_on(const struct throttle_member *member)
{
    struct throttle_team *team = member->team;
    uint32_t bell = atomic_load(&team->bell);
    bool freed = false;

    while (goes_on(member) && !(freed = free_all(member))) {
        if (get_up(member))
            return false;
        wait_for_bell(team, bell);
        bell = atomic_load(&team->bell);
    }
    atomic_fetch_sub(&team->domain[member->domain].asleep, 1);
    return freed;
}

static void rest(const struct throttle_member *member, uint32_t most)
{
    uint64_t began_ns = clock_ns();
    bool freed;

    atomic_store(&member->team->taken_ns, contention_clock());
    if (!lie_down(member, most))
        return;
    freed = sleep_on(member);
    atomic_fetch_sub(&member->team->asleep, 1);
    said_rest(clock_ns() - began_ns, freed);
}

/* ---- regions ---- */

void throttle_enter(struct throttle_member *member, struct throttle_team *team)
{
    *member = (struct throttle_member){.team = team,
                                       .outer = me,
                                       .process = process,
                                       .level = team->level(),
                                       .domain = nodes_domain()};
    atomic_store(&team->threads, (uint32_t)team->threads_in());
    atomic_fetch_add(&team->domain[member->domain].threads, 1);
    me = member;
    if (team->begun)
        throttle_loop(team->level, true);
}

void throttle_leave(struct throttle_member *member)
{
    member->others = 0;
    if (member->in_loop)
        throttle_over();
    atomic_fetch_sub(&member->team->domain[member->domain].threads, 1);
    me = member->outer;
}

/* Regions whose loops could rest, by their functions; two that meet here are taken for one. */
static _Atomic uint8_t has_loops[1024];

static _Atomic uint8_t *loops_of(const void *region)
{
    return &has_loops[((uintptr_t)region >> 4) % (sizeof(has_loops) / sizeof(has_loops[0]))];
}

unsigned throttle_region(const void *region, unsigned threads)
{
    const struct rt_page *page = rt_page(RT_THROTTLE);

    if (!page || atomic_load_explicit(loops_of(region), memory_order_relaxed) ||
        !contention_is(page, contention_clock()))
        return threads;
    return threads - threads / CONTENTION_PART;
}

/* ---- loops ---- */

/* The region that the calling thread is in, as this process knows it: a child has none of its
 * parent's other threads. */
static struct throttle_member *in_region(void)
{
    return me && me->process == process ? me : NULL;
}

/* Returns whether somebody may rest in the loop before it. */
static bool come_to(struct throttle_member *member)
{
    struct throttle_team *team = member->team;
    uint64_t loop = atomic_load(&team->loop), next;

    do {
        if ((int32_t)(member->loops - number_of(loop)) < 0)
            return false;
        next = number_of(loop) == member->loops ? loop + CAME
                                                : ((uint64_t)member->loops << NUMBER) + CAME;
    } while (!atomic_compare_exchange_weak(&team->loop, &loop, next));
    return number_of(loop) != member->loops;
}

void throttle_loop(throttle_query *level, bool dealt)
{
    struct throttle_member *member = in_region();

    if (!member)
        return;
    if (level != member->team->level || level() != member->level) {
        member->others++;
        return;
    }
    member->loops++;
    member->in_loop = dealt;
    if (!dealt)
        return;
    atomic_store_explicit(loops_of(member->team->region), 1, memory_order_relaxed);
    if (come_to(member))
        ring(member->team);
}

void throttle_chunk(void)
{
    struct throttle_member *member = in_region();
    uint32_t most;

    if (!member || !member->in_loop || member->others > 0)
        return;
    if (atomic_load_explicit(&member->team->asleep, memory_order_relaxed) > 0)
        atomic_store_explicit(&member->team->taken_ns, contention_clock(), memory_order_relaxed);
    most = throttle_most(member->team);
    if (most > 0)
        rest(member, most);
}

void throttle_over(void)
{
    struct throttle_member *member = in_region();

    if (!member || (!member->in_loop && member->others == 0))
        return;
    if (member->others > 0) {
        member->others--;
        return;
    }
    member->in_loop = false;
    end_loop(member);
}

static void in_child(void)
{
    process++;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
