/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_worker - a thread that is started, woken, ended; and one that hangs. */
#include "packer/base/worker.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/clock.h"

struct box {
    struct worker worker;
    int asked, answered;
    bool unblocked; /* a signal could interrupt the thread */
    int wait[2];    /* a pipe that the thread that hangs reads */
};

static bool signals_blocked(void)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGCHLD) == 1;
}

static void answer(void *arg)
{
    struct box *box = arg;

    box->unblocked = !signals_blocked();
    while (!box->worker.stopping) {
        box->answered = box->asked;
        worker_changed(&box->worker);
        worker_wait_until(&box->worker, INFINITY);
    }
}

static void hang(void *arg)
{
    struct box *box = arg;
    char byte;

    worker_unlock(&box->worker);
    box->answered = (int)read(box->wait[0], &byte, 1);
    worker_lock(&box->worker);
}

static void test_asks_and_is_answered(void **state)
{
    struct box box = {.asked = 0};

    (void)state;
    assert_int_equal(worker_open(&box.worker, answer, &box, NULL), 0);
    for (int i = 1; i <= 100; i++) {
        worker_lock(&box.worker);
        box.asked = i;
        worker_changed(&box.worker);
        while (box.answered != i)
            worker_wait_until(&box.worker, INFINITY);
        worker_unlock(&box.worker);
    }
    assert_true(worker_close(&box.worker));
    assert_false(box.unblocked);
    assert_false(signals_blocked()); /* this thread's are as they were */
}

static void test_wait_ends_at_its_time(void **state)
{
    struct box box = {.asked = 0};
    double until_s;

    (void)state;
    assert_int_equal(worker_open(&box.worker, answer, &box, NULL), 0);
    worker_lock(&box.worker);
    until_s = clock_s() + 0.02;
    while (worker_wait_until(&box.worker, until_s))
        assert_true(clock_s() < until_s + 10);
    assert_true(clock_s() >= until_s);
    assert_false(worker_wait_until(&box.worker, 0)); /* a time that was */
    worker_unlock(&box.worker);
    assert_true(worker_close(&box.worker));
}

/* What a thread that hangs can reach stays: it looks at it when it can go on. */
static void test_one_that_hangs_is_left_alone(void **state)
{
    static struct box box;
    double began_s = clock_s();

    (void)state;
    assert_int_equal(pipe(box.wait), 0);
    assert_int_equal(worker_open(&box.worker, hang, &box, NULL), 0);
    assert_false(worker_close(&box.worker));
    assert_true(clock_s() - began_s >= WORKER_CLOSE_S);
    assert_true(box.worker.stopping);
    assert_int_equal(write(box.wait[1], "x", 1), 1);
    worker_lock(&box.worker);
    while (!box.worker.stopped)
        worker_wait_until(&box.worker, INFINITY);
    worker_unlock(&box.worker);
    assert_int_equal(box.answered, 1);
}

/* One that is given up, and comes back: it is ended without a wait. */
static void test_stopped_without_waiting(void **state)
{
    static struct box box;

    (void)state;
    assert_int_equal(pipe(box.wait), 0);
    assert_int_equal(worker_open(&box.worker, hang, &box, NULL), 0);
    worker_stop(&box.worker);
    assert_int_equal(write(box.wait[1], "x", 1), 1);
    worker_lock(&box.worker);
    while (!box.worker.stopped)
        worker_wait_until(&box.worker, INFINITY);
    worker_unlock(&box.worker);
    assert_true(worker_close(&box.worker));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks_and_is_answered),
        cmocka_unit_test(test_wait_ends_at_its_time),
        cmocka_unit_test(test_one_that_hangs_is_left_alone),
        cmocka_unit_test(test_stopped_without_waiting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
