/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_binders - programs that were seen to bind their threads are left alone the next time: real
 * processes, which berth only reads, on a machine on paper. */
#include "tests/unit/common/fixture.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/enact/bindings.h"
#include "packer/enact/binders.h"
#include "packer/enact/bindings_impl.h"
#include "packer/enact/offline.h"
#include "packer/steps/program.h"
#include "tests/unit/common/bound_process.h"
#include "tests/unit/common/steps.h"

/* ---- steps ---- */

struct node {
    struct fixture *f;
    pid_t pid; /* the task of each step, one after the other */
};

static bool has_two_cpus(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

static int open_node(void **state)
{
    struct node *node;

    if (!has_two_cpus())
        return 0;
    node = calloc(1, sizeof(*node));
    assert_non_null(node);
    node->pid = bound_process_start("0-1"); /* before the journal is locked */
    node->f = fixture_open(TWO_BY_TWO);
    node->f->conf.learn = CONF_ON;
    node->f->conf.window_ms = 60000; /* a slow machine makes no step older */
    fixture_restart(node->f);
    fixture_paper(node->f);
    *state = node;
    return 0;
}

static int close_node(void **state)
{
    struct node *node = *state;

    if (!node)
        return 0;
    fixture_close(node->f);
    bound_process_end(node->pid);
    free(node);
    return 0;
}

static struct node *node_of(void **state)
{
    if (!*state)
        skip();
    return *state;
}

/* A step on CPUs 0 and 1. */
static struct wire_register request_of(const struct node *node, uint32_t job)
{
    struct wire_register request = fixture_request(job, 0, "0-1", "0-1", 1, "b");

    request.task[0].pid = node->pid;
    return request;
}

static struct step *start(struct node *node, uint32_t job)
{
    return fixture_start(node->f, request_of(node, job));
}

/* So many windows of its life are over. */
static void live(struct node *node, double windows)
{
    fixture_age(node->f, windows * (double)node->f->packer.world.conf.window_ms / 1000);
}

static void end(struct node *node, uint32_t job, int exit_status)
{
    const struct wire_end end = {.id = {job, 0}, .exit_status = exit_status, .user_s = -1};

    pipeline_end(&node->f->packer, &end);
}

/* What was learned is in the store, and no step runs. */
static void settle(struct node *node)
{
    fixture_restart(node->f);
}

/* Whether a new run of the program is left alone for an earlier one; it ends at once. */
static bool is_kept(struct node *node)
{
    const struct step *step;
    bool kept;

    settle(node);
    step = start(node, 99);
    kept = step->state == STEP_LEFT;
    assert_int_equal(step->profile.bound_at != 0, kept);
    if (kept)
        assert_non_null(
            strstr(step->enacted.reason, "left alone: it bound its threads in a run of 20"));
    end(node, 99, 0);
    return kept;
}

/* ---- tests ---- */

static void test_seen_at_home(void **state)
{
    struct node *node = node_of(state);
    struct step *step = start(node, 1);
    char reason[64];

    live(node, 3.5);
    assert_int_equal(step->state, STEP_PLACED);
    bound_process_bind(node->pid, "1");
    live(node, 3.6); /* the next look is after four windows */
    assert_int_equal(step->state, STEP_PLACED);
    live(node, 5.5);
    assert_int_equal(step->state, STEP_LEFT);
    snprintf(reason, sizeof(reason), "left alone: its thread %d is bound to 1", (int)node->pid);
    assert_string_equal(step->enacted.reason, reason);
    assert_true(step->binder.seen);
    end(node, 1, 0);
    assert_true(is_kept(node));
}

/* All masks are what Slurm gave, or more: there is nothing to be seen. */
static void test_nothing_is_seen(void **state)
{
    struct node *node = node_of(state);
    struct wire_register request = request_of(node, 1);
    struct step *step;

    request.step_cores = "0";
    step = fixture_start(node->f, request);
    live(node, 9);
    assert_true(step->binder.looked);
    assert_int_equal(step->state, STEP_PLACED);
    end(node, 1, 0);
    assert_false(is_kept(node));
}

/* Whoever is placed by name stays so, but the next one is kept. */
static void test_asked_by_name(void **state)
{
    struct node *node = node_of(state);
    struct wire_register request = request_of(node, 1);
    struct step *step;

    request.asked = request.options.spread = true;
    step = fixture_start(node->f, request);
    bound_process_bind(node->pid, "0");
    live(node, 2.5);
    assert_int_equal(step->state, STEP_PLACED);
    assert_true(step->binder.seen);
    settle(node);
    request = request_of(node, 2);
    request.asked = request.options.spread = true;
    step = fixture_start(node->f, request);
    assert_int_equal(step->state, STEP_PLACED);
    assert_true(step->profile.bound_at > 0);
    end(node, 2, 0);
    assert_true(is_kept(node));
}

/* What was known at the start, what srun was told, what a launcher, berth or the kernel has done,
 * and what is bound before the first window is over. */
static void test_not_counted(void **state)
{
    static const struct {
        enum wire_pin pin;
        bool by_hand, off, ranks, shuffled, young, offline;
    } cases[] = {
        {.pin = WIRE_PIN_ENVIRONMENT},
        {.pin = WIRE_PIN_CALLS},
        {.pin = WIRE_PIN_STARTS},
        {.pin = WIRE_PIN_UNREAD},
        {.by_hand = true},
        {.off = true},
        {.ranks = true},
        {.shuffled = true},
        {.young = true},
        {.offline = true},
    };
    struct node *node = node_of(state);

    bound_process_bind(node->pid, "1");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_register request = request_of(node, 1);
        struct cpus online = cpus_of("1-31");
        struct step *step;

        request.pin = cases[i].pin;
        request.bound_by_hand = cases[i].by_hand;
        if (cases[i].off)
            request.options.mode = WIRE_MODE_OFF;
        step = fixture_start(node->f, request);
        step->body.ranks = cases[i].ranks;
        step->inside.shuffled = cases[i].shuffled;
        if (cases[i].offline && offline_set(&node->f->packer, &online))
            offline_leave(&node->f->packer);
        if (!cases[i].young)
            live(node, 9);
        binders_note(&node->f->packer, step);
        assert_false(step->binder.seen);
        step->body.ranks = step->inside.shuffled = false;
        end(node, 1, 0);
        bound_process_bind(node->pid, "0-1");
        if (is_kept(node))
            fail_msg("case %zu", i);
        bound_process_bind(node->pid, "1");
    }
}

/* A program that is kept is trusted again after three runs that ended well and bound nothing. */
static void test_trusted_again(void **state)
{
    struct node *node = node_of(state);
    struct step *step = start(node, 1);

    bound_process_bind(node->pid, "1");
    live(node, 2.5);
    assert_true(step->binder.seen);
    end(node, 1, 0);
    bound_process_bind(node->pid, "0-1");
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(is_kept(node)); /* too short to be looked at: it lifts nothing */
        start(node, 1);
        live(node, 2.5);
        end(node, 1, 1); /* nor does a failure */
        assert_true(is_kept(node));
        start(node, 1);
        live(node, 2.5);
        end(node, 1, 0);
    }
    assert_false(is_kept(node));
}

/* Nothing is seen of a task that has one CPU, and keeps it. */
static void test_one_cpu_shows_nothing(void **state)
{
    struct node *node = node_of(state);
    struct step *step = start(node, 1);

    bound_process_bind(node->pid, "1");
    live(node, 2.5);
    assert_true(step->binder.seen);
    end(node, 1, 0);
    for (uint32_t i = 0; i < 4; i++) {
        struct wire_register request = request_of(node, 1);

        request.job_cores = request.step_cores = "1";
        settle(node);
        step = fixture_start(node->f, request);
        live(node, 2.5);
        assert_true(step->binder.looked);
        end(node, 1, 0);
    }
    assert_true(is_kept(node));
}

/* The step stands on these cores, which berthd has not really moved it to, and may be wide. */
static void stand_elsewhere(struct node *node, struct step *step, const size_t (*exchange)[2],
                            size_t n)
{
    node->f->way.touches = false;
    for (size_t i = 0; i < n; i++)
        fixture_exchange(node->f, exchange[i][0], exchange[i][1]);
    node->f->way.touches = true;
    step->body.wide = true;
    step->started_mono_s = clock_s() - 60;
}

/* The look of a window. */
static bool look(struct node *node)
{
    node->f->packer.state->bindings->due_s = 0;
    return bindings_turn(&node->f->packer);
}

/* A thread that has a mask of its own at one look, and still has it at the next. */
static void test_seen_elsewhere(void **state)
{
    struct node *node = node_of(state);
    struct wire_register request = request_of(node, 1);
    struct step *step;

    request.job_cores = request.step_cores = "2-3";
    step = fixture_start(node->f, request);
    fixture_run(node->f, 2, "0-1", NULL);
    stand_elsewhere(node, step, (const size_t[][2]){{0, 2}, {1, 3}}, 2);
    assert_cpus(&step->body.task[0].cpus, "0-1");
    bound_process_bind(node->pid, "1");
    assert_false(look(node));
    assert_false(step->binder.seen);
    assert_false(look(node));
    assert_true(step->binder.seen);
    assert_int_equal(step->state, STEP_PLACED); /* it keeps the image of its binding */
    assert_true(is_kept(node));
}

/* A thread that is bound to where its step does not stand. */
static void test_bound_elsewhere(void **state)
{
    struct node *node = node_of(state);
    struct wire_register request = request_of(node, 1);
    struct step *step;

    request.job_cores = request.step_cores = "0";
    step = fixture_start(node->f, request);
    fixture_run(node->f, 2, "1", NULL);
    stand_elsewhere(node, step, (const size_t[][2]){{0, 1}}, 1);
    assert_cpus(&step->body.task[0].cpus, "1");
    bound_process_bind(node->pid, "0");
    assert_true(look(node));
    assert_int_equal(step->state, STEP_LEFT);
    assert_true(step->binder.seen);
    assert_true(is_kept(node));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_node, close_node)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_seen_at_home),   TEST(test_nothing_is_seen), TEST(test_asked_by_name),
        TEST(test_not_counted),    TEST(test_trusted_again),   TEST(test_one_cpu_shows_nothing),
        TEST(test_seen_elsewhere), TEST(test_bound_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
