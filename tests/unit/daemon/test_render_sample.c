/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_render_sample - what berthctl record is told of a step: its names, and what is counted. */
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/daemon/render_sample.h"
#include "packer/observe/window.h"

static int open_replay(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    FILE *file;

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    file = fopen(f->conf.counters_replay, "w");
    if (!file)
        return -1;
    fprintf(file, "step,at,cycles,threads\nsolver,1000,100000,2\n");
    fclose(file);
    f->conf.startup_ms = 0;
    fixture_restart(f);
    fixture_paper(f);
    *state = f;
    return 0;
}

static const char *text(struct json_object *object, const char *key)
{
    return json_object_get_string(json_object_object_get(object, key));
}

static void test_counts(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 7, "0", "solver");
    struct json_object *sample;
    double at_s, cycles;

    window_turn(&f->packer); /* its start-up is over */
    step->started_mono_s -= 5;
    sample = render_sample(&f->packer, step, true);
    assert_string_equal(text(sample, "id"), "7.0");
    assert_string_equal(text(sample, "step"), "solver");
    at_s = json_object_get_double(json_object_object_get(sample, "at"));
    cycles = json_object_get_double(json_object_object_get(sample, "cycles"));
    assert_true(at_s >= 5 && cycles >= 500);
    assert_true(cycles >= 100 * at_s && cycles < 100000);
    assert_null(json_object_object_get(sample, "threads")); /* not before its sample */
    assert_null(json_object_object_get(sample, "instructions"));
    json_object_put(sample);
}

/* Nothing is counted of it: it has no recording. */
static void test_uncounted(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 7, "0", "other");
    struct json_object *sample;

    window_turn(&f->packer);
    sample = render_sample(&f->packer, step, true);
    assert_int_equal(json_object_object_length(sample), 3);
    json_object_put(sample);
}

static void test_names(void **state)
{
    static const struct {
        const char *tag, *exe, *name;
    } cases[] = {{"", "/usr/bin/solver", "solver"},
                 {"t", "/usr/bin/solver", "t"},
                 {"", "a b", "a b"},
                 {"", "", "7.0"}};
    struct fixture *f = *state;
    struct step *step = fixture_run(f, 7, "0", "other");

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_object *sample;

        strcpy(step->request.options.tag, cases[i].tag);
        step->request.exe = cases[i].exe;
        sample = render_sample(&f->packer, step, true);
        assert_string_equal(text(sample, "step"), cases[i].name);
        json_object_put(sample);
    }
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_replay, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {test(test_counts), test(test_uncounted), test(test_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
