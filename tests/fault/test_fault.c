/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_fault - a real berthd is killed before each system call of a move, one after the other, and
 * started again: everything is as before or as after. It is killed before each call that changes
 * something while it gives threads their slices and packages, and takes them back, or switches
 * registers of the processor: nothing of that is left then. And each call that changes something
 * fails once: berthd goes on, and what it could not do is undone and said.
 *
 * On this machine's own cpusets (root, cgroup v1, two CPUs; skipped elsewhere), in a tree of its
 * own.
 *
 * To be run in the build folder.
 *
 *   test_fault [PATTERN]  those of its tests whose name is like that (*_inside, *_registers)
 *   test_fault --list     their names
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

#include "packer/base/clock.h"
#include "tests/fault/node.h"
#include "tests/fault/trace.h"

#define STRIDE 23
#define GIVES_UP_S 10.0 /* what has failed is not tried again after so long */
#define FAILURES_MAX 10 /* no more runs then: each may have waited for all patience */

/* What the daemon is doing when it happens. CHANGE: the last step is registered, which changes what
 * all of them have. */
enum doing { CHANGE, END, RELEASE, STOP, START };

struct scenario {
    const char *name;
    enum doing doing;
};

static const struct scenario scenarios[] = {
    {"change", CHANGE}, {"end", END}, {"release", RELEASE}, {"stop", STOP}, {"start", START}};

struct sweep {
    struct node *node;
    const struct node_kind *kind;
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

/* The state that the scenario begins with: berthd has changed what the steps have, but for CHANGE.
 */
static bool prepare(struct node *node, const struct scenario *scenario, char *why)
{
    bool changes = scenario->doing == CHANGE;

    node_reset(node);
    node_configure(node, true);
    snprintf(why, NODE_WHY, "berthd does not start");
    if (!node_start(node, false))
        return false;
    for (size_t i = 0; i + changes < node->kind->steps; i++) {
        snprintf(why, NODE_WHY, "step %zu is registered, and berthd does not answer", i);
        if (!register_step(node, i))
            return false;
    }
    return changes || node_await(node, node->kind->changed, why);
}

/* What is said to berthd. "": nothing. */
static void words_of(const struct node *node, const struct scenario *scenario, char *text,
                     size_t size)
{
    size_t last = node->kind->steps - 1;

    text[0] = '\0';
    if (scenario->doing == CHANGE)
        node_registration(node, last, text, size);
    else if (scenario->doing == END)
        snprintf(text, size, "{\"version\":1,\"op\":\"end\",\"job\":%u,\"step\":0}\n",
                 NODE_JOB(last));
    else if (scenario->doing == RELEASE)
        snprintf(text, size, "{\"version\":1,\"op\":\"release\"}\n");
}

static bool answered(void *node, const struct trace_result *so_far)
{
    (void)so_far;
    return node_answered(node);
}

/* It has answered, and done what may come later; or it has said that it will not; or a call has
 * failed, and it does not. */
static bool changed(void *arg, const struct trace_result *so_far)
{
    const struct node *node = arg;
    double patience_s = so_far->failed ? GIVES_UP_S : NODE_PATIENCE_S;
    char why[NODE_WHY];

    return node_answered(arg) &&
           (!node->kind->later || node->kind->changed(arg, why) ||
            node_logged(node, "left alone") || clock_s() - node->started_s > patience_s);
}

static bool at_once(void *node, const struct trace_result *so_far)
{
    (void)node, (void)so_far;
    return true;
}

static struct trace_result act_at_start(struct node *node, const struct trace_plan *plan)
{
    node_kill(node);
    node_configure(node, false);
    return node_start(node, true) ? trace_run(node->daemon, plan, at_once, node)
                                  : (struct trace_result){.ended = true};
}

static struct trace_result act(struct node *node, const struct scenario *scenario,
                               const struct trace_plan *plan)
{
    struct trace_result result = {.ended = true};
    char text[512];

    words_of(node, scenario, text, sizeof(text));
    if (scenario->doing == START) {
        result = act_at_start(node, plan);
    } else if (trace_attach(node->daemon) == 0) {
        if (scenario->doing == STOP)
            kill(node->daemon, SIGTERM);
        else
            node_say(node, text);
        result =
            trace_run(node->daemon, plan, scenario->doing == CHANGE ? changed : answered, node);
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
    if (node->daemon == 0) {
        node_configure(node, false);
        if (!node_start(node, false)) {
            snprintf(why, NODE_WHY, "berthd does not start again");
            return false;
        }
    }
    snprintf(why, NODE_WHY, "berthd does not listen any more");
    if (!node_up(node) || (!rewritten && !node_await(node, node->kind->holds, why)))
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
    if (scenario->doing == CHANGE && !result->ended && !result->killed && !result->failed &&
        !result->meddled && !node_await(node, node->kind->changed, why))
        return false;
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
    sweep->failures++;
    print_error("%s: %s, %s: %s\n", sweep->kind->name, scenario->name, what, why);
    node_print_log(sweep->node);
    node_close(sweep->node);
    sweep->node = node_open(sweep->kind);
    return result;
}

/* ---- the sweeps ---- */

static bool goes_on(const struct sweep *sweep)
{
    return sweep->failures < FAILURES_MAX;
}

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

    for (long at = 1; result.killed && goes_on(sweep); at += stride()) {
        snprintf(what, sizeof(what), "killed before call %ld", at);
        result = run(sweep, scenario, &(struct trace_plan){.kill_at = at}, what);
        calls = result.calls;
    }
    print_message("%-5s %-9s killed at each %ld. of %ld system calls\n", sweep->kind->name,
                  scenario->name, stride(), calls);
}

/* Each call of a kind, one after the other, fails, or with error 0: is not lived to see. */
static void sweep_fail(struct sweep *sweep, const struct scenario *scenario, enum trace_kind kind,
                       int error)
{
    const char *name = error ? strerror(error) : "killed before it";
    struct trace_result result = {.failed = true};
    char what[128];
    long at = 0;

    while ((result.failed || result.killed) && goes_on(sweep)) {
        at++;
        snprintf(what, sizeof(what), "%s number %ld: %s", trace_kind_name[kind], at, name);
        result =
            run(sweep, scenario,
                &(struct trace_plan){.fail_at = at, .fail_kind = kind, .fail_errno = error}, what);
    }
    print_message("%-5s %-9s each of %ld times: %s: %s\n", sweep->kind->name, scenario->name,
                  at - 1, trace_kind_name[kind], name);
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

    for (long at = 1; result.meddled && goes_on(sweep); at += 3 * stride()) {
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

struct fault {
    enum trace_kind kind;
    int error;
};

static void sweep_faults(struct sweep *sweep, size_t n, const struct fault *fault)
{
    if (!sweep->node || !trace_can_fail())
        skip();
    EACH(scenario)
    for (size_t i = 0; i < n; i++)
        sweep_fail(sweep, scenario, fault[i].kind, fault[i].error);
    assert_int_equal(sweep->failures, 0);
}

static void test_failing_calls(void **state)
{
    static const struct fault faults[] = {
        {TRACE_WRITE_CGROUP, ENOSPC}, {TRACE_WRITE_CGROUP, EINVAL}, {TRACE_WRITE_CGROUP, EBUSY},
        {TRACE_WRITE_FILE, ENOSPC},   {TRACE_WRITE_FILE, EIO},      {TRACE_AFFINITY, EINVAL},
        {TRACE_MKDIR, ENOSPC},        {TRACE_REMOVE, EBUSY},        {TRACE_REMOVE, ENOSPC},
        {TRACE_RENAME, EIO},          {TRACE_TRUNCATE, EIO}};

    sweep_faults(*state, sizeof(faults) / sizeof(faults[0]), faults);
}

/* ---- what threads are given ---- */

static void test_killed_inside(void **state)
{
    static const struct fault faults[] = {{TRACE_WRITE_FILE, 0}, {TRACE_AFFINITY, 0},
                                          {TRACE_CLASS, 0},      {TRACE_WRITE_CGROUP, 0},
                                          {TRACE_RENAME, 0},     {TRACE_TRUNCATE, 0}};

    sweep_faults(*state, sizeof(faults) / sizeof(faults[0]), faults);
}

static void test_failing_inside(void **state)
{
    static const struct fault faults[] = {
        {TRACE_WRITE_FILE, ENOSPC}, {TRACE_AFFINITY, EINVAL}, {TRACE_CLASS, EPERM}};

    sweep_faults(*state, sizeof(faults) / sizeof(faults[0]), faults);
}

/* ---- what registers hold ---- */

static void test_killed_registers(void **state)
{
    static const struct fault faults[] = {
        {TRACE_WRITE_FILE, 0}, {TRACE_RENAME, 0}, {TRACE_TRUNCATE, 0}};

    sweep_faults(*state, sizeof(faults) / sizeof(faults[0]), faults);
}

static void test_failing_registers(void **state)
{
    static const struct fault faults[] = {{TRACE_WRITE_FILE, EIO}, {TRACE_WRITE_FILE, ENOSPC}};

    sweep_faults(*state, sizeof(faults) / sizeof(faults[0]), faults);
}

static int setup(void **state, const struct node_kind *kind)
{
    struct sweep *sweep = calloc(1, sizeof(*sweep));
    const char *why = node_missing();

    *state = sweep;
    sweep->kind = kind;
    if (why)
        print_message("skipped: %s\n", why);
    else
        sweep->node = node_open(sweep->kind);
    return 0;
}

static int setup_pair(void **state)
{
    return setup(state, &node_pair);
}

static int setup_crowd(void **state)
{
    return setup(state, &node_crowd);
}

static int setup_registers(void **state)
{
    return setup(state, &node_registers);
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_killed, setup_pair, teardown),
        cmocka_unit_test_setup_teardown(test_meddling, setup_pair, teardown),
        cmocka_unit_test_setup_teardown(test_failing_calls, setup_pair, teardown),
        cmocka_unit_test_setup_teardown(test_killed_inside, setup_crowd, teardown),
        cmocka_unit_test_setup_teardown(test_failing_inside, setup_crowd, teardown),
        cmocka_unit_test_setup_teardown(test_killed_registers, setup_registers, teardown),
        cmocka_unit_test_setup_teardown(test_failing_registers, setup_registers, teardown)};

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
            puts(tests[i].name);
        return 0;
    }
    if (argc == 2)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
