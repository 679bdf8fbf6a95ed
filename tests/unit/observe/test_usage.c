/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_observe - what a step has used: of living processes, of the plugin, of nobody. */
#include "tests/unit/common/fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/observe/usage.h"

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static struct step *put(struct fixture *f)
{
    return fixture_put(f, 1, 0, "0", 1, (const char *const[]){"0", NULL});
}

/* The thread that reads may be late: it is asked once more then. */
static void read_now(struct fixture *f, struct step *step)
{
    for (step->use.user_s = -1; step->use.user_s < 0; usleep(1000))
        observe_step(&f->packer, step);
}

static void test_no_process(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);

    observe_step(&f->packer, step);
    assert_true(step->use.user_s < 0); /* not 0: not known */
    step->use.user_s = 3;
    observe_step(&f->packer, step);
    assert_true(step->use.user_s == 3); /* what was read last stays */
}

/* A child that has used some 30 ms, itself or by one that it has waited for; it waits. */
static pid_t busy_child(bool by_child)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (by_child && (pid = fork()) > 0)
            waitpid(pid, NULL, 0);
        while ((!by_child || pid == 0) && clock() < CLOCKS_PER_SEC * 30 / 1000)
            ;
        if (by_child && pid == 0)
            _exit(0);
        _exit(write(ready[1], "x", 1) == 1 ? pause() : 1);
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void used_by(struct fixture *f, bool by_child)
{
    struct step *step = put(f);
    pid_t child = busy_child(by_child);

    step->body.task[0].pid = child;
    read_now(f, step);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(step->use.user_s + step->use.system_s >= 0.01);
    assert_true(step->use.user_s >= 0 && step->use.system_s >= 0);
}

static void test_living_process(void **state)
{
    used_by(*state, false);
}

/* What its children have used that have ended is in it. */
static void test_ended_child(void **state)
{
    used_by(*state, true);
}

static void test_ended_is_not_read(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);

    step->body.task[0].pid = getpid();
    step->state = STEP_ENDED;
    observe_step(&f->packer, step);
    assert_true(step->use.user_s < 0);
}

static void test_end(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);
    struct wire_end end = {.user_s = 2, .system_s = 1, .maxrss_kib = 77};

    observe_end(&f->packer, step, &end);
    assert_true(step->use.user_s == 2 && step->use.system_s == 1);
    assert_int_equal(step->use.maxrss_kib, 77);
}

/* No figures: what was read last stays. */
static void test_end_without_figures(void **state)
{
    struct wire_end unknown = {.user_s = -1, .system_s = -1};
    struct fixture *f = *state;
    struct step *step = put(f);

    step->use.user_s = 5;
    observe_end(&f->packer, step, &unknown);
    assert_true(step->use.user_s == 5);
    observe_end(&f->packer, step, NULL);
    assert_true(step->use.user_s == 5);
}

static void test_elapsed(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);

    step->started_mono_s = clock_s() - 100;
    assert_true(observe_elapsed_s(step) >= 100);
    step->ended_at = 1;
    step->ended_mono_s = step->started_mono_s + 7;
    assert_float_equal(observe_elapsed_s(step), 7, 1e-6);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_no_process),  test(test_living_process),
        test(test_ended_child), test(test_ended_is_not_read),
        test(test_end),         test(test_end_without_figures),
        test(test_elapsed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
