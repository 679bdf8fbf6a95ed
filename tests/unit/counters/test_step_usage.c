/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_step_usage - recorded processes are born, wait for each other and vanish; a number that is
 * used again is another process. */
#include "packer/counters/step_usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

struct fixture {
    char folder[64];
    struct rootfs root;
    struct usage_ways ways;
    struct step_usage usage;
    double tick;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    folder_new(f->folder, sizeof(f->folder), "test_step_usage");
    assert_int_equal(rootfs_open(&f->root, f->folder, NULL), 0);
    /* no descriptor is held: those of a file that is replaced would not notice */
    f->ways = (struct usage_ways){.root = &f->root, .stats = stat_reader_open(&f->root, 1, 1)};
    assert_non_null(f->ways.stats);
    f->tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    step_usage_end(&f->usage, &f->ways);
    assert_int_equal(f->ways.descriptors, 0);
    stat_reader_close(f->ways.stats);
    assert_int_equal(folder_remove(f->folder), 0);
    rootfs_close(&f->root);
    free(f);
    return 0;
}

static void put(struct fixture *f, int pid, int parent, int user, int waited, int started)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text),
             "%d (x) S %d 1 1 0 -1 0 3 %d 0 0 %d 0 %d 0 20 0 2 0 %d 1000 10 0\n", pid, parent,
             waited, user, waited, started);
    folder_put(f->folder, path, text);
}

static void vanish(struct fixture *f, int pid)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/proc/%d/stat", f->folder, pid);
    unlink(path);
}

static void begin(struct fixture *f, pid_t pid)
{
    assert_int_equal(step_usage_begin(&f->usage, &f->ways, 1000, &pid, 1), 0);
}

static double user_ticks(struct fixture *f)
{
    return step_usage_total(&f->usage, PROCESS_SUMS_USER_NS) / f->tick;
}

static void test_since_begin(void **state)
{
    struct fixture *f = *state;

    put(f, 10, 1, 500, 100, 1);
    begin(f, 10);
    assert_true(user_ticks(f) == 0);
    put(f, 10, 1, 520, 103, 1);
    assert_int_equal(step_usage_see(&f->usage, &f->ways), 0);
    assert_true(user_ticks(f) == 23);
    assert_true(step_usage_total(&f->usage, PROCESS_SUMS_FAULTS) == 3);
    assert_true(step_usage_threads(&f->usage) == 2);
    assert_true(step_usage_rss(&f->usage) == 10.0 * (double)sysconf(_SC_PAGESIZE));
    step_usage_waits(&f->usage, &f->ways);
    assert_false(f->usage.run_delay_known || f->usage.switches_known);
}

/* What a child has used before it was found counts. */
static void test_child(void **state)
{
    struct fixture *f = *state;
    pid_t pids[] = {12, 10, 11};

    put(f, 10, 1, 5, 0, 1);
    begin(f, 10);
    put(f, 11, 10, 7, 0, 2);
    assert_int_equal(step_usage_enter(&f->usage, &f->ways, pids, 3), 2); /* 12 has gone already */
    assert_int_equal(f->usage.tally.n, 2);
    assert_true(user_ticks(f) == 7);
    vanish(f, 11);
    put(f, 10, 1, 6, 9, 1);
    assert_int_equal(step_usage_see(&f->usage, &f->ways), 1);
    assert_true(user_ticks(f) == 10);
    assert_true(step_usage_threads(&f->usage) == 2);
    vanish(f, 10);
    assert_int_equal(step_usage_see(&f->usage, &f->ways), 1);
    assert_true(user_ticks(f) == 10);
    assert_true(step_usage_threads(&f->usage) == 0);
}

static void test_reused(void **state)
{
    struct fixture *f = *state;
    pid_t pid = 11;

    put(f, 10, 1, 5, 0, 1);
    begin(f, 10);
    put(f, 11, 1, 7, 0, 2);
    assert_int_equal(step_usage_enter(&f->usage, &f->ways, &pid, 1), 1);
    put(f, 11, 1, 90, 0, 3); /* somebody else's, whom nobody has listed */
    assert_int_equal(step_usage_see(&f->usage, &f->ways), 1);
    assert_int_equal(f->usage.tally.n, 1);
    assert_true(user_ticks(f) == 7);
    assert_int_equal(step_usage_enter(&f->usage, &f->ways, &pid, 1), 1); /* it is of the step */
    assert_true(user_ticks(f) == 97);
}

/* Descriptors are held up to the limit, and given back. */
static void test_descriptors(void **state)
{
    struct fixture *f = *state;
    pid_t pids[] = {10, 11, 12};

    f->ways.descriptors_max = 2;
    for (int i = 0; i < 3; i++)
        put(f, pids[i], 1, 1, 0, 1);
    assert_int_equal(step_usage_begin(&f->usage, &f->ways, 1000, pids, 3), 0);
    assert_int_equal(f->ways.descriptors, 2);
    step_usage_see(&f->usage, &f->ways);
    assert_int_equal(f->ways.descriptors, 2);
    assert_int_equal(f->usage.tally.n, 3);
    step_usage_end(&f->usage, &f->ways);
    assert_int_equal(f->ways.descriptors, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_since_begin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_child, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_descriptors, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
