/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cluster - DIO-POWER for units of several cores: hand-worked cases, agreement with di_place
 * where nobody is packed, and what holds for any units. Units of one core: test_dio_power. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/placing/cluster.h"
#include "tests/unit/common/machine.h"

#define DEVIL 2000

static const struct cluster_rule rule = {DEVIL, false};
#define UNITS_MAX (2 * MACHINE_CORES)
#define MANY 9 /* cores of a hand-worked case */

struct hand {
    const char *what;
    size_t arity[3];
    bool awake[4];
    size_t n;
    struct cluster_unit unit[6];
    size_t core[MANY];
};

static const struct hand hands[] = {
    {"two tasks of two cores fill one cache of four",
     {2, 1, 4},
     {false},
     2,
     {{{10, 2}, true}, {{20, 2}, true}},
     {2, 3, 0, 1}},
    {"a devil of two cores and another one need two caches: of one package",
     {2, 2, 4},
     {false},
     2,
     {{{9000, 2}, true}, {{8000, 1}, true}},
     {0, 1, 4}},
    {"a devil of six cores needs two caches, and the other devil a third",
     {2, 2, 4},
     {false},
     2,
     {{{9000, 6}, true}, {{8000, 1}, true}},
     {0, 1, 2, 3, 4, 5, 8}},
    {"two tasks of three cores are not split to spare a cache",
     {3, 1, 4},
     {false},
     3,
     {{{10, 3}, true}, {{9, 3}, true}, {{8, 2}, true}},
     {0, 1, 2, 4, 5, 6, 8, 9}},
    {"the package that is awake anyway comes first",
     {2, 1, 4},
     {false, true},
     1,
     {{{10, 2}, true}},
     {4, 5}},
    {"who is spread keeps both packages awake; packed ones go depth first beside him",
     {2, 1, 4},
     {false},
     4,
     {{{20, 1}, false}, {{10, 1}, false}, {{9, 2}, true}, {{8, 1}, true}},
     {0, 4, 1, 2, 3}},
    {"a packed devil goes where no devil of the others is",
     {2, 1, 4},
     {false},
     2,
     {{{9000, 1}, false}, {{8000, 1}, true}},
     {0, 4}},
    {"where every cache has one, they share",
     {1, 1, 4},
     {false},
     2,
     {{{9000, 1}, false}, {{8000, 2}, true}},
     {0, 1, 2}},
};

static void test_hand_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hands) / sizeof(hands[0]); i++) {
        const struct hand *hand = &hands[i];
        size_t core[MANY], total = 0;
        struct machine machine;

        machine_make(&machine, hand->arity);
        assert_int_equal(cluster_place(&machine.di, &rule, hand->awake, hand->n, hand->unit, core),
                         0);
        for (size_t j = 0; j < hand->n; j++)
            total += hand->unit[j].unit.cores;
        for (size_t j = 0; j < total; j++)
            if (core[j] != hand->core[j])
                fail_msg("%s: core %zu is %zu", hand->what, j, core[j]);
    }
}

static size_t between(unsigned *seed, size_t least, size_t most)
{
    return least + (size_t)rand_r(seed) % (most - least + 1);
}

static void random_machine(struct machine *machine, unsigned *seed)
{
    const size_t arity[] = {between(seed, 1, 4), between(seed, 1, 3), between(seed, 1, 5)};

    machine_make(machine, arity);
}

static size_t cores_of(const struct machine *machine)
{
    return machine->di.level[2].count;
}

/* Nobody packed: DI. */
static void test_is_di(void **state)
{
    unsigned seed = 4;

    (void)state;
    for (int round = 0; round < 500; round++) {
        size_t n = between(&seed, 0, 8), got[UNITS_MAX], want[UNITS_MAX];
        struct cluster_unit unit[8];
        struct di_unit plain[8];
        struct machine machine;

        random_machine(&machine, &seed);
        for (size_t i = 0; i < n; i++) {
            plain[i] = (struct di_unit){(double)between(&seed, 0, 5000), between(&seed, 1, 6)};
            unit[i] = (struct cluster_unit){plain[i], false};
        }
        assert_int_equal(di_place(&machine.di, n, plain, want), 0);
        assert_int_equal(cluster_place(&machine.di, &rule, NULL, n, unit, got), 0);
        for (size_t i = 0, at = 0; i < n; i++)
            for (size_t j = 0; j < unit[i].unit.cores; j++, at++)
                assert_int_equal(got[at], want[at]);
    }
}

/* Packages of one core and of four: three cores have room in the second alone. */
static void test_fewest_packages(void **state)
{
    static const size_t packages[] = {0, 0}, caches[] = {0, 1}, cores[] = {0, 1, 1, 1, 1};
    static const struct di_level level[] = {{2, packages}, {2, caches}, {5, cores}};
    static const struct di_machine machine = {3, level};
    static const struct cluster_unit unit[] = {{{9, 1}, true}, {{8, 2}, true}};
    static const bool awake[] = {true, false};
    size_t core[3];

    (void)state;
    assert_int_equal(cluster_place(&machine, &rule, NULL, 2, unit, core), 0);
    assert_true(core[0] == 1 && core[1] == 2 && core[2] == 3);
    assert_int_equal(cluster_place(&machine, &rule, awake, 2, unit, core), 0);
    assert_true(core[0] == 0 && core[1] == 1 && core[2] == 2);
}

/* Any units that the machine has room for. */
static size_t random_units(const struct machine *machine, unsigned *seed, struct cluster_unit *unit)
{
    size_t left = cores_of(machine), n = 0;

    while (left > 0 && between(seed, 0, 9)) {
        size_t cores = between(seed, 1, left < 6 ? left : 6);

        unit[n++] = (struct cluster_unit){{500.0 * (double)between(seed, 0, 8), cores},
                                          between(seed, 0, 2) > 0};
        left -= cores;
    }
    return n;
}

/* No core twice; who is not packed stands as if he were alone. */
static void check(const struct machine *machine, size_t n, const struct cluster_unit *unit,
                  const size_t *core)
{
    size_t alone[UNITS_MAX], nalone = 0, at = 0, first = 0;
    bool used[MACHINE_CORES] = {false};
    struct di_unit plain[UNITS_MAX];

    for (size_t i = 0; i < n; i++)
        if (!unit[i].packed)
            plain[nalone++] = unit[i].unit;
    assert_int_equal(di_place(&machine->di, nalone, plain, alone), 0);
    for (size_t i = 0; i < n; first += unit[i++].unit.cores)
        for (size_t j = 0; j < unit[i].unit.cores; j++) {
            assert_in_range(core[first + j], 0, cores_of(machine) - 1);
            assert_false(used[core[first + j]]);
            used[core[first + j]] = true;
            assert_true(j == 0 || core[first + j] > core[first + j - 1]);
            if (!unit[i].packed)
                assert_int_equal(core[first + j], alone[at++]);
        }
}

static void test_any_units(void **state)
{
    unsigned seed = 9;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct cluster_unit unit[UNITS_MAX];
        bool awake[MACHINE_CORES];
        size_t core[UNITS_MAX], n;
        struct machine machine;

        random_machine(&machine, &seed);
        for (size_t i = 0; i < machine.di.level[0].count; i++)
            awake[i] = between(&seed, 0, 1);
        n = random_units(&machine, &seed, unit);
        assert_int_equal(cluster_place(&machine.di, &rule, awake, n, unit, core), 0);
        check(&machine, n, unit, core);
    }
}

static void test_refusals(void **state)
{
    static const size_t good[] = {0, 0};
    static const struct di_level two[] = {{1, good}, {2, good}};
    static const struct di_machine flat = {1, two}, machine = {2, two};
    static const struct cluster_unit bad[] = {
        {{1, 0}, true}, {{-1, 1}, true}, {{NAN, 1}, false}, {{INFINITY, 1}, true}};
    size_t core[2] = {77, 77};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        errno = 0;
        assert_int_equal(cluster_place(&machine, &rule, NULL, 1, &bad[i], core), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(cluster_place(&flat, &rule, NULL, 0, NULL, core), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(core[0], 77);
    assert_int_equal(cluster_place(&machine, &rule, NULL, 0, NULL, core), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_worked),     cmocka_unit_test(test_is_di),
        cmocka_unit_test(test_fewest_packages), cmocka_unit_test(test_any_units),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
