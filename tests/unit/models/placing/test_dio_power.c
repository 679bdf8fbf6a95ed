/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_dio_power - DIO-POWER against hand-worked cases, and on random regular machines against
 * Algorithms 3 and 4 written down anew, without counters that are kept up to date. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/placing/dio_power.h"
#include "tests/unit/common/machine.h"

#define THREADS_MAX (3 * MACHINE_CORES)
#define DEVIL 2000

static const struct cluster_rule ours = {DEVIL, false}, printed = {DEVIL, true};

/* ---- hand-worked ---- */

struct hand {
    size_t arity[3];
    size_t n;
    double miss_pmi[8];
    size_t core[8];
};

static const struct hand hands[] = {
    /* the paper's LAMP power workloads on the Xeon: four devils need all four caches */
    {{2, 2, 2}, 4, {9000, 8000, 7000, 6000}, {0, 4, 6, 2}},
    /* two devils, two turtles: two caches of the first package. Caches 0 1 | reverse | 1 0 */
    {{2, 2, 2}, 4, {9000, 8000, 20, 10}, {0, 2, 3, 1}},
    /* one devil: room for four takes two caches all the same */
    {{2, 2, 2}, 4, {9000, 30, 20, 10}, {0, 2, 3, 1}},
    /* turtles only: as few caches as have cores for them */
    {{2, 2, 2}, 2, {20, 10}, {0, 1}},
    {{2, 2, 2}, 1, {20}, {0}},
    /* three devils: the first package has two of the caches. DI would put the third beside the
     * second: packages 0 1 | reverse | 1, where the one open cache holds a devil */
    {{2, 2, 2}, 3, {9000, 8000, 7000}, {0, 4, 2}},
    {{2, 2, 2}, 3, {7000, 8000, 9000}, {2, 4, 0}},
    /* more devils than caches: two of them share. Caches 0 1 | reverse | 1 0 */
    {{1, 2, 2}, 4, {9000, 8000, 7000, 6000}, {0, 2, 3, 1}},
    /* at the limit is over it */
    {{1, 4, 2}, 3, {2000, 2000, 1999}, {0, 2, 3}},
    /* more threads than cores */
    {{1, 1, 2}, 3, {9000, 8000, 10}, {0, 1, 1}},
};

static void test_hand_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hands) / sizeof(hands[0]); i++) {
        struct machine machine;
        size_t core[8];

        machine_make(&machine, hands[i].arity);
        assert_int_equal(dio_power_place(&machine.di, &ours, hands[i].n, hands[i].miss_pmi, core),
                         0);
        for (size_t j = 0; j < hands[i].n; j++)
            assert_int_equal(core[j], hands[i].core[j]);
    }
}

/* Table V, LAMP workload 2: Apache #0 beside Mysql #0, Apache #1 beside Mysql #1, as Algorithm 4
 * has it where idle caches count; where they do not, the stronger Mysql beside the weaker Apache.
 */
static void test_partners(void **state)
{
    static const size_t arity[] = {2, 2, 2};
    static const double miss_pmi[] = {9000, 8000, 20, 10};
    static const size_t as_printed[] = {0, 2, 1, 3}, balanced[] = {0, 2, 3, 1};
    struct machine machine;
    size_t core[4];

    (void)state;
    machine_make(&machine, arity);
    assert_int_equal(dio_power_place(&machine.di, &printed, 4, miss_pmi, core), 0);
    assert_memory_equal(core, as_printed, sizeof(core));
    assert_int_equal(dio_power_place(&machine.di, &ours, 4, miss_pmi, core), 0);
    assert_memory_equal(core, balanced, sizeof(core));
}

/* ---- the algorithms ---- */

struct naive {
    const struct machine *machine;
    bool idle_count;               /* line 1's E_all */
    size_t open;                   /* caches marked for scheduling */
    size_t threads[MACHINE_CORES]; /* of each core */
    bool devil[MACHINE_CORES];     /* is there one in this cache? */
    bool reversed[3];
};

static size_t cores_below(const struct naive *naive, size_t level)
{
    size_t cores = 1;

    for (size_t i = level + 1; i < 3; i++)
        cores *= naive->machine->arity[i];
    return cores;
}

static size_t open_cores(const struct naive *naive)
{
    return naive->open * naive->machine->arity[2];
}

/* Every thread has a core before one core has two: a core is free that has fewest. */
static bool core_is_free(const struct naive *naive, size_t core)
{
    for (size_t i = 0; i < open_cores(naive); i++)
        if (naive->threads[i] < naive->threads[core])
            return false;
    return core < open_cores(naive);
}

/* Is there a free core below the entity, in a cache without a devil where that is asked? */
static bool has_room(const struct naive *naive, size_t level, size_t entity, bool clean)
{
    size_t cores = cores_below(naive, level);

    for (size_t i = entity * cores; i < (entity + 1) * cores; i++)
        if (core_is_free(naive, i) && !(clean && naive->devil[i / naive->machine->arity[2]]))
            return true;
    return false;
}

static size_t count_threads(const struct naive *naive, size_t level, size_t entity)
{
    size_t cores = cores_below(naive, level), sum = 0;

    for (size_t i = entity * cores; i < (entity + 1) * cores; i++)
        sum += naive->threads[i];
    return sum;
}

/* Algorithm 4, line 15, for the entities that have an open core, or for all. */
static bool all_same(const struct naive *naive, size_t level)
{
    size_t cores = naive->idle_count ? naive->machine->level[2].count : open_cores(naive);

    for (size_t i = 1; i * cores_below(naive, level) < cores; i++)
        if (count_threads(naive, level, i) != count_threads(naive, level, 0))
            return false;
    return true;
}

static size_t naive_place_one(struct naive *naive, bool devil)
{
    bool clean = false;
    size_t at = 0;

    for (size_t i = 0; devil && i < naive->machine->level[0].count; i++)
        clean = clean || has_room(naive, 0, i, true);
    for (size_t level = 0; level < 3; level++) {
        size_t arity = naive->machine->arity[level], best = SIZE_MAX;

        for (size_t i = 0; i < arity; i++) { /* lines 2 and 3 */
            size_t child = at * arity + (naive->reversed[level] ? arity - 1 - i : i);

            if (has_room(naive, level, child, clean) &&
                (best == SIZE_MAX ||
                 count_threads(naive, level, child) < count_threads(naive, level, best)))
                best = child;
        }
        at = best;
    }
    naive->threads[at]++;
    naive->devil[at / naive->machine->arity[2]] |= devil;
    for (size_t level = 0; level < 3; level++) /* lines 15 to 17 */
        naive->reversed[level] ^= all_same(naive, level);
    return at;
}

/* Algorithm 3. */
static void naive_place(const struct machine *machine, bool idle_count, size_t n,
                        const double *miss_pmi, size_t *core)
{
    struct naive naive = {.machine = machine, .idle_count = idle_count};
    bool done[THREADS_MAX] = {false};
    size_t devils = 0, all = machine->level[1].count, each = machine->arity[2];

    for (size_t i = 0; i < n; i++)
        devils += miss_pmi[i] >= DEVIL;
    while (naive.open < all && (naive.open < 1 || naive.open < devils || naive.open * each < n))
        naive.open++;
    for (size_t placed = 0; placed < n; placed++) {
        size_t t = SIZE_MAX;

        for (size_t i = 0; i < n; i++)
            if (!done[i] && (t == SIZE_MAX || miss_pmi[i] > miss_pmi[t]))
                t = i;
        done[t] = true;
        core[t] = naive_place_one(&naive, miss_pmi[t] >= DEVIL);
    }
}

static size_t between(unsigned *seed, size_t least, size_t most)
{
    return least + (size_t)rand_r(seed) % (most - least + 1);
}

/* What the algorithm is for: devils apart while there are caches, no core used twice. */
static void check(const struct machine *machine, size_t n, const double *miss_pmi,
                  const size_t *core)
{
    size_t devils = 0, of_cache[MACHINE_CORES] = {0}, of_core[MACHINE_CORES] = {0};

    for (size_t i = 0; i < n; i++) {
        devils += miss_pmi[i] >= DEVIL;
        of_cache[core[i] / machine->arity[2]] += miss_pmi[i] >= DEVIL;
        of_core[core[i]]++;
    }
    for (size_t i = 0; devils <= machine->level[1].count && i < machine->level[1].count; i++)
        assert_in_range(of_cache[i], 0, 1);
    for (size_t i = 0; n <= machine->level[2].count && i < machine->level[2].count; i++)
        assert_in_range(of_core[i], 0, 1);
}

static void test_algorithms(void **state)
{
    unsigned seed = 11;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        const size_t arity[] = {between(&seed, 1, 4), between(&seed, 1, 4), between(&seed, 1, 4)};
        size_t cores = arity[0] * arity[1] * arity[2], got[THREADS_MAX], want[THREADS_MAX];
        size_t n = between(&seed, 0, round % 4 ? cores : 3 * cores);
        double miss_pmi[THREADS_MAX];
        struct machine machine;

        machine_make(&machine, arity);
        for (size_t i = 0; i < n; i++)
            miss_pmi[i] = 500.0 * (double)between(&seed, 0, round % 2 ? 5 : 40);
        for (int letter = 0; letter < 2; letter++) {
            naive_place(&machine, letter, n, miss_pmi, want);
            assert_int_equal(
                dio_power_place(&machine.di, letter ? &printed : &ours, n, miss_pmi, got), 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(got[i], want[i]);
            check(&machine, n, miss_pmi, got);
        }
    }
}

/* Without devils and with every cache needed it is DI. */
static void test_is_di(void **state)
{
    static const struct cluster_rule none = {INFINITY, false};
    unsigned seed = 13;

    (void)state;
    for (int round = 0; round < 500; round++) {
        const size_t arity[] = {between(&seed, 1, 3), between(&seed, 1, 4), between(&seed, 1, 4)};
        size_t cores = arity[0] * arity[1] * arity[2], got[THREADS_MAX], want[THREADS_MAX];
        size_t n = between(&seed, cores - arity[2] + 1, cores);
        struct di_unit unit[THREADS_MAX];
        double miss_pmi[THREADS_MAX];
        struct machine machine;

        machine_make(&machine, arity);
        for (size_t i = 0; i < n; i++) {
            miss_pmi[i] = (double)between(&seed, 0, 9999);
            unit[i] = (struct di_unit){miss_pmi[i], 1};
        }
        assert_int_equal(di_place(&machine.di, n, unit, want), 0);
        assert_int_equal(dio_power_place(&machine.di, &none, n, miss_pmi, got), 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(got[i], want[i]);
    }
}

/* Caches of one, three and one cores: four threads have room in the first two. */
static void test_uneven(void **state)
{
    static const size_t packages[] = {0}, caches[] = {0, 0, 0}, cores[] = {0, 1, 1, 1, 2};
    static const struct di_level level[] = {{1, packages}, {3, caches}, {5, cores}};
    static const struct di_machine machine = {3, level};
    static const double miss_pmi[] = {9000, 10, 5, 1};
    static const struct cluster_rule all = {0, false};
    size_t core[4];

    (void)state;
    assert_int_equal(dio_power_place(&machine, &ours, 4, miss_pmi, core), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(core[i], i);
    assert_int_equal(dio_power_place(&machine, &all, 3, miss_pmi, core), 0); /* all are devils */
    assert_int_equal(core[0], 0);
    assert_int_equal(core[1], 1);
    assert_int_equal(core[2], 4);
    assert_int_equal(dio_power_place(&machine, &ours, 1, miss_pmi, core), 0);
    assert_int_equal(core[0], 0);
}

static void test_refusals(void **state)
{
    static const size_t good[] = {0, 0}, falling[] = {1, 0};
    static const struct di_level two[] = {{1, good}, {2, good}}, fall[] = {{2, good}, {2, falling}};
    static const struct di_level none[] = {{1, good}, {0, good}};
    static const struct di_machine bad[] = {{0, NULL}, {1, two}, {2, fall}, {2, none}};
    static const struct di_machine machine = {2, two};
    static const double fine[] = {1, 1}, wrong[][2] = {{1, -1}, {NAN, 1}, {1, INFINITY}};
    size_t core[2] = {77, 77};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        assert_int_equal(dio_power_place(&bad[i], &ours, 2, fine, core), -1);
        assert_int_equal(errno, EINVAL);
    }
    for (size_t i = 0; i < 3; i++) {
        errno = 0;
        assert_int_equal(dio_power_place(&machine, &ours, 2, wrong[i], core), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_true(core[0] == 77 && core[1] == 77);
    assert_int_equal(dio_power_place(&machine, &ours, 0, NULL, NULL), 0);
    assert_int_equal(dio_power_place(&machine, &ours, 2, fine, core), 0);
    assert_true(core[0] == 0 && core[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_worked), cmocka_unit_test(test_partners),
        cmocka_unit_test(test_algorithms),  cmocka_unit_test(test_is_di),
        cmocka_unit_test(test_uneven),      cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
