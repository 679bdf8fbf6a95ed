/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_origin - where pages were before they were dealt: in memory, in its file, and read back. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/memory/origin.h"
#include "tests/unit/common/folder.h"

#define PAGE 4096ull
#define LINE 64

static char dir[64], path[96];

static int setup(void **state)
{
    (void)state;
    folder_new(dir, sizeof(dir), "berth-origin");
    snprintf(path, sizeof(path), "%s/dealt.1.0", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    folder_remove(dir);
    return 0;
}

static struct memory_origin *create(void)
{
    struct berth_error err = {""};
    struct memory_origin *origin = memory_origin_create(path, &err);

    if (!origin)
        fail_msg("%s", err.text);
    return origin;
}

/* The owner goes, and another one reads what he has left. */
static struct memory_origin *again(struct memory_origin *origin)
{
    struct berth_error err = {""};

    memory_origin_release(origin);
    origin = memory_origin_open(path, &err);
    if (!origin)
        fail_msg("%s", err.text);
    return origin;
}

static void refused(const char *why)
{
    struct berth_error err = {""};

    assert_null(memory_origin_open(path, &err));
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, why))
        fail_msg("%s", err.text);
}

/* The process 10 has n pages from that one on, on a node. */
static int add(struct memory_origin *origin, uint64_t page, uint64_t n, int node)
{
    const struct memory_run run = {
        .pid = 10, .node = node, .started = 77, .start = page * PAGE, .end = (page + n) * PAGE};

    return memory_origin_add(origin, &run);
}

static int node(const struct memory_origin *origin, uint64_t page)
{
    return memory_origin_node(origin, 10, 77, page * PAGE);
}

static off_t size(void)
{
    struct stat stat_of;

    assert_int_equal(stat(path, &stat_of), 0);
    return stat_of.st_size;
}

static void spoil(off_t at, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, text, strlen(text), at), strlen(text));
    close(fd);
}

/* ---- tests ---- */

/* Neighbours on one node are one run, and one line, however many they are. */
static void test_neighbours(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    for (uint64_t page = 0; page < 100000; page++)
        assert_int_equal(add(origin, page, 1, 1), 0);
    assert_int_equal(size(), 2 * LINE);
    assert_int_equal(add(origin, 100000, 7, 0), 0);
    assert_int_equal(size(), 3 * LINE);
    origin = again(origin);
    assert_int_equal(node(origin, 0), 1);
    assert_int_equal(node(origin, 99999), 1);
    assert_int_equal(node(origin, 100006), 0);
    assert_int_equal(node(origin, 100007), -1);
    memory_origin_release(origin);
}

/* What was noted first counts; the gaps between are filled, whatever covers them. */
static void test_first_counts(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    assert_int_equal(add(origin, 10, 10, 2), 0);
    assert_int_equal(add(origin, 30, 10, 3), 0);
    assert_int_equal(add(origin, 5, 40, 1), 0);
    assert_int_equal(add(origin, 12, 3, 0), 0);
    for (int before = 0; before < 2; before++) {
        assert_int_equal(node(origin, 4), -1);
        assert_int_equal(node(origin, 5), 1);
        assert_int_equal(node(origin, 10), 2);
        assert_int_equal(node(origin, 13), 2);
        assert_int_equal(node(origin, 20), 1);
        assert_int_equal(node(origin, 30), 3);
        assert_int_equal(node(origin, 40), 1);
        assert_int_equal(node(origin, 45), -1);
        origin = again(origin);
    }
    memory_origin_release(origin);
}

/* Another process, and another one that has got its number, are others. */
static void test_processes(void **state)
{
    struct memory_origin *origin = create();
    const struct memory_run lower = {9, 1, 77, PAGE, 2 * PAGE},
                            later = {10, 3, 780, PAGE, 2 * PAGE};

    (void)state;
    assert_int_equal(add(origin, 0, 4, 2), 0);
    assert_int_equal(memory_origin_add(origin, &later), 0);
    assert_int_equal(memory_origin_add(origin, &lower), 0);
    origin = again(origin);
    assert_int_equal(node(origin, 1), 2);
    assert_int_equal(memory_origin_node(origin, 9, 77, PAGE), 1);
    assert_int_equal(memory_origin_node(origin, 9, 77, 0), -1);
    assert_int_equal(memory_origin_node(origin, 10, 780, PAGE), 3);
    assert_int_equal(memory_origin_node(origin, 10, 780, 0), -1);
    assert_int_equal(memory_origin_node(origin, 11, 77, PAGE), -1);
    memory_origin_release(origin);
}

/* One that was read back goes on: its runs grow, and others get lines of their own. */
static void test_goes_on(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    assert_int_equal(add(origin, 20, 5, 1), 0);
    assert_int_equal(add(origin, 0, 5, 2), 0);
    origin = again(origin);
    assert_int_equal(add(origin, 25, 5, 1), 0);
    assert_int_equal(add(origin, 5, 5, 2), 0);
    assert_int_equal(add(origin, 10, 1, 0), 0);
    assert_int_equal(size(), 4 * LINE);
    origin = again(origin);
    assert_int_equal(node(origin, 29), 1);
    assert_int_equal(node(origin, 9), 2);
    assert_int_equal(node(origin, 10), 0);
    memory_origin_release(origin);
}

/* The file, as the memory, has a bound. */
static void test_bound(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    for (uint64_t run = 0; run < MEMORY_ORIGIN_RUNS; run++)
        assert_int_equal(add(origin, 2 * run, 1, 0), 0);
    assert_int_equal(add(origin, 2 * MEMORY_ORIGIN_RUNS, 1, 0), -1);
    assert_int_equal(errno, E2BIG);
    assert_int_equal(add(origin, 2 * MEMORY_ORIGIN_RUNS - 1, 1, 0), 0); /* the last one grows */
    assert_int_equal(size(), (MEMORY_ORIGIN_RUNS + 1) * LINE);
    origin = again(origin);
    assert_int_equal(node(origin, 2 * MEMORY_ORIGIN_RUNS - 1), 0);
    assert_int_equal(node(origin, 1), -1);
    memory_origin_release(origin);
}

/* What could not be written is not noted: its page must not be moved. */
static void test_full(void **state)
{
    struct memory_origin *origin = create();
    struct rlimit before, small;

    (void)state;
    assert_int_equal(add(origin, 0, 1, 1), 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 2 * LINE;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(add(origin, 1, 1, 1), 0); /* its line is there */
    assert_int_equal(add(origin, 2, 1, 0), -1);
    assert_int_equal(errno, EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(node(origin, 1), 1);
    assert_int_equal(node(origin, 2), -1);
    assert_int_equal(add(origin, 2, 1, 0), 0);
    memory_origin_release(origin);
}

/* What fills more than a line could not be read back: it is not noted, and the others stay. */
static void test_too_long(void **state)
{
    const struct memory_run far = {10, 1, 77, PAGE, 1ull << 60};
    const struct memory_run nowhere = {10, -1, 77, PAGE, 2 * PAGE};
    struct memory_origin *origin = create();

    (void)state;
    assert_int_equal(add(origin, 0, 1, 1), 0);
    assert_int_equal(memory_origin_add(origin, &far), -1);
    assert_int_equal(errno, EOVERFLOW);
    assert_int_equal(memory_origin_add(origin, &nowhere), -1);
    assert_int_equal(errno, EOVERFLOW);
    assert_int_equal(size(), 2 * LINE);
    assert_int_equal(node(origin, 1), -1);
    origin = again(origin);
    assert_int_equal(node(origin, 0), 1);
    memory_origin_release(origin);
}

/* A line that was being written when berthd died counts as none, and is written over. */
static void test_torn(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    assert_int_equal(add(origin, 0, 1, 1), 0);
    assert_int_equal(add(origin, 5, 1, 2), 0);
    assert_int_equal(truncate(path, 3 * LINE - 1), 0);
    origin = again(origin);
    assert_int_equal(node(origin, 0), 1);
    assert_int_equal(node(origin, 5), -1);
    assert_int_equal(add(origin, 6, 1, 3), 0);
    assert_int_equal(size(), 3 * LINE);
    origin = again(origin);
    assert_int_equal(node(origin, 6), 3);
    memory_origin_release(origin);
}

static void test_refused(void **state)
{
    struct memory_origin *origin = create();

    (void)state;
    assert_int_equal(add(origin, 0, 2, 1), 0);
    assert_int_equal(add(origin, 5, 2, 1), 0);
    memory_origin_release(origin);
    spoil(0, "berth origin 2");
    refused("not of this version of berth");
    spoil(0, "berth origin 1");
    spoil(2 * LINE + 8, "x");
    refused("line 3: damaged");
    spoil(2 * LINE, "        10               4d               0            3000   1\n");
    refused("line 3: damaged"); /* over another one */
    spoil(2 * LINE, "        10               4d            3000            3000   1\n");
    refused("line 3: damaged"); /* of nothing */
    spoil(2 * LINE, "        10               4d            3000            4000   1\n");
    origin = memory_origin_open(path, NULL);
    assert_int_equal(node(origin, 3), 1);
    memory_origin_release(origin);
    assert_int_equal(truncate(path, LINE - 1), 0);
    refused("not of this version of berth");
    unlink(path);
    refused("No such file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_neighbours), TEST(test_first_counts), TEST(test_processes),
        TEST(test_goes_on),    TEST(test_bound),        TEST(test_full),
        TEST(test_too_long),   TEST(test_torn),         TEST(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
