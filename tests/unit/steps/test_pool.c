/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_pool - the permutation of the pool's cores: by hand, and its promises under thousands of
 * random changes. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CORES 24

static int make(void **state)
{
    static struct pool pool;

    *state = &pool;
    return pool_init(&pool, 4);
}

static int unmake(void **state)
{
    pool_free(*state);
    return 0;
}

static void join_all(struct pool *pool)
{
    for (size_t i = 0; i < pool->cores; i++)
        pool_join(pool, i);
}

static void test_empty(void **state)
{
    struct pool *pool = *state;

    assert_stand(pool, "- - - -");
    assert_int_equal(pool_count(pool), 0);
    assert_false(pool_has(pool, 0));
    assert_false(pool_has(pool, 4));
    assert_false(pool_has(pool, POOL_OUTSIDE));
}

static void test_no_cores(void **state)
{
    struct pool none, copy;

    (void)state;
    assert_int_equal(pool_init(&none, 0), 0);
    assert_int_equal(pool_copy(&copy, &none), 0);
    assert_int_equal(pool_assign(&none, 0, NULL, NULL), 0);
    assert_int_equal(pool_count(&copy), 0);
    pool_free(&none);
    pool_free(&copy);
}

static void test_join_once(void **state)
{
    struct pool *pool = *state;

    join_all(pool);
    assert_int_equal(pool_assign(pool, 1, (size_t[]){0}, (size_t[]){1}), 0);
    pool_join(pool, 0); /* is in already: keeps its place */
    pool_join(pool, 9);
    assert_stand(pool, "1 0 2 3");
    assert_int_equal(pool_count(pool), 4);
}

static void test_leave(void **state)
{
    struct pool *pool = *state;

    join_all(pool);
    assert_int_equal(pool_assign(pool, 3, (size_t[]){0, 1, 2}, (size_t[]){1, 2, 0}), 0);
    assert_stand(pool, "1 2 0 3");
    pool_leave(pool, 1); /* 0 stood on 1; 1 stood on 2 */
    assert_stand(pool, "2 - 0 3");
    pool_leave(pool, 1);
    pool_leave(pool, 9);
    assert_stand(pool, "2 - 0 3");
    pool_leave(pool, 3);
    assert_stand(pool, "2 - 0 -");
}

static void test_assign(void **state)
{
    static const struct {
        size_t n, from[4], to[4];
        int rc;
        const char *stand;
    } cases[] = {
        {0, {0}, {0}, 0, "1 0 2 3"},       /* nothing asked: everybody stays */
        {1, {2}, {3}, 0, "1 0 3 2"},       /* 3's place is taken: it takes what is left */
        {1, {2}, {0}, 0, "1 2 0 3"},       /* 1 loses 0, its home 1 is taken by 0 */
        {2, {0, 1}, {0, 1}, 0, "0 1 2 3"}, /* home */
        {4, {0, 1, 2, 3}, {3, 2, 1, 0}, 0, "3 2 1 0"},
        {2, {0, 1}, {2, 2}, EINVAL, "1 0 2 3"}, /* one place twice */
        {2, {0, 0}, {2, 3}, EINVAL, "1 0 2 3"}, /* one core twice */
        {1, {4}, {0}, EINVAL, "1 0 2 3"},       /* no such core */
        {1, {0}, {POOL_OUTSIDE}, EINVAL, "1 0 2 3"},
    };
    struct pool *pool = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        join_all(pool);
        pool_reset(pool);
        assert_int_equal(pool_assign(pool, 2, (size_t[]){0, 1}, (size_t[]){1, 0}), 0);
        errno = 0;
        assert_int_equal(pool_assign(pool, cases[i].n, cases[i].from, cases[i].to),
                         cases[i].rc ? -1 : 0);
        assert_int_equal(errno, cases[i].rc);
        assert_stand(pool, cases[i].stand);
    }
}

static void test_assign_outside(void **state)
{
    struct pool *pool = *state;

    pool_join(pool, 0);
    pool_join(pool, 1);
    assert_int_equal(pool_assign(pool, 1, (size_t[]){0}, (size_t[]){2}), -1);
    assert_int_equal(pool_assign(pool, 1, (size_t[]){2}, (size_t[]){0}), -1);
    assert_stand(pool, "0 1 - -");
}

static void test_copy_and_reset(void **state)
{
    struct pool *pool = *state, copy;

    join_all(pool);
    pool_leave(pool, 3);
    assert_int_equal(pool_assign(pool, 1, (size_t[]){0}, (size_t[]){2}), 0);
    assert_int_equal(pool_copy(&copy, pool), 0);
    pool_reset(pool);
    assert_stand(pool, "0 1 2 -");
    assert_stand(&copy, "2 1 0 -");
    pool_free(&copy);
}

/* ---- what holds after any change ---- */

static void assert_permutation(const struct pool *pool)
{
    bool stood_on[CORES] = {false};

    for (size_t i = 0; i < pool->cores; i++) {
        if (!pool_has(pool, i))
            continue;
        assert_true(pool_has(pool, pool->stand[i]));
        assert_false(stood_on[pool->stand[i]]);
        stood_on[pool->stand[i]] = true;
    }
}

/* Only who stood on the leaver moved, and to where the leaver stood. */
static void leave_and_check(struct pool *pool, size_t core)
{
    struct pool before;

    assert_int_equal(pool_copy(&before, pool), 0);
    pool_leave(pool, core);
    for (size_t i = 0; i < pool->cores; i++) {
        size_t was = before.stand[i];

        if (i == core)
            assert_true(pool->stand[i] == POOL_OUTSIDE);
        else if (was == core && pool_has(&before, core))
            assert_int_equal(pool->stand[i], before.stand[core]);
        else
            assert_true(pool->stand[i] == was);
    }
    pool_free(&before);
}

static size_t take(size_t *from, size_t *left)
{
    size_t at = (size_t)random() % *left, taken = from[at];

    from[at] = from[--*left];
    return taken;
}

/* Random wishes among the pool's cores: they come true, the rest stays a permutation. */
static void assign_and_check(struct pool *pool)
{
    size_t sources[CORES], targets[CORES], from[CORES], to[CORES], left = 0, left_to, n;

    for (size_t i = 0; i < pool->cores; i++)
        if (pool_has(pool, i))
            sources[left] = targets[left] = i, left++;
    n = left ? (size_t)random() % (left + 1) : 0;
    left_to = left;
    for (size_t i = 0; i < n; i++) {
        from[i] = take(sources, &left);
        to[i] = take(targets, &left_to);
    }
    assert_int_equal(pool_assign(pool, n, from, to), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pool->stand[from[i]], to[i]);
}

static void test_random(void **state)
{
    struct pool pool;

    (void)state;
    srandom(20260214);
    assert_int_equal(pool_init(&pool, CORES), 0);
    for (size_t i = 0; i < 20000; i++) {
        size_t core = (size_t)random() % (CORES + 1);
        size_t count = pool_count(&pool);
        bool in = pool_has(&pool, core);

        switch (random() % 8) {
        case 0:
        case 1:
        case 2:
            pool_join(&pool, core);
            assert_int_equal(pool_count(&pool), count + (!in && core < CORES));
            break;
        case 3:
        case 4:
            leave_and_check(&pool, core);
            assert_int_equal(pool_count(&pool), count - in);
            break;
        case 5:
            if (random() % 16 == 0)
                pool_reset(&pool);
            break;
        default:
            assign_and_check(&pool);
            assert_int_equal(pool_count(&pool), count);
        }
        assert_permutation(&pool);
    }
    pool_free(&pool);
}

#define test(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_empty),          cmocka_unit_test(test_no_cores),
        test(test_join_once),      test(test_leave),
        test(test_assign),         test(test_assign_outside),
        test(test_copy_and_reset), cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
