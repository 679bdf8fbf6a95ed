/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_share - cores that Slurm gave to several jobs: worked parts, what is shared all the same,
 * and what holds for any jobs. */
#include "tests/unit/common/sharing.h"
#include "tests/unit/common/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/observe/window.h"
#include "packer/place/place.h"
#include "packer/size/share.h"
#include "packer/size/share_wait.h"
#include "packer/steps/journal.h"
#include "packer/steps/stand.h"

#define ONE(home) ((const char *const[]){home, NULL})

/* ---- parts ---- */

static void test_alone(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 2, 0, "4");

    share(f);
    assert_use(a, "0-3");
    assert_use(b, "4");
    assert_int_equal(a->share.others, 0);
    assert_int_equal(a->share.changes, 0);
}

static void test_two_jobs_on_the_same_cores(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 2, 0, "0-3");

    share(f);
    assert_use(a, "0,2");
    assert_use(b, "1,3");
    assert_int_equal(a->share.others, 1);
    assert_int_equal(a->share.cores, 2);
    assert_int_equal(a->share.changes, 1);
    assert_int_equal(b->share.changes, 1);
    share(f); /* again: the same */
    assert_int_equal(a->share.changes, 1);
    registry_drop(f->packer.steps, b); /* alone again: all of its cores */
    share(f);
    assert_use(a, "0-3");
    assert_int_equal(a->share.changes, 2);
}

/* Parts are of one's own cores, also where they overlap in part only. */
static void test_overlap(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-1"), *b = put(f, 2, 0, "1-2"), *c = put(f, 3, 0, "2");

    share(f);
    assert_use(a, "0");
    assert_use(b, "1");
    assert_use(c, "2");
    assert_int_equal(a->share.others, 2); /* by b it shares with c, too */
}

/* Fewer cores than steps: as Slurm meant it. */
static void test_too_few(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-1"), *b = put(f, 2, 0, "0-1"), *c = put(f, 3, 0, "0-1");
    struct step *d = put(f, 4, 0, "4"), *e = put(f, 5, 0, "4");

    share(f);
    assert_use(a, "0-1");
    assert_use(b, "0-1");
    assert_use(c, "0-1");
    assert_int_equal(a->share.others, 2);
    assert_int_equal(a->share.cores, 0);
    assert_use(d, "4");
    assert_use(e, "4");
}

/* Steps of one job that Slurm let overlap share as it meant; those that it kept apart stay apart.
 */
static void test_steps_of_a_job(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *over = put(f, 1, 1, "0-3"), *b = put(f, 2, 0, "0-3");
    struct step *left = put(f, 3, 0, "4-5"), *right = put(f, 3, 1, "6-7"), *c = put(f, 4, 0, "4-7");

    share(f);
    assert_true(cpus_equal(&a->body.task[0].use, &over->body.task[0].use));
    assert_false(cpus_intersect(&a->body.task[0].use, &b->body.task[0].use));
    assert_false(cpus_intersect(&left->body.task[0].use, &right->body.task[0].use));
    assert_false(cpus_intersect(&left->body.task[0].use, &c->body.task[0].use));
    assert_false(cpus_intersect(&right->body.task[0].use, &c->body.task[0].use));
    assert_false(cpus_empty(&c->body.task[0].use));
}

/* Three steps of a job, the last of which has cores of both others: one claim. */
static void test_bridge(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-1"), *b = put(f, 1, 1, "2-3"), *ab = put(f, 1, 2, "1-2");
    struct step *c = put(f, 2, 0, "0-3");

    share(f);
    assert_int_equal(cpus_count(&c->body.task[0].use), 1); /* of need 4, beside one of 6 */
    assert_int_equal(a->share.cores, 3);
    assert_int_equal(b->share.cores, 3);
    assert_int_equal(ab->share.cores, 3);
    assert_false(cpus_intersect(&c->body.task[0].use, &ab->body.task[0].use));
}

/* Every task keeps a core of its own: where that cannot be, all is shared as Slurm meant it. */
static void test_tasks(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_put(f, 1, 0, "0-3", 10, (const char *const[]){"0-1", "2-3", NULL});
    struct step *b = put(f, 2, 0, "0-3");
    struct step *c = fixture_put(f, 3, 0, "4-5", 10, (const char *const[]){"4", "5", NULL});
    struct step *d = fixture_put(f, 4, 0, "4-5", 10, (const char *const[]){"4", "5", NULL});

    share(f);
    assert_cpus(&a->body.task[0].use, "0");
    assert_cpus(&a->body.task[1].use, "2");
    assert_use(b, "1,3");
    assert_cpus(&c->body.task[0].use, "4");
    assert_cpus(&c->body.task[1].use, "5");
    assert_cpus(&d->body.task[0].use, "4");
    assert_int_equal(d->share.others, 1);
    assert_int_equal(d->share.cores, 0);
}

/* A batch script waits for its steps: they have the part. Later it has it itself. */
static void test_shell(void **state)
{
    struct fixture *f = *state;
    struct step *shell = put(f, 1, WIRE_STEP_BATCH, "0-1"), *a = put(f, 1, 0, "0-1");
    struct step *b = put(f, 2, 0, "0-1");

    share(f);
    assert_use(shell, "0-1");
    assert_use(a, "0");
    assert_use(b, "1");
    registry_drop(f->packer.steps, a);
    share(f);
    assert_use(shell, "0");
}

/* What sizing left is what is divided. */
static void test_sized(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 2, 0, "0-3");

    a->body.task[0].sized = cpus_of("3");
    share(f);
    assert_use(a, "3");
    assert_use(b, "0-2");
}

/* Whoever was seen to leave cores idle gets fewer. */
static void test_need(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-7"), *b = put(f, 2, 0, "0-7");

    b->counts = calloc(1, sizeof(*b->counts));
    assert_non_null(b->counts);
    for (int i = 0; i < 4; i++)
        rate_add(&b->counts->phase.rate[RATE_CPU], 1.0, 1.0);
    share(f);
    assert_int_equal(cpus_count(&a->body.task[0].use), 7);
    assert_int_equal(cpus_count(&b->body.task[0].use), 1);
}

/* ---- strangers ---- */

/* Shows a job with a process, or with none left. */
static void show(struct slurm_cgroups slurm, uint32_t number, const char *cpus, bool lives,
                 slurm_visit_job *visit, void *arg)
{
    struct fixture *f =
        (struct fixture *)((char *)slurm.root - offsetof(struct fixture, packer.world.root));
    struct slurm_job job = {.job = number};
    struct cpus set = cpus_of(cpus);
    char name[64];

    snprintf(name, sizeof(name), "job_%u/cgroup.procs", number);
    folder_put(f->dir, name, lives ? "4711\n" : "");
    snprintf(job.dir, sizeof(job.dir), "%s/job_%u", f->dir, number);
    visit(&job, &set, arg);
}

static void jobs(struct slurm_cgroups slurm, const char *node, slurm_visit_job *visit, void *arg)
{
    assert_string_equal(node, "here");
    show(slurm, 77, "1", true, visit, arg);    /* a job that did not opt in */
    show(slurm, 2, "4-5", true, visit, arg);   /* one that did */
    show(slurm, 1, "0-7", true, visit, arg);   /* and one whose cpuset is berth's at the moment */
    show(slurm, 78, "0-1", false, visit, arg); /* what Slurm left of a job */
}

static void test_strangers(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-1"), *b = put(f, 2, 0, "0-1");

    fixture_paper(f);
    f->way.jobs = jobs;
    share(f);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_use(a, "0-1"); /* beside a stranger, as Slurm meant it */
    assert_use(b, "0-1");
}

/* ---- any jobs ---- */

static void put_anything(struct fixture *f)
{
    for (uint32_t job = 1; job <= 5; job++)
        for (uint32_t step = 0; step < 1 + (uint32_t)random() % 2; step++) {
            size_t first = (size_t)random() % 8, last = first + (size_t)random() % (8 - first);
            char home[16];

            snprintf(home, sizeof(home), "%zu-%zu", first, last);
            put(f, job, step, home)->state = random() % 8 ? STEP_PLACED : STEP_LEFT;
            if (random() % 4)
                grows(fixture_step(f, job, step));
        }
}

/* Nobody has more than he had, or what he had not; who did not share before does not now; who is
 * divided shares no core with another job that is, too; and a young one has all. */
static void check(struct fixture *f)
{
    struct step *a, *b;

    TAILQ_FOREACH(a, &f->packer.steps->live, link)
    {
        const struct enforce_task *task = &a->body.task[0];

        assert_false(cpus_empty(&task->use));
        assert_true(cpus_subset(&task->use, &task->home));
        if (share_wait_s(&f->packer, a) > 0)
            assert_true(cpus_equal(&task->use, &task->home));
        TAILQ_FOREACH(b, &f->packer.steps->live, link)
        if (a->request.id.job != b->request.id.job && step_movable(a) && step_movable(b) &&
            a->share.cores && b->share.cores)
            assert_false(cpus_intersect(&task->use, &b->body.task[0].use));
    }
}

static void test_anything(void **state)
{
    struct fixture *f = *state;

    srandom(5);
    for (int round = 0; round < 2000; round++) {
        struct scene scene = {&f->packer, f->packer.state->pool, false};
        struct berth_error err;
        struct step *step;

        put_anything(f);
        share_now(f);
        check(f);
        assert_int_equal(place_decide(&scene, NULL, &err), 0);
        while ((step = TAILQ_FIRST(&f->packer.steps->live)))
            registry_drop(f->packer.steps, step);
    }
}

/* ---- by the pipeline ---- */

/* Other stages ask for sooner ones, or for whole seconds. */
static void wake(void *arg, double in_s)
{
    if (in_s > *(double *)arg)
        *(double *)arg = in_s;
}

static void test_pipeline(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;
    double woken_s = 0;

    fixture_paper(f);
    a = fixture_run(f, 1, "0-1", NULL);
    assert_cpus(&a->place.cpus, "0-1");
    f->packer.wake.call = wake;
    f->packer.wake.arg = &woken_s;
    b = fixture_run(f, 2, "0-1", NULL);
    assert_true(woken_s > 0 && woken_s <= 1000.5 && woken_s != 1000);
    fixture_forget(f);
    assert_true(pipeline_observe(&f->packer) > 0);
    assert_string_equal(f->calls, "");
    assert_cpus(&a->body.task[0].cpus, "0-1");
    assert_cpus(&b->body.task[0].cpus, "0-1");
    fixture_age(f, 3600);
    assert_cpus(&a->place.cpus, "0");
    assert_cpus(&b->place.cpus, "1");
    assert_non_null(strstr(f->calls, "apply 1.0 0; "));
    assert_non_null(strstr(f->calls, "apply 2.0 1; "));
    assert_int_equal(journal_start(&f->packer, a, NULL), 0); /* with the age that they have here */
    assert_int_equal(journal_start(&f->packer, b, NULL), 0);
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, NULL), 0);
    a = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    b = registry_find(f->packer.steps, (struct wire_step_id){2, 0});
    assert_cpus(&a->place.cpus, "0");
    assert_cpus(&b->place.cpus, "1");
    fixture_end(f, 2, 0);
    pipeline_observe(&f->packer);
    assert_cpus(&a->place.cpus, "0-1");
    assert_cpus(&a->body.task[0].cpus, "0-1");
}

#define test(name) cmocka_unit_test_setup_teardown(name, sharing_open, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_alone),          test(test_two_jobs_on_the_same_cores),
        test(test_overlap),        test(test_too_few),
        test(test_steps_of_a_job), test(test_bridge),
        test(test_tasks),          test(test_shell),
        test(test_sized),          test(test_need),
        test(test_strangers),      test(test_anything),
        test(test_pipeline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
