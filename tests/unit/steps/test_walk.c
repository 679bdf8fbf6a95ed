/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_walk - a walk over the steps meets each once, whatever comes and goes between its turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/steps/walk.h"

struct stand {
    struct registry steps;
    struct step_walk walk;
    char met[64]; /* jobs, as "1 2 " */
};

static void add(struct stand *stand, uint32_t job)
{
    struct wire_register request = {.id = {job, 0}};

    assert_non_null(registry_add(&stand->steps, &request));
}

static void end(struct stand *stand, uint32_t job)
{
    struct step *step = registry_find(&stand->steps, (struct wire_step_id){job, 0});

    assert_non_null(step);
    step_ends(step, NULL);
    registry_end(&stand->steps, step);
}

/* Takes so many turns of the walk. */
static void meet(struct stand *stand, size_t turns)
{
    struct step *step;
    size_t used = strlen(stand->met);

    while (turns-- > 0 && (step = step_walk_next(&stand->walk)))
        used += (size_t)snprintf(stand->met + used, sizeof(stand->met) - used, "%u ",
                                 step->request.id.job);
}

/* Jobs 1 to 4 live, and 9 and 8 have ended, 8 last. */
static int start(void **state)
{
    struct stand *stand = calloc(1, sizeof(*stand));

    registry_init(&stand->steps, 4);
    for (uint32_t job = 9; job >= 8; job--) {
        add(stand, job);
        end(stand, job);
    }
    for (uint32_t job = 1; job <= 4; job++)
        add(stand, job);
    usleep(10); /* whoever ends from now on has ended later than the walk began */
    step_walk_begin(&stand->walk, &stand->steps, true);
    *state = stand;
    return 0;
}

static int halt(void **state)
{
    struct stand *stand = *state;

    step_walk_end(&stand->walk);
    assert_true(LIST_EMPTY(&stand->steps.walks));
    registry_free(&stand->steps);
    free(stand);
    return 0;
}

static void assert_met(struct stand *stand, const char *jobs)
{
    meet(stand, 100);
    assert_string_equal(stand->met, jobs);
    assert_null(step_walk_next(&stand->walk));
}

static void test_all(void **state)
{
    assert_met(*state, "1 2 3 4 8 9 ");
}

static void test_live_only(void **state)
{
    struct stand *stand = *state;

    step_walk_end(&stand->walk);
    step_walk_begin(&stand->walk, &stand->steps, false);
    assert_met(stand, "1 2 3 4 ");
}

/* Those that end are met as live or as ended, and not as both. */
static void test_ends(void **state)
{
    struct stand *stand = *state;

    meet(stand, 2);
    end(stand, 1); /* met */
    end(stand, 3); /* the next one */
    assert_met(stand, "1 2 4 3 8 9 ");
}

static void test_all_end(void **state)
{
    struct stand *stand = *state;

    meet(stand, 1);
    for (uint32_t job = 1; job <= 4; job++)
        end(stand, job); /* 8 and 9 are forgotten */
    assert_met(stand, "1 4 3 2 ");
}

static void test_comes(void **state)
{
    struct stand *stand = *state;

    meet(stand, 4);
    add(stand, 5);
    assert_met(stand, "1 2 3 4 8 9 ");
}

/* Registered twice: the first one has ended, the second is another step. */
static void test_comes_again(void **state)
{
    struct stand *stand = *state;

    meet(stand, 1);
    end(stand, 2);
    add(stand, 2);
    assert_met(stand, "1 3 4 2 8 9 ");
}

static void test_forgotten(void **state)
{
    struct stand *stand = *state;

    meet(stand, 5); /* at 9 */
    for (uint32_t job = 1; job <= 3; job++)
        end(stand, job);
    assert_met(stand, "1 2 3 4 8 ");
}

static void test_dropped(void **state)
{
    struct stand *stand = *state;

    meet(stand, 1);
    registry_drop(&stand->steps, registry_find(&stand->steps, (struct wire_step_id){2, 0}));
    assert_met(stand, "1 3 4 8 9 ");
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_all),   test(test_live_only),   test(test_ends),      test(test_all_end),
        test(test_comes), test(test_comes_again), test(test_forgotten), test(test_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
