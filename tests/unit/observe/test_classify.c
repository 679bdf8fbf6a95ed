/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_classify - from a step's key to its miss rate, its class and its rank. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "packer/observe/classify.h"

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static struct step *classified(struct fixture *f, const char *tag)
{
    struct step *step = fixture_put(f, 1, 0, "0", NAN, (const char *const[]){"0", NULL});

    strcpy(step->request.options.tag, tag);
    classify_profile(&f->packer, step);
    classify_step(&f->packer, step);
    return step;
}

/* The paper's threshold: 2000 misses per million instructions make a devil. */
static void test_threshold(void **state)
{
    static const struct {
        double miss_pmi;
        enum step_class_id class;
    } cases[] = {{0, STEP_TURTLE}, {1999.9, STEP_TURTLE}, {2000, STEP_DEVIL}, {1e6, STEP_DEVIL}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct step *step;

        fixture_profile(f, "t", cases[i].miss_pmi);
        step = classified(f, "t");
        assert_true(step->profile.known);
        assert_true(step->profile.miss_pmi == cases[i].miss_pmi);
        assert_string_equal(step->profile.source, "valgrind");
        assert_int_equal(step->class.id, cases[i].class);
        assert_non_null(strstr(step->class.reason, "2000 or more"));
        assert_true(classify_rate(&f->packer, step) == cases[i].miss_pmi);
        registry_drop(f->packer.steps, step);
    }
}

static void test_threshold_is_configured(void **state)
{
    struct fixture *f = *state;

    fixture_profile(f, "t", 50);
    f->packer.world.conf.devil_miss_pmi = 40;
    assert_int_equal(classified(f, "t")->class.id, STEP_DEVIL);
}

static void assert_unprofiled(struct fixture *f, const struct step *step)
{
    assert_false(step->profile.known);
    assert_true(isnan(step->profile.miss_pmi)); /* measured or nothing */
    assert_int_equal(step->class.id, STEP_UNPROFILED);
    assert_non_null(strstr(step->class.reason, "no profile"));
    assert_true(classify_rate(&f->packer, step) == f->packer.world.conf.neutral_miss_pmi);
}

static void test_unprofiled(void **state)
{
    struct fixture *f = *state;

    assert_unprofiled(f, classified(f, "t")); /* no store at all */
    fixture_profile(f, "other", 5);
    assert_unprofiled(f, classified(f, "t"));
    assert_unprofiled(f, classified(f, "")); /* by its program */
}

/* Neither tag nor program: nothing is looked up, not even an empty key. */
static void test_no_key(void **state)
{
    struct fixture *f = *state;
    struct step *step = classified(f, "");

    step->request.exe = "";
    classify_profile(&f->packer, step);
    assert_unprofiled(f, step);
}

/* The store is no database: said in the log, the step is unprofiled. */
static void test_broken_store(void **state)
{
    struct fixture *f = *state;
    FILE *file = fopen(f->conf.profile_db, "we");

    assert_non_null(file);
    for (int i = 0; i < 1000; i++)
        fputs("this is no database ", file);
    fclose(file);
    assert_unprofiled(f, classified(f, "t"));
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_threshold),    test(test_threshold_is_configured),
        test(test_unprofiled),   test(test_no_key),
        test(test_broken_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
