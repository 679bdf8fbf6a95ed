/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rooms - programs of several cores, caches of unequal room, and costs that are more
 * than their pairs: against all divisions, tried one by one. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/partition/partition.h"

#define N_MAX 40

static unsigned long state;

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) < 1e-6))
        fail_msg("%g, not %g", got, wanted);
}

static size_t number(size_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % below;
}

/* Sums over pairs of known numbers; `power` of the group's size makes groups more than their pairs.
 */
struct table {
    size_t n, asked;
    double pair[N_MAX * N_MAX], alone[N_MAX], power;
};

static double table_cost(const size_t *member, size_t n, void *arg)
{
    struct table *table = arg;
    double sum = 0;

    table->asked++;
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        sum += table->alone[member[i]];
        for (size_t j = 0; j < i; j++)
            sum += table->pair[member[i] * table->n + member[j]];
    }
    return sum * pow((double)n, table->power);
}

static void table_fill(struct table *table, size_t n, double power)
{
    *table = (struct table){.n = n, .power = power};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            table->pair[i * n + j] = table->pair[j * n + i] = (double)number(1000);
}

struct setting {
    size_t cores[N_MAX], kind[N_MAX], room[N_MAX];
    struct partition problem;
};

static void setting_make(struct setting *setting, struct table *table, size_t caches, size_t room)
{
    for (size_t i = 0; i < table->n; i++) {
        setting->cores[i] = 1;
        setting->kind[i] = i;
    }
    for (size_t i = 0; i < caches; i++)
        setting->room[i] = room;
    setting->problem = (struct partition){.n = table->n,
                                          .cores = setting->cores,
                                          .kind = setting->kind,
                                          .groups = caches,
                                          .room = setting->room,
                                          .cost = table_cost,
                                          .arg = table};
}

/* The first division that fits: each program where there is room. */
static void fill_up(const struct partition *problem, size_t *cache)
{
    size_t used[N_MAX] = {0};

    for (size_t i = 0; i < problem->n; i++) {
        size_t at = 0;

        while (used[at] + problem->cores[i] > problem->room[at])
            assert_true(++at < problem->groups);
        used[at] += problem->cores[i];
        cache[i] = at;
    }
}

static void assert_fits(const struct partition *problem, const size_t *cache)
{
    size_t used[N_MAX] = {0};

    for (size_t i = 0; i < problem->n; i++) {
        assert_in_range(cache[i], 0, problem->groups - 1);
        used[cache[i]] += problem->cores[i];
    }
    for (size_t i = 0; i < problem->groups; i++)
        assert_in_range(used[i], 0, problem->room[i]);
}

/* The least cost of all divisions of the programs from `next` on. */
static double try_all(const struct partition *problem, size_t next, size_t *used, size_t *cache)
{
    double best = INFINITY;

    if (next == problem->n)
        return partition_cost(problem, cache);
    for (size_t i = 0; i < problem->groups; i++)
        if (used[i] + problem->cores[next] <= problem->room[i]) {
            used[i] += problem->cores[next];
            cache[next] = i;
            best = fmin(best, try_all(problem, next + 1, used, cache));
            used[i] -= problem->cores[next];
        }
    return best;
}

static double least(const struct partition *problem)
{
    size_t used[N_MAX] = {0}, cache[N_MAX];

    return try_all(problem, 0, used, cache);
}

static struct partition_found search(struct partition problem)
{
    size_t start[N_MAX], cache[N_MAX];
    struct partition_found result;

    fill_up(&problem, start);
    problem.start = start;
    assert_int_equal(partition_solve(&problem, cache, &result), 0);
    assert_fits(&problem, cache);
    assert_near(result.total, partition_cost(&problem, cache));
    return result;
}

/* ---- exact ---- */

static void few_programs_are_divided_exactly(void **unused)
{
    static const struct {
        size_t n, caches, room;
        double power;
    } cases[] = {{1, 1, 1, 1}, {1, 3, 2, 0}, {5, 2, 4, 0}, {6, 3, 3, 0}, {6, 2, 3, 1},
                 {6, 4, 4, 2}, {7, 3, 3, 1}, {7, 3, 8, 2}, {7, 7, 1, 1}, {5, 3, 3, -1},
                 {6, 3, 2, 1}, {5, 3, 2, 1}, {4, 4, 2, 0}, {6, 3, 2, 0}};
    struct setting setting;
    struct table table;

    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned long seed = 1; seed < 4; seed++) {
            struct partition_found result;

            state = seed;
            table_fill(&table, cases[i].n, cases[i].power);
            setting_make(&setting, &table, cases[i].caches, cases[i].room);
            result = search(setting.problem);
            assert_true(result.optimal);
            assert_false(result.stopped);
            assert_near(result.total, least(&setting.problem));
        }
}

static void wide_programs_and_uneven_caches_too(void **unused)
{
    struct setting setting;
    struct table table;

    (void)unused;
    for (unsigned long seed = 1; seed < 20; seed++) {
        const size_t start[] = {2, 1, 3, 1, 3, 3};
        size_t cache[N_MAX];
        struct partition_found result;

        state = seed;
        table_fill(&table, 6, 1);
        setting_make(&setting, &table, 4, 1);
        setting.room[1] = 4;
        setting.room[2] = 2;
        setting.room[3] = 3;
        setting.cores[0] = 2;
        setting.cores[3] = 3;
        setting.problem.start = start;
        assert_int_equal(partition_solve(&setting.problem, cache, &result), 0);
        assert_fits(&setting.problem, cache);
        assert_true(result.optimal);
        assert_near(result.total, least(&setting.problem));
    }
}

/* Who suffers alone, too, is nothing to be gained by. */
static void costs_alone_are_no_reason_to_stay_alone(void **unused)
{
    struct setting setting;
    struct table table;

    (void)unused;
    for (unsigned long seed = 1; seed < 20; seed++) {
        state = seed;
        table_fill(&table, 5, 0);
        for (size_t i = 0; i < 5; i++)
            table.alone[i] = (double)number(5000);
        setting_make(&setting, &table, 4, 2);
        assert_near(search(setting.problem).total, least(&setting.problem));
    }
}

/* Two by two the best is known for any number: neighbours in a list like each other. */
static void many_pairs_are_matched(void **unused)
{
    struct setting setting;
    struct table table;
    struct partition_found result;

    (void)unused;
    state = 7;
    table_fill(&table, N_MAX, 0);
    for (size_t i = 0; i < N_MAX; i++)
        for (size_t j = 0; j < N_MAX; j++)
            table.pair[i * N_MAX + j] += i / 2 == j / 2 ? 0 : 1000;
    for (size_t i = 0; i < N_MAX; i += 2)
        table.pair[i * N_MAX + i + 1] = table.pair[(i + 1) * N_MAX + i] = 1;
    setting_make(&setting, &table, N_MAX / 2, 2);
    result = search(setting.problem);
    assert_true(result.optimal);
    assert_near(result.total, N_MAX / 2);
}

/* ---- bounded ---- */

/* Families of four, who suffer from strangers only: the best costs nothing. */
static void families_find_each_other(void **unused)
{
    struct setting setting;
    struct table table;

    (void)unused;
    for (int power = 0; power <= 1; power++) {
        struct partition_found result;

        state = 3;
        table_fill(&table, 32, power);
        for (size_t i = 0; i < 32; i++)
            for (size_t j = 0; j < 32; j++)
                table.pair[i * 32 + j] = i % 8 == j % 8 ? 0 : 1 + table.pair[i * 32 + j];
        setting_make(&setting, &table, 8, 4);
        setting.problem.pairwise = power == 0;
        result = search(setting.problem);
        assert_near(result.total, 0);
        assert_false(result.optimal);
        assert_false(result.stopped);
    }
}

/* Too many to be proven: the same as without the one whom nobody notices, which is. */
static void the_search_finds_what_is_best(void **unused)
{
    struct setting setting;

    (void)unused;
    for (unsigned long seed = 1; seed < 8; seed++) {
        struct table few, more = {.n = PARTITION_EXACT_ANY_MAX + 1};
        struct partition_found exact, bounded;

        state = seed;
        table_fill(&few, PARTITION_EXACT_ANY_MAX, 0);
        for (size_t i = 0; i < few.n; i++)
            memcpy(&more.pair[i * more.n], &few.pair[i * few.n], few.n * sizeof(double));
        setting_make(&setting, &few, 3, N_MAX);
        exact = search(setting.problem);
        setting_make(&setting, &more, 3, N_MAX);
        bounded = search(setting.problem);
        assert_true(exact.optimal);
        assert_false(bounded.optimal);
        assert_near(bounded.total, exact.total);
    }
}

static bool at_once(void *arg)
{
    (void)arg;
    return true;
}

/* Equal input, equal result; time that is up at once leaves what was begun with, or better. */
static void time_limits_are_kept(void **unused)
{
    struct setting setting;
    struct table table;
    struct partition_found first, again, none;
    size_t cache[N_MAX];
    double begun;

    (void)unused;
    state = 11;
    table_fill(&table, N_MAX, 1);
    setting_make(&setting, &table, 10, 5);
    first = search(setting.problem);
    again = search(setting.problem);
    assert_true(first.total == again.total);
    fill_up(&setting.problem, cache);
    begun = partition_cost(&setting.problem, cache);
    setting.problem.stop = at_once;
    none = search(setting.problem);
    assert_true(none.stopped);
    assert_true(none.total <= begun);
    assert_true(first.total < begun);
}

/* Of a kind: the same groups are not asked for again. */
static void groups_are_remembered(void **unused)
{
    struct setting setting;
    struct table table;

    (void)unused;
    table_fill(&table, 24, 0);
    for (size_t i = 0; i < 24 * 24; i++)
        table.pair[i] = 1 + (double)((i % 24) % 2 == (i / 24) % 2);
    setting_make(&setting, &table, 8, 4);
    for (size_t i = 0; i < 24; i++)
        setting.kind[i] = i % 2;
    search(setting.problem);
    assert_in_range(table.asked, 1, 60); /* 14 groups of up to 4 of two kinds, and whole plans */
}

static void what_does_not_fit_is_refused(void **unused)
{
    static const size_t wide[] = {2, 1, 1}, none[] = {1, 0, 1}, room[] = {2, 1};
    static const size_t fits[] = {0, 1, 0}, beyond[] = {0, 0, 2};
    struct table table = {.n = 3};
    const struct partition sound = {
        .n = 3, .groups = 2, .room = room, .start = fits, .cost = table_cost, .arg = &table};
    struct partition bad[] = {sound, sound, sound, sound, sound};
    struct partition_found result;
    size_t cache[3] = {7, 7, 7};

    (void)unused;
    bad[0].cores = wide;
    bad[1].cores = none;
    bad[2].start = beyond;
    bad[3].groups = 1;
    bad[4].cores = wide; /* who begins nowhere has one core */
    bad[4].start = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        assert_int_equal(partition_solve(&bad[i], cache, &result), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(cache[0], 7);
    }
    assert_int_equal(partition_solve(&sound, cache, &result), 0);
}

static void nobody_is_placed_nowhere(void **unused)
{
    struct setting setting;
    struct table table = {0};
    struct partition_found result;

    (void)unused;
    setting_make(&setting, &table, 2, 2);
    assert_int_equal(partition_solve(&setting.problem, NULL, &result), 0);
    assert_true(result.total == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_programs_are_divided_exactly),
        cmocka_unit_test(wide_programs_and_uneven_caches_too),
        cmocka_unit_test(costs_alone_are_no_reason_to_stay_alone),
        cmocka_unit_test(many_pairs_are_matched),
        cmocka_unit_test(families_find_each_other),
        cmocka_unit_test(the_search_finds_what_is_best),
        cmocka_unit_test(time_limits_are_kept),
        cmocka_unit_test(groups_are_remembered),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(nobody_is_placed_nowhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
