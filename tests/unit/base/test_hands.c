/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hands - work that hangs is given up, and hurts nobody but its user; those that come back
 * count no more. A pipe that nobody writes to stands for the kernel. */
#include "packer/base/hands.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/clock.h"

#define SOON_S 0.3
#define LONG_S 600.
#define HUNG 3
#define HUNG_USER 2

/* What is done with it: it waits for its pipe, or goes on as long as it is wanted, or rests; and
 * takes a number. */
struct job {
    int wait[2]; /* [0] < 0: it does not wait */
    bool goes_on, rests;
    bool blocked; /* signals are */
    unsigned number;
};

static struct hands *hands;
static atomic_uint numbers, released;
static atomic_bool resting;

static bool signals_blocked(void)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, SIGTERM) == 1;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Until nobody wants it any more. */
static void rest(struct hands_hand *hand)
{
    hands_lock(hands);
    resting = true; /* by the time that anybody else has the lock */
    while (hands_rest(hand, INFINITY))
        ;
    hands_unlock(hands);
}

static void run(void *arg, struct hands_hand *hand)
{
    struct job *job = arg;
    char byte;

    job->blocked = signals_blocked();
    if (job->rests)
        rest(hand);
    while (job->goes_on && hands_go_on(hand))
        nap();
    if (job->wait[0] >= 0 && read(job->wait[0], &byte, 1) < 0)
        abort();
    job->number = ++numbers;
}

static void release(void *arg)
{
    struct job *job = arg;

    for (int i = 0; i < 2; i++)
        if (job->wait[i] >= 0)
            close(job->wait[i]);
    free(job);
    released++;
}

static const struct hands_task task = {run, release};

static void open_hands(double limit_s)
{
    const struct hands_limits limits = {limit_s, HUNG, HUNG_USER};

    numbers = released = 0;
    hands = hands_open("try", &limits);
    assert_non_null(hands);
}

static struct job *job_new(void)
{
    struct job *job = calloc(1, sizeof(*job));

    assert_non_null(job);
    job->wait[0] = job->wait[1] = -1;
    return job;
}

/* One that waits until let_go() of the descriptor. */
static struct job *stuck(int *end)
{
    struct job *job = job_new();

    assert_int_equal(pipe(job->wait), 0);
    *end = job->wait[1];
    job->wait[1] = -1;
    return job;
}

static struct hands_work *put(uint32_t user, struct job *job)
{
    struct hands_work *work = hands_put(hands, user, &task, job);

    assert_non_null(work);
    return work;
}

static enum hands_state wait_for(struct hands_work *work)
{
    enum hands_state state;

    while ((state = hands_look(hands, work)) == HANDS_WAIT)
        nap();
    return state;
}

/* Takes what is done; returns which it was. */
static unsigned taken(struct hands_work *work)
{
    struct job *job;
    unsigned number;

    assert_int_equal(wait_for(work), HANDS_DONE);
    job = hands_take(hands, work);
    assert_true(job->blocked);
    number = job->number;
    release(job);
    return number;
}

static void wait_hung(size_t n)
{
    while (hands_hung(hands) != n)
        nap();
}

/* Each in its turn; of two users alternately. */
static void test_turns(void **state)
{
    struct hands_work *first, *same, *other;
    int end;

    (void)state;
    open_hands(LONG_S);
    first = put(1, stuck(&end));
    same = put(1, job_new());
    other = put(2, job_new());
    assert_int_equal(hands_look(hands, other), HANDS_WAIT);
    close(end);
    assert_int_equal(taken(other), 2);
    assert_int_equal(taken(same), 3);
    assert_int_equal(taken(first), 1);
    hands_drop(hands, NULL);
    assert_true(hands_close(hands));
    assert_true(hands_close(NULL));
}

/* The next one has another thread. What was given up is released by the thread that comes back. */
static void test_hangs(void **state)
{
    struct hands_work *work, *next;
    int end;

    (void)state;
    open_hands(SOON_S);
    work = put(1, stuck(&end));
    next = put(1, job_new());
    assert_int_equal(wait_for(work), HANDS_HUNG);
    assert_int_equal(hands_hung(hands), 1);
    hands_drop(hands, work);
    taken(next);
    assert_int_equal(released, 1);
    close(end);
    wait_hung(0);
    while (released < 2)
        nap();
    assert_true(hands_close(hands));
}

/* Who waits in vain does not wait for the next one. */
static void test_await(void **state)
{
    struct hands_work *work, *next;
    int end;

    (void)state;
    open_hands(LONG_S);
    work = put(1, job_new());
    assert_int_equal(hands_await(hands, work, LONG_S), HANDS_DONE);
    taken(work);
    work = put(1, stuck(&end));
    next = put(1, job_new());
    assert_int_equal(hands_await(hands, work, 1), HANDS_WAIT);
    assert_int_equal(hands_await(hands, next, LONG_S), HANDS_WAIT); /* or this would hang */
    close(end);
    taken(next);
    taken(work);
    assert_true(hands_close(hands));
}

/* Who has his fill is refused, others are not; until too many hang in all. */
static void test_bounds(void **state)
{
    struct hands_work *refused, *waits;
    int end[HUNG];

    (void)state;
    open_hands(SOON_S);
    for (size_t i = 0; i < HUNG_USER; i++) {
        struct hands_work *work = put(1, stuck(&end[i]));

        waits = put(1, job_new());
        assert_int_equal(wait_for(work), HANDS_HUNG);
        hands_drop(hands, work);
        if (i + 1 < HUNG_USER)
            taken(waits);
    }
    assert_int_equal(hands_look(hands, waits), HANDS_REFUSED); /* it was put before */
    hands_drop(hands, waits);
    refused = put(1, job_new());
    assert_int_equal(hands_look(hands, refused), HANDS_REFUSED);
    hands_drop(hands, refused);
    taken(put(2, job_new()));
    waits = put(2, stuck(&end[2]));
    assert_int_equal(wait_for(waits), HANDS_HUNG);
    hands_drop(hands, waits);
    refused = put(3, job_new());
    assert_int_equal(hands_look(hands, refused), HANDS_REFUSED);
    hands_drop(hands, refused);
    close(end[0]);
    wait_hung(HUNG - 1);
    taken(put(3, job_new()));
    taken(put(1, job_new()));
    for (size_t i = 1; i < HUNG; i++)
        close(end[i]);
    wait_hung(0);
    assert_true(hands_close(hands));
}

/* Who rests does not hang, however short the limit is; nor does it rest when it is not wanted. */
static void test_rests(void **state)
{
    struct job *job = job_new();
    struct hands_work *work;

    (void)state;
    open_hands(0);
    resting = false;
    job->rests = true;
    work = put(1, job);
    while (!resting)
        nap();
    for (int i = 0; i < 10; i++) {
        nap();
        assert_int_equal(hands_look(hands, work), HANDS_WAIT);
    }
    hands_lock(hands);
    hands_changed(hands);
    hands_unlock(hands);
    hands_drop(hands, work);
    while (released < 1)
        nap();
    assert_true(hands_close(hands));
}

/* Who asks hears that it is not wanted any more. */
static void test_goes_on(void **state)
{
    struct job *job = job_new();
    struct hands_work *work;

    (void)state;
    open_hands(LONG_S);
    job->goes_on = true;
    work = put(1, job);
    hands_wait(hands, work, clock_s() + SOON_S);
    assert_int_equal(hands_look(hands, work), HANDS_WAIT);
    hands_drop(hands, work);
    work = put(1, job_new());
    hands_wait(hands, work, INFINITY);
    taken(work);
    assert_int_equal(released, 2);
    assert_true(hands_close(hands));
}

/* What nobody wants any more is released: at once, or when it is done. */
static void test_dropped(void **state)
{
    struct hands_work *work, *waits;
    int end;

    (void)state;
    open_hands(LONG_S);
    work = put(1, stuck(&end));
    waits = put(1, job_new());
    hands_drop(hands, waits);
    assert_int_equal(released, 1);
    hands_wait(hands, work, clock_s() + SOON_S);
    assert_int_equal(hands_look(hands, work), HANDS_WAIT);
    hands_drop(hands, work);
    close(end);
    taken(put(1, job_new()));
    assert_int_equal(released, 3);
    assert_true(hands_close(hands));
}

/* They end in time though one hangs, which then stays alone. */
static void test_closes(void **state)
{
    struct hands_work *work;
    int end;

    (void)state;
    open_hands(SOON_S);
    work = put(1, stuck(&end));
    assert_int_equal(wait_for(work), HANDS_HUNG);
    hands_drop(hands, work);
    hands_drop(hands, put(1, job_new()));
    assert_false(hands_close(hands));
    close(end);
    while (released < 2)
        nap();
}

static pid_t waiter;

/* Comes back once the waiter sleeps. */
static void run_asleep(void *arg, struct hands_hand *hand)
{
    char path[64], text[512] = "";
    FILE *file;

    (void)arg, (void)hand;
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)waiter);
    while (!strstr(text, ") S ")) {
        sched_yield();
        file = fopen(path, "re");
        if (!file || !fgets(text, sizeof(text), file))
            abort();
        fclose(file);
    }
}

static void release_none(void *arg)
{
    (void)arg;
}

/* Who waits for the last of many pieces sleeps until then, whatever else is done meanwhile. */
static void test_one_wake(void **state)
{
    static const struct hands_task asleep = {run_asleep, release_none};
    enum { PIECES = 64 };
    struct hands_work *work[PIECES];
    struct rusage before, after;

    (void)state;
    open_hands(LONG_S);
    waiter = gettid();
    for (int i = 0; i < PIECES; i++)
        assert_non_null(work[i] = hands_put(hands, 1, &asleep, &waiter));
    getrusage(RUSAGE_THREAD, &before);
    hands_wait(hands, work[PIECES - 1], INFINITY);
    getrusage(RUSAGE_THREAD, &after);
    for (int i = 0; i < PIECES; i++) {
        assert_int_equal(hands_look(hands, work[i]), HANDS_DONE);
        assert_ptr_equal(hands_take(hands, work[i]), &waiter);
    }
    assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 1, PIECES / 4);
    assert_true(hands_close(hands));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_wake), cmocka_unit_test(test_turns),
        cmocka_unit_test(test_await),    cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_rests),
        cmocka_unit_test(test_goes_on),  cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_closes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
