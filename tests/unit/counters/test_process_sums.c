/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_tally - a sum over processes that come and go counts each of them once, and never falls. */
#include "packer/counters/process_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct process_sum *find(struct process_sums *tally, pid_t pid)
{
    for (size_t i = 0; i < tally->n; i++)
        if (tally->process[i].pid == pid)
            return &tally->process[i];
    fail_msg("no process %d", (int)pid);
    return NULL;
}

static struct process_sum *enter(struct process_sums *tally, pid_t pid, pid_t parent)
{
    struct process_sum *process;

    assert_int_equal(process_sums_enter(tally, &pid, 1), 1);
    process = find(tally, pid);
    process->parent = parent;
    return process;
}

static void user(struct process_sums *tally, pid_t pid, double own, double waited)
{
    struct process_sum *process = find(tally, pid);

    process_sums_see(tally, process, PROCESS_SUMS_USER_NS, own);
    process->waited[PROCESS_SUMS_USER_NS] = waited;
}

static double total(const struct process_sums *tally)
{
    return process_sums_total(tally, PROCESS_SUMS_USER_NS);
}

static void test_enter(void **state)
{
    struct process_sums tally = {0};
    pid_t first[] = {30, 10, 20, 10}, second[] = {15, 20, 5};

    (void)state;
    assert_int_equal(process_sums_enter(&tally, NULL, 0), 0);
    assert_int_equal(process_sums_enter(&tally, first, 4), 3);
    user(&tally, 20, 7, 0);
    assert_int_equal(process_sums_enter(&tally, second, 3), 2);
    assert_int_equal(process_sums_enter(&tally, second, 3), 0);
    assert_int_equal(tally.n, 5);
    for (size_t i = 1; i < tally.n; i++)
        assert_true(tally.process[i - 1].pid < tally.process[i].pid);
    assert_true(find(&tally, 20)->own[PROCESS_SUMS_USER_NS] == 7);
    assert_int_equal(find(&tally, 15)->fd, -1);
    process_sums_free(&tally);
    assert_int_equal(tally.n, 0);
}

/* Its parent has waited for it: what it had, and what it did at last, is the parent's. */
static void test_waited_for(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 1, 0);
    enter(&tally, 2, 1);
    user(&tally, 1, 10, 0);
    user(&tally, 2, 5, 0);
    process_sums_settle(&tally);
    assert_true(total(&tally) == 15);
    find(&tally, 2)->gone = true;
    user(&tally, 1, 11, 8);
    process_sums_settle(&tally);
    assert_int_equal(tally.n, 1);
    assert_true(total(&tally) == 19);
    assert_true(tally.past[PROCESS_SUMS_USER_NS] == 0);
    process_sums_free(&tally);
}

/* Nobody waits (SIGCHLD is ignored), or only for a part of them. */
static void test_not_waited_for(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 1, 0);
    enter(&tally, 2, 1);
    enter(&tally, 3, 1);
    user(&tally, 2, 5, 0);
    user(&tally, 3, 7, 0);
    process_sums_settle(&tally);
    find(&tally, 2)->gone = find(&tally, 3)->gone = true;
    user(&tally, 1, 0, 7);
    process_sums_settle(&tally);
    assert_true(total(&tally) == 12);
    user(&tally, 1, 0, 9); /* of a child that was never seen */
    process_sums_settle(&tally);
    assert_true(total(&tally) == 14);
    process_sums_free(&tally);
}

/* The parent is not of the step, or another process by now. */
static void test_no_heir(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 2, 1);
    user(&tally, 2, 5, 3);
    process_sums_see(&tally, find(&tally, 2), PROCESS_SUMS_FAULTS, 4);
    process_sums_settle(&tally);
    find(&tally, 2)->gone = true;
    assert_null(process_sums_heir(&tally, find(&tally, 2)));
    process_sums_settle(&tally);
    assert_int_equal(tally.n, 0);
    assert_true(total(&tally) == 8);
    assert_true(process_sums_total(&tally, PROCESS_SUMS_FAULTS) == 4);
    process_sums_free(&tally);
}

/* Parent and child are gone at once: the grandparent inherits both. */
static void test_chain(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 1, 0);
    enter(&tally, 2, 1);
    enter(&tally, 3, 2);
    user(&tally, 2, 5, 0);
    user(&tally, 3, 7, 0);
    process_sums_settle(&tally);
    find(&tally, 2)->gone = find(&tally, 3)->gone = true;
    assert_ptr_equal(process_sums_heir(&tally, find(&tally, 3)), find(&tally, 1));
    assert_null(process_sums_heir(&tally, find(&tally, 1)));
    user(&tally, 1, 0, 13);
    process_sums_settle(&tally);
    assert_true(total(&tally) == 13);
    process_sums_free(&tally);
}

/* A number that two processes have as parent of each other, as a reused one can look. */
static void test_circle(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 1, 2);
    enter(&tally, 2, 1);
    user(&tally, 1, 1, 0);
    user(&tally, 2, 2, 0);
    process_sums_settle(&tally);
    find(&tally, 1)->gone = find(&tally, 2)->gone = true;
    assert_null(process_sums_heir(&tally, find(&tally, 1)));
    process_sums_settle(&tally);
    assert_true(total(&tally) == 3);
    process_sums_free(&tally);
}

/* What nobody inherits stays, whoever waits; a count of a process that falls (a thread of it has
 * ended) takes nothing away. */
static void test_not_inherited(void **state)
{
    struct process_sums tally = {0};

    (void)state;
    enter(&tally, 1, 0);
    enter(&tally, 2, 1);
    process_sums_see(&tally, find(&tally, 1), PROCESS_SUMS_VOLUNTARY, 10);
    process_sums_see(&tally, find(&tally, 2), PROCESS_SUMS_VOLUNTARY, 20);
    process_sums_see(&tally, find(&tally, 2), PROCESS_SUMS_VOLUNTARY, 12);
    process_sums_see(&tally, find(&tally, 2), PROCESS_SUMS_VOLUNTARY, 13);
    assert_true(process_sums_total(&tally, PROCESS_SUMS_VOLUNTARY) == 31);
    find(&tally, 2)->gone = true;
    process_sums_settle(&tally);
    assert_true(process_sums_total(&tally, PROCESS_SUMS_VOLUNTARY) == 31);
    process_sums_free(&tally);
}

/* A tree of processes that run, fork, wait or do not, and die at random: the sum never falls, and
 * is what they have used of what was seen. */
static void test_random(void **state)
{
    struct process_sums tally = {0};
    double last = 0;
    unsigned seed = 1;
    pid_t next = 1;

    (void)state;
    enter(&tally, next++, 0);
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < tally.n; i++)
            process_sums_see(&tally, &tally.process[i], PROCESS_SUMS_USER_NS,
                             tally.process[i].own[PROCESS_SUMS_USER_NS] + rand_r(&seed) % 5);
        if (tally.n < 40)
            enter(&tally, next++, tally.process[(size_t)rand_r(&seed) % tally.n].pid);
        process_sums_settle(&tally);
        assert_true(total(&tally) >= last);
        last = total(&tally);
        for (size_t i = 1; i < tally.n; i++) {
            struct process_sum *process = &tally.process[i], *heir;

            process->gone = rand_r(&seed) % 20 == 0;
            heir = process_sums_heir(&tally, process);
            if (heir && rand_r(&seed) % 2)
                heir->waited[PROCESS_SUMS_USER_NS] +=
                    process->own[PROCESS_SUMS_USER_NS] + process->waited[PROCESS_SUMS_USER_NS];
        }
        process_sums_settle(&tally);
        assert_true(total(&tally) >= last);
        last = total(&tally);
    }
    process_sums_free(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_enter),          cmocka_unit_test(test_waited_for),
        cmocka_unit_test(test_not_waited_for), cmocka_unit_test(test_no_heir),
        cmocka_unit_test(test_chain),          cmocka_unit_test(test_circle),
        cmocka_unit_test(test_not_inherited),  cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
