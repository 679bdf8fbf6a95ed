/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_questions - no question makes the event loop read /proc: answers are what was found out
 * before. A filter of system calls tells of every file that is opened. */
#include "tests/unit/common/fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/daemon/render.h"
#include "packer/daemon/render_sample.h"
#include "packer/observe/usage.h"

#define PROCESSES 2000
#ifdef SYS_open
#define OPEN SYS_open
#else
#define OPEN SYS_openat
#endif

static volatile sig_atomic_t opened;

static void on_open(int sig)
{
    (void)sig;
    opened++;
}

/* From now on each open of this process counts, and fails. There is no way back. */
static bool count_opens(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OPEN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

    signal(SIGSYS, on_open);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* The step's only task is this process, which has so many children. */
static bool breed(struct step *step, pid_t *group)
{
    step->body.task[0].pid = getpid();
    *group = 0;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();

        if (pid < 0)
            return false;
        if (pid == 0) {
            setpgid(0, *group);
            for (;;)
                pause();
        }
        setpgid(pid, *group ? *group : pid);
        *group = *group ? *group : pid;
    }
    return true;
}

static void ask_all(struct fixture *f, struct step *step)
{
    json_object_put(render_node(&f->packer));
    json_object_put(render_step(&f->packer, step));
    json_object_put(render_explanation(&f->packer, step, step->request.uid));
    json_object_put(render_sample(&f->packer, step, false));
}

/* What went wrong; 0: nothing. */
static int ask_many_processes(void)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct step *step = fixture_run(f, 1, "0", "prog");
    pid_t group;
    int wrong = 0;

    if (!breed(step, &group))
        wrong = 1;
    for (int i = 0; i < 600 && !(step->use.user_s >= 0); i++) { /* the thread may be late */
        step->use.next_s = 0;
        observe_turn(&f->packer); /* the pipeline reads them */
        usleep(100000);
    }
    if (!(step->use.user_s >= 0))
        wrong = 2;
    if (!wrong && !count_opens())
        wrong = 3;
    if (!wrong)
        ask_all(f, step);
    if (opened)
        wrong = 4;
    kill(-group, SIGKILL);
    return wrong;
}

static void test_no_file(void **state)
{
    pid_t pid = fork();
    int status;

    (void)state;
    if (pid == 0)
        _exit(ask_many_processes());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Processes are read once a second at most, however often the pipeline turns. */
static void test_once_a_second(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct step *step = fixture_run(f, 1, "0", "prog");
    double next_s;

    (void)state;
    step->body.task[0].pid = getpid();
    step->use.next_s = 0;
    observe_turn(&f->packer);
    assert_true(observe_due(&f->packer) > 0.4); /* at the instant after the next half second */
    next_s = step->use.next_s;
    observe_turn(&f->packer);
    assert_true(step->use.next_s == next_s);
    fixture_close(f);
}

/* While there is nothing to decide they are read for who looks. */
static void test_seldom_at_rest(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct step *step = fixture_run(f, 1, "0", "prog");

    (void)state;
    step->body.task[0].pid = getpid();
    step->started_mono_s -= 60;
    step->use.next_s = clock_s() - 1;
    f->packer.steps->changed = false;
    observe_turn(&f->packer);
    assert_true(step->use.user_s < 0);
    for (int i = 0; i < 600 && step->use.user_s < 0; i++) { /* the thread may be late */
        f->packer.state->tally->scraped = true;
        step->use.next_s = clock_s() - 1;
        observe_turn(&f->packer);
    }
    assert_true(step->use.user_s >= 0);
    assert_false(f->packer.state->tally->scraped);
    fixture_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_once_a_second),
        cmocka_unit_test(test_seldom_at_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
