/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nodes - the domain of a thread is that of its CPU, by the page as it is, or by the words of
 * a test. The CPU that a thread runs on and the page are the test's. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "runtime/nodes.h"
#include "runtime/rt.h"

#define ASKED_MORE_THAN 64 /* calls after which a thread has looked at its CPU again */
#define CHANGES 20000

static struct rt_page page;
static const struct rt_page *page_is;
static int cpu_is;

const struct rt_page *rt_page(enum rt_feature feature)
{
    return page_is && (page_is->features & feature) ? page_is : NULL;
}

int sched_getcpu(void)
{
    return cpu_is;
}

static int begin(void **state)
{
    (void)state;
    memset(&page, 0, sizeof(page));
    memset(page.node, RT_NO_DOMAIN, sizeof(page.node));
    memset(page.cache, RT_NO_DOMAIN, sizeof(page.cache));
    page.features = RT_FLEX;
    page_is = &page;
    return nodes_play(NULL);
}

/* Gives CPUs, from the first on, a node and a cache. */
static void fill(const char *nodes, const char *caches)
{
    page.generation++;
    for (size_t cpu = 0; nodes[cpu]; cpu++) {
        page.node[cpu] = (uint8_t)(nodes[cpu] - '0');
        page.cache[cpu] = (uint8_t)(caches[cpu] - '0');
    }
    page.generation++;
}

static unsigned domain_on(int cpu)
{
    unsigned domain = 0;

    cpu_is = cpu;
    for (int i = 0; i < ASKED_MORE_THAN; i++)
        domain = nodes_domain();
    return domain;
}

static void a_domain_is_a_memory_node(void **state)
{
    (void)state;
    fill("0033", "0123");
    assert_int_equal(nodes_domains(), 2);
    assert_int_equal(domain_on(1), 0);
    assert_int_equal(domain_on(2), 3);
    assert_int_equal(domain_on(9), 0); /* not the step's */
    assert_int_equal(domain_on(-1), 0);
}

static void it_is_a_cache_within_one_node(void **state)
{
    (void)state;
    fill("2222", "4455");
    assert_int_equal(nodes_domains(), 2);
    assert_int_equal(domain_on(0), 4);
    assert_int_equal(domain_on(3), 5);
}

static void there_is_one_where_nothing_is_known(void **state)
{
    (void)state;
    assert_int_equal(nodes_domains(), 1);
    assert_int_equal(domain_on(0), 0);
    page_is = NULL;
    assert_int_equal(nodes_domains(), 1);
    assert_int_equal(domain_on(1), 0);
    page_is = &page;
    page.features = RT_THREADS;
    fill("01", "01");
    assert_int_equal(nodes_domains(), 1);
}

static void numbers_beyond_the_greatest_are_folded(void **state)
{
    (void)state;
    fill("00", "00");
    page.node[1] = 3 * NODES_MAX + 2;
    page.node[2] = 2;
    page.generation += 2;
    assert_int_equal(nodes_domains(), 2);
    assert_int_equal(domain_on(1), 2);
    assert_int_equal(domain_on(2), 2);
}

static void a_page_that_has_changed_is_read_again(void **state)
{
    (void)state;
    fill("0011", "0011");
    assert_int_equal(domain_on(1), 0);
    page.generation++;
    page.node[1] = 1;
    assert_int_equal(domain_on(1), 0); /* it is being changed */
    page.generation++;
    assert_int_equal(domain_on(1), 1);
    fill("1111", "6667");
    assert_int_equal(domain_on(1), 6);
    assert_int_equal(domain_on(3), 7);
}

/* Two pages, of 2 and of 3 nodes, which have none in common; their mixtures have others. */
static void *change(void *stopped)
{
    for (uint32_t i = 0; !atomic_load((atomic_bool *)stopped); i++) {
        __atomic_fetch_add(&page.generation, 1, __ATOMIC_SEQ_CST);
        for (uint8_t cpu = 0; cpu < 240; cpu++)
            __atomic_store_n(&page.node[cpu], (uint8_t)(i % 2 ? cpu % 2 : 2 + cpu % 3),
                             __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&page.generation, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void a_torn_page_is_not_believed(void **state)
{
    atomic_bool stopped = false;
    pthread_t writer;
    unsigned count, counts[2] = {0};

    (void)state;
    memset(page.cache, 0, sizeof(page.cache));
    assert_int_equal(pthread_create(&writer, NULL, change, &stopped), 0);
    for (int i = 0; i < CHANGES || !counts[0] || !counts[1]; i++) {
        count = nodes_domains();
        if (count == 1)
            continue; /* nothing was whole yet */
        assert_in_range(count, 2, 3);
        counts[count - 2]++;
    }
    atomic_store(&stopped, true);
    pthread_join(writer, NULL);
}

static void words_stand_for_the_page(void **state)
{
    (void)state;
    fill("33", "33");
    assert_int_equal(nodes_play("0-1,5|2|7-9"), 0);
    assert_int_equal(nodes_domains(), 3);
    assert_int_equal(domain_on(5), 0);
    assert_int_equal(domain_on(2), 1);
    assert_int_equal(domain_on(8), 2);
    assert_int_equal(domain_on(6), 0);
}

static void *ask(void *domain)
{
    *(unsigned *)domain = nodes_domain();
    for (int i = 0; i < ASKED_MORE_THAN; i++)
        if (nodes_domain() != *(unsigned *)domain)
            *(unsigned *)domain = NODES_MAX;
    return NULL;
}

static void threads_are_dealt_by_turns(void **state)
{
    unsigned domain[8], threads_of[4] = {0};
    pthread_t thread;

    (void)state;
    assert_int_equal(nodes_play("*4"), 0);
    assert_int_equal(nodes_domains(), 4);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&thread, NULL, ask, &domain[i]), 0);
        pthread_join(thread, NULL);
        assert_in_range(domain[i], 0, 3);
        threads_of[domain[i]]++;
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(threads_of[i], 2);
}

static void a_thread_can_wander(void **state)
{
    unsigned first;

    (void)state;
    assert_int_equal(nodes_play("~3"), 0);
    first = nodes_domain();
    for (unsigned i = 1; i < 9; i++)
        assert_int_equal(nodes_domain(), (first + i) % 3);
}

static void other_words_are_refused(void **state)
{
    static const char *const wrong[] = {"",    "|",    "0|",   "0-",   "1-0",   "0,|1", "0|x",
                                        "0 1", "2048", "*",    "*0",   "*33",   "~",    "*2x",
                                        "-1",  "0|1 ", "0--1", "near", "0-2048"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(nodes_play(wrong[i]), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_domain_is_a_memory_node, begin),
        cmocka_unit_test_setup(it_is_a_cache_within_one_node, begin),
        cmocka_unit_test_setup(there_is_one_where_nothing_is_known, begin),
        cmocka_unit_test_setup(numbers_beyond_the_greatest_are_folded, begin),
        cmocka_unit_test_setup(a_page_that_has_changed_is_read_again, begin),
        cmocka_unit_test_setup(a_torn_page_is_not_believed, begin),
        cmocka_unit_test_setup(words_stand_for_the_page, begin),
        cmocka_unit_test_setup(threads_are_dealt_by_turns, begin),
        cmocka_unit_test_setup(a_thread_can_wander, begin),
        cmocka_unit_test_setup(other_words_are_refused, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
