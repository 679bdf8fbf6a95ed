/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_strangers - steps that are not registered and jobs that are not in berth's care, as Slurm's
 * folders show them, and that nobody is left on their cores. */
#include "tests/unit/common/fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "packer/daemon/render.h"
#include "packer/steps/lacks.h"
#include "packer/steps/stand.h"
#include "packer/slurm/steps/strangers.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/slurm_tree.h"

#define TOP "cg/cpuset/slurm_here/uid_1000"

/* Slurm's folders are in the fixture's; 1.0 of core 0 stands on 2, and 2.0 of core 2 on 0. */
/* Returns how many are known, counting or not. */
static size_t known(const struct fixture *f)
{
    size_t n = 0;

    while (strangers_at(&f->packer, n))
        n++;
    return n;
}

static int open_tree(void **state)
{
    struct fixture *f;

    fixture_open_swapped(state);
    f = *state;
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    strcpy(f->packer.world.enforce->cgroup_root, "/cg");
    f->way.jobs = slurm_jobs_cgroup1;
    for (uint32_t job = 1; job <= 2; job++)
        snprintf(fixture_step(f, job, 0)->body.leaf, sizeof(((struct enforce_step *)0)->leaf),
                 "slurm_here/uid_1000/job_%u/step_0", job);
    return 0;
}

/* A step's folder with CPUs and one process of that name; pid 0: none. */
static void put(struct fixture *f, const char *step, const char *cpus, int pid, const char *name)
{
    char path[256], text[128];

    snprintf(path, sizeof(path), TOP "/%s/cpuset.cpus", step);
    folder_put(f->dir, path, cpus);
    snprintf(path, sizeof(path), TOP "/%s/cgroup.procs", step);
    snprintf(text, sizeof(text), "%d\n", pid);
    folder_put(f->dir, path, pid ? text : "");
    snprintf(path, sizeof(path), "proc/%d/status", pid);
    snprintf(text, sizeof(text), "Name:\t%s\nUid:\t1000\t1000\t1000\t1000\n", name);
    if (pid)
        folder_put(f->dir, path, text);
}

static void assert_homes(struct fixture *f, bool home)
{
    assert_cpus(&fixture_step(f, 1, 0)->place.cpus, home ? "0" : "2");
    assert_cpus(&fixture_step(f, 2, 0)->place.cpus, home ? "2" : "0");
}

static void test_known_steps_are_none(void **state)
{
    struct fixture *f = *state;

    put(f, "job_1/step_0", "0", 10, "prog");
    put(f, "job_2/step_0", "2", 11, "prog");
    put(f, "job_2/step_extern", "2", 12, "sleep");
    put(f, "job_2/step_batch", "2", 13, "bash");
    assert_false(strangers_read(&f->packer));
    assert_int_equal(known(f), 0);
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
}

static void test_a_step_that_is_not_registered_gets_its_core_back(void **state)
{
    struct fixture *f = *state;
    char path[256];

    put(f, "job_2/step_1", "2", 11, "prog");
    pipeline_sweep(&f->packer);
    assert_homes(f, true);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_int_equal(known(f), 1);
    assert_int_equal(strangers_at(&f->packer, 0)->uid, 1000);
    pipeline_sweep(&f->packer);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    snprintf(path, sizeof(path), "%s/" TOP "/job_2/step_1", f->dir);
    assert_int_equal(folder_remove(path), 0);
    pipeline_sweep(&f->packer); /* it has ended */
    assert_int_equal(known(f), 0);
    assert_stand(f->packer.state->pool, "0 - 2 - - - - -");
}

/* What Slurm left of a step, and slurmstepd alone. */
static void test_nobody_there_takes_nothing(void **state)
{
    struct fixture *f = *state;

    put(f, "job_2/step_1", "2", 0, "");
    put(f, "job_1/step_1", "0", 0, "");
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
}

static void test_an_empty_job_takes_nothing(void **state)
{
    struct fixture *f = *state;

    put(f, "job_99999", "0", 0, "");
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
    assert_int_equal(known(f), 0);
    put(f, "job_99999/step_0", "0", 99, "prog");
    pipeline_sweep(&f->packer);
    assert_homes(f, true);
    assert_int_equal(known(f), 1);
    assert_int_equal(strangers_at(&f->packer, 0)->id.job, 99999);
}

/* Its tasks wait for the answer: it is on its way, and nobody is moved twice for it. */
/* A job with one step that runs; `mine`: berth looks after it. */
static void put_job(struct fixture *f, const struct slurm_tree *tree, uint32_t job,
                    const char *cpus, bool mine)
{
    const struct wire_step_id id = {job, 0};
    const pid_t stepd = 100 + (pid_t)job;

    slurm_tree_job(tree, job, cpus);
    slurm_tree_step(tree, id, cpus, stepd);
    slurm_tree_task(tree, id, &(struct slurm_tree_task){.pid = stepd + 100, .parent = stepd});
    if (!mine)
        return;
    slurm_tree_path(tree, id, fixture_step(f, job, 0)->body.leaf, ENFORCE_LEAF_MAX);
    strcpy(fixture_step(f, job, 0)->request.node, "n1");
}

/* Whatever a stranger's folder is called, nobody is on its cores; when nobody is left in it, they
 * come back into the pool. A job that berth looks after is no stranger, its slurmstepd alive or
 * not.
 */
static void test_strangers_of_each_series(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < slurm_series_n; i++) {
        struct slurm_tree tree;
        struct fixture *f;
        void *state;

        open_tree(&state);
        f = state;
        slurm_tree_open(&tree, &slurm_series[i]);
        f->packer.world.enforce->root = &tree.root;
        f->packer.world.enforce->folders = tree.enforce.folders;
        f->way.jobs = tree.enforce.way->jobs;
        put_job(f, &tree, 1, "0\n", true);
        put_job(f, &tree, 2, "2\n", true);
        pipeline_sweep(&f->packer);
        assert_homes(f, false);
        slurm_tree_kill(&tree, (struct wire_step_id){2, 0});
        put_job(f, &tree, 3, "0\n", false);
        pipeline_sweep(&f->packer);
        assert_homes(f, true);
        assert_int_equal(known(f), 1);
        assert_int_equal(strangers_at(&f->packer, 0)->id.job, 3);
        slurm_tree_end(&tree, 3);
        pipeline_sweep(&f->packer);
        assert_int_equal(known(f), 0);
        f->packer.world.enforce->folders = NULL;
        f->packer.world.enforce->root = &f->packer.world.root;
        slurm_tree_close(&tree);
        fixture_close(f);
    }
}

static void test_a_registration_on_its_way(void **state)
{
    struct fixture *f = *state;

    put(f, "job_2/step_1", "2", 11, "slurmstepd");
    strangers_expect(&f->packer, (struct wire_step_id){2, 1}, false);
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
    assert_true(strangers_due(&f->packer) > 0);
    fixture_start(f, fixture_request(2, 1, "2", "2", 1, "low"));
    assert_int_equal(known(f), 0);
    assert_true(strangers_due(&f->packer) < 0);
}

/* Registers berthctl as step 1 of job 2. */
static struct step *question(struct fixture *f, enum wire_mode mode)
{
    struct wire_register request = fixture_request(2, 1, "2", "2", 1, NULL);

    request.options.mode = mode;
    request.exe = "/usr/local/bin/berthctl";
    return fixture_start(f, request);
}

/* berthctl, as a login node starts it into a job, is never registered: it has no record and no
 * bill, and nobody is moved for it. A program of that name wins nothing: it is none after a while.
 */
static void test_who_only_asks(void **state)
{
    struct fixture *f = *state;
    uint64_t registrations = f->packer.state->tally->registrations;
    const struct wire_end end = {.id = {2, 1}};

    put(f, "job_2/step_1", "2", 11, "berthctl");
    assert_null(question(f, WIRE_MODE_OBSERVE));
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
    assert_int_equal(f->packer.state->tally->registrations, registrations);
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_int_equal(known(f), 1);
    assert_true(strangers_due(&f->packer) > 20);
    pipeline_end(&f->packer, &end);
    assert_true(TAILQ_EMPTY(&f->packer.steps->ended));
    ((struct stranger *)strangers_at(&f->packer, 0))->since_s -= STRANGERS_ASKS_S;
    pipeline_sweep(&f->packer);
    assert_homes(f, true);
}

/* A user's own srun berthctl is no step of berth's either, and a stranger as long as it runs. */
static void test_berthctl_of_a_user(void **state)
{
    struct fixture *f = *state;

    put(f, "job_2/step_1", "2", 11, "berthctl");
    assert_null(question(f, WIRE_MODE_AUTO));
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_homes(f, true);
}

/* It calls itself so all the time. */
static void test_a_name_hides_nobody(void **state)
{
    struct fixture *f = *state;

    put(f, "job_2/step_1", "2", 11, "slurmstepd");
    pipeline_sweep(&f->packer);
    assert_homes(f, false);
    ((struct stranger *)strangers_at(&f->packer, 0))->since_s -= STRANGERS_PATIENCE_S;
    pipeline_sweep(&f->packer);
    assert_homes(f, true);
}

static int refuse(struct enforce *enforce, const char *node, struct enforce_step *step,
                  struct berth_error *err)
{
    (void)enforce, (void)node, (void)step;
    return berth_error_set(err, "it cannot be found");
}

static void test_a_registration_that_is_refused(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 1, "2", "2", 1, "low");
    struct wire_answer answer;

    put(f, "job_2/step_1", "2", 11, "slurmstepd");
    f->way.locate = refuse;
    pipeline_start(&f->packer, &request, &answer);
    assert_false(answer.ok);
    wire_answer_clear(&answer);
    assert_homes(f, true);
}

/* What the batch script started before its job was in the pool. */
static void test_a_step_from_before_its_job_opted_in(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    put(f, "job_3/step_0", "4", 10, "prog");
    put(f, "job_3/step_1", "4", 11, "slurmstepd");
    step = fixture_start(f, fixture_request(3, 1, "4", "4", 1, "low"));
    assert_non_null(step);
    assert_stand(f->packer.state->pool, "2 - 0 - 4 - - -"); /* this way finds no folder */
    strcpy(step->body.leaf, "slurm_here/uid_1000/job_3/step_1");
    fixture_start(f, fixture_request(3, 2, "4", "4", 1, "low"));
    assert_stand(f->packer.state->pool, "2 - 0 - - - - -");
}

/* The one task of a job that berth looks after is in that state. */
static void put_state(struct fixture *f, uint32_t job, char state)
{
    const struct enforce_task *task = &fixture_step(f, job, 0)->body.task[0];
    char path[64], text[256];

    snprintf(path, sizeof(path), "proc/%d/stat", (int)task->pid);
    snprintf(text, sizeof(text),
             "%d (prog) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %" PRIu64 " 0 0\n", (int)task->pid,
             state, task->started);
    folder_put(f->dir, path, text);
}

/* A job comes to a core that was taken from one of the pool: it counts with its first process. */
static void test_new_jobs(void **state)
{
    struct fixture *f = *state;

    put_state(f, 1, 'T');
    put(f, "job_3/step_extern", "0", 0, "");
    put(f, "job_3", "0", 0, "");
    strangers_expect_job(&f->packer, 3);
    assert_false(strangers_look(&f->packer));
    assert_true(strangers_due(&f->packer) > 0);
    put(f, "job_3/step_extern", "0", 10, "slurmstepd");
    assert_true(strangers_look(&f->packer));
    assert_true(strangers_have(&f->packer, (struct wire_step_id){3, UINT32_MAX}));
    assert_true(strangers_due(&f->packer) < 0);
}

/* A newcomer that shares a core by Slurm's will counts with its first program. */
static void test_a_new_job_that_shares(void **state)
{
    struct fixture *f = *state;

    put_state(f, 2, 'R');
    put(f, "job_4/step_extern", "2", 11, "sleep");
    put(f, "job_4/step_0", "2", 12, "slurmstepd");
    put(f, "job_4", "2", 0, "");
    strangers_expect_job(&f->packer, 4);
    assert_false(strangers_look(&f->packer));
    assert_false(strangers_have(&f->packer, (struct wire_step_id){4, UINT32_MAX}));
    put(f, "job_4/step_0", "2", 12, "prog");
    assert_true(strangers_look(&f->packer));
    assert_true(strangers_have(&f->packer, (struct wire_step_id){4, UINT32_MAX}));
}

/* Slurm gives a core to the newcomer, and then stops the job that had it: others leave the core
 * when that is seen, not only when the newcomer's program runs. */
static void test_a_job_that_is_stopped_after_its_core_was_given_away(void **state)
{
    struct fixture *f = *state;

    put_state(f, 2, 'R');
    put(f, "job_3/step_extern", "2", 11, "sleep");
    put(f, "job_3/step_0", "2", 12, "slurmstepd");
    put(f, "job_3", "2", 0, "");
    strangers_expect_job(&f->packer, 3);
    assert_false(strangers_look(&f->packer));
    assert_true(strangers_due(&f->packer) > 0);
    put_state(f, 2, 'T');
    assert_true(strangers_look(&f->packer));
    assert_true(strangers_have(&f->packer, (struct wire_step_id){3, UINT32_MAX}));
}

/* While idle cores are places, a job on any core is a stranger once its program runs, not while it
 * may be about to register; and it is news when it goes. */
static void test_on_an_idle_core(void **state)
{
    struct fixture *f = *state;
    const struct wire_step_id job = {5, UINT32_MAX};

    put(f, "job_5/step_0", "6", 12, "prog");
    put(f, "job_5", "6", 0, "");
    assert_false(strangers_read(&f->packer));
    f->packer.state->idle.marked = true;
    put(f, "job_5/step_0", "6", 12, "slurmstepd");
    strangers_expect_job(&f->packer, 5);
    assert_false(strangers_look(&f->packer));
    assert_false(strangers_have(&f->packer, job));
    put(f, "job_5/step_0", "6", 12, "prog");
    assert_true(strangers_look(&f->packer));
    assert_true(strangers_have(&f->packer, job));
    put(f, "job_5/step_0", "6", 0, "");
    assert_true(strangers_read(&f->packer));
    assert_int_equal(known(f), 0);
}

/* A new job on that core runs; it has asked for it, or it has not. It goes again. */
static void come(struct fixture *f, uint32_t job, bool asks)
{
    char step[32], name[16];

    snprintf(step, sizeof(step), "job_%u/step_0", job);
    snprintf(name, sizeof(name), "job_%u", job);
    put(f, step, "6", 12, "slurmstepd");
    put(f, name, "6", 0, "");
    strangers_expect_job(&f->packer, job);
    if (asks)
        strangers_ask(&f->packer, job);
    put(f, step, "6", 12, "prog");
    strangers_look(&f->packer);
    put(f, step, "6", 0, "");
    strangers_read(&f->packer);
}

/* A new job counts before its program runs, for that takes long: it is looked at until it does. */
static void test_slow_start(void **state)
{
    struct fixture *f = *state;
    struct stranger *stranger;

    f->packer.state->idle.marked = true;
    put(f, "job_6/step_0", "6", 12, "slurmstepd");
    put(f, "job_6", "6", 0, "");
    strangers_expect_job(&f->packer, 6);
    stranger = (struct stranger *)strangers_at(&f->packer, 0);
    stranger->since_s -= 2 * STRANGERS_PATIENCE_S;
    assert_true(strangers_look(&f->packer));
    assert_true(strangers_have(&f->packer, (struct wire_step_id){6, UINT32_MAX}));
    assert_int_equal(f->packer.state->idle.unasked, 0);
    assert_true(strangers_due(&f->packer) > 0);
    put(f, "job_6/step_0", "6", 12, "prog");
    assert_false(strangers_look(&f->packer));
    assert_int_equal(f->packer.state->idle.unasked, 1);
    assert_true(strangers_due(&f->packer) < 0);
}

/* Jobs that run without having asked for their cores, several in a row: no step stands on cores of
 * nobody any more. What was there before it could ask says nothing. */
static void test_nobody_asks(void **state)
{
    struct fixture *f = *state;
    const unsigned *unasked = &f->packer.state->idle.unasked;

    f->packer.world.conf.idle = CONF_IDLE_ON;
    come(f, 5, false);
    assert_int_equal(*unasked, 0);
    f->packer.state->idle.marked = true;
    come(f, 6, false);
    assert_int_equal(*unasked, 1);
    come(f, 7, true);
    assert_int_equal(*unasked, 0);
    for (uint32_t job = 8; job < 8 + STRANGERS_UNASKED_MAX; job++) {
        assert_true(stand_idle(&(struct scene){&f->packer, f->packer.state->pool, false}));
        come(f, job, false);
    }
    assert_false(stand_idle(&(struct scene){&f->packer, f->packer.state->pool, false}));
    assert_non_null(strstr(lacks_why(&f->packer, LACK_IDLE), "plugstack.conf"));
}

/* With idle = auto cores of nobody are places once jobs in a row have asked or registered, and no
 * more as soon as one runs that has not. */
static void test_proved(void **state)
{
    struct fixture *f = *state;
    uint32_t job = 10;

    f->packer.state->idle.asked = 0; /* its steps have registered */
    f->packer.world.conf.idle = CONF_IDLE_AUTO;
    f->packer.state->idle.marked = true;
    for (unsigned i = 0; i < STRANGERS_ASKED_MIN; i++) {
        assert_false(stand_idle_proved(&f->packer));
        strangers_hear(&f->packer, job);
        strangers_hear(&f->packer, job); /* a second step of the job shows nothing new */
        job++;
    }
    assert_true(stand_idle_proved(&f->packer));
    come(f, job++, false);
    assert_false(stand_idle_proved(&f->packer));
    for (unsigned i = 0; i < STRANGERS_ASKED_MIN; i++)
        come(f, job++, true);
    assert_true(stand_idle_proved(&f->packer));
    f->packer.world.conf.idle = CONF_IDLE_ON;
    come(f, job, false);
    assert_true(stand_idle_proved(&f->packer));
}

/* Root is told who it is, and so is its owner. */
static void test_who_is_told(void **state)
{
    struct fixture *f = *state;
    struct json_object *node;
    const uid_t viewer[] = {0, 1000, 1001};

    put(f, "job_2/step_1", "2", 11, "prog");
    pipeline_sweep(&f->packer);
    for (size_t i = 0; i < 3; i++) {
        node = render_node_to(&f->packer, viewer[i]);
        assert_string_equal(
            json_object_to_json_string_ext(json_object_object_get(node, "strangers"),
                                           JSON_C_TO_STRING_PLAIN),
            i < 2 ? "[{\"id\":\"2.1\",\"cpus\":\"2\"}]" : "[{\"id\":null,\"cpus\":\"2\"}]");
        json_object_put(node);
    }
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_tree, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_known_steps_are_none),
        test(test_a_step_that_is_not_registered_gets_its_core_back),
        test(test_nobody_there_takes_nothing),
        test(test_an_empty_job_takes_nothing),
        cmocka_unit_test(test_strangers_of_each_series),
        test(test_a_registration_on_its_way),
        test(test_who_only_asks),
        test(test_berthctl_of_a_user),
        test(test_a_name_hides_nobody),
        test(test_a_registration_that_is_refused),
        test(test_a_step_from_before_its_job_opted_in),
        test(test_new_jobs),
        test(test_a_new_job_that_shares),
        test(test_a_job_that_is_stopped_after_its_core_was_given_away),
        test(test_on_an_idle_core),
        test(test_slow_start),
        test(test_nobody_asks),
        test(test_proved),
        test(test_who_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
