/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_settle_list - what is to be told to slurmdbd: in the order of its time, and still there
 * after a restart, whatever the file looks like then. */
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

static char dir[] = "/tmp/test_settle_list.XXXXXX";
static char path[64];

static struct settle_run run_of(uint32_t job, uint32_t restart)
{
    return (struct settle_run){"c", job, restart, 1000 + job};
}

static void open_list(struct settle_list *list, double now_s)
{
    struct berth_error err = {""};

    if (settle_list_open(list, path, now_s, &err) < 0)
        fail_msg("%s", err.text);
}

static void put(struct settle_list *list, uint32_t job, uint32_t restart, double due_s)
{
    struct settle_run run = run_of(job, restart);
    struct berth_error err = {""};

    if (settle_list_put(list, &run, due_s, &err) < 0)
        fail_msg("%s", err.text);
}

static struct settle_entry *find(struct settle_list *list, uint32_t job, uint32_t restart)
{
    struct settle_run run = run_of(job, restart);

    return settle_list_find(list, &run);
}

static size_t count(const struct settle_list *list)
{
    const struct settle_entry *entry;
    size_t n = 0;

    TAILQ_FOREACH(entry, &list->entries, link) n++;
    return n;
}

static int setup(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void the_earliest_is_next(void **state)
{
    struct settle_list list;
    struct berth_error err;

    (void)state;
    open_list(&list, 0);
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
    assert_int_equal(settle_list_drop(&list, settle_list_next(&list), &err), 0);
    assert_int_equal(settle_list_next(&list)->run.job, 2);
    settle_list_close(&list);
}

static void it_is_tried_later_and_later(void **state)
{
    static const double due[] = {101, 103, 107, 115, 120, 125};
    struct settle_list list;
    double now_s = 100;

    (void)state;
    open_list(&list, 0);
    put(&list, 1, 0, now_s);
    for (size_t i = 0; i < sizeof(due) / sizeof(due[0]); i++) {
        settle_list_delay(settle_list_next(&list), now_s, i < 3 ? 300 : 5);
        now_s = settle_list_next(&list)->due_s;
        assert_true(now_s == due[i]);
    }
    put(&list, 1, 0, 200);
    settle_list_delay(settle_list_next(&list), 200, 300);
    assert_true(settle_list_next(&list)->due_s == 201);
    settle_list_close(&list);
}

static void a_run_is_there_once(void **state)
{
    struct settle_list list;
    struct settle_run run = run_of(1, 0);
    struct berth_error err;

    (void)state;
    open_list(&list, 0);
    put(&list, 1, 0, 10);
    put(&list, 1, 1, 10);
    run.at = 5000;
    assert_int_equal(settle_list_put(&list, &run, 40, &err), 0);
    assert_int_equal(count(&list), 2);
    assert_int_equal(find(&list, 1, 0)->puts, 2);
    assert_int_equal(find(&list, 1, 0)->run.at, 5000);
    assert_int_equal(settle_list_next(&list)->run.restart, 1);
    settle_list_close(&list);
}

static void a_restart_forgets_nothing(void **state)
{
    struct settle_list list;
    struct berth_error err;
    struct settle_run again = run_of(2, 0);

    (void)state;
    open_list(&list, 0);
    put(&list, 1, 0, 10);
    put(&list, 2, 0, 10);
    put(&list, 3, 2, 10);
    again.at = 77;
    assert_int_equal(settle_list_put(&list, &again, 10, &err), 0);
    settle_list_close(&list);
    open_list(&list, 100);
    assert_int_equal(count(&list), 3);
    assert_true(settle_list_next(&list)->due_s == 100);
    assert_int_equal(find(&list, 2, 0)->run.at, 77);
    assert_int_equal(settle_list_drop(&list, find(&list, 1, 0), &err), 0);
    settle_list_close(&list);
    open_list(&list, 100);
    assert_int_equal(count(&list), 2);
    assert_null(find(&list, 1, 0));
    assert_string_equal(find(&list, 3, 2)->run.cluster, "c");
    settle_list_close(&list);
}

static void lines_that_are_none_are_left_out(void **state)
{
    static const char text[] = "{\"cluster\":\"c\",\"job\":1,\"restart\":0,\"at\":1001}\n"
                               "\n"
                               "{\"cluster\":\"c\",\"job\":\"x\",\"restart\":0,\"at\":1001}\n"
                               "rubbish\n"
                               "{\"cluster\":\"c\",\"job\":2,\"restart\":0,\"at\":1002}\n"
                               "{\"cluster\":\"c\",\"job\":3,\"rest";
    struct settle_list list;
    FILE *file = fopen(path, "w");

    (void)state;
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    open_list(&list, 0);
    assert_int_equal(count(&list), 2);
    assert_non_null(find(&list, 1, 0));
    assert_non_null(find(&list, 2, 0));
    settle_list_close(&list);
    open_list(&list, 0); /* written anew: what was half a line is no part of the next */
    put(&list, 4, 0, 0);
    settle_list_close(&list);
    open_list(&list, 0);
    assert_int_equal(count(&list), 3);
    settle_list_close(&list);
}

static void a_file_that_cannot_be_used_is_named(void **state)
{
    struct settle_list list;
    struct settle_run run = run_of(1, 0);
    struct berth_error err;

    (void)state;
    assert_int_equal(settle_list_open(&list, "/tmp/not-there/list", 0, &err), -1);
    assert_non_null(strstr(err.text, "/tmp/not-there/list"));
    open_list(&list, 0);
    snprintf(list.path, sizeof(list.path), "/tmp/not-there/list");
    assert_int_equal(settle_list_put(&list, &run, 1, &err), -1);
    assert_int_equal(count(&list), 1); /* in the memory */
    settle_list_close(&list);
}

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof(path), "%s/list", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_earliest_is_next, setup),
        cmocka_unit_test_setup(it_is_tried_later_and_later, setup),
        cmocka_unit_test_setup(a_run_is_there_once, setup),
        cmocka_unit_test_setup(a_restart_forgets_nothing, setup),
        cmocka_unit_test_setup(lines_that_are_none_are_left_out, setup),
        cmocka_unit_test_setup(a_file_that_cannot_be_used_is_named, setup),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
