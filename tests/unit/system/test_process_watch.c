/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_process_watch - who has ended is told once, of real children: at once where there are
 * descriptors, else when they are looked at. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/process_look.h"
#include "packer/system/process_watch.h"

#define FUSE_S 60 /* a test that hangs longer dies */

struct box {
    struct rootfs root;
    struct process_watch *watch;
    pid_t child[3];
    uint64_t started[3];
    struct rlimit files;
};

static pid_t start_child(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(FUSE_S);
        for (;;)
            pause();
    }
    return pid;
}

/* Ends it, but leaves it a zombie: it can be waited for once it has ended. */
static void end_child(pid_t pid)
{
    siginfo_t info;

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));
    struct berth_error err = {""};

    assert_non_null(box);
    alarm(FUSE_S);
    assert_int_equal(rootfs_open(&box->root, "/", &err), 0);
    assert_int_equal(process_watch_open(&box->watch, &box->root, &err), 0);
    for (size_t i = 0; i < 3; i++) {
        box->child[i] = start_child();
        box->started[i] = process_started(&box->root, box->child[i]);
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &box->files), 0);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    setrlimit(RLIMIT_NOFILE, &box->files);
    for (size_t i = 0; i < 3; i++) {
        kill(box->child[i], SIGKILL);
        waitpid(box->child[i], NULL, 0);
    }
    process_watch_close(box->watch);
    rootfs_close(&box->root);
    free(box);
    return 0;
}

static void add(struct box *box, size_t i)
{
    struct berth_error err = {""};

    assert_int_equal(process_watch_add(box->watch, i + 100, box->child[i], box->started[i], &err),
                     0);
}

static bool ready(const struct box *box)
{
    struct pollfd poll_fd = {.fd = process_watch_fd(box->watch), .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

/* Waits as berthd does, for the descriptor or the time, until one is told. */
static uint64_t wait_next(struct box *box)
{
    uint64_t tag;

    while (!process_watch_next(box->watch, &tag)) {
        struct pollfd poll_fd = {.fd = process_watch_fd(box->watch), .events = POLLIN};
        double due_s = process_watch_due(box->watch);

        poll(&poll_fd, 1, due_s < 0 ? -1 : (int)(due_s * 1000) + 1);
    }
    return tag;
}

static void skip_without_pidfd(const struct box *box)
{
    if (!process_watch_at_once(box->watch))
        skip();
}

static void test_who_ended_is_told_once(void **state)
{
    struct box *box = *state;
    uint64_t tag;

    skip_without_pidfd(box);
    for (size_t i = 0; i < 3; i++)
        add(box, i);
    assert_false(ready(box) || process_watch_next(box->watch, &tag));
    assert_true(process_watch_due(box->watch) < 0);
    end_child(box->child[1]);
    assert_true(ready(box));
    assert_true(process_watch_next(box->watch, &tag));
    assert_int_equal(tag, 101);
    assert_false(process_watch_next(box->watch, &tag) || ready(box));
    end_child(box->child[0]);
    end_child(box->child[2]);
    assert_int_equal(wait_next(box) + wait_next(box), 202);
    assert_false(ready(box));
}

static void test_dropped_is_not_told(void **state)
{
    struct box *box = *state;
    uint64_t tag;

    add(box, 0);
    process_watch_drop(box->watch, 100);
    process_watch_drop(box->watch, 100);
    end_child(box->child[0]);
    assert_false(ready(box) || process_watch_next(box->watch, &tag));
    assert_true(process_watch_due(box->watch) < 0);
}

/* It had ended before, or the pid is another one's by now. */
static void test_gone_before(void **state)
{
    struct box *box = *state;
    struct berth_error err = {""};
    uint64_t tag;

    assert_int_equal(process_watch_add(box->watch, 7, box->child[0], box->started[0] + 100, &err),
                     0);
    assert_true(process_watch_due(box->watch) == 0);
    assert_true(process_watch_next(box->watch, &tag));
    assert_int_equal(tag, 7);
    end_child(box->child[1]);
    add(box, 1);
    assert_true(process_watch_due(box->watch) == 0);
    assert_int_equal(wait_next(box), 101);
    assert_int_equal(waitpid(box->child[1], NULL, 0), box->child[1]);
    assert_int_equal(process_watch_add(box->watch, 8, box->child[1], 1, &err), 0);
    assert_int_equal(wait_next(box), 8);
    box->child[1] = start_child();
    assert_false(process_watch_next(box->watch, &tag));
}

/* No descriptor is left for this: they are looked at. */
static void test_without_descriptors(void **state)
{
    struct box *box = *state;
    struct rlimit few = {.rlim_cur = 3, .rlim_max = box->files.rlim_max};
    uint64_t tag;

    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (size_t i = 0; i < 3; i++)
        add(box, i);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &box->files), 0);
    assert_false(process_watch_at_once(box->watch));
    assert_true(process_watch_due(box->watch) >= 0);
    assert_false(process_watch_next(box->watch, &tag));
    end_child(box->child[2]);
    assert_false(ready(box));
    assert_int_equal(wait_next(box), 102);
    process_watch_drop(box->watch, 101);
    end_child(box->child[0]);
    assert_int_equal(wait_next(box), 100);
    assert_true(process_watch_due(box->watch) < 0);
}

/* Only a part of what others need, too, is used. */
static void test_leaves_descriptors(void **state)
{
    struct box *box = *state;
    struct rlimit few = {.rlim_cur = 8, .rlim_max = box->files.rlim_max};

    skip_without_pidfd(box);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    add(box, 0);
    add(box, 1);
    assert_true(process_watch_at_once(box->watch));
    add(box, 2);
    assert_false(process_watch_at_once(box->watch));
    end_child(box->child[2]);
    assert_int_equal(wait_next(box), 102);
    end_child(box->child[0]);
    assert_int_equal(wait_next(box), 100);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_who_ended_is_told_once), test(test_dropped_is_not_told), test(test_gone_before),
        test(test_without_descriptors),    test(test_leaves_descriptors),
    };

    close_range(3, ~0U, 0); /* what was inherited would count as used where descriptors are few */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
