/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_identify - which words of a step wait for what Slurm says of its job, and whose word counts.
 */
#include "tests/unit/common/fixture.h"

#include <string.h>
#include <time.h>

#include "packer/daemon/identify.h"
#include "packer/identity/asker.h"
#include "packer/identity/jobs.h"
#include "packer/ledger/ledger.h"

/* The asker of these tests has the answers that a test puts here. */
static bool asking;
static size_t asked;
static struct asker_run question;
static struct asker_answer answer[4];
static size_t answers;

bool __wrap_asker_ask(struct asker *asker, const struct asker_run *run, uint32_t nodes,
                      bool urgent);
bool __wrap_asker_ask(struct asker *asker, const struct asker_run *run, uint32_t nodes, bool urgent)
{
    (void)asker, (void)nodes, (void)urgent;
    if (!asking)
        return false;
    asked += question.job != run->job || question.at != run->at; /* not twice for a run */
    question = *run;
    return true;
}

bool __wrap_asker_take(struct asker *asker, struct asker_answer *taken);
bool __wrap_asker_take(struct asker *asker, struct asker_answer *taken)
{
    (void)asker;
    if (answers == 0)
        return false;
    *taken = answer[--answers];
    return true;
}

/* What the ledger was told last. */
static struct ledger_identity told;

int __wrap_ledger_identify(struct ledger *ledger, const struct ledger_identity *identity,
                           struct berth_error *err);
int __wrap_ledger_identify(struct ledger *ledger, const struct ledger_identity *identity,
                           struct berth_error *err)
{
    (void)ledger, (void)err;
    told = *identity;
    return 0;
}

static int start(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    asking = true;
    asked = answers = 0;
    question = (struct asker_run){0};
    told = (struct ledger_identity){0};
    strcpy(f->packer.world.conf.isolate_accounts, "physics");
    *state = f;
    return 0;
}

static struct step *run(struct fixture *f, uint32_t job, uint32_t step, bool isolate)
{
    struct wire_register request = fixture_request(job, step, "0", "0", 1, "prog");

    request.options.isolate = isolate;
    return fixture_start(f, request);
}

/* Slurm's answer to the question that was asked last. */
static void says(uint32_t uid, const char *account)
{
    struct asker_answer *next = &answer[answers++];

    memset(next, 0, sizeof(*next));
    next->run = question;
    next->said.is = (struct wire_identity){
        .source = WIRE_SOURCE_SLURMCTLD, .job = question.job, .uid = uid, .start = question.at};
    strcpy(next->said.is.account, account);
}

/* One question a run; the answer is for all its steps, also for those that come later. */
static void test_asked_once(void **state)
{
    struct fixture *f = *state;
    struct step *first = run(f, 7, 0, false), *second = run(f, 7, 1, false), *later;

    assert_int_equal(asked, 1);
    assert_int_equal(first->identity.is.source, WIRE_SOURCE_NONE);
    says(first->request.uid, "physics");
    pipeline_identified(&f->packer);
    assert_string_equal(first->identity.is.account, "physics");
    assert_string_equal(second->identity.is.account, "physics");
    later = run(f, 7, 2, false);
    assert_int_equal(asked, 1);
    assert_string_equal(later->identity.is.account, "physics");
}

/* The word waits, and takes effect with the account that may. */
static void test_granted(void **state)
{
    struct fixture *f = *state;
    struct step *step = run(f, 7, 0, true);

    assert_false(step->request.options.isolate);
    assert_true(step->isolate_refused && step->identity.isolate_waits);
    says(step->request.uid, "physics");
    pipeline_identified(&f->packer);
    assert_true(step->request.options.isolate);
    assert_false(step->isolate_refused || step->identity.isolate_waits);
    assert_null(identify_granted(&f->packer)); /* it was placed anew, once */
}

static void test_not_granted(void **state)
{
    struct fixture *f = *state;
    struct step *step = run(f, 7, 0, true);

    says(step->request.uid, "biology");
    pipeline_identified(&f->packer);
    assert_false(step->request.options.isolate || step->identity.isolate_waits);
    assert_true(step->isolate_refused);
}

/* Of another user's job, nothing is believed, and nothing waits any more. */
static void test_not_believed(void **state)
{
    struct fixture *f = *state;
    struct step *step = run(f, 7, 0, true);

    says(step->request.uid + 1, "physics");
    pipeline_identified(&f->packer);
    assert_int_equal(step->identity.is.source, WIRE_SOURCE_NONE);
    assert_false(step->request.options.isolate || step->identity.isolate_waits);
    assert_string_equal(step->identity.why, "Slurm tells of another job");
}

/* Where nobody is asked the word is refused at once. */
static void test_nobody_asked(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    asking = false;
    step = run(f, 7, 0, true);
    assert_true(step->isolate_refused);
    assert_false(step->identity.isolate_waits);
}

/* Where nobody has answered, slurmd does when the job ends; what slurmctld says is not replaced. */
static void test_slurmd(void **state)
{
    struct fixture *f = *state;
    struct step *step = run(f, 7, 0, false), *other = run(f, 8, 0, false);
    struct wire_identity said = {.source = WIRE_SOURCE_SLURMD, .job = 7, .uid = step->request.uid};

    says(other->request.uid, "physics");
    pipeline_identified(&f->packer);
    strcpy(said.account, "chemistry");
    identify_job_end(&f->packer, 7, &said);
    assert_string_equal(step->identity.is.account, "chemistry");
    said.job = 8;
    identify_job_end(&f->packer, 8, &said);
    assert_string_equal(other->identity.is.account, "physics");
    assert_null(
        known_jobs_find(f->packer.state->jobs, 7)); /* what comes under its number is another run */
}

/* A step that was heard of late began before the first one that was heard of: it is of that run. */
static void test_late(void **state)
{
    struct fixture *f = *state;
    struct step *step = run(f, 7, 0, false), *late;
    const struct known_job *job = known_jobs_find(f->packer.state->jobs, 7);
    struct wire_register request = fixture_request(7, 1, "0", "0", 1, "prog");

    request.began_s = clock_s() - 30;
    late = fixture_start(f, request);
    assert_true(late->started_at < step->started_at);
    says(step->request.uid, "physics");
    pipeline_identified(&f->packer);
    assert_string_equal(late->identity.is.account, "physics");
    assert_int_equal(job->live, 2);
    fixture_end(f, 7, 1);
    assert_int_equal(job->live, 1);
}

/* berthd is killed, and another one starts, which has asked nobody yet. */
static void killed(struct fixture *f)
{
    struct berth_error err = {""};

    asked = answers = 0;
    question = (struct asker_run){0};
    fixture_restart(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
}

/* The answers come, and go into a ledger. */
static void hear(struct fixture *f)
{
    f->packer.state->ledger =
        (struct ledger *)&told; /* which nobody but the wrapped function uses */
    pipeline_identified(&f->packer);
    f->packer.state->ledger = NULL;
}

/* Records of steps that had ended wait for who they are, though no step is left that would ask. */
static void test_killed_while_asking(void **state)
{
    struct fixture *f = *state;
    struct asker_run first;

    run(f, 7, 0, false);
    first = question;
    fixture_end(f, 7, 0);
    for (int i = 0; i < 2; i++) { /* the second one reads what the first one has compacted */
        killed(f);
        assert_int_equal(asked, 1);
        assert_memory_equal(&question, &first, sizeof(first));
    }
    says(1000, "physics");
    hear(f);
    assert_string_equal(told.is.account, "physics");
    assert_string_equal(told.node, "here");
    assert_true(told.from == first.at && told.to >= first.at);
    assert_non_null(known_jobs_find(f->packer.state->jobs, 7));
    killed(f);
    assert_int_equal(asked, 0);
    assert_null(known_jobs_find(f->packer.state->jobs, 7)); /* nor is its end waited for */
}

/* A step that lives is of the same run: the answer is for those before it, too. */
static void test_killed_while_one_lives(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(7, 0, "0", "0", 1, "prog");
    int64_t from;

    fixture_paper(f);
    request.began_s = clock_s() - 30;
    from = fixture_start(f, request)->started_at;
    run(f, 7, 1, false);
    fixture_end(f, 7, 0);
    killed(f);
    assert_int_equal(asked, 1);
    assert_int_equal(question.at, from);
    says(1000, "physics");
    hear(f);
    assert_int_equal(told.from, from);
    assert_string_equal(fixture_step(f, 7, 1)->identity.is.account, "physics");
}

/* Nobody answers any more where job_program is off: nothing is asked for, by no later one either.
 */
static void test_killed_and_nobody_asked(void **state)
{
    struct fixture *f = *state;

    run(f, 7, 0, false);
    fixture_end(f, 7, 0);
    asking = false;
    killed(f);
    asking = true;
    killed(f);
    assert_int_equal(asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_asked_once, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_granted, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_not_granted, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_not_believed, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_nobody_asked, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_slurmd, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_late, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_while_asking, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_while_one_lives, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_killed_and_nobody_asked, start, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
