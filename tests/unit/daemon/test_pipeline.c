/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pipeline - what happens to the steps of a node as they come and go: where they stand, what
 * they are told, what the journal and the markers say, and that a new daemon finds the same. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/daemon/features.h"
#include "packer/daemon/render.h"
#include "packer/observe/learn.h"
#include "packer/place/place.h"
#include "packer/place/reason.h"
#include "packer/size/size.h"
#include "packer/steps/journal.h"

/* Cores 0 and 2 of this machine are the first of two caches. */
static int open_plain(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    fixture_profile(f, "low", 10);
    fixture_profile(f, "high", 9000);
    *state = f;
    return 0;
}

static bool marked(const struct fixture *f, uint32_t job)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/pool/%u", f->dir, job);
    return access(path, F_OK) == 0;
}

static const char *reason_of(const struct step *step)
{
    static char text[256];

    place_reason(step, true, text, sizeof(text));
    return text;
}

static void assert_at(const struct step *step, const char *cpus)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        assert_cpus(&step->body.task[i].cpus, cpus);
    assert_cpus(&step->place.cpus, cpus);
}

/* What people are told of its place. */
static void assert_reason(const struct step *step, const char *part)
{
    char reason[256];

    place_reason(step, true, reason, sizeof(reason));
    if (!strstr(reason, part))
        fail_msg("'%s', not '%s'", reason, part);
}

/* The step's ended record; NULL when there is none. */
static struct step *ended(struct fixture *f, uint32_t job)
{
    struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->ended, link)
    if (step->request.id.job == job)
        return step;
    return NULL;
}

static void resume(struct fixture *f)
{
    struct berth_error err = {""};

    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
}

/* ---- steps come and go ---- */

static void test_exchange_and_back(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0", "low"), *b;

    assert_at(a, "0");
    assert_int_equal(a->state, STEP_PLACED);
    assert_int_equal(a->class.id, STEP_TURTLE);
    b = fixture_run(f, 2, "2", "high");
    assert_at(b, "2"); /* to exchange them would gain nothing */
    fixture_exchange(f, 0, 2);
    assert_at(b, "0");
    assert_at(a, "2");
    assert_int_equal(b->class.id, STEP_DEVIL);
    assert_int_equal(b->place.rank, 1);
    assert_int_equal(a->place.rank, 2);
    assert_int_equal(f->packer.state->tally->moves, 2);
    assert_false(b->enacted.verified); /* a dry run verifies nothing */
    fixture_end(f, 2, 0);
    assert_at(a, "0");
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_int_equal(a->enacted.moves, 2);
    assert_null(registry_find(f->packer.steps, (struct wire_step_id){2, 0}));
}

static void test_reasons_are_of_one_decision(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0", "low"), *b;

    assert_non_null(strstr(reason_of(a), "number 1 of 1"));
    b = fixture_run(f, 2, "2", "high");
    assert_non_null(strstr(reason_of(b), "number 1 of 2"));
    assert_non_null(strstr(reason_of(a), "number 2 of 2"));
}

static void test_end_leaves_history(void **state)
{
    struct fixture *f = *state;
    struct wire_end end = {
        .id = {1, 0}, .exit_status = 256, .user_s = 2, .system_s = 1, .maxrss_kib = 7};

    fixture_run(f, 1, "0", "low");
    pipeline_end(&f->packer, &end);
    pipeline_end(&f->packer, &end); /* heard of twice */
    assert_int_equal(f->packer.steps->nended, 1);
    assert_int_equal(ended(f, 1)->state, STEP_ENDED);
    assert_int_equal(ended(f, 1)->exit_status, 256);
    assert_true(ended(f, 1)->use.user_s == 2);
    assert_int_equal(ended(f, 1)->use.maxrss_kib, 7);
    assert_true(ended(f, 1)->ended_at >= ended(f, 1)->started_at);
}

static void test_job_end_vacates(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0", "low");

    fixture_start(f, fixture_request(2, 0, "2-3", "2", 1, "high"));
    fixture_start(f, fixture_request(2, 1, "2-3", "3", 1, "low"));
    fixture_exchange(f, 0, 2);
    assert_false(cpus_has(&a->place.cpus, 0));
    pipeline_job_end(&f->packer, 2, &(struct wire_identity){0});
    assert_at(a, "0");
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_int_equal(f->packer.steps->nended, 2);
    pipeline_job_end(&f->packer, 99, &(struct wire_identity){0});
    assert_int_equal(f->packer.steps->nlive, 1);
}

/* Some of a job's steps end: its cores stay in the pool as long as one lives. */
static void test_job_lives_on(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, fixture_request(1, WIRE_STEP_BATCH, "0-1", "0-1", 1, "low"));
    fixture_start(f, fixture_request(1, 0, "0-1", "0", 1, "high"));
    fixture_end(f, 1, 0);
    assert_int_equal(pool_count(f->packer.state->pool), 2);
    fixture_end(f, 1, WIRE_STEP_BATCH);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

/* A later step of a job whose cores others stand on: described where it stands now. */
static void test_later_step(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b, *later;

    fixture_start(f, fixture_request(1, WIRE_STEP_BATCH, "0", "0", 1, "low"));
    a = fixture_start(f, fixture_request(1, 0, "0", "0", 1, "low"));
    b = fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    assert_at(a, "2");
    assert_at(b, "0");
    fixture_end(f, 1, 0);
    later = fixture_start(f, fixture_request(1, 1, "0", "0", 1, "high"));
    assert_int_equal(later->place.rank, 2); /* as high as b, but later */
    assert_at(later, "2");
    assert_cpus(&later->place.home, "0");
    fixture_end(f, 2, 0);
    assert_at(later, "0");
}

/* What a later step finds may have been widened by berth; what the job's first step found counts.
 */
static void test_later_step_knows_the_jobs_cores(void **state)
{
    struct fixture *f = *state;
    struct step *later;

    fixture_start(f, fixture_request(1, 0, "0-2", "0", 1, "turtle"));
    later = fixture_start(f, fixture_request(1, 1, "0-2,5", "1", 1, "turtle"));
    assert_cpus(&later->body.job_home, "0-2");
    later = fixture_start(f, fixture_request(1, 2, "0-1", "1", 1, "turtle"));
    assert_cpus(&later->body.job_home, "0-1"); /* Slurm took one back */
    later = fixture_start(f, fixture_request(1, 3, "0-3", "3", 1, "turtle"));
    assert_cpus(&later->body.job_home, "0-3"); /* and gave another */
    later = fixture_start(f, fixture_request(2, 0, "4-5", "4", 1, "turtle"));
    assert_cpus(&later->body.job_home, "4-5");
}

/* The same, and DI wants the later step at home. */
static void test_later_step_stays_home(void **state)
{
    struct fixture *f = *state;
    struct step *later;

    fixture_profile(f, "highest", 20000);
    fixture_start(f, fixture_request(1, WIRE_STEP_BATCH, "0", "0", 1, "low"));
    fixture_start(f, fixture_request(1, 0, "0", "0", 1, "low"));
    fixture_run(f, 2, "2", "high");
    later = fixture_start(f, fixture_request(1, 1, "0", "0", 1, "highest"));
    assert_at(later, "0");
}

/* ---- steps that are not moved ---- */

static void test_observe(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "1-2", "1", 1, "high");
    struct step *a = fixture_run(f, 1, "0", "high"), *guest;

    request.options.mode = WIRE_MODE_OBSERVE;
    guest = fixture_start(f, request);
    assert_int_equal(guest->state, STEP_OBSERVED);
    assert_at(a, "0");
    assert_cpus(&guest->body.task[0].cpus, "1");
    assert_cpus(&guest->place.cpus, "2");   /* where it would stand */
    assert_int_equal(guest->place.rank, 2); /* it came later than its like */
    assert_int_equal(guest->place.of, 2);
    assert_int_equal(f->packer.state->tally->moves, 0);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
}

/* Where an observed step would stand is where berth puts one that it places. */
static void test_observed_as_placed(void **state)
{
    static const char *const home[][2] = {{"1-2", "1"}, {"3", "3"}, {"4-7", "4-5"}};
    static const char *const tag[] = {"high", "low", "high"};
    enum { STEPS = sizeof(tag) / sizeof(tag[0]) };
    struct fixture *f = *state;
    struct cpus placed[STEPS];

    for (int observe = 0; observe < 2; observe++) {
        for (uint32_t i = 0; i < STEPS; i++) {
            struct wire_register request =
                fixture_request(i + 1, 0, home[i][0], home[i][1], 1, tag[i]);

            request.options.mode = observe ? WIRE_MODE_OBSERVE : WIRE_MODE_AUTO;
            fixture_start(f, request);
        }
        for (uint32_t i = 0; i < STEPS; i++) {
            const struct step *step =
                registry_find(f->packer.steps, (struct wire_step_id){i + 1, 0});

            if (observe && !cpus_equal(&step->place.cpus, &placed[i]))
                fail_msg("step %u would stand elsewhere", i + 1);
            placed[i] = step->place.cpus;
        }
        for (uint32_t i = 0; i < STEPS; i++)
            fixture_end(f, i + 1, 0);
    }
    pipeline_observe(&f->packer);
    assert_null(f->packer.state->as_if->stand);
}

static void test_off_step_takes_its_cores(void **state)
{
    struct fixture *f = *state;
    struct wire_register request;
    struct step *a, *b, *off;

    a = fixture_start(f, fixture_request(1, 0, "0-1", "0", 1, "low"));
    b = fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    assert_at(a, "2");
    request = fixture_request(2, 1, "2", "2", 1, NULL); /* job 2 again, --overlap, not opted in */
    request.options.mode = WIRE_MODE_OFF;
    off = fixture_start(f, request);
    assert_int_equal(off->state, STEP_LEFT);
    assert_at(off, "2");
    assert_at(a, "0");
    assert_cpus(&b->body.task[0].cpus, "2");
    assert_stand(f->packer.state->pool, "0 1 - - - - - -");
    assert_string_equal(reason_of(off), "not placed");
    assert_non_null(strstr(off->enacted.reason, "did not opt in"));
    assert_int_equal(off->enacted.left_for, WIRE_LEFT_OFF);
}

static void test_left_alone(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, "low");
    struct wire_register other = fixture_request(2, 0, "1", "1", 1, "low");
    struct wire_answer answer;

    request.bound_by_hand = other.bound_by_hand = true;
    assert_int_equal(fixture_start(f, other)->enacted.left_for, WIRE_LEFT_BOUND);
    pipeline_start(&f->packer, &request, &answer);
    assert_true(answer.ok);
    assert_false(answer.managed);
    assert_int_equal(answer.ntasks, 0);
    assert_non_null(strstr(answer.note, "bound by hand"));
    wire_answer_clear(&answer);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

/* Who may fail when he is moved stays, unless the site or he himself says otherwise. */
static void test_pinned_stays(void **state)
{
    static const struct {
        enum conf_move move;
        enum wire_pin pin;
        bool asked, spread;
        enum step_state state;
        const char *why;
    } cases[] = {
        {CONF_MOVE_KNOWN, WIRE_PIN_NONE, false, false, STEP_PLACED, ""},
        {CONF_MOVE_KNOWN, WIRE_PIN_ENVIRONMENT, true, false, STEP_LEFT, "(X is set)"},
        {CONF_MOVE_KNOWN, WIRE_PIN_CALLS, false, false, STEP_LEFT, "remember its CPUs (X)"},
        {CONF_MOVE_KNOWN, WIRE_PIN_STARTS, false, false, STEP_LEFT, "starts is not known (X)"},
        {CONF_MOVE_KNOWN, WIRE_PIN_MEMORY, false, false, STEP_LEFT, "memory is bound (X)"},
        {CONF_MOVE_KNOWN, WIRE_PIN_DEVICE, false, false, STEP_LEFT, "a device (X)"},
        {CONF_MOVE_KNOWN, WIRE_PIN_UNREAD, false, false, STEP_LEFT, "calls is not known"},
        {CONF_MOVE_KNOWN, WIRE_PIN_CALLS, true, true, STEP_PLACED, ""},
        {CONF_MOVE_KNOWN, WIRE_PIN_CALLS, false, true, STEP_LEFT, ""}, /* the site's own word */
        {CONF_MOVE_NEVER, WIRE_PIN_NONE, false, false, STEP_LEFT, "moves nobody"},
        {CONF_MOVE_NEVER, WIRE_PIN_NONE, true, true, STEP_PLACED, ""},
        {CONF_MOVE_ALL, WIRE_PIN_CALLS, false, false, STEP_PLACED, ""},
    };
    struct fixture *f = *state;

    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_register request = fixture_request(10 + i, 0, "0", "0", 1, "low");
        const struct step *step;

        f->packer.world.conf.move = cases[i].move;
        request.pin = cases[i].pin;
        request.asked = cases[i].asked;
        request.options.spread = cases[i].spread;
        snprintf(request.pin_by, sizeof(request.pin_by), "X");
        step = fixture_start(f, request);
        assert_int_equal(step->state, cases[i].state);
        assert_non_null(strstr(step->enacted.reason, cases[i].why));
        fixture_end(f, 10 + i, 0);
    }
}

/* A batch script that stays holds nothing of its job's steps, and everything else. */
static void test_pinned_script_waits(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, WIRE_STEP_BATCH, "0-1", "0-1", 1, "low");
    const struct step *script, *a;

    f->packer.world.conf.move = CONF_MOVE_KNOWN;
    request.pin = WIRE_PIN_STARTS;
    script = fixture_start(f, request);
    assert_int_equal(script->state, STEP_LEFT);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
    a = fixture_start(f, fixture_request(1, 0, "0-1", "0", 1, "low"));
    assert_int_equal(a->state, STEP_PLACED);
    assert_int_equal(pool_count(f->packer.state->pool), 1);
    assert_true(pool_has(f->packer.state->pool, 0));
    fixture_end(f, 1, 0);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

/* A mask of all CPUs of the step binds nobody; one of a part of them, or another's, does. */
static void test_bound_to_all(void **state)
{
    static const struct {
        const char *cpus;
        bool left;
    } row[] = {{"", true}, {"0", true}, {"0-1", false}, {"0-31", false}, {"2-31", true}};
    struct fixture *f = *state;

    for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct wire_register request = fixture_request(1, i, "0-1", "0-1", 1, "low");
        struct step *step;

        request.bound_by_hand = true;
        request.bound_cpus = row[i].cpus;
        step = fixture_start(f, request);
        assert_int_equal(step->state, row[i].left ? STEP_LEFT : STEP_PLACED);
        assert_int_equal(step->request.bound_by_hand, row[i].left);
        fixture_end(f, 1, i);
    }
}

static void test_foreign_cpus_left_alone(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(fixture_run(f, 1, "30", "low")->state, STEP_LEFT);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "nonsense", "0", 1, "low");
    struct wire_answer answer;

    pipeline_start(&f->packer, &request, &answer);
    assert_false(answer.ok);
    assert_non_null(strstr(answer.error, "affinity"));
    assert_int_equal(f->packer.steps->nlive + f->packer.steps->nended, 0);
    assert_int_equal(f->packer.state->tally->registrations, 1);
    free(request.task);
}

/* A step that cannot be placed is counted, with the cause, and said once: whoever did not ask for
 * `require` would never hear of it. */
static void test_refused_is_told(void **state)
{
    struct fixture *f = *state;
    struct json_object *node, *why;
    struct wire_register request;
    struct wire_answer answer;
    struct feature placement;

    f->way = *f->packer.world.enforce->way;
    f->way.touches = true;
    f->packer.world.enforce->way = &f->way;
    for (uint32_t job = 1; job <= 3; job++) {
        request = fixture_request(job, 0, "nonsense", "0", 1, "low");
        pipeline_start(&f->packer, &request, &answer);
        free(request.task);
    }
    assert_int_equal(f->packer.state->tally->refused.n, 3);
    assert_int_equal(f->packer.state->tally->refused.in_a_row, 3);
    assert_string_equal(f->packer.state->tally->refused.why, answer.error);
    assert_true(features_get(&f->packer, 0, &placement));
    assert_int_equal(placement.state, FEATURE_ABSENT);
    assert_non_null(strstr(placement.say, "the last 3 steps"));
    for (uid_t viewer = 0; viewer < 2; viewer++) {
        node = render_node_to(&f->packer, viewer);
        why = json_object_object_get(node, "refused_why");
        assert_int_equal(why != NULL, viewer == 0); /* it names a step */
        assert_int_equal(json_object_get_int(json_object_object_get(node, "refused")), 3);
        json_object_put(node);
    }
    fixture_run(f, 4, "0", "low");
    assert_int_equal(f->packer.state->tally->refused.n, 3);
    assert_int_equal(f->packer.state->tally->refused.in_a_row, 0);
}

static void test_failed_step_is_put_back(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    fixture_paper(f);
    f->fails = 2;
    a = fixture_run(f, 1, "0", "low");
    b = fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    assert_int_equal(b->state, STEP_FAILED);
    assert_at(b, "2");
    assert_at(a, "0");
    assert_int_equal(f->packer.state->tally->failures, 1);
    assert_non_null(strstr(b->enacted.reason, "the paper tore"));
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_true(marked(f, 2)); /* it did opt in */
    f->fails = 0;
    fixture_restart(f);
    resume(f); /* the next berthd does not try again */
    b = registry_find(f->packer.steps, (struct wire_step_id){2, 0});
    assert_int_equal(b->state, STEP_FAILED);
    assert_true(b->request.node[0]);
    assert_string_equal(f->packer.steps->node, b->request.node); /* without a new registration */
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
}

static void test_registered_twice(void **state)
{
    struct fixture *f = *state;
    struct step *again;

    fixture_run(f, 1, "0", "low");
    again = fixture_run(f, 1, "2", "high");
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_int_equal(f->packer.steps->nended, 1);
    assert_at(again, "2");
    assert_stand(f->packer.state->pool, "- - 2 - - - - -");
    assert_int_equal(ended(f, 1)->exit_status, -1);
}

/* ---- steps that use fewer cores than they have ---- */

static const double saturates[] = {0, 6, 10, 10, 10};

/* Two nodes of four cores, and a program of which two cores have all that a node's memory gives. */
static struct fixture *sizing_node(void)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_machine(f, 2, 4, saturates);
    fixture_paper(f);
    fixture_timed(f, "stream", 100000, 2e9);
    fixture_profile(f, "high", 90000);
    fixture_profile(f, "low", 10);
    return f;
}

static struct step *run_sized(struct fixture *f, uint32_t job, const char *cpus)
{
    struct wire_register request = fixture_request(job, 0, cpus, cpus, 1, "stream");

    request.options.size = true;
    return fixture_start(f, request);
}

static void test_sized_and_undone(void **state)
{
    struct fixture *f = sizing_node();
    struct step *step = run_sized(f, 1, "0-3");

    (void)state;
    assert_at(step, "0-1");
    assert_cpus(&step->place.home, "0-3");
    assert_int_equal(pool_count(f->packer.state->pool), 4); /* it still holds them all */
    assert_string_equal(f->calls, "apply 1.0 0-1; ");
    assert_int_equal(step->enacted.moves, 0);
    fixture_forget(f);
    fixture_end(f, 1, 0);
    assert_string_equal(f->calls, "restore 1.0 0-3; ");
    assert_int_equal(pool_count(f->packer.state->pool), 0);
    fixture_close(f);
}

/* One core of each of two steps asks for all that the node's memory gives: the first, which used
 * two while it was alone, gives one up when the second comes. Its thread is told of nothing, so it
 * takes the core again when the second has ended. The journal knows both. */
static void test_sized_together(void **state)
{
    struct fixture *f = sizing_node();
    struct step *a = run_sized(f, 1, "0-1"), *b;

    (void)state;
    assert_at(a, "0-1");
    fixture_forget(f);
    b = run_sized(f, 2, "2-3");
    assert_at(b, "2");
    assert_at(a, "0-1"); /* until the next turn */
    pipeline_observe(&f->packer);
    assert_at(a, "0");
    assert_int_equal(a->size.given, 1);
    assert_int_equal(a->size.threads, 0); /* it has two */
    assert_int_equal(b->size.threads, 1);
    assert_non_null(strstr(a->size.others, "together with 1 other step"));
    assert_true(fabs(a->size.gbps + b->size.gbps - 512 / (1 + 51.2)) < 1e-6);
    assert_string_equal(f->calls, "apply 2.0 2; apply 1.0 0; ");
    fixture_restart(f);
    resume(f);
    a = fixture_step(f, 1, 0);
    assert_at(a, "0");
    assert_int_equal(a->size.given, 1);
    fixture_forget(f);
    fixture_end(f, 2, 0);
    pipeline_observe(&f->packer);
    assert_string_equal(f->calls, "restore 2.0 2-3; apply 1.0 0-1; ");
    assert_int_equal(a->size.given, 2);
    fixture_close(f);
}

/* Whom DI wants elsewhere goes there by what it uses; nobody has more cores than he had, and nobody
 * stands on another's. */
static void test_sized_among_others(void **state)
{
    struct fixture *f = sizing_node();
    struct step *a = run_sized(f, 1, "0-3"), *b = fixture_run(f, 2, "4-5", "high");
    struct step *c = fixture_run(f, 3, "6-7", "low");

    (void)state;
    assert_int_equal(cpus_count(&a->place.cpus), 2);
    assert_int_equal(cpus_count(&b->place.cpus), 2);
    assert_int_equal(cpus_count(&c->place.cpus), 2);
    assert_false(cpus_intersect(&a->place.cpus, &b->place.cpus));
    assert_false(cpus_intersect(&a->place.cpus, &c->place.cpus));
    assert_false(cpus_intersect(&b->place.cpus, &c->place.cpus));
    fixture_end(f, 2, 0);
    fixture_end(f, 3, 0);
    assert_int_equal(cpus_count(&a->place.cpus), 2);
    assert_true(cpus_subset(&a->place.cpus, &a->place.home));
    fixture_close(f);
}

/* What must hold of the steps whatever came and went: each stands on as many CPUs as it uses,
 * inside the pool, and on none of another's. */
static void assert_sane(const struct fixture *f)
{
    struct cpus taken = {0};
    const struct step *step;

    TAILQ_FOREACH(step, &f->packer.steps->live, link)
    {
        const struct enforce_task *task = &step->body.task[0];

        assert_true(cpus_subset(&task->use, &task->home));
        assert_int_equal(cpus_count(&task->cpus), cpus_count(&task->use));
        assert_int_equal(cpus_count(&task->use), step->size.given);
        assert_false(cpus_intersect(&task->cpus, &taken));
        cpus_or(&taken, &task->cpus);
        cpus_foreach(cpu, &task->cpus) assert_true(pool_has(f->packer.state->pool, cpu));
    }
}

/* Steps come and go, sized and not, and berthd now and then; each job has cores of its own. */
static void test_sized_steps_come_and_go(void **state)
{
    static const char *const homes[] = {"0-1", "2", "3-4", "5-7", "0-3", "4-7", "1-6"};
    static const char *const tags[] = {"stream", "high", "low", "never-seen"};
    struct fixture *f = sizing_node();
    struct cpus held[7] = {0}, all = {0};
    unsigned random = 1;

    (void)state;
    for (uint32_t i = 0; i < 600; i++) {
        uint32_t job = (random = random * 1103515245u + 12345u) >> 16 & 7;
        struct cpus home;

        if (job == 7) {
            fixture_restart(f);
            resume(f);
        } else if (!cpus_empty(&held[job])) {
            fixture_end(f, job + 1, 0);
            cpus_andnot(&all, &held[job]);
            cpus_zero(&held[job]);
        } else if (home = cpus_of(homes[job]), !cpus_intersect(&home, &all)) {
            struct wire_register request =
                fixture_request(job + 1, 0, homes[job], homes[job], 1, tags[random >> 20 & 3]);

            request.options.size = random >> 22 & 1;
            request.options.cores_max = random >> 23 & 1;
            fixture_start(f, request);
            held[job] = home;
            cpus_or(&all, &home);
        }
        assert_sane(f);
        f->calls[0] = '\0';
    }
    fixture_close(f);
}

static void test_sized_step_is_adopted(void **state)
{
    struct fixture *f = sizing_node();
    struct step *step;

    (void)state;
    run_sized(f, 1, "0-3");
    fixture_timed(f, "stream", 10, 2e9); /* it would not be sized now */
    fixture_restart(f);
    fixture_forget(f);
    resume(f);
    step = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_at(step, "0-1");
    assert_cpus(&step->body.task[0].home, "0-3");
    assert_string_equal(f->calls, "apply 1.0 0-1; ");
    assert_int_equal(step->size.given, 2);
    assert_int_equal(step->size.cores, 4);
    assert_int_equal(step->size.constraint, NUMEM_LOCAL_BANDWIDTH);
    assert_non_null(strstr(step->size.reason, "NuCore"));
    pipeline_undo(&f->packer);
    assert_string_equal(f->calls, "apply 1.0 0-1; restore 1.0 0-3; ");
    fixture_close(f);
}

/* NuCore's answer is about where a step stands: one that was adopted, and moves, is asked about
 * again as before the restart, once, also where nothing is known of it any more. */
static void test_adopted_step_is_sized_again(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct fixture *f = sizing_node();

        run_sized(f, 1, "0-3");
        fixture_run(f, 2, "4", "low");
        if (!known)
            fixture_timed(f, "stream", 10, 2e9);
        fixture_restart(f);
        resume(f);
        assert_false(size_due(&f->packer));
        fixture_exchange(f, 0, 4);
        assert_true(size_due(&f->packer));
        size_turn(&f->packer);
        assert_false(size_due(&f->packer));
        fixture_close(f);
    }
}

/* One that has all its cores back, for it lost too much, is not asked about any more. */
static void test_refused_step_is_not_asked(void **state)
{
    struct fixture *f = sizing_node();
    struct step *step = run_sized(f, 1, "0-3");

    (void)state;
    fixture_run(f, 2, "4", "low");
    step->size.verdict.refused = true;
    fixture_exchange(f, 0, 4);
    assert_false(size_due(&f->packer));
    fixture_close(f);
}

static void test_sized_step_fails(void **state)
{
    struct fixture *f = sizing_node();
    struct step *step;

    (void)state;
    f->fails = 1;
    step = run_sized(f, 1, "0-3");
    assert_int_equal(step->state, STEP_FAILED);
    assert_at(step, "0-3");
    assert_int_equal(step->size.given, 4);
    assert_int_equal(step->size.threads, 0);
    fixture_restart(f);
    f->fails = 0;
    resume(f);
    step = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_cpus(&step->body.task[0].use, "0-3");
    fixture_close(f);
}

static void test_observed_step_is_not_shrunk(void **state)
{
    struct fixture *f = sizing_node();
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "stream");
    struct step *step;

    (void)state;
    request.options.size = true;
    request.options.mode = WIRE_MODE_OBSERVE;
    step = fixture_start(f, request);
    assert_int_equal(step->size.given, 2);
    assert_cpus(&step->place.cpus, "0-1"); /* where it would stand */
    assert_cpus(&step->body.task[0].cpus, "0-3");
    assert_null(strstr(f->calls, "apply"));
    fixture_close(f);
}

/* OMP_NUM_THREADS in the answer, unless it is the user's own or nothing was taken away. */
static void test_threads_are_told(void **state)
{
    static const struct {
        const char *cpus;
        bool user_omp;
        const char *value;
    } table[] = {{"0-3", false, "2"}, {"0-3", true, NULL}, {"0", false, NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct fixture *f = sizing_node();
        struct wire_register request =
            fixture_request(1, 0, table[i].cpus, table[i].cpus, 1, "stream");
        struct wire_answer answer;
        const char *value = NULL;

        request.options.size = true;
        request.user_omp_threads = table[i].user_omp;
        pipeline_start(&f->packer, &request, &answer);
        for (size_t e = 0; e < answer.nenv; e++)
            if (strcmp(answer.env[e].name, "OMP_NUM_THREADS") == 0)
                value = answer.env[e].value;
        if (table[i].value)
            assert_string_equal(value, table[i].value);
        else
            assert_null(value);
        if (table[i].cpus[1])
            assert_non_null(
                strstr(answer.note, "sized to 2 of 4 cores, limited by local bandwidth"));
        wire_answer_clear(&answer);
        fixture_close(f);
    }
}

/* The store is told that the tag should have 6 threads on 4 cores of this machine. */
static void store_threads(struct fixture *f)
{
    struct profiles_imported imported;
    struct profiles *store = NULL;
    struct berth_error err;
    char line[512];

    snprintf(line, sizeof(line),
             "{\"version\":1,\"kind\":\"threads\",\"key\":\"tag:high\",\"machine\":\"%s\","
             "\"cores\":4,\"threads\":6,\"environment\":true,\"measured_at\":1}\n",
             f->packer.world.machine_type);
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_import(store, 0, line, strlen(line), false, &imported, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

/* threads=auto: OMP_NUM_THREADS by what the store has for as many cores, unless it is the user's
 * own; and one line where it can do nothing. */
static void test_threads_of_the_store(void **state)
{
    static const struct {
        const char *cpus;
        bool asked, user_omp;
        const char *value, *warning;
    } table[] = {
        {"0-3", true, false, "6", ""},
        {"0-3", false, false, NULL, ""},
        {"0-3", true, true, NULL, "threads=auto has no effect: OMP_NUM_THREADS is set already"},
        {"0-1", true, false, NULL,
         "threads=auto has no effect: of its program the profile store has no number for so many "
         "cores of such a machine (berthctl threads finds it)"},
    };
    struct fixture *f = *state;

    store_threads(f);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_register request =
            fixture_request(1, 0, table[i].cpus, table[i].cpus, 1, "high");
        struct wire_answer answer;
        const char *value = NULL;

        request.options.threads_auto = table[i].asked;
        request.user_omp_threads = table[i].user_omp;
        pipeline_start(&f->packer, &request, &answer);
        for (size_t e = 0; e < answer.nenv; e++)
            if (strcmp(answer.env[e].name, "OMP_NUM_THREADS") == 0)
                value = answer.env[e].value;
        if (table[i].value)
            assert_string_equal(value, table[i].value);
        else
            assert_null(value);
        assert_string_equal(answer.warning, table[i].warning);
        assert_int_equal(strstr(answer.note, "6 threads a task, as berthctl threads has found") !=
                             NULL,
                         table[i].value != NULL);
        wire_answer_clear(&answer);
        fixture_end(f, 1, 0);
    }
}

static const char *value_of(const struct wire_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->nenv; i++)
        if (strcmp(answer->env[i].name, name) == 0)
            return answer->env[i].value;
    return NULL;
}

/* flex: OMP_NUM_THREADS by its number, or by the model for a quarter of the cores to all, whatever
 * the step is sized to; the user's own stays. LLVM's barriers follow the topology. */
static void test_threads_of_flex(void **state)
{
    static const struct {
        const char *cpus;
        uint32_t number;
        bool user_omp, store, refused;
        const char *value, *warning;
    } table[] = {
        {"0-3", 0, false, true, false, "6", NULL},
        {"0-3", 256, false, false, false, "256", NULL},
        {"0-3", 0, false, false, false, "12", NULL}, /* even on 1, 2, 3, 4 cores */
        {"0-1", 0, false, false, false, "2", NULL},
        {"0", 0, false, false, false, "1", NULL},
        {"0-3", 256, true, false, false, NULL,
         "flex=256 has no effect: OMP_NUM_THREADS is set already"},
        {"0-3", 0, true, false, false, NULL, NULL},
        {"0-3", 256, false, false, true, NULL, NULL},
    };
    struct fixture *f = *state;

    store_threads(f);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_register request =
            fixture_request(1, 0, table[i].cpus, table[i].cpus, 1, "high");
        struct wire_answer answer;
        const char *value = NULL;

        strcpy(f->packer.world.conf.allow, table[i].refused ? "auto,tag" : "auto,tag,threads,flex");
        request.options.flex = true;
        request.options.flex_threads = table[i].number;
        request.options.threads_auto = table[i].store;
        request.user_omp_threads = table[i].user_omp;
        pipeline_start(&f->packer, &request, &answer);
        value = value_of(&answer, "OMP_NUM_THREADS");
        if (table[i].value)
            assert_string_equal(value, table[i].value);
        else
            assert_null(value);
        value = value_of(&answer, "KMP_FORKJOIN_BARRIER_PATTERN");
        assert_string_equal(value ? value : "",
                            table[i].refused ? "" : "hierarchical,hierarchical");
        assert_int_equal(!value, !value_of(&answer, "KMP_PLAIN_BARRIER_PATTERN"));
        assert_int_equal(!value, !value_of(&answer, "KMP_REDUCTION_BARRIER_PATTERN"));
        if (!strstr(answer.warning, table[i].warning ? table[i].warning : ""))
            fail_msg("'%s'", answer.warning);
        if (!table[i].warning)
            assert_null(strstr(answer.warning, "OMP_NUM_THREADS"));
        assert_int_equal(strstr(answer.note, " threads a task, for any number of its cores") !=
                             NULL,
                         table[i].value && !table[i].store);
        wire_answer_clear(&answer);
        fixture_end(f, 1, 0);
    }
}

/* ---- what the plugin is told ---- */

static void test_answer(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "2-3", "2-3", 2, "high");
    struct wire_answer answer;

    fixture_paper(f); /* deals a CPU to each task */
    fixture_run(f, 1, "0", "low");
    pipeline_start(&f->packer, &request, &answer);
    assert_true(answer.ok);
    assert_true(answer.managed);
    assert_int_equal(answer.ntasks, 2);
    assert_int_equal(answer.task[1].id, 1);
    assert_int_equal(cpus_count(&answer.task[0].cpus), 1);
    assert_string_equal(answer.env[0].name, "BERTH_CPUS");
    assert_string_equal(answer.env[1].value, "devil");
    assert_non_null(strstr(answer.note, "DI: number 1 of 3"));
    wire_answer_clear(&answer);
}

/* ---- markers ---- */

static void test_markers(void **state)
{
    struct fixture *f = *state;
    struct wire_register off = fixture_request(3, 0, "4", "4", 1, NULL);

    off.options.mode = WIRE_MODE_OFF;
    fixture_start(f, off);
    fixture_start(f, fixture_request(1, 0, "0-1", "0", 1, "low"));
    fixture_start(f, fixture_request(1, 1, "0-1", "1", 1, "low"));
    assert_true(marked(f, 1));
    assert_false(marked(f, 3));
    fixture_end(f, 1, 0);
    assert_true(marked(f, 1));
    fixture_end(f, 1, 1);
    assert_false(marked(f, 1));
}

/* ---- a daemon stops, dies, starts ---- */

static void test_resume(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_run(f, 3, "4", "low");
    fixture_exchange(f, 0, 2);
    fixture_end(f, 3, 0);
    assert_stand(f->packer.state->pool, "2 - 0 - - - - -");
    fixture_restart(f);
    fixture_forget(f);
    resume(f);
    a = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    b = registry_find(f->packer.steps, (struct wire_step_id){2, 0});
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_stand(f->packer.state->pool, "2 - 0 - - - - -");
    assert_at(a, "2");
    assert_at(b, "0");
    assert_int_equal(b->class.id, STEP_DEVIL);
    assert_reason(a, "adopted");
    assert_string_equal(f->calls, "apply 1.0 2; apply 2.0 0; "); /* made true again, and verified */
    assert_true(marked(f, 1));
    assert_false(marked(f, 3));
}

/* One ended while there was no berthd: the other goes home. */
static void test_resume_without_the_dead(void **state)
{
    struct fixture *f = *state;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    fixture_restart(f);
    f->dead = 2;
    resume(f);
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
    assert_at(TAILQ_FIRST(&f->packer.steps->live), "0");
    assert_false(marked(f, 2));
}

/* The job was requeued meanwhile: the step of this name is another one, and is not touched. */
static void test_resume_without_a_namesake(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(2, 0, "2", "2", 1, "high");
    struct step *b;
    struct berth_error err;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    request.task[0].pid = getpid(); /* a process that lives, */
    b = fixture_start(f, request);
    b->body.task[0].started = 1; /* and is not the one that was registered */
    assert_int_equal(journal_start(&f->packer, b, &err), 0);
    fixture_exchange(f, 0, 2);
    fixture_restart(f);
    fixture_forget(f);
    resume(f);
    assert_null(registry_find(f->packer.steps, (struct wire_step_id){2, 0}));
    assert_at(registry_find(f->packer.steps, (struct wire_step_id){1, 0}), "0");
    assert_null(strstr(f->calls, "2.0"));
    assert_int_equal(ended(f, 2)->state, STEP_ENDED);
}

/* A berth before this one did not journal when tasks began: who was there at the registration is
 * the one, who came later is not. */
static void test_resume_of_an_older_journal(void **state)
{
    struct fixture *f = *state;
    struct berth_error err;

    fixture_paper(f);
    for (uint32_t job = 1; job <= 2; job++) {
        struct wire_register request =
            fixture_request(job, 0, job == 1 ? "0" : "2", job == 1 ? "0" : "2", 1, "low");
        struct step *step;

        request.task[0].pid = getpid();
        step = fixture_start(f, request);
        step->body.task[0].started = 0;
        step->started_mono_s -= job == 1 ? 0 : clock_s() / 2; /* long before this program ran */
        assert_int_equal(journal_start(&f->packer, step, &err), 0);
    }
    fixture_restart(f);
    resume(f);
    assert_non_null(registry_find(f->packer.steps, (struct wire_step_id){1, 0}));
    assert_null(registry_find(f->packer.steps, (struct wire_step_id){2, 0}));
}

static void test_resume_nothing(void **state)
{
    struct fixture *f = *state;

    resume(f);
    assert_int_equal(f->packer.steps->nlive, 0);
}

/* A journal that is no journal does not keep berthd from starting: it is kept aside, all go home.
 */
static void test_resume_unreadable(void **state)
{
    struct fixture *f = *state;
    char path[128];
    FILE *file;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    snprintf(path, sizeof(path), "%s/journal", f->dir);
    file = fopen(path, "a");
    assert_non_null(file);
    fputs("{\"op\":\"begin\"}\n", file);
    fclose(file);
    fixture_restart(f);
    resume(f);
    assert_int_equal(f->packer.steps->nlive, 0);
    assert_stand(f->packer.state->pool, "- - - - - - - -");
    snprintf(path, sizeof(path), "%s/journal.bad", f->dir);
    assert_int_equal(unlink(path), 0);
    fixture_restart(f);
    resume(f);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_words_not_allowed(void **state)
{
    struct fixture *f = *state;

    strcpy(f->packer.world.conf.allow, "observe");
    assert_int_equal(fixture_run(f, 1, "0", "low")->state, STEP_LEFT);
    assert_string_equal(TAILQ_FIRST(&f->packer.steps->live)->refused, "auto,tag");
    assert_false(marked(f, 1));
}

static void test_undo(void **state)
{
    struct fixture *f = *state;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    fixture_forget(f);
    pipeline_undo(&f->packer);
    assert_string_equal(f->calls, "restore 1.0 0; restore 2.0 2; ");
    assert_stand(f->packer.state->pool, "0 - 2 - - - - -");
    assert_false(marked(f, 1));
    fixture_restart(f);
    resume(f); /* adopted where they are */
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_stand(f->packer.state->pool, "0 - 2 - - - - -");
    assert_true(marked(f, 1));
}

static void test_sweep(void **state)
{
    struct fixture *f = *state;
    struct step *a;

    fixture_paper(f);
    a = fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 2);
    f->dead = 2;
    f->packer.world.end_patience_s = 1000;
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 2); /* its end may be on the way */
    f->packer.world.end_patience_s = 0;
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.steps->nlive, 1);
    assert_at(a, "0");
    assert_false(marked(f, 2));
}

/* ---- a journal that cannot be written ---- */

/* No room at all, for some of the start, for the start but not for the stand after it, ... until
 * there is enough: refused, and nothing has changed. */
static void test_full_disk_refuses(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0", "high"), *c = fixture_run(f, 3, "1", "high");
    struct wire_answer answer = {.ok = false};
    size_t refused = 0;

    fixture_paper(f);
    for (size_t room = 0; room < 4096; room += 50) {
        struct wire_register request = fixture_request(2, 0, "2", "2", 1, "low");

        fixture_limit_files(journal_size(&f->packer) + room);
        pipeline_start(&f->packer, &request, &answer);
        fixture_limit_files(RLIM_INFINITY);
        if (answer.ok)
            break;
        assert_non_null(strstr(answer.error, "journal"));
        assert_int_equal(registry_find(f->packer.steps, (struct wire_step_id){2, 0})->state,
                         STEP_LEFT);
        assert_stand(f->packer.state->pool, "0 1 - - - - - -");
        assert_at(a, "0");
        assert_true(marked(f, 2)); /* so that its end is told */
        assert_null(strstr(f->calls, "apply"));
        refused++;
    }
    assert_true(answer.ok && refused > 4);
    assert_at(c, "2");
    wire_answer_clear(&answer);
    fixture_restart(f);
    resume(f);
    assert_stand(f->packer.state->pool, "0 2 1 - - - - -");
}

/* Cores that are about to be given away are vacated all the same. */
/* A step that cannot be journaled runs all the same: who stands on its cores leaves them. */
static void test_full_disk_makes_room(void **state)
{
    struct wire_register request = fixture_request(2, 1, "2-3", "2", 1, "low");
    struct fixture *f = *state;
    struct wire_answer answer;
    struct step *a;

    fixture_paper(f);
    a = fixture_run(f, 1, "0", "low");

    fixture_start(f, fixture_request(2, 0, "2-3", "3", 1, "high"));
    fixture_exchange(f, 0, 2);
    assert_at(a, "2");
    fixture_limit_files(journal_size(&f->packer));
    pipeline_start(&f->packer, &request, &answer);
    fixture_limit_files(RLIM_INFINITY);
    assert_false(answer.ok);
    assert_at(a, "0");
    assert_false(pool_has(f->packer.state->pool, 2));
    assert_int_equal(pool_count(f->packer.state->pool), 2);
    assert_true(journal_is_stale(&f->packer));
    pipeline_sweep(&f->packer); /* there is room again */
    fixture_restart(f);
    resume(f);
    assert_int_equal(registry_find(f->packer.steps, (struct wire_step_id){2, 1})->state, STEP_LEFT);
}

static void test_full_disk_still_vacates(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_run(f, 1, "0", "low");

    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    fixture_limit_files(journal_size(&f->packer));
    pipeline_job_end(&f->packer, 2, &(struct wire_identity){0});
    fixture_limit_files(RLIM_INFINITY);
    assert_at(a, "0");
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
}

/* The journal does not grow without end, and what is true survives each rewriting. */
static void test_journal_stays_small(void **state)
{
    struct fixture *f = *state;

    fixture_paper(f);
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    for (uint32_t i = 0; i < 1200; i++) {
        fixture_run(f, 10 + i, "4-5", "low");
        fixture_end(f, 10 + i, 0);
        pipeline_sweep(&f->packer);
        assert_true(journal_size(&f->packer) < (1 << 20) + 4096);
        f->calls[0] = '\0';
    }
    assert_int_equal(f->packer.steps->nended, f->conf.history);
    fixture_restart(f);
    resume(f);
    assert_int_equal(f->packer.steps->nlive, 2);
    assert_stand(f->packer.state->pool, "2 - 0 - - - - -");
}

/* ---- berth.conf is read again ---- */

/* What a stage keeps from its start on learns of the new value, too. */
static void test_reload(void **state)
{
    struct fixture *f = *state;
    struct packer *packer = &f->packer;
    struct conf next = packer->world.conf;

    next.policy = WIRE_POLICY_DIO_POWER;
    next.history = 1;
    next.learn = CONF_ON;
    next.devil_miss_pmi = 9001;
    next.enforcement = CONF_ENFORCE_CGROUP1; /* with the next start only */
    assert_int_equal(fixture_run(f, 1, "0", "high")->place.policy, WIRE_POLICY_DI);
    assert_false(learn_wanted(packer));
    pipeline_reload(packer, &next);
    assert_int_equal(fixture_run(f, 2, "1", "high")->place.policy, WIRE_POLICY_DIO_POWER);
    assert_int_equal(registry_find(packer->steps, (struct wire_step_id){2, 0})->class.id,
                     STEP_TURTLE);
    assert_true(learn_wanted(packer));
    assert_int_equal(packer->world.conf.enforcement, CONF_ENFORCE_DRYRUN);
    fixture_end(f, 1, 0);
    fixture_end(f, 2, 0);
    assert_int_equal(packer->steps->nended, 1);
    next.learn = CONF_OFF;
    pipeline_reload(packer, &next);
    assert_false(learn_wanted(packer));
}

static void test_reload_memory_rate(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);
    struct conf next = f->packer.world.conf;

    (void)state;
    fixture_paper(f);
    next.memory_rate = 0;
    pipeline_reload(&f->packer, &next);
    assert_null(f->packer.state->mover);
    next.memory_rate = 10;
    pipeline_reload(&f->packer, &next);
    assert_non_null(f->packer.state->mover);
    fixture_close(f);
}

/* ---- berthd is killed ---- */

static struct {
    struct fixture *f;
    int (*apply)(struct enforce *, const struct enforce_step *, struct berth_error *);
    size_t length;
    char *text;
} snapshot; /* of the journal, as it was at the last apply */

static int apply_and_look(struct enforce *enforce, const struct enforce_step *step,
                          struct berth_error *err)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/journal", snapshot.f->dir);
    free(snapshot.text);
    snapshot.text = file_read(path, 1 << 20, &snapshot.length, err);
    assert_non_null(snapshot.text);
    return snapshot.apply(enforce, step, err);
}

/* The next berthd finds the journal as it was then, and says what it applies. */
static const char *killed_at_apply(struct fixture *f)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/journal", f->dir);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(snapshot.text, 1, snapshot.length, file), snapshot.length);
    fclose(file);
    fixture_restart(f);
    fixture_forget(f);
    resume(f);
    return f->calls;
}

/* From Linux 6.2 on threads that wait for their turn cannot be told from such as have bound
 * themselves: where some were on their way when berthd was killed, all are set; else none is, but
 * who reaches outside. */
static void test_threads_on_their_way_are_set_after_a_kill(void **state)
{
    struct fixture *f = *state;

    fixture_paper(f);
    snapshot.f = f;
    snapshot.apply = f->way.apply;
    f->way.apply = apply_and_look;
    fixture_run(f, 1, "0", "low");
    fixture_run(f, 2, "2", "high");
    fixture_exchange(f, 0, 2);
    assert_string_equal(killed_at_apply(f), "set 1.0 2; set 2.0 0; ");
    assert_string_equal(killed_at_apply(f), "set 1.0 2; set 2.0 0; "); /* while it set them */
    fixture_restart(f);
    fixture_forget(f);
    resume(f);
    assert_string_equal(f->calls, "apply 1.0 2; apply 2.0 0; ");
    free(snapshot.text);
    snapshot.text = NULL;
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_exchange_and_back),
        test(test_reasons_are_of_one_decision),
        test(test_end_leaves_history),
        test(test_job_end_vacates),
        test(test_job_lives_on),
        test(test_later_step),
        test(test_later_step_knows_the_jobs_cores),
        test(test_later_step_stays_home),
        test(test_observe),
        test(test_observed_as_placed),
        test(test_off_step_takes_its_cores),
        test(test_left_alone),
        test(test_pinned_stays),
        test(test_pinned_script_waits),
        test(test_bound_to_all),
        test(test_foreign_cpus_left_alone),
        test(test_refused),
        test(test_refused_is_told),
        test(test_failed_step_is_put_back),
        test(test_registered_twice),
        test(test_threads_on_their_way_are_set_after_a_kill),
        cmocka_unit_test(test_sized_and_undone),
        cmocka_unit_test(test_sized_together),
        cmocka_unit_test(test_sized_among_others),
        cmocka_unit_test(test_sized_steps_come_and_go),
        cmocka_unit_test(test_sized_step_is_adopted),
        cmocka_unit_test(test_adopted_step_is_sized_again),
        cmocka_unit_test(test_refused_step_is_not_asked),
        cmocka_unit_test(test_sized_step_fails),
        cmocka_unit_test(test_observed_step_is_not_shrunk),
        cmocka_unit_test(test_threads_are_told),
        test(test_threads_of_the_store),
        test(test_threads_of_flex),
        test(test_answer),
        test(test_markers),
        test(test_resume),
        test(test_resume_without_the_dead),
        test(test_resume_without_a_namesake),
        test(test_resume_of_an_older_journal),
        test(test_resume_nothing),
        test(test_resume_unreadable),
        test(test_words_not_allowed),
        test(test_undo),
        test(test_sweep),
        test(test_full_disk_refuses),
        test(test_full_disk_makes_room),
        test(test_full_disk_still_vacates),
        test(test_journal_stays_small),
        test(test_reload),
        cmocka_unit_test(test_reload_memory_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
