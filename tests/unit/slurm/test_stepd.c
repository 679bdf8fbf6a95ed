/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_stepd - a slurmstepd that is killed takes its step with it: others leave its cores at once,
 * with no word of the plugin's or of an epilog's. The slurmstepds are children of the test's. */
#include "tests/unit/common/fixture.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/steps/journal.h"
#include "packer/slurm/steps/stepd.h"
#include "packer/system/process.h"
#include "packer/system/process_watch.h"

#define FUSE_S 60 /* a test that hangs longer dies */

static pid_t start_stepd(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        close_range(3, ~0U, 0); /* the journal, which a new berthd locks */
        alarm(FUSE_S);
        for (;;)
            pause();
    }
    return pid;
}

static void kill_stepd(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Registers 1.0 and 2.0 by themselves on each other's core; 2.0 has a slurmstepd that is watched.
 */
static struct step *open_scene(struct fixture *f, pid_t *stepd)
{
    struct step *step;
    struct berth_error err;

    fixture_run(f, 1, "0", "low");
    step = fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    assert_stand(f->packer.state->pool, "2 - 0 - - - - -");
    *stepd = start_stepd();
    step->body.stepd = *stepd;
    step->body.stepd_started = process_started(&f->packer.world.root, *stepd);
    assert_int_equal(journal_start(&f->packer, step, &err), 0);
    stepd_watch(&f->packer, step);
    return step;
}

static int setup(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    alarm(FUSE_S);
    fixture_profile(f, "low", 10);
    fixture_profile(f, "high", 9000);
    fixture_paper(f);
    *state = f;
    return 0;
}

/* Waits as the event loop does, until something is to be done about a slurmstepd. */
static void wait_for_stepd(struct fixture *f)
{
    struct pollfd poll_fd = {.fd = process_watch_fd(f->packer.state->stepds), .events = POLLIN};
    double due_s = stepd_due(&f->packer);

    while (due_s != 0 && poll(&poll_fd, 1, due_s < 0 ? -1 : (int)(due_s * 1000) + 1) == 0)
        due_s = stepd_due(&f->packer);
}

static void assert_only_first_is_left(struct fixture *f)
{
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_cpus(&fixture_step(f, 1, 0)->place.cpus, "0");
}

static void test_killed(void **state)
{
    struct fixture *f = *state;
    pid_t stepd;

    open_scene(f, &stepd);
    pipeline_stepds(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 2);
    kill_stepd(stepd);
    wait_for_stepd(f);
    pipeline_stepds(&f->packer);
    assert_only_first_is_left(f);
    pipeline_stepds(&f->packer);
    assert_only_first_is_left(f);
}

/* What was told first counts, and nothing is watched after it. */
static void test_told(void **state)
{
    struct fixture *f = *state;
    struct wire_end end = {.id = {2, 0}, .exit_status = 256, .user_s = 2};
    struct step *next;
    pid_t stepd;

    open_scene(f, &stepd);
    kill_stepd(stepd);
    pipeline_end(&f->packer, &end);
    assert_int_equal(TAILQ_FIRST(&f->packer.steps->ended)->exit_status, 256);
    next = fixture_run(f, 2, "2", "high"); /* requeued under the same name */
    pipeline_stepds(&f->packer);
    assert_ptr_equal(fixture_step(f, 2, 0), next);
    assert_true(stepd_due(&f->packer) < 0);
}

/* It was killed while there was no berthd: nothing but its number and start tells. */
static void test_killed_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;
    pid_t stepd;

    open_scene(f, &stepd);
    fixture_restart(f);
    kill_stepd(stepd);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_true(stepd_due(&f->packer) == 0);
    pipeline_observe(&f->packer);
    assert_only_first_is_left(f);
}

/* An adopted step's slurmstepd is watched as before. */
static void test_killed_later(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;
    pid_t stepd;

    open_scene(f, &stepd);
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    pipeline_stepds(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 2);
    kill_stepd(stepd);
    wait_for_stepd(f);
    pipeline_stepds(&f->packer);
    assert_only_first_is_left(f);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_killed),
        test(test_told),
        test(test_killed_meanwhile),
        test(test_killed_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
