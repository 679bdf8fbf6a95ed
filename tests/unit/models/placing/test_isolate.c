/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_isolate - who is isolated, where, and when not: by hand, and what must hold on any machine.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/placing/isolate.h"
#include "tests/unit/common/machine.h"

#define DEVIL 2000

enum { LEVEL_PACKAGE, LEVEL_CACHE };

/* ---- hand-worked ---- */

/* A unit of one core, a group of its own. */
struct thread {
    double miss_pmi;
    bool prioritised, sensitive;
};

static void units_of(struct isolate_unit *unit, size_t n, const struct thread *thread)
{
    for (size_t i = 0; i < n; i++)
        unit[i] = (struct isolate_unit){.unit = {thread[i].miss_pmi, 1},
                                        .group = i,
                                        .prioritised = thread[i].prioritised,
                                        .sensitive = thread[i].sensitive};
}

struct hand {
    size_t arity[3];
    size_t level, n;
    struct thread thread[8]; /* miss_pmi, prioritised, sensitive */
    size_t core[8];
    bool isolated[8];
};

static const struct hand hands[] = {
    /* LAMP: four Apaches, one of them chosen, four MySQLs. Apache 0 has the first package; 1 to 3
     * go to the second, caches 2 3 2; then the MySQLs to packages 0 0 0 1, caches 1 0 1 3 */
    {{2, 2, 2},
     LEVEL_PACKAGE,
     8,
     {{9000, true, true},
      {9000, false, true},
      {9000, false, true},
      {9000, false, true},
      {40, false, false},
      {30, false, false},
      {20, false, false},
      {10, false, false}},
     {0, 4, 6, 5, 2, 1, 3, 7},
     {true}},
    /* chosen, yet not sensitive: DI, and nobody is isolated */
    {{2, 2, 2},
     LEVEL_PACKAGE,
     3,
     {{9000, true, false}, {8000, false, true}, {7000, false, true}},
     {0, 4, 6},
     {false}},
    /* sensitive, yet not chosen */
    {{2, 2, 2},
     LEVEL_PACKAGE,
     3,
     {{9000, false, true}, {8000, false, true}, {7000, false, true}},
     {0, 4, 6},
     {false}},
    /* chosen with a low miss rate, but sensitive: the devils stay away */
    {{1, 2, 2},
     LEVEL_CACHE,
     3,
     {{9000, false, true}, {8000, false, true}, {10, true, true}},
     {2, 3, 0},
     {false, false, true}},
    /* three devils do not fit beside one who has a cache of two */
    {{1, 2, 2},
     LEVEL_CACHE,
     4,
     {{9000, false, true}, {8000, false, true}, {7000, false, true}, {6000, true, true}},
     {0, 2, 3, 1},
     {false}},
    /* two are chosen, one can be: the other is the devil who must be somewhere */
    {{1, 2, 2}, LEVEL_CACHE, 2, {{8000, true, true}, {9000, true, true}}, {2, 0}, {true, true}},
    {{1, 2, 2},
     LEVEL_CACHE,
     3,
     {{7000, true, true}, {9000, true, true}, {8000, false, true}},
     {3, 0, 2},
     {false, true, false}},
};

static void test_hand_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hands) / sizeof(hands[0]); i++) {
        const struct hand *hand = &hands[i];
        struct isolate_unit unit[8];
        struct machine machine;
        bool isolated[8];
        size_t core[8];
        long count = 0;

        machine_make(&machine, hand->arity);
        units_of(unit, hand->n, hand->thread);
        for (size_t j = 0; j < hand->n; j++)
            count += hand->isolated[j];
        assert_int_equal(
            isolate_place(&machine.di, hand->level, DEVIL, hand->n, unit, core, isolated), count);
        for (size_t j = 0; j < hand->n; j++) {
            assert_int_equal(core[j], hand->core[j]);
            assert_int_equal(isolated[j], hand->isolated[j]);
        }
    }
}

/* ---- programs of several tasks ---- */

struct team {
    size_t level, n;
    struct isolate_unit unit[6];
    size_t core[8]; /* of the units, one after the other */
    long count;
};

#define CHOSEN(miss, cores, group)                                                                 \
    {                                                                                              \
        {miss, cores}, group, true, true                                                           \
    }
#define OTHER(miss, cores, group)                                                                  \
    {                                                                                              \
        {miss, cores}, group, false, false                                                         \
    }

/* On two packages of two caches of two cores. */
static const struct team teams[] = {
    /* a program of two tasks has the first package, and is spread over its caches; two devils go
     * to the other package; all caches then have one, and the turtle goes to the last */
    {LEVEL_PACKAGE,
     5,
     {CHOSEN(9000, 1, 7), CHOSEN(9000, 1, 7), OTHER(8000, 1, 1), OTHER(7000, 1, 2),
      OTHER(10, 1, 3)},
     {0, 2, 4, 6, 7},
     1},
    /* one of two tasks of two cores fills the first package; three cores of devils fit into the
     * second */
    {LEVEL_PACKAGE,
     4,
     {CHOSEN(9000, 2, 7), CHOSEN(8000, 2, 7), OTHER(8500, 2, 1), OTHER(7000, 1, 2)},
     {0, 1, 2, 3, 4, 5, 6},
     1},
    /* one core of devils too many: nobody is isolated, and all are placed by DI */
    {LEVEL_PACKAGE,
     4,
     {CHOSEN(9000, 1, 7), OTHER(8500, 2, 1), OTHER(7000, 2, 2), OTHER(6000, 1, 3)},
     {0, 4, 5, 2, 3, 6},
     0},
    /* two peaceful ones beside three cores of devils: the second shares the domain of the first */
    {LEVEL_PACKAGE,
     4,
     {CHOSEN(100, 1, 7), CHOSEN(90, 1, 8), OTHER(8500, 2, 1), OTHER(7000, 1, 2)},
     {0, 2, 4, 5, 6},
     2},
    /* but not that of an isolated devil */
    {LEVEL_PACKAGE,
     4,
     {CHOSEN(9000, 1, 7), CHOSEN(90, 1, 8), OTHER(8500, 2, 1), OTHER(7000, 1, 2)},
     {0, 2, 4, 5, 6},
     1},
};

static void test_teams(void **state)
{
    static const size_t arity[] = {2, 2, 2};
    struct machine machine;

    (void)state;
    machine_make(&machine, arity);
    for (size_t i = 0; i < sizeof(teams) / sizeof(teams[0]); i++) {
        const struct team *team = &teams[i];
        size_t core[8], cores = 0;
        bool isolated[6];

        assert_int_equal(
            isolate_place(&machine.di, team->level, DEVIL, team->n, team->unit, core, isolated),
            team->count);
        for (size_t j = 0; j < team->n; j++)
            cores += team->unit[j].unit.cores;
        for (size_t j = 0; j < cores; j++)
            if (core[j] != team->core[j])
                fail_msg("team %zu: core %zu is %zu, not %zu", i, j, core[j], team->core[j]);
    }
}

/* ---- any machine ---- */

static size_t between(unsigned *seed, size_t least, size_t most)
{
    return least + (size_t)rand_r(seed) % (most - least + 1);
}

static size_t domain_of(const struct machine *machine, size_t level, size_t core)
{
    return core / (machine->level[2].count / machine->level[level].count);
}

/* How many chosen devils can have a domain, when the other devils must fit beside: tried out. */
static long most_isolated(const struct machine *machine, size_t level, size_t chosen, size_t others)
{
    size_t domains = machine->level[level].count, size = machine->level[2].count / domains;
    size_t x = chosen < domains ? chosen : domains;

    while (x > 0 && chosen - x + others > (domains - x) * size)
        x--;
    return (long)x;
}

/* Nobody shares a core, no devil shares a domain with one who is isolated. */
static void check(const struct machine *machine, size_t level, size_t n,
                  const struct isolate_unit *unit, const size_t *core, const bool *isolated)
{
    for (size_t i = 0; i < n; i++) {
        assert_true(core[i] < machine->level[2].count);
        assert_true(!isolated[i] || (unit[i].prioritised && unit[i].sensitive));
        for (size_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            assert_int_not_equal(core[i], core[j]);
            if (isolated[i] &&
                domain_of(machine, level, core[i]) == domain_of(machine, level, core[j]))
                assert_true(unit[j].unit.miss_pmi < DEVIL);
        }
    }
}

static void test_any_machine(void **state)
{
    unsigned seed = 17;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        const size_t arity[] = {between(&seed, 1, 3), between(&seed, 1, 4), between(&seed, 1, 4)};
        size_t n = between(&seed, 0, arity[0] * arity[1] * arity[2]), level = between(&seed, 0, 1);
        size_t core[MACHINE_CORES], chosen = 0, others = 0;
        struct isolate_unit unit[MACHINE_CORES];
        bool isolated[MACHINE_CORES];
        struct machine machine;
        long count;

        machine_make(&machine, arity);
        for (size_t i = 0; i < n; i++) {
            bool devil = between(&seed, 0, 2) == 0;

            const struct thread thread = {(double)between(&seed, 0, 1999) + (devil ? DEVIL : 0),
                                          between(&seed, 0, 1), devil};

            units_of(&unit[i], 1, &thread);
            unit[i].group = i;
            chosen += devil && thread.prioritised;
            others += devil && !thread.prioritised;
        }
        count = isolate_place(&machine.di, level, DEVIL, n, unit, core, isolated);
        assert_int_equal(count, most_isolated(&machine, level, chosen, others));
        check(&machine, level, n, unit, core, isolated);
        count = isolate_place_best(&machine.di, DEVIL, n, unit, core, isolated, &level);
        assert_true(count >= most_isolated(&machine, LEVEL_PACKAGE, chosen, others));
        assert_true(count >= most_isolated(&machine, LEVEL_CACHE, chosen, others));
        if (level == LEVEL_CACHE) /* then packages do not do */
            assert_true(count > most_isolated(&machine, LEVEL_PACKAGE, chosen, others));
        check(&machine, level, n, unit, core, isolated);
    }
}

/* With nobody chosen it is DI, beyond the cores too. */
static void test_is_di(void **state)
{
    unsigned seed = 19;

    (void)state;
    for (int round = 0; round < 500; round++) {
        const size_t arity[] = {between(&seed, 1, 2), between(&seed, 1, 3), between(&seed, 1, 3)};
        size_t n = between(&seed, 0, arity[0] * arity[1] * arity[2]), cores = 0;
        struct isolate_unit unit[MACHINE_CORES];
        size_t got[MACHINE_CORES], want[MACHINE_CORES];
        struct di_unit alone[MACHINE_CORES];
        bool isolated[MACHINE_CORES];
        struct machine machine;

        machine_make(&machine, arity);
        for (size_t i = 0; i < n; i++) {
            alone[i] = (struct di_unit){(double)between(&seed, 0, 4000), between(&seed, 1, 3)};
            unit[i] = (struct isolate_unit){.unit = alone[i], .sensitive = true};
            cores += alone[i].cores;
        }
        assert_int_equal(di_place(&machine.di, n, alone, want), 0);
        assert_int_equal(isolate_place(&machine.di, LEVEL_CACHE, DEVIL, n, unit, got, isolated), 0);
        for (size_t i = 0; i < cores; i++)
            assert_int_equal(got[i], want[i]);
    }
}

static void test_refusals(void **state)
{
    static const size_t arity[] = {1, 1, 2};
    static const struct isolate_unit fine = {.unit = {1, 1}}, wrong[] = {{.unit = {-1, 1}},
                                                                         {.unit = {NAN, 1}},
                                                                         {.unit = {INFINITY, 1}},
                                                                         {.unit = {1, 0}}};
    const struct di_machine none = {0, NULL};
    struct machine machine;
    bool isolated;
    size_t core, level;

    (void)state;
    machine_make(&machine, arity);
    errno = 0;
    assert_int_equal(isolate_place(&machine.di, 2, DEVIL, 1, &fine, &core, &isolated), -1);
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_int_equal(isolate_place_best(&none, DEVIL, 1, &fine, &core, &isolated, &level), -1);
    assert_int_equal(errno, EINVAL);
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        assert_int_equal(
            isolate_place(&machine.di, LEVEL_CACHE, DEVIL, 1, &wrong[i], &core, &isolated), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(isolate_place(&machine.di, LEVEL_CACHE, DEVIL, 0, NULL, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_worked), cmocka_unit_test(test_teams),
        cmocka_unit_test(test_any_machine), cmocka_unit_test(test_is_di),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
