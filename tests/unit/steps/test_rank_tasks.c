/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rank_tasks - the homes of ranks, and how they become a step's tasks and cease to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/steps/rank_tasks.h"

/* Ranks' CPUs where a step with these is at home, and the homes that they get. */
static const struct {
    const char *whole, *rank[4], *home[4];
} cases[] = {
    {"0-3", {"0", "1", "2", "3"}, {"0", "1", "2", "3"}},
    {"0-3", {"0-1", "2-3"}, {"0-1", "2-3"}},
    {"0-3", {"0-3", "0-3"}, {"0-3", "0-3"}},             /* not bound */
    {"4-7", {"2", "3", "4", "5"}, {"6", "7", "4", "5"}}, /* two by where the step stands now */
    {"4-7", {"0", "1", "2", "3"}, {"4", "5", "6", "7"}},
    {"4-7", {"2-4", "5"}, {"4,6-7", "5"}},
    {"4-5", {"0", "1", "2"}, {"4", "5", "4-5"}}, /* more than it has cores */
    {"4-7", {"2-7"}, {"4-7"}},
};

static void test_homes(void **state)
{
    char text[CPUS_TEXT_MAX];

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct step_rank rank[4] = {{.pid = 0}};
        struct cpus whole, home[4];
        size_t n = 0;

        cpus_parse(&whole, cases[c].whole);
        for (; n < 4 && cases[c].rank[n]; n++)
            cpus_parse(&rank[n].cpus, cases[c].rank[n]);
        rank_homes(&whole, n, rank, home);
        for (size_t i = 0; i < n; i++) {
            cpus_format(&home[i], text, sizeof(text));
            if (strcmp(text, cases[c].home[i]) != 0)
                fail_msg("case %zu, rank %zu: %s, not %s", c, i, text, cases[c].home[i]);
        }
    }
}

static void assert_cpus(const struct cpus *cpus, const char *wanted)
{
    char text[CPUS_TEXT_MAX];

    cpus_format(cpus, text, sizeof(text));
    assert_string_equal(text, wanted);
}

static struct step_rank rank_of(pid_t pid, const char *cpus)
{
    struct step_rank rank = {.pid = pid, .started = (uint64_t)pid};

    cpus_parse(&rank.cpus, cpus);
    return rank;
}

static void test_tasks(void **state)
{
    struct step_rank first[] = {rank_of(10, "0"), rank_of(11, "1")};
    struct step_rank next[] = {rank_of(11, "5"), rank_of(12, "0")};
    struct step step = {.state = STEP_PLACED};

    (void)state;
    step.request.id.step = WIRE_STEP_BATCH;
    step.body.task = calloc(1, sizeof(*step.body.task));
    step.body.ntasks = 1;
    step.body.task[0].pid = 9;
    cpus_parse(&step.body.task[0].home, "0-1");
    assert_true(step_is_shell(&step));
    assert_int_equal(rank_tasks_take(&step, first, 2), 0);
    assert_false(step_is_shell(&step)); /* it works now */
    assert_true(rank_tasks_are(&step, first, 2));
    assert_false(rank_tasks_are(&step, next, 2));
    assert_cpus(&step.body.task[1].home, "1");
    cpus_parse(&step.body.task[1].cpus, "5"); /* it was moved, and keeps its home */
    assert_int_equal(rank_tasks_take(&step, next, 2), 0);
    assert_cpus(&step.body.task[0].home, "1");
    assert_cpus(&step.body.task[0].cpus, "5");
    assert_cpus(&step.body.task[1].home, "0");
    assert_int_equal(rank_tasks_take(&step, next, 0), -1);
    rank_tasks_drop(&step);
    rank_tasks_drop(&step);
    assert_int_equal(step.body.ntasks, 1);
    assert_int_equal(step.body.task[0].pid, 9);
    assert_true(step_is_shell(&step));
    free(step.body.task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_homes), cmocka_unit_test(test_tasks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
