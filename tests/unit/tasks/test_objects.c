/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_objects - to which domain a task belongs by its objects: by the kernel's word of their
 * pages, asked seldom; by the first task where nobody has touched them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "tasks/objects.h"
#include "tasks/pool.h"

#define PAGES 64

long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);

static struct berth_tasks *pool;
static char *memory;
static size_t bytes; /* of a page */
static unsigned asked;
static int node_of[PAGES]; /* what the kernel says; -1: it refuses */

/* Plays move_pages(2) for the test's memory. */
static long play_move_pages(size_t n, void **address, int *status)
{
    asked++;
    for (size_t i = 0; i < n; i++) {
        long number = ((char *)address[i] - memory) / (long)bytes;

        if (number < 0 || number >= PAGES || node_of[number] == -1)
            return -1;
        status[i] = node_of[number];
    }
    return 0;
}

long __wrap_syscall(long number, ...)
{
    long part[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        part[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_move_pages)
        return play_move_pages((size_t)part[1], (void **)part[2], (int *)part[4]);
    return __real_syscall(number, part[0], part[1], part[2], part[3], part[4], part[5]);
}

/* A pool with two domains, of nodes 5 and 7, which the kernel is asked for. */
static int setup_pool(void **state)
{
    (void)state;
    bytes = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, PAGES * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    setenv("BERTH_TASKS_NODES", "0-1|2-3", 1);
    pool = berth_tasks_start(NULL);
    if (!pool || memory == MAP_FAILED || bytes != 4096)
        return -1;
    pool->faked = false;
    pool->domain[0]->memory_node = 5;
    pool->domain[1]->memory_node = 7;
    return 0;
}

static int end_pool(void **state)
{
    (void)state;
    munmap(memory, PAGES * bytes);
    return berth_tasks_stop(pool);
}

static int forget(void **state)
{
    (void)state;
    objects_forget(pool);
    asked = 0;
    for (int i = 0; i < PAGES; i++)
        node_of[i] = -2; /* -ENOENT: nobody has touched it */
    return 0;
}

static struct berth_task_object object(unsigned first, unsigned pages)
{
    return (struct berth_task_object){.address = memory + first * bytes, .bytes = pages * bytes};
}

static int domain_of_pages(unsigned first, unsigned pages)
{
    struct berth_task_object one = object(first, pages);

    return objects_domain(pool, NULL, &one, 1);
}

static void test_bound(void **state)
{
    (void)state;
    node_of[3] = 7;
    node_of[4] = 5;
    assert_int_equal(domain_of_pages(3, 1), 1);
    assert_int_equal(domain_of_pages(4, 1), 0);
    assert_int_equal(asked, 2);
}

/* The kernel is asked again only when it was long ago, or the page lay nowhere. */
static void test_asked_seldom(void **state)
{
    unsigned calls = 0;

    (void)state;
    node_of[3] = 7;
    for (; calls < 10000; calls++)
        assert_int_equal(domain_of_pages(3, 1), 1);
    assert_true(asked < calls / 100);
}

/* Eq. 5.2: the node that has most of what the task uses, of several objects and of many pages. */
static void test_most_similar(void **state)
{
    struct berth_task_object three[] = {object(0, 1), object(1, 1), object(2, 1)};

    (void)state;
    node_of[0] = node_of[1] = 7;
    node_of[2] = 5;
    assert_int_equal(objects_domain(pool, NULL, three, 3), 1);
    assert_int_equal(asked, 1);
    for (int i = 10; i < 60; i++)
        node_of[i] = i < 30 ? 7 : 5;
    assert_int_equal(domain_of_pages(10, 50), 0);
    assert_int_equal(domain_of_pages(10, 30), 1);
}

/* Only the pages of the part that is used count, however it lies in them. */
static void test_part(void **state)
{
    struct berth_task_object across = {.address = memory + 2 * bytes - 1, .bytes = 2},
                             none = {.address = memory, .bytes = 0};

    (void)state;
    node_of[1] = 7;
    node_of[2] = 7;
    node_of[0] = node_of[3] = 5;
    assert_int_equal(objects_domain(pool, NULL, &across, 1), 1);
    assert_int_equal(objects_domain(pool, NULL, &none, 1), -1);
}

/* What nobody has touched is given to domains in turn, and stays there; until the kernel knows. */
static void test_untouched(void **state)
{
    unsigned in_first = 0;
    int first;

    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        int domain = domain_of_pages(i, 1);

        in_first += domain == 0;
        assert_int_equal(domain_of_pages(i, 1), domain);
    }
    assert_int_equal(in_first, 16);
    first = domain_of_pages(0, 1);
    node_of[0] = first ? 5 : 7; /* another one touched it first */
    assert_int_equal(domain_of_pages(0, 1), !first);
}

/* Where the kernel may not be asked tasks still come together by what they use. */
static void test_refused(void **state)
{
    int domain;

    (void)state;
    node_of[0] = -1;
    domain = domain_of_pages(0, 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(domain_of_pages(0, 1), domain);
}

/* Memory of a node that no worker stands at: wherever there is least to do. */
static void test_foreign_node(void **state)
{
    (void)state;
    node_of[0] = 99;
    assert_in_range(domain_of_pages(0, 1), 0, 1);
}

/* Memory of a node that the step was moved away from: the domain has no workers any more. */
static void test_domain_left(void **state)
{
    uint32_t members = pool->domain[1]->members;

    (void)state;
    node_of[0] = 7;
    pool->domain[1]->members = 0;
    assert_int_equal(domain_of_pages(0, 1), 0);
    pool->domain[1]->members = members;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_bound, forget),
        cmocka_unit_test_setup(test_asked_seldom, forget),
        cmocka_unit_test_setup(test_most_similar, forget),
        cmocka_unit_test_setup(test_part, forget),
        cmocka_unit_test_setup(test_untouched, forget),
        cmocka_unit_test_setup(test_refused, forget),
        cmocka_unit_test_setup(test_foreign_node, forget),
        cmocka_unit_test_setup(test_domain_left, forget),
    };

    return cmocka_run_group_tests(tests, setup_pool, end_pool);
}
