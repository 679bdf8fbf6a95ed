/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_job_watch - which job's file was written, on plain files. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/slurm/job_watch.h"
#include "tests/unit/common/folder.h"

struct box {
    char dir[64];
    struct job_watch *watch;
};

static const char *path_of(const struct box *box, uint32_t job)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/%u", box->dir, job);
    return path;
}

static void put(const struct box *box, uint32_t job)
{
    FILE *file = fopen(path_of(box, job), "r+");

    if (!file)
        file = fopen(path_of(box, job), "w");
    assert_non_null(file);
    assert_true(fputs("0-1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    struct berth_error err = {""};

    assert_non_null(box);
    folder_new(box->dir, sizeof(box->dir), "test_job_watch");
    assert_int_equal(job_watch_open(&box->watch, &err), 0);
    for (uint32_t job = 1; job <= 20; job++) {
        put(box, job);
        assert_int_equal(job_watch_add(box->watch, job, path_of(box, job), &err), 0);
    }
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    job_watch_close(box->watch);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

/* Is there something to hear? */
static bool ready(const struct box *box)
{
    struct pollfd poll_fd = {.fd = job_watch_fd(box->watch), .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void test_who_was_written_is_told_once(void **state)
{
    struct box *box = *state;
    uint32_t job = 0;

    assert_false(ready(box));
    assert_false(job_watch_next(box->watch, &job));
    put(box, 17);
    put(box, 17);
    put(box, 3);
    assert_true(ready(box));
    assert_true(job_watch_next(box->watch, &job));
    assert_int_equal(job, 3);
    assert_true(job_watch_next(box->watch, &job));
    assert_int_equal(job, 17);
    assert_false(job_watch_next(box->watch, &job));
    assert_false(ready(box));
    put(box, 3);
    assert_true(job_watch_next(box->watch, &job));
    assert_int_equal(job, 3);
}

static void test_a_job_is_watched_once(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    uint32_t job;

    assert_int_equal(job_watch_add(box->watch, 3, "/nothing/there", &err), 0);
    put(box, 3);
    assert_true(job_watch_next(box->watch, &job));
    assert_false(job_watch_next(box->watch, &job));
}

static void test_dropped_and_gone(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    uint32_t job;

    put(box, 3); /* heard too late */
    job_watch_drop(box->watch, 3);
    job_watch_drop(box->watch, 3);
    put(box, 3);
    assert_int_equal(unlink(path_of(box, 4)), 0);
    assert_false(job_watch_next(box->watch, &job));
    job_watch_drop(box->watch, 4);
    put(box, 20); /* has taken the place of another in the list */
    assert_true(job_watch_next(box->watch, &job));
    assert_int_equal(job, 20);
    assert_int_equal(job_watch_add(box->watch, 3, path_of(box, 3), &err), 0);
    put(box, 3);
    assert_true(job_watch_next(box->watch, &job));
    assert_int_equal(job, 3);
}

static void test_what_cannot_be_watched(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    uint32_t job;

    assert_int_equal(job_watch_add(box->watch, 99, "/nothing/there", &err), -1);
    assert_non_null(strstr(err.text, "/nothing/there: cannot be watched"));
    assert_false(job_watch_next(box->watch, &job));
    job_watch_drop(box->watch, 99);
    job_watch_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_who_was_written_is_told_once),
        TEST(test_a_job_is_watched_once),
        TEST(test_dropped_and_gone),
        TEST(test_what_cannot_be_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
