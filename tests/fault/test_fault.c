/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fault - a real berthd is killed before each system call of a move, one after the other, and
 * started again: everything is as before or as after. And each call that changes something fails
 * once: berthd goes on, and what it could not do is undone and said.
 *
 * On this machine's own cpusets (root, cgroup v1, two CPUs; skipped elsewhere), in a tree of its
 * own.
 *
 *   BERTHD=PATH           the daemon (./berthd)
 *   BERTH_FAULT_STRIDE=N  every N-th system call only (1: all; default 23) */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fault/node.h"
#include "tests/fault/trace.h"

#define STRIDE 23
#define FAILURES_SHOWN 10

/* What the daemon is doing when it happens. */
enum doing { EXCHANGE, END, RELEASE, STOP, START };

struct scenario {
    const char *name;
    enum doing doing;
    const char *says; /* to it, where that is what it does */
};

static const struct scenario scenarios[] = {
    {"exchange", EXCHANGE, NULL},
    {"end", END, "{\"version\":1,\"op\":\"end\",\"job\":900002,\"step\":0}\n"},
    {"release", RELEASE, "{\"version\":1,\"op\":\"release\"}\n"},
    {"stop", STOP, NULL},
    {"start", START, NULL},
};

struct sweep {
    struct node *node;
    const char *berthd;
    size_t runs, failures;
};

/* ---- one run ---- */

static bool say_and_hear(struct node *node, const char *text)
{
    struct json_object *lines = node_say(node, text) ? node_answer(node) : NULL;

    json_object_put(lines);
    return lines != NULL;
}

static bool register_step(struct node *node, size_t i)
{
    char text[512];

    node_registration(node, i, text, sizeof(text));
    return say_and_hear(node, text);
}

/* The state that the scenario begins with: both stand on the other's CPU, but for EXCHANGE. */
static bool prepare(struct node *node, const struct scenario *scenario, char *why)
{
    bool both = scenario->doing != EXCHANGE;

    node_reset(node);
    if (!node_start(node, false) || !register_step(node, 0) || (both && !register_step(node, 1))) {
        snprintf(why, NODE_WHY, "no berthd, or no answer");
        return false;
    }
    if (both && node_cpu_of(node, 0, why) != 1) {
        snprintf(why, NODE_WHY, "no exchange");
        return false;
    }
    return true;
}

static bool answered(void *node)
{
    return node_answered(node);
}

static bool at_once(void *node)
{
    (void)node;
    return true;
}

static struct trace_result act(struct node *node, const struct scenario *scenario,
                               const struct trace_plan *plan)
{
    struct trace_result result = {.ended = true};
    char text[512];

    if (scenario->doing == START) {
        node_kill(node);
        if (node_start(node, true))
            result = trace_run(node->daemon, plan, at_once, node);
    } else if (trace_attach(node->daemon) == 0) {
        node_registration(node, 1, text, sizeof(text));
        if (scenario->doing == STOP)
            kill(node->daemon, SIGTERM);
        else
            node_say(node, scenario->says ? scenario->says : text);
        result = trace_run(node->daemon, plan, answered, node);
    }
    if (result.ended || result.killed)
        node->daemon = 0; /* and reaped */
    node_hang_up(node);
    return result;
}

/* Whatever there is, a berthd runs; everything is sane; and when it is stopped everything is as if
 * it had never been. (What others write into a cpuset after it was read back is not seen before the
 * next change; that change, at the latest the stop, undoes it.) */
static bool comes_back(struct node *node, bool rewritten, char *why)
{
    if (node->daemon == 0 && !node_start(node, false)) {
        snprintf(why, NODE_WHY, "berthd does not start again");
        return false;
    }
    if (!node_up(node) || (!rewritten && !node_holds(node, why)))
        return false;
    if (node_stop(node) != 0) {
        snprintf(why, NODE_WHY, "berthd did not stop well");
        return false;
    }
    return node_is_clean(node, why);
}

/* Has it ended by itself where it may? At its start it may refuse. */
static bool may_have_ended(const struct scenario *scenario, const struct trace_result *result)
{
    return result->killed || !result->ended || scenario->doing == STOP ||
           (scenario->doing == START && result->failed && WIFEXITED(result->status));
}

/* What must hold after it. At a stop everything at once, but for a folder that could not be
 * removed: the next stop does. */
static bool outcome(struct node *node, const struct scenario *scenario,
                    const struct trace_plan *plan, const struct trace_result *result, char *why)
{
    if (!may_have_ended(scenario, result)) {
        snprintf(why, NODE_WHY, "berthd ended with status %#x", (unsigned)result->status);
        return false;
    }
    if (scenario->doing == STOP && result->ended && result->status != 0) {
        snprintf(why, NODE_WHY, "berthd stopped with status %#x", (unsigned)result->status);
        return false;
    }
    if (scenario->doing == STOP && result->ended &&
        !(result->failed && plan->fail_kind == TRACE_REMOVE))
        return node_is_clean(node, why);
    return comes_back(node, plan->rewrites && result->meddled, why);
}

/* One run with that plan. Says what went wrong, and begins anew then. Returns what became of the
 * plan. */
static struct trace_result run(struct sweep *sweep, const struct scenario *scenario,
                               const struct trace_plan *plan, const char *what)
{
    struct trace_result result = {0};
    char why[NODE_WHY] = "";
    bool fine = prepare(sweep->node, scenario, why);

    if (fine) {
        result = act(sweep->node, scenario, plan);
        fine = outcome(sweep->node, scenario, plan, &result, why);
    }
    sweep->runs++;
    if (fine)
        return result;
    if (sweep->failures++ < FAILURES_SHOWN)
        print_error("%s, %s: %s\n", scenario->name, what, why);
    node_close(sweep->node);
    sweep->node = node_open(sweep->berthd);
    return result;
}

/* ---- the sweeps ---- */

static long stride(void)
{
    const char *text = getenv("BERTH_FAULT_STRIDE");
    long n = text ? atol(text) : STRIDE;

    return n > 0 ? n : 1;
}

static void sweep_kill(struct sweep *sweep, const struct scenario *scenario)
{
    struct trace_result result = {.killed = true};
    char what[64];
    long calls = 0;

    for (long at = 1; result.killed; at += stride()) {
        snprintf(what, sizeof(what), "killed before call %ld", at);
        result = run(sweep, scenario, &(struct trace_plan){.kill_at = at}, what);
        calls = result.calls;
    }
    print_message("%-9s killed at each %ld. of %ld system calls\n", scenario->name, stride(),
                  calls);
}

static void sweep_fail(struct sweep *sweep, const struct scenario *scenario, enum trace_kind kind,
                       int error)
{
    struct trace_result result = {.failed = true};
    char what[128];
    long at = 0;

    while (result.failed) {
        at++;
        snprintf(what, sizeof(what), "%s number %ld: %s", trace_kind_name[kind], at,
                 strerror(error));
        result =
            run(sweep, scenario,
                &(struct trace_plan){.fail_at = at, .fail_kind = kind, .fail_errno = error}, what);
    }
    print_message("%-9s each of %ld times: %s: %s\n", scenario->name, at - 1, trace_kind_name[kind],
                  strerror(error));
}

#define EACH(scenario)                                                                             \
    for (const struct scenario *scenario = scenarios;                                              \
         scenario < scenarios + sizeof(scenarios) / sizeof(scenarios[0]); scenario++)

static void test_killed(void **state)
{
    struct sweep *sweep = *state;

    if (!sweep->node)
        skip();
    EACH(scenario) sweep_kill(sweep, scenario);
    assert_int_equal(sweep->failures, 0);
}

/* ---- what others do meanwhile ---- */

static void first_ends(void *node)
{
    node_end_step(node, 0);
}

static void second_ends(void *node)
{
    node_end_step(node, 1);
}

static void first_has_no_tasks(void *node)
{
    node_end_tasks(node, 0);
}

static void first_is_widened(void *node)
{
    node_rewrite(node, 0, "0-1");
}

static void second_is_sent_back(void *node)
{
    node_rewrite(node, 1, "1");
}

static void sweep_meddle(struct sweep *sweep, const struct scenario *scenario,
                         void (*meddle)(void *node), bool rewrites, const char *name)
{
    struct trace_plan plan = {.meddle = meddle, .rewrites = rewrites};
    struct trace_result result = {.meddled = true};
    char what[64];

    for (long at = 1; result.meddled; at += 3 * stride()) {
        snprintf(what, sizeof(what), "%s before call %ld", name, at);
        plan.meddle_at = at;
        result = run(sweep, scenario, &plan, what);
        node_revive(sweep->node);
    }
    print_message("%-9s %s before each %ld. of %ld system calls\n", scenario->name, name,
                  3 * stride(), result.calls);
}

static void test_meddling(void **state)
{
    static const struct {
        void (*meddle)(void *node);
        bool rewrites;
        const char *name;
    } ways[] = {{first_ends, false, "the first step ends"},
                {second_ends, false, "the second step ends"},
                {first_has_no_tasks, false, "the first step's tasks end"},
                {first_is_widened, true, "the first step's cpuset is widened"},
                {second_is_sent_back, true, "the second step's cpuset is set to its home"}};
    struct sweep *sweep = *state;

    if (!sweep->node)
        skip();
    for (const struct scenario *scenario = scenarios; scenario < scenarios + 3; scenario++)
        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
            sweep_meddle(sweep, scenario, ways[i].meddle, ways[i].rewrites, ways[i].name);
    assert_int_equal(sweep->failures, 0);
}

static void test_failing_calls(void **state)
{
    static const struct {
        enum trace_kind kind;
        int error;
    } faults[] = {
        {TRACE_WRITE_CGROUP, ENOSPC}, {TRACE_WRITE_CGROUP, EINVAL}, {TRACE_WRITE_CGROUP, EBUSY},
        {TRACE_WRITE_FILE, ENOSPC},   {TRACE_WRITE_FILE, EIO},      {TRACE_AFFINITY, EINVAL},
        {TRACE_MKDIR, ENOSPC},        {TRACE_REMOVE, EBUSY},        {TRACE_REMOVE, ENOSPC},
        {TRACE_RENAME, EIO},          {TRACE_TRUNCATE, EIO}};
    struct sweep *sweep = *state;

    if (!sweep->node || !trace_can_fail())
        skip();
    EACH(scenario)
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sweep_fail(sweep, scenario, faults[i].kind, faults[i].error);
    assert_int_equal(sweep->failures, 0);
}

static int setup(void **state)
{
    struct sweep *sweep = calloc(1, sizeof(*sweep));
    const char *why = node_missing();

    *state = sweep;
    sweep->berthd = getenv("BERTHD") ? getenv("BERTHD") : "./berthd";
    if (why)
        print_message("skipped: %s\n", why);
    else
        sweep->node = node_open(sweep->berthd);
    return 0;
}

static int teardown(void **state)
{
    struct sweep *sweep = *state;

    print_message("%zu runs, %zu failures\n", sweep->runs, sweep->failures);
    if (sweep->node)
        node_close(sweep->node);
    free(sweep);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_meddling, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failing_calls, setup, teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
