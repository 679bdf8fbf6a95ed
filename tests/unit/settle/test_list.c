/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_settle_list - what is to be told to slurmdbd, in the order of its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/settle/list.h"

static struct ledger_run run_of(uint32_t job, uint32_t restart)
{
    return (struct ledger_run){"c", job, restart, 1001, 1000 + job};
}

static void put(struct settle_list *list, uint32_t job, uint32_t restart, double due_s)
{
    struct ledger_run run = run_of(job, restart);
    struct berth_error err = {""};

    if (settle_list_put(list, &run, due_s, &err) < 0)
        fail_msg("%s", err.text);
}

static struct settle_entry *find(struct settle_list *list, uint32_t job, uint32_t restart)
{
    struct ledger_run run = run_of(job, restart);

    return settle_list_find(list, &run);
}

static size_t count(const struct settle_list *list)
{
    const struct settle_entry *entry;
    size_t n = 0;

    TAILQ_FOREACH(entry, list, link) n++;
    return n;
}

static void the_earliest_is_next(void **state)
{
    struct settle_list list = TAILQ_HEAD_INITIALIZER(list);

    (void)state;
    assert_null(settle_list_next(&list));
    put(&list, 1, 0, 30);
    put(&list, 2, 0, 10);
    put(&list, 3, 0, 20);
    assert_int_equal(settle_list_next(&list)->run.job, 2);
    settle_list_delay(settle_list_next(&list), 10, 300); /* 1 s, then 2 s, .. */
    assert_int_equal(settle_list_next(&list)->run.job, 2);
    settle_list_hurry(&list, 1, 5);
    assert_int_equal(settle_list_next(&list)->run.job, 1);
    settle_list_hurry(&list, 1, 50);
    assert_int_equal(settle_list_next(&list)->run.job, 1);
    settle_list_drop(&list, settle_list_next(&list));
    assert_int_equal(settle_list_next(&list)->run.job, 2);
    settle_list_free(&list);
}

static void it_is_tried_later_and_later(void **state)
{
    static const double due[] = {101, 103, 107, 115, 120, 125};
    struct settle_list list = TAILQ_HEAD_INITIALIZER(list);
    double now_s = 100;

    (void)state;
    put(&list, 1, 0, now_s);
    for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++) {
        settle_list_delay(settle_list_next(&list), now_s, i < 3 ? 300 : 5);
        now_s = settle_list_next(&list)->due_s;
        assert_true(now_s == due[i]);
    }
    put(&list, 1, 0, 200);
    settle_list_delay(settle_list_next(&list), 200, 300);
    assert_true(settle_list_next(&list)->due_s == 201);
    settle_list_free(&list);
}

static void a_run_is_there_once(void **state)
{
    struct settle_list list = TAILQ_HEAD_INITIALIZER(list);
    struct ledger_run run = run_of(1, 0);
    struct berth_error err;

    (void)state;
    put(&list, 1, 0, 10);
    put(&list, 1, 1, 10);
    run.at = 5000;
    assert_int_equal(settle_list_put(&list, &run, 40, &err), 0);
    assert_int_equal(count(&list), 2);
    assert_int_equal(find(&list, 1, 0)->puts, 2);
    assert_int_equal(find(&list, 1, 0)->run.at, 5000);
    assert_int_equal(settle_list_next(&list)->run.restart, 1);
    settle_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_is_next),
        cmocka_unit_test(it_is_tried_later_and_later),
        cmocka_unit_test(a_run_is_there_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
