/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_animal - each class, each limit from both sides, and what the symbiosis table must be. */
#include <string.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/slowdown/animal.h"

static const struct animal_limits limits = {ANIMAL_DEVIL_MISS_PMI, ANIMAL_TURTLE_ACCESS_PMI,
                                            ANIMAL_RABBIT_LOSS_PMI};

struct row {
    size_t ways;
    double hits[4], misses;
    enum animal animal;
};

static const struct row rows[] = {
    {4, {0, 0, 0, 0}, 0, ANIMAL_TURTLE},
    {4, {1000, 900, 0, 0}, 99, ANIMAL_TURTLE},
    {4, {1000, 900, 0, 0}, 100, ANIMAL_SHEEP},     /* 2000 accesses */
    {4, {0, 0, 0, 1999}, 0, ANIMAL_TURTLE},        /* sensitive, yet asks for little */
    {4, {9000, 9000, 300, 199}, 50, ANIMAL_SHEEP}, /* half the ways lose 499 */
    {4, {9000, 9000, 300, 200}, 50, ANIMAL_RABBIT},
    {4, {0, 0, 300, 200}, 1999, ANIMAL_RABBIT},
    {4, {0, 0, 300, 200}, 2000, ANIMAL_DEVIL},
    {4, {0, 0, 0, 0}, 2000, ANIMAL_DEVIL},
    /* an odd number of ways: half of the middle one */
    {3, {5000, 999, 0}, 0, ANIMAL_SHEEP},
    {3, {5000, 1000, 0}, 0, ANIMAL_RABBIT},
    {1, {2000}, 0, ANIMAL_RABBIT},
};

static enum animal animal_of_row(size_t i, const struct animal_limits *with)
{
    return animal_of(&(struct app_sdp){rows[i].ways, rows[i].hits, rows[i].misses}, with);
}

static void test_classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(animal_of_row(i, &limits), rows[i].animal);
}

/* Extreme limits make everything one class; the devil's is asked first. */
static void test_limits(void **state)
{
    static const struct {
        struct animal_limits limits;
        enum animal animal;
    } all[] = {
        {{0, 1e12, 0}, ANIMAL_DEVIL},
        {{1e12, 1e12, 0}, ANIMAL_TURTLE},
        {{1e12, 0, 0}, ANIMAL_RABBIT},
        {{1e12, 0, 1e12}, ANIMAL_SHEEP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (size_t j = 0; j < sizeof(rows) / sizeof(rows[0]); j++)
            assert_int_equal(animal_of_row(j, &all[i].limits), all[i].animal);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(animal_name(ANIMAL_TURTLE), "turtle");
    assert_string_equal(animal_name(ANIMAL_SHEEP), "sheep");
    assert_string_equal(animal_name(ANIMAL_RABBIT), "rabbit");
    assert_string_equal(animal_name(ANIMAL_DEVIL), "devil");
}

/* Symmetric, between its ends, never better beside a worse animal; halves add up. */
static void test_symbiosis(void **state)
{
    (void)state;
    assert_true(animal_pair(ANIMAL_TURTLE, ANIMAL_TURTLE).score == 0);
    assert_true(animal_pair(ANIMAL_DEVIL, ANIMAL_DEVIL).score == 8);
    for (enum animal a = 0; a < ANIMAL_COUNT; a++)
        for (enum animal b = 0; b < ANIMAL_COUNT; b++) {
            struct app_pair pair = animal_pair(a, b);

            assert_true(pair.score == animal_pair(b, a).score);
            assert_true(pair.a_given_b == pair.b_given_a);
            assert_true(pair.a_given_b + pair.b_given_a == pair.score);
            assert_true(pair.score >= 0 && pair.score <= 8);
            assert_true(b == 0 || pair.score >= animal_pair(a, b - 1).score);
            if (a != b)
                assert_true(pair.score > 0 && pair.score < 8);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_symbiosis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
