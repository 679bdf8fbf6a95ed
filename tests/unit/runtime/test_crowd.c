/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_crowd - more threads than CPUs, one that waits for the others left out. What the kernel says
 * of the process and the CPUs of the page are the test's, and so is the clock. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "runtime/crowd.h"
#include "runtime/nodes.h"

#define ASKED_MORE_THAN 300 /* calls after which a thread has looked at the clock again */

static const char *stat_is;
static unsigned cpus_of_page;
static time_t time_is = 100;
static int opened;

unsigned nodes_cpus(void)
{
    return cpus_of_page;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, unsigned mode);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = time_is};
    return 0;
}

/* A pipe with the line in it, or with nothing. What counts coverage opens files of its own. */
int __wrap_open(const char *path, int flags, unsigned mode)
{
    int ends[2];

    if (strcmp(path, "/proc/self/stat") != 0)
        return __real_open(path, flags, mode);
    assert_true(flags & O_CLOEXEC);
    opened++;
    errno = EACCES;
    if (!stat_is || pipe(ends) < 0)
        return -1;
    assert_int_equal(write(ends[1], stat_is, strlen(stat_is)), strlen(stat_is));
    close(ends[1]);
    return ends[0];
}

/* The CPUs that this test was given are the most that there can be. */
static unsigned given(void)
{
    cpu_set_t mine;

    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    return (unsigned)CPU_COUNT(&mine);
}

static const char *with_threads(unsigned threads)
{
    static char line[256];

    snprintf(line, sizeof(line), "77 (a) name (b) R 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 %u 0",
             threads);
    return line;
}

/* Asks until the clock was looked at. */
static bool later(const char *stat)
{
    bool crowded = false;

    stat_is = stat;
    time_is++;
    for (int i = 0; i < ASKED_MORE_THAN; i++)
        crowded = crowd_is(nodes_cpus);
    return crowded;
}

static void test_threads_and_cpus(void **state)
{
    unsigned cpus = given();

    (void)state;
    assert_false(later(with_threads(1)));
    assert_false(later(with_threads(cpus)));
    assert_false(later(with_threads(cpus + 1)));
    assert_true(later(with_threads(cpus + 2)));
    assert_false(later(with_threads(cpus)));
}

static void test_the_page_may_say_fewer(void **state)
{
    unsigned cpus = given();

    (void)state;
    cpus_of_page = 1;
    assert_false(later(with_threads(2)));
    assert_true(later(with_threads(3)));
    cpus_of_page = cpus + 1;
    assert_true(later(with_threads(cpus + 2)));
    cpus_of_page = 0;
}

static void test_what_is_not_known_is_a_crowd(void **state)
{
    (void)state;
    assert_true(later(NULL));
    assert_true(later(""));
    assert_true(later("77 (name"));
    assert_true(later("77 (name) R 1 2 3"));
    assert_false(later(with_threads(1)));
}

static void test_once_a_second(void **state)
{
    int before;

    (void)state;
    assert_false(later(with_threads(1)));
    before = opened;
    stat_is = with_threads(given() + 2);
    errno = 77;
    for (int i = 0; i < ASKED_MORE_THAN; i++)
        assert_false(crowd_is(nodes_cpus));
    assert_int_equal(opened, before);
    assert_true(later(NULL));
    assert_int_equal(opened, before + 1);
    assert_int_equal(errno, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_cpus),
        cmocka_unit_test(test_the_page_may_say_fewer),
        cmocka_unit_test(test_what_is_not_known_is_a_crowd),
        cmocka_unit_test(test_once_a_second),
    };

    crowd_begin();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
