/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_observe - what a step has used: of living processes, of the plugin, of nobody. */
#include "tests/unit/common/fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/observe/usage.h"
#include "tests/unit/common/folder.h"

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

#define USER "system.slice/slurmstepd.scope/job_1/step_0/user"

static void put_used(struct fixture *f, int by_processes_s, int by_folder_s)
{
    char path[256], text[256];

    snprintf(text, sizeof(text),
             "100 (a) S 50 1 1 0 -1 0 7 0 0 0 %ld 0 0 0 20 0 1 0 5000 1000000 25 0\n",
             by_processes_s * sysconf(_SC_CLK_TCK));
    folder_put(f->dir, "proc/100/stat", text);
    snprintf(path, sizeof(path), "%s/" USER "/cpu.stat", f->packer.world.enforce->cgroup_root + 1);
    snprintf(text, sizeof(text), "usage_usec %d000000\nuser_usec %d000000\nsystem_usec 0\n",
             by_folder_s, by_folder_s);
    folder_put(f->dir, path, text);
}

/* Reads its use as the event loop does, when it is time. */
static void turn(struct fixture *f, struct step *step)
{
    step->use.next_s = 0;
    observe_turn(&f->packer);
}

/* The processes of a step with a cgroup of its own are read once, then it is. */
static void test_folder(void **state)
{
    struct fixture *f = *state;
    struct step *step = put(f);

    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    step->body.task[0].pid = 100;
    folder_put(f->dir, "proc/100/task/100/children", "");
    folder_put(f->dir, "proc/100/cgroup", "0::/" USER "/task_0\n");
    put_used(f, 20, 5); /* it began elsewhere */
    for (turn(f, step); step->use.user_s < 0; turn(f, step))
        usleep(1000);
    assert_true(step->use.user_s == 20);
    put_used(f, 1000, 8);
    turn(f, step);
    assert_true(step->use.user_s == 23);
    assert_true(step->use.system_s == 0);
    assert_null(step->use.ask);
    put_used(f, 1000, 9);
    observe_end(&f->packer, step, NULL);
    assert_true(step->use.user_s == 24);
    assert_null(step->use.folder);
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
        test(test_elapsed),     test(test_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
