/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bound - what is said of max-slowdown: in the plugin's note, and in explain. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "packer/daemon/answer.h"
#include "packer/daemon/render.h"
#include "packer/place/bound.h"

static int open_it(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);

    strcpy(f->packer.world.conf.isolate_users, "1000");
    *state = f;
    return 0;
}

/* Starts a step that may lose so many percent to others; < 0: it says nothing of that. */
static struct step *start(struct fixture *f, double percent)
{
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, NULL);

    request.options.max_slowdown_pct = percent;
    return fixture_start(f, request);
}

/* Says what the placement would: this is predicted. */
static void predict(struct step *step, double slowdown)
{
    step->place.predicted = slowdown;
    step->place.met = slowdown <= step->place.max_slowdown;
}

static void assert_note(const struct fixture *f, const struct step *step, const char *wanted)
{
    char text[256];

    bound_note(&f->packer, step, text, sizeof(text));
    assert_string_equal(text, wanted);
}

/* Compares place.max_slowdown of explain with a JSON text. */
static void assert_explained(const struct fixture *f, const struct step *step, const char *wanted)
{
    struct json_object *object = render_explanation(&f->packer, step, 0), *place, *bound;

    assert_true(json_object_object_get_ex(object, "place", &place));
    assert_true(json_object_object_get_ex(place, "max_slowdown", &bound));
    assert_string_equal(
        bound ? json_object_to_json_string_ext(bound, JSON_C_TO_STRING_PLAIN) : "null", wanted);
    json_object_put(object);
}

static void test_nobody_asked(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, -1);

    assert_note(f, step, "");
    assert_explained(f, step, "null");
}

static void test_met(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, 12.5);

    assert_true(step->place.max_slowdown == 0.125);
    predict(step, 0.125);
    assert_note(f, step, "; max-slowdown=12.5 is met: predicted 12 % slower than alone");
    assert_explained(f, step,
                     "{\"asked\":0.125,\"predicted\":0.125,\"met\":true,"
                     "\"reason\":\"predicted 12 % slower than alone\"}");
    predict(step, 0.25);
    assert_note(f, step,
                "; max-slowdown=12.5 is not met: predicted 25 % slower than alone, and no better "
                "place was found");
    assert_explained(f, step,
                     "{\"asked\":0.125,\"predicted\":0.25,\"met\":false,\"reason\":\"predicted 25 "
                     "% slower than alone, and no better place was found\"}");
}

/* Nothing at all is a bound, too, and not the same as none. */
static void test_zero(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, 0);

    predict(step, 0);
    assert_note(f, step, "; max-slowdown=0 is met: predicted 0.0 % slower than alone");
}

/* What is not known is not met, and not missed. */
static void test_unknown(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, 50);

    predict(step, NAN);
    assert_note(f, step,
                "; max-slowdown=50 has no effect: too little is known to predict slowdowns");
    assert_explained(f, step,
                     "{\"asked\":0.5,\"predicted\":null,\"met\":null,"
                     "\"reason\":\"too little is known to predict slowdowns\"}");
    step->state = STEP_LEFT;
    predict(step, 0.01);
    assert_note(f, step, "; max-slowdown=50 has no effect: berth does not place it");
    step->state = STEP_OBSERVED;
    assert_note(f, step, "; max-slowdown=50 has no effect: only observed");
}

/* The plugin's note says who may not ask, and so does explain. */
static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0", "0", 1, NULL);
    struct wire_answer answer;
    struct step *step;

    f->packer.world.conf.isolate_users[0] = '\0';
    request.options.max_slowdown_pct = 5;
    pipeline_start(&f->packer, &request, &answer);
    assert_true(answer.ok && answer.managed);
    assert_non_null(strstr(answer.note, "; max-slowdown has no effect: berth.conf names neither"));
    wire_answer_clear(&answer);
    step = registry_find(f->packer.steps, (struct wire_step_id){1, 0});
    assert_true(isnan(step->place.max_slowdown));
    assert_string_equal(step->refused, "max-slowdown");
    assert_explained(f, step,
                     "{\"asked\":null,\"predicted\":null,\"met\":false,\"reason\":\"berth.conf "
                     "names neither its user nor a group, account or QOS of it (its key "
                     "grant)\"}");
    strcpy(f->packer.world.conf.isolate_users, "*");
    assert_note(f, step,
                "; max-slowdown has no effect: berth.conf did not allow it when the step began");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_it, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_nobody_asked), test(test_met),     test(test_zero),
        test(test_unknown),      test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
