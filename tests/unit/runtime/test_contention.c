/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_contention - contention by what a blackboard says, sample by sample: how many in a row begin
 * and end it, whose memory counts, and that nothing holds anybody back when it is not known. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "blackboard/layout.h"
#include "blackboard/writer.h"
#include "runtime/contention.h"
#include "runtime/said.h"
#include "enum_table.h"

#define SECOND_NS 1000000000u
#define UNKNOWN (-1)

enum { NODE, MEMORY0, MEMORY1, SECTIONS };

static const char *const TABLE(name, SECTIONS) = {ROW(NODE) = "node", ROW(MEMORY0) = "memory0", ROW(MEMORY1) = "memory1"};
TABLE_COMPLETE(name);
static struct rt_page page;
static struct blackboard_writer *writer;
static char folder[] = "/tmp/berth-contention-XXXXXX", board[64];
static uint64_t now_ns; /* as the library is told */
static unsigned began, ended;
static uint64_t lasted_ns;

/* ---- what it says ---- */

void said_contention(bool is)
{
    began += is;
    ended += !is;
}

void said_contended(uint64_t ns)
{
    lasted_ns += ns;
}

void said_now_and_then(void)
{
}

/* ---- a blackboard ---- */

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void publish(unsigned section, int state, uint64_t at_ns)
{
    double TABLE(value, BERTH_BLACKBOARD_KNOWN_VALUES) = {ROW(BERTH_BLACKBOARD_STATE) = state < 0 ? NAN : state, ROW(BERTH_BLACKBOARD_UTILISATION) = NAN, ROW(BERTH_BLACKBOARD_TRAFFIC) = NAN, ROW(BERTH_BLACKBOARD_WATTS) = NAN,};
    TABLE_COMPLETE(value);

    blackboard_write(writer, section, at_ns, BERTH_BLACKBOARD_KNOWN_VALUES, value);
}

/* Returns whether there is contention after a sample, which says that of each section. */
static bool after(int node, int memory0, int memory1)
{
    static uint64_t last_ns;
    uint64_t at_ns = clock_ns();

    last_ns = at_ns > last_ns ? at_ns : last_ns + 1;
    publish(NODE, node, last_ns);
    publish(MEMORY0, memory0, last_ns);
    publish(MEMORY1, memory1, last_ns);
    now_ns += 10000000;
    return contention_is(&page, now_ns);
}

static bool after_memory(int state)
{
    return after(UNKNOWN, state, BERTH_BLACKBOARD_IDLE);
}

/* The blackboard stands there anew; the library finds it, and there is no contention. */
static int begin(void **state)
{
    (void)state;
    memset(&page, 0, sizeof(page));
    memset(page.node, RT_NO_DOMAIN, sizeof(page.node));
    page.node[1] = 0;
    page.hold = 3;
    if (blackboard_create(&writer, board, SECTIONS, name) < 0)
        return -1;
    now_ns += 2 * (uint64_t)SECOND_NS; /* it is looked for again */
    contention_is(&page, now_ns);
    page.generation += 2;
    for (int i = 0; i < 3; i++)
        after_memory(BERTH_BLACKBOARD_IDLE);
    began = ended = 0;
    lasted_ns = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    blackboard_end(writer);
    writer = NULL;
    return 0;
}

/* ---- tests ---- */

static void test_hold(void **state)
{
    (void)state;
    assert_false(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_false(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_false(after_memory(BERTH_BLACKBOARD_NORMAL)); /* begins anew */
    assert_false(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_false(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED));
    for (int i = 0; i < 9; i++)
        assert_true(after_memory(BERTH_BLACKBOARD_NORMAL));
    assert_true(after_memory(BERTH_BLACKBOARD_IDLE));
    assert_true(after_memory(BERTH_BLACKBOARD_IDLE));
    assert_false(after_memory(BERTH_BLACKBOARD_IDLE));
    assert_int_equal(began, 1);
    assert_int_equal(ended, 1);
    assert_int_equal(lasted_ns, 12 * 10000000);
}

/* What is looked at twice is one sample. */
static void test_same_sample(void **state)
{
    (void)state;
    after_memory(BERTH_BLACKBOARD_SATURATED);
    for (int i = 0; i < 9; i++)
        assert_false(contention_is(&page, now_ns += 10000000));
    assert_false(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED));
}

static void test_not_known(void **state)
{
    (void)state;
    page.hold = 1;
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED));
    assert_false(after_memory(UNKNOWN));
    assert_true(after(BERTH_BLACKBOARD_SATURATED, UNKNOWN, UNKNOWN)); /* the node speaks for it */
    blackboard_end(writer);
    assert_int_equal(blackboard_create(&writer, board, SECTIONS, name), 0);
    assert_false(contention_is(&page, now_ns += 10000000)); /* the old one has ended */
    now_ns += 2 * (uint64_t)SECOND_NS;
    after_memory(BERTH_BLACKBOARD_SATURATED);
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED)); /* the new one is found */
    publish(MEMORY0, BERTH_BLACKBOARD_SATURATED, clock_ns() - 10 * (uint64_t)SECOND_NS);
    assert_false(contention_is(&page, now_ns += 10000000)); /* nobody writes it any more */
}

/* berthd is killed in the middle of a section, as the file has it then. */
static void kill_within(unsigned section)
{
    int fd = open(board, O_RDWR | O_CLOEXEC);
    size_t bytes = (SECTIONS + 1) * BLACKBOARD_PAGE;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    assert_true(fd >= 0 && base != MAP_FAILED);
    atomic_fetch_add(&blackboard_page(base, section)->sequence, 1);
    munmap(base, bytes);
    close(fd);
}

/* The section stays as if it were being written: that ends contention, and the next berthd's file
 * is found. */
static void test_killed(void **state)
{
    struct blackboard_writer *killed = writer;

    (void)state;
    page.hold = 1;
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED));
    kill_within(MEMORY0);
    assert_true(contention_is(&page, now_ns += 10000000)); /* as one that is interrupted */
    assert_false(contention_is(&page, now_ns += 4 * (uint64_t)SECOND_NS));
    assert_int_equal(blackboard_create(&writer, board, SECTIONS, name), 0);
    kill_within(NODE); /* its memories stand where they stood */
    now_ns += 2 * (uint64_t)SECOND_NS;
    after_memory(BERTH_BLACKBOARD_SATURATED);
    assert_true(after_memory(BERTH_BLACKBOARD_SATURATED));
    blackboard_end(killed);
}

/* The most contended memory of those that the step uses now. */
static void test_memories(void **state)
{
    (void)state;
    page.hold = 1;
    assert_false(after(UNKNOWN, BERTH_BLACKBOARD_IDLE, BERTH_BLACKBOARD_SATURATED));
    page.node[2] = 1;
    page.generation += 2;
    assert_true(after(UNKNOWN, BERTH_BLACKBOARD_IDLE, BERTH_BLACKBOARD_SATURATED));
    page.node[2] = RT_NO_DOMAIN;
    page.generation += 2;
    assert_false(after(UNKNOWN, BERTH_BLACKBOARD_IDLE, BERTH_BLACKBOARD_SATURATED));
}

static int begin_all(void **state)
{
    char path[64];

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(board, sizeof(board), "%s/blackboard", folder);
    snprintf(path, sizeof(path), "%s/1.0", folder);
    contention_begin(path);
    return 0;
}

static int end_all(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hold, begin, end),
        cmocka_unit_test_setup_teardown(test_same_sample, begin, end),
        cmocka_unit_test_setup_teardown(test_not_known, begin, end),
        cmocka_unit_test_setup_teardown(test_killed, begin, end),
        cmocka_unit_test_setup_teardown(test_memories, begin, end),
    };

    return cmocka_run_group_tests(tests, begin_all, end_all);
}
