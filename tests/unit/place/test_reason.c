/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_reason - what people are told of why a step stands where it stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "packer/place/reason.h"

/* A step that contend placed second of four. */
static struct step placed(enum step_rung rung, double confidence, double predicted)
{
    return (struct step){.place = {.policy = WIRE_POLICY_CONTEND,
                                   .policy_asked = WIRE_POLICY_CONTEND,
                                   .rank = 2,
                                   .of = 4,
                                   .predicted = predicted,
                                   .confidence = confidence},
                         .knowledge = {.rung = rung, .model = rung}};
}

static void assert_told(const struct step *step, const char *reason, const char *note)
{
    char text[256];

    place_reason(step, true, text, sizeof(text));
    assert_string_equal(text, reason);
    place_note(step, true, text, sizeof(text));
    assert_string_equal(text, note);
}

static void test_rungs(void **state)
{
    static const struct {
        enum step_rung rung, model;
        double windows, confidence;
        const char *told;
    } cases[] = {
        {RUNG_AVERAGE, RUNG_AVERAGE, 0, 0.25,
         "known by the average of the node's programs, confidence 0.25"},
        {RUNG_PROBE, RUNG_PROBE, 0, 0.5, "known by probe, confidence 0.50"},
        {RUNG_COUNTERS, RUNG_COUNTERS, 0, 0.875, "known by counters, confidence 0.88"},
        {RUNG_DISTANCES, RUNG_DISTANCES, 0, 1, "known by stack distances, confidence 1.00"},
        {RUNG_PAIRS, RUNG_DISTANCES, 14, 0.8,
         "known by stack distances and 14 windows beside others, confidence 0.80"},
        {RUNG_PAIRS, RUNG_AVERAGE, 1, 0.8,
         "known by the average of the node's programs and 1 window beside others, confidence "
         "0.80"},
    };
    char wanted[256];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step step = placed(cases[i].rung, cases[i].confidence, 0.031);
        char note[256];

        step.knowledge.model = cases[i].model;
        step.knowledge.windows = cases[i].windows;
        snprintf(wanted, sizeof(wanted), "predicted 3.1 %% slower than alone (%s)", cases[i].told);
        snprintf(note, sizeof(note), "placed by contend: %.200s", wanted);
        assert_told(&step, wanted, note);
    }
}

/* Of whom nothing is known, nothing is predicted. */
static void test_nothing_known(void **state)
{
    struct step step = placed(RUNG_NOTHING, NAN, 0);

    (void)state;
    assert_told(&step, "", "placed by contend");
    step = placed(RUNG_DISTANCES, NAN, NAN);
    assert_told(&step, "", "placed by contend");
}

/* Whom another policy has placed than the one that was asked for is told why. */
static void test_another_policy(void **state)
{
    struct step step = placed(RUNG_MISSES, 0.5, 0.5);

    (void)state;
    step.place.policy_asked = WIRE_POLICY_PAIN;
    assert_told(&step,
                "predicted 50 % slower than alone (known by miss rate, confidence 0.50); pain "
                "gives way where steps "
                "ask for another policy",
                "placed by contend: predicted 50 % slower than alone (known by miss rate, "
                "confidence 0.50); pain "
                "gives way where steps ask for another policy");
    step = placed(RUNG_NOTHING, NAN, NAN);
    step.place.policy = WIRE_POLICY_DI;
    assert_told(&step,
                "DI: number 2 of 4 by cache misses, which are spread over packages, caches and "
                "cores; too little "
                "is known here for contend",
                "DI: number 2 of 4 by cache misses, which are spread over packages, caches and "
                "cores; too little "
                "is known here for contend");
}

static void test_rules(void **state)
{
    struct step step = placed(RUNG_MISSES, 0.5, 0.02);

    (void)state;
    step.place.policy = step.place.policy_asked = WIRE_POLICY_DIO_POWER;
    step.place.edp.choice = PLACE_CLUSTERED;
    assert_told(
        &step,
        "DIO-POWER: number 2 of 4 by cache misses, clustered on as few caches as keep apart "
        "those that disturb others; predicted 2.0 % slower than alone (known by miss rate, "
        "confidence 0.50)",
        "DIO-POWER: number 2 of 4 by cache misses, clustered on as few caches as keep apart "
        "those that disturb others; predicted 2.0 % slower than alone (known by miss rate, "
        "confidence 0.50)");
}

/* A reader who may not know how many steps there are is told the rest. */
static void test_no_counts(void **state)
{
    struct step step = placed(RUNG_MISSES, 0.5, 0.02);
    char text[256];

    (void)state;
    step.place.policy = step.place.policy_asked = WIRE_POLICY_DI;
    place_reason(&step, false, text, sizeof(text));
    assert_string_equal(
        text,
        "DI: by cache misses, which are spread over packages, caches and cores; predicted 2.0 % "
        "slower than alone (known by miss rate, confidence 0.50)");
    place_note(&step, false, text, sizeof(text));
    assert_null(strstr(text, "number"));
}

/* Who was not decided about. */
static void test_not_decided(void **state)
{
    struct step step = placed(RUNG_DISTANCES, 1, 0.5);

    (void)state;
    step.place.rank = 0;
    assert_told(&step, "goes where the cores of its job go", "goes where the cores of its job go");
    step.place.of = 0;
    assert_told(&step, "not placed", "not placed");
    step.place.adopted = true;
    assert_told(&step, "adopted after a restart of berthd, where it was",
                "adopted after a restart of berthd, where it was");
}

/* What is kept says who decided and how, and neither how many there were nor what was expected. */
static void test_kept(void **state)
{
    static const struct {
        enum wire_policy policy, asked;
        enum step_choice choice;
        size_t rank;
        const char *why;
    } cases[] = {
        {WIRE_POLICY_CONTEND, WIRE_POLICY_CONTEND, PLACE_NO_CHOICE, 2,
         "contend: of all places this one costs the node's steps least speed"},
        {WIRE_POLICY_DI, WIRE_POLICY_DI, PLACE_NO_CHOICE, 2,
         "DI: by cache misses, which are spread over packages, caches and cores"},
        {WIRE_POLICY_DIO_POWER, WIRE_POLICY_DIO_POWER, PLACE_CLUSTERED, 2,
         "DIO-POWER: by cache misses, clustered on as few caches as keep apart those that disturb "
         "others"},
        {WIRE_POLICY_CONTEND, WIRE_POLICY_PAIN, PLACE_NO_CHOICE, 2,
         "contend: of all places this one costs the node's steps least speed; pain gives way "
         "where steps ask for another policy"},
        {WIRE_POLICY_CONTEND, WIRE_POLICY_CONTEND, PLACE_NO_CHOICE, 0,
         "goes where the cores of its job go"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step step = placed(RUNG_DISTANCES, 1, 0.5);
        char told[256];

        step.state = STEP_PLACED;
        step.place.policy = cases[i].policy;
        step.place.policy_asked = cases[i].asked;
        step.place.edp.choice = cases[i].choice;
        step.place.rank = cases[i].rank;
        assert_false(place_note_why(&step)); /* nothing was decided */
        step.place.decided = true;
        assert_true(place_note_why(&step));
        assert_string_equal(step.place.why, cases[i].why);
        assert_false(place_note_why(&step));
        /* a berthd that has adopted it knows what the one before it has kept */
        step.place.adopted = step.place.decided = true;
        step.place.rank = step.place.of = 0;
        assert_false(place_note_why(&step));
        snprintf(told, sizeof(told), "adopted after a restart of berthd, where it was: %s",
                 cases[i].why);
        assert_told(&step, told, told);
    }
}

/* Who is left alone has no place of berth's choice, whatever the policies made of it. */
static void test_left_has_none(void **state)
{
    struct step step = placed(RUNG_DISTANCES, 1, 0.5);

    (void)state;
    step.state = STEP_LEFT;
    step.place.decided = true;
    assert_false(place_note_why(&step));
    assert_string_equal(step.place.why, "");
}

static void test_percent(void **state)
{
    char text[REASON_PERCENT_MAX];

    (void)state;
    assert_string_equal(reason_percent(0, text), "0.0");
    assert_string_equal(reason_percent(0.0314, text), "3.1");
    assert_string_equal(reason_percent(0.0994, text), "9.9");
    assert_string_equal(reason_percent(0.0996, text), "10");
    assert_string_equal(reason_percent(12.5, text), "1250");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rungs),          cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_another_policy), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_not_decided),    cmocka_unit_test(test_percent),
        cmocka_unit_test(test_no_counts),      cmocka_unit_test(test_kept),
        cmocka_unit_test(test_left_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
