/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cosit - who shares a core: the rule beside all divisions, exchanges beside all standings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/placing/cosit.h"
#include "tests/unit/common/noise.h"

/* ---- the rule ---- */

static void nobody_shares_while_a_core_is_free(void **state)
{
    const double use[] = {1, 3, 2};
    size_t core[3];

    (void)state;
    cosit_divide(3, use, 3, core);
    assert_int_equal(core[1], 0); /* the one that uses its core most is first */
    assert_int_equal(core[2], 1);
    assert_int_equal(core[0], 2);
}

static void the_lightest_share(void **state)
{
    const double use[] = {5, 1, 4, 2, 3};
    size_t core[5];

    (void)state;
    cosit_divide(5, use, 4, core);
    assert_int_equal(core[1], core[3]);
    for (size_t i = 0; i < 5; i++)
        assert_true(i == 1 || i == 3 || core[i] != core[1]);
}

static void nothing_to_divide(void **state)
{
    double use[COSIT_MAX + 1] = {0};
    size_t core[COSIT_MAX + 1];

    (void)state;
    memset(core, 7, sizeof(core));
    cosit_divide(COSIT_MAX + 1, use, 4, core);
    assert_int_equal(core[COSIT_MAX], 0);
    cosit_divide(2, use, 0, core);
    assert_int_equal(core[1], 0);
    cosit_divide(0, NULL, 4, NULL);
}

static struct noise noise = {1};

/* Returns the least sum of products of all divisions into twos of those that are left. */
static double least(size_t n, const double *use, unsigned left)
{
    double best = INFINITY;
    size_t first = 0;

    if (!left)
        return 0;
    while (!(left & 1u << first))
        first++;
    for (size_t i = first + 1; i < n; i++)
        if (left & 1u << i)
            best = fmin(best, use[first] * use[i] + least(n, use, left & ~(1u << first | 1u << i)));
    return best;
}

static void no_division_has_smaller_products(void **state)
{
    (void)state;
    for (int draw = 0; draw < 50; draw++) {
        double use[8], sum = 0;
        size_t core[8];

        for (size_t i = 0; i < 8; i++)
            use[i] = noise_uniform(&noise);
        cosit_divide(8, use, 4, core);
        for (size_t i = 0; i < 8; i++)
            for (size_t j = i + 1; j < 8; j++)
                sum += core[i] == core[j] ? use[i] * use[j] : 0;
        assert_true(fabs(sum - least(8, use, 0xff)) < 1e-9);
    }
}

/* ---- exchanges ---- */

enum { PLACES = 6 }; /* three cores of two threads */

struct scene {
    double loses[PLACES][PLACES];
    size_t core[PLACES], group[PLACES], began[PLACES];
    bool fixed[PLACES], works[PLACES];
    double price[PLACES], bears[PLACES];
    struct cosit cosit;
};

static double loses_of(size_t a, size_t b, void *arg)
{
    return ((struct scene *)arg)->loses[a][b];
}

/* Fills in three cores of one cache with programs that lose what is drawn. */
static void set_scene(struct scene *scene)
{
    *scene = (struct scene){.cosit = {.n = PLACES,
                                      .core = scene->core,
                                      .group = scene->group,
                                      .fixed = scene->fixed,
                                      .works = scene->works,
                                      .began = scene->began,
                                      .price = scene->price,
                                      .bears = scene->bears,
                                      .horizon = 60,
                                      .loses = loses_of,
                                      .arg = scene}};
    for (size_t i = 0; i < PLACES; i++) {
        scene->core[i] = i / 2;
        scene->works[i] = true;
        scene->began[i] = i;
        scene->bears[i] = INFINITY;
        for (size_t j = 0; j < PLACES; j++)
            scene->loses[i][j] = noise_uniform(&noise);
    }
}

static double lost(const struct scene *scene, const size_t *who)
{
    double sum = 0;

    for (size_t i = 0; i < PLACES; i++) {
        size_t self = who[i], other = who[i ^ 1];
        double slowdown = scene->works[self] && scene->works[other] ? scene->loses[self][other] : 0;

        sum += slowdown / (1 + slowdown);
    }
    return sum;
}

/* With three cores each division is one exchange away from each other one, or two. */
static void the_best_division_is_found_or_nearly(void **state)
{
    double off = 0, before = 0;

    (void)state;
    for (int draw = 0; draw < 100; draw++) {
        size_t who[PLACES], order[PLACES];
        double best = INFINITY;
        struct scene scene;

        set_scene(&scene);
        cosit_improve(&scene.cosit, who);
        for (size_t i = 1; i < PLACES; i++) /* beside number 0 */
            for (size_t j = 2; j < PLACES - 1; j++) {
                size_t rest[4], n = 0;

                for (size_t k = 1; k < PLACES; k++)
                    if (k != i)
                        rest[n++] = k;
                memcpy(order, (size_t[]){0, i, rest[0], rest[j - 1], 0, 0}, sizeof(order));
                n = 4;
                for (size_t k = 1; k < 4; k++)
                    if (k != j - 1)
                        order[n++] = rest[k];
                best = fmin(best, lost(&scene, order));
            }
        before += lost(&scene, (size_t[]){0, 1, 2, 3, 4, 5}) - best;
        off += lost(&scene, who) - best;
        assert_true(lost(&scene, who) > best - 1e-9);
    }
    assert_true(off < 0.1 * before);
}

static void who_shares_goes_to_a_free_core(void **state)
{
    struct scene scene;
    size_t who[PLACES];

    (void)state;
    set_scene(&scene);
    for (size_t i = 2; i < PLACES; i++)
        scene.works[i] = false;
    assert_int_equal(cosit_improve(&scene.cosit, who), 1);
    assert_true(lost(&scene, who) == 0);
    scene.works[2] = scene.works[4] = true; /* no core is free: some two share */
    cosit_improve(&scene.cosit, who);
    assert_true(lost(&scene, who) > 0);
}

/* Whoever is fixed, on another cache, or would gain less than it costs, stays. */
static void others_stay(void **state)
{
    struct scene scene;
    size_t who[PLACES];

    (void)state;
    for (int why = 0; why < 4; why++) {
        set_scene(&scene);
        for (size_t i = 0; i < PLACES; i++) {
            scene.works[i] = i < 2;
            scene.fixed[i] = why == 0;
            scene.group[i] = why == 1 ? scene.core[i] : 0;
            scene.price[i] = why >= 2 ? 61 : 0;
            scene.bears[i] = why == 3 ? 0 : INFINITY;
        }
        scene.loses[0][1] = scene.loses[1][0] = 0.5;
        assert_int_equal(cosit_improve(&scene.cosit, who), why == 3); /* who bears nothing goes */
    }
}

/* Who has left his place for nothing may go on for nothing; who would come home gets his price. */
static void what_was_paid_counts(void **state)
{
    struct scene scene;
    size_t who[PLACES];

    (void)state;
    set_scene(&scene);
    for (size_t i = 0; i < PLACES; i++) {
        scene.works[i] = i < 2;
        scene.price[i] = 61;
        scene.began[i] = COSIT_NOWHERE;
    }
    scene.loses[0][1] = scene.loses[1][0] = 0.5;
    assert_int_equal(cosit_improve(&scene.cosit, who), 1);
    scene.works[1] = false;
    scene.began[0] = 2; /* nobody shares, and he is back */
    assert_int_equal(cosit_improve(&scene.cosit, who), 1);
    assert_int_equal(who[2], 0);
    scene.cosit.changes_max = 1;
    scene.began[1] = 4;
    scene.works[1] = true;
    assert_int_equal(cosit_improve(&scene.cosit, who), 1);
}

/* Nobody is made slower than he bears for what others gain. */
static void nobody_pays_too_much(void **state)
{
    struct scene scene;
    size_t who[PLACES];

    (void)state;
    set_scene(&scene);
    memset(scene.loses, 0, sizeof(scene.loses));
    scene.works[4] = scene.works[5] = false;
    scene.fixed[4] = scene.fixed[5] = true;
    scene.loses[0][1] = scene.loses[1][0] = scene.loses[2][3] = scene.loses[3][2] = 0.9;
    scene.loses[0][2] = scene.loses[0][3] = 0.95; /* worse for him, far better for all */
    assert_int_equal(cosit_improve(&scene.cosit, who), 1);
    scene.bears[0] = 0.9;
    assert_int_equal(cosit_improve(&scene.cosit, who), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_shares_while_a_core_is_free),
        cmocka_unit_test(the_lightest_share),
        cmocka_unit_test(nothing_to_divide),
        cmocka_unit_test(no_division_has_smaller_products),
        cmocka_unit_test(the_best_division_is_found_or_nearly),
        cmocka_unit_test(who_shares_goes_to_a_free_core),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(what_was_paid_counts),
        cmocka_unit_test(nobody_pays_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
