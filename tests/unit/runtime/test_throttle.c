/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_throttle - which threads of a team rest: evenly over its domains, until contention ends or
 * the loop is over; never the last one in a loop. The domains, the page and contention are the
 * test's. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "runtime/contention.h"
#include "runtime/rt.h"
#include "runtime/said.h"
#include "runtime/throttle.h"

#define THREADS 16
#define DOMAINS 4
#define PATIENCE_S 20

static struct rt_page page = {.features = RT_THROTTLE};
static atomic_bool contended, over;
static atomic_uint come, rests, freed;
static struct throttle_team team;
static __thread unsigned domain;

/* ---- what the library asks ---- */

const struct rt_page *rt_page(enum rt_feature feature)
{
    return __atomic_load_n(&page.features, __ATOMIC_RELAXED) & feature ? &page : NULL;
}

bool contention_is(const struct rt_page *its, uint64_t now_ns)
{
    (void)its, (void)now_ns;
    return contended;
}

uint64_t contention_clock(void)
{
    return 1;
}

void said_rest(uint64_t ns, bool was_freed)
{
    (void)ns;
    rests++;
    freed += was_freed;
}

unsigned nodes_domain(void)
{
    return domain;
}

static int level(void)
{
    return 1;
}

static int threads_in(void)
{
    return THREADS;
}

/* ---- a team ---- */

/* Comes for chunks until the loop is over. */
static void *work(void *number)
{
    struct throttle_member member;

    domain = (unsigned)(uintptr_t)number % DOMAINS;
    throttle_enter(&member, &team);
    come++;
    while (come < THREADS)
        sched_yield();
    throttle_loop(level, true);
    do {
        throttle_chunk();
        sched_yield();
    } while (!over);
    throttle_over();
    throttle_leave(&member);
    return NULL;
}

static void begin(pthread_t *thread)
{
    team = (struct throttle_team){.level = level, .threads_in = threads_in};
    over = false;
    come = rests = freed = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)i), 0);
}

static void end(const pthread_t *thread)
{
    over = true;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(team.asleep, 0);
    assert_int_equal(freed, 0);
}

/* Waits until so many rest; fails where they never do. */
static void wait_for_asleep(unsigned wanted)
{
    time_t until = time(NULL) + PATIENCE_S;

    while (team.asleep != wanted && time(NULL) < until)
        sched_yield();
    assert_int_equal(team.asleep, wanted);
}

static bool is_even(unsigned each)
{
    for (unsigned i = 0; i < DOMAINS; i++)
        if (team.domain[i].asleep != each)
            return false;
    return true;
}

/* Waits until so many rest in each domain: who finds its own full is counted for a moment, too. */
static void wait_for_even(unsigned each)
{
    time_t until = time(NULL) + PATIENCE_S;

    while (!is_even(each) && time(NULL) < until)
        sched_yield();
    assert_true(is_even(each));
    wait_for_asleep(each * DOMAINS);
}

/* ---- tests ---- */

static void test_evenly(void **state)
{
    pthread_t thread[THREADS];

    (void)state;
    contended = true;
    begin(thread);
    wait_for_even(THREADS / 4 / DOMAINS);
    contended = false;
    wait_for_asleep(0);
    contended = true;
    wait_for_even(THREADS / 4 / DOMAINS);
    end(thread);
    assert_in_range(rests, 2 * (THREADS / 4), 4 * (THREADS / 4)); /* some change places */
}

/* The page's number, as it changes, in a loop that goes on. */
static void test_told(void **state)
{
    pthread_t thread[THREADS];

    (void)state;
    contended = false;
    page = (struct rt_page){.features = RT_THROTTLE | RT_THREADS, .threads = 1};
    begin(thread);
    wait_for_asleep(THREADS - 1);
    for (uint32_t threads = 2; threads <= THREADS; threads++) {
        __atomic_store_n(&page.threads, threads, __ATOMIC_RELAXED);
        wait_for_asleep(THREADS - threads);
    }
    __atomic_store_n(&page.features, 0, __ATOMIC_RELAXED);
    wait_for_asleep(0);
    end(thread);
    page.features = RT_THROTTLE;
}

/* Regions without such loops begin with fewer; one that had them has all. */
static void test_regions(void **state)
{
    static char code[128];
    const char *none = code, *some = code + 64;

    (void)state;
    contended = true;
    assert_int_equal(throttle_region(none, 8), 6);
    assert_int_equal(throttle_region(none, 3), 3);
    contended = false;
    assert_int_equal(throttle_region(none, 8), 8);
    contended = true;
    team = (struct throttle_team){.region = some, .level = level, .threads_in = threads_in};
    assert_int_equal(throttle_region(team.region, 8), 6);
    {
        struct throttle_member member;

        throttle_enter(&member, &team);
        throttle_loop(level, true);
        throttle_over();
        throttle_leave(&member);
    }
    assert_int_equal(throttle_region(team.region, 8), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evenly),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_regions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
