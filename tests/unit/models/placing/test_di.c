/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_di - DI against hand-worked cases, against the paper's pseudo code transcribed line by line,
 * and against what must hold on any machine for units of several cores. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/placing/di.h"

#define ENTITIES_MAX 256
#define LEVELS_MAX 4

/* A machine with room for its arrays. */
struct machine {
    struct di_machine di;
    struct di_level level[LEVELS_MAX];
    size_t parent[LEVELS_MAX][ENTITIES_MAX];
};

static void machine_add_level(struct machine *machine, const size_t *children, size_t containers)
{
    struct di_level *level = &machine->level[machine->di.depth];
    size_t *parent = machine->parent[machine->di.depth];

    level->parent = parent;
    for (size_t i = 0; i < containers; i++)
        for (size_t j = 0; j < children[i]; j++) {
            assert_true(level->count < ENTITIES_MAX);
            parent[level->count++] = i;
        }
    machine->di.level = machine->level;
    machine->di.depth++;
}

/* Every container of a level has the same number of children. */
static void machine_regular(struct machine *machine, size_t depth, const size_t *arity)
{
    size_t children[ENTITIES_MAX], containers = 1;

    memset(machine, 0, sizeof(*machine));
    for (size_t i = 0; i < depth; i++) {
        for (size_t j = 0; j < containers; j++)
            children[j] = arity[i];
        machine_add_level(machine, children, containers);
        containers *= arity[i];
    }
}

/* The same sequence on every run and every machine (xorshift). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t between(uint64_t *state, size_t least, size_t most)
{
    return least + (size_t)(next_random(state) % (most - least + 1));
}

/* ---- hand-worked ---- */

struct hand {
    size_t arity[3];
    size_t n;
    double miss_pmi[8];
    size_t core[8];
};

static const struct hand hands[] = {
    /* Eight threads of descending rates on 2 x 2 x 2. Packages: 0 1 | both one thread, reverse | 1
     * 0 | reverse | 0 1 | reverse | 1 0. Caches: 0 2 3 1 | all one, reverse | 1 3 2 0. Each cache
     * gets 9. */
    {{2, 2, 2}, 8, {8, 7, 6, 5, 4, 3, 2, 1}, {0, 4, 6, 2, 3, 7, 5, 1}},
    /* The input's order does not matter, the rates do. */
    {{2, 2, 2}, 8, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 5, 7, 3, 2, 6, 4, 0}},
    /* Equal rates keep the input's order. */
    {{2, 2, 2}, 8, {5, 5, 5, 5, 5, 5, 5, 5}, {0, 4, 6, 2, 3, 7, 5, 1}},
    {{2, 2, 2}, 4, {5, 9, 5, 9}, {6, 0, 2, 4}},
    /* AMD Barcelona of table II: two packages of one chip with four cores. */
    {{2, 1, 4}, 5, {50, 40, 30, 20, 10}, {0, 4, 5, 1, 2}},
    /* Intel Xeon of table II: 2 packages, 4 chips, 8 cores: two devils stand in different packages.
     */
    {{2, 2, 2}, 2, {20000, 15000}, {0, 4}},
    /* Two caches: the third and fourth come in reverse, and more threads than cores go on so. */
    {{1, 2, 1}, 4, {4, 3, 2, 1}, {0, 1, 1, 0}},
    {{1, 1, 1}, 3, {1, 2, 3}, {0, 0, 0}},
};

static void test_hand_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hands) / sizeof(hands[0]); i++) {
        struct machine machine;
        struct di_unit unit[8];
        size_t core[8];

        machine_regular(&machine, 3, hands[i].arity);
        for (size_t j = 0; j < hands[i].n; j++)
            unit[j] = (struct di_unit){.miss_pmi = hands[i].miss_pmi[j], .cores = 1};
        assert_int_equal(di_place(&machine.di, hands[i].n, unit, core), 0);
        for (size_t j = 0; j < hands[i].n; j++)
            assert_int_equal(core[j], hands[i].core[j]);
    }
}

struct hand_units {
    size_t children[7]; /* of the machine, then of each package, then of each cache */
    size_t packages, caches;
    size_t n;
    struct di_unit unit[4];
    size_t core[8];
};

static const struct hand_units units_by_hand[] = {
    /* Units of two cores, one cache each; the third comes to the cache where order was reversed. */
    {{1, 2, 4, 4}, 1, 2, 3, {{9, 2}, {8, 2}, {7, 2}}, {0, 1, 4, 5, 6, 7}},
    /* A unit of three is whole where it fits, though the other cache is less filled. */
    {{1, 2, 2, 4}, 1, 2, 2, {{9, 1}, {8, 3}}, {0, 2, 3, 4}},
    /* Both packages have two cores free and as many threads, only the second has them in one cache.
     */
    {{2, 2, 2, 2, 2, 2, 2}, 2, 4, 4, {{9, 1}, {8, 2}, {7, 1}, {1, 2}}, {0, 4, 5, 2, 6, 7}},
    /* Four cores fit no cache: split over two of one package. */
    {{2, 2, 2, 2, 2, 2, 2}, 2, 4, 1, {{9, 4}}, {0, 1, 2, 3}},
    /* A cache of one core is full after one thread and is skipped. */
    {{1, 2, 1, 3}, 1, 2, 4, {{9, 1}, {8, 1}, {7, 1}, {6, 1}}, {0, 1, 2, 3}},
    /* One core free is too few for two: every core is free once more. Core 2 is the least filled,
     * then all hold one thread and the order is reversed: 2 is taken, 1 comes first. */
    {{1, 1, 3}, 1, 1, 2, {{9, 2}, {8, 2}}, {0, 1, 1, 2}},
    /* Larger than the machine: each core once, then again from the other end. */
    {{1, 1, 2}, 1, 1, 1, {{9, 3}}, {0, 1, 1}},
};

static void test_units_hand_worked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(units_by_hand) / sizeof(units_by_hand[0]); i++) {
        const struct hand_units *hand = &units_by_hand[i];
        struct machine machine = {0};
        size_t core[8], total = 0;

        machine_add_level(&machine, hand->children, 1);
        machine_add_level(&machine, hand->children + 1, hand->packages);
        machine_add_level(&machine, hand->children + 1 + hand->packages, hand->caches);
        for (size_t j = 0; j < hand->n; j++)
            total += hand->unit[j].cores;
        assert_int_equal(di_place(&machine.di, hand->n, hand->unit, core), 0);
        assert_memory_equal(core, hand->core, total * sizeof(*core));
    }
}

/* ---- the pseudo code, line by line ---- */

struct naive {
    const struct di_machine *machine;
    size_t threads[LEVELS_MAX][ENTITIES_MAX];
    int order[LEVELS_MAX];
};

/* Algorithm 2. Level l + 1 of the paper is machine->level[l]: its level 0 is the machine. */
static size_t naive_di(struct naive *naive, size_t e_parent, size_t l)
{
    const struct di_level *all = &naive->machine->level[l]; /* line 1 */
    size_t e_min = SIZE_MAX, core;
    int same = 1;

    for (size_t i = 0; i < all->count; i++) { /* lines 2 and 3 */
        size_t e = naive->order[l] ? all->count - 1 - i : i;

        if (all->parent[e] == e_parent &&
            (e_min == SIZE_MAX || naive->threads[l][e] < naive->threads[l][e_min]))
            e_min = e;
    }
    naive->threads[l][e_min]++; /* line 8; a core counts as holding its thread */
    if (l + 1 == naive->machine->depth)
        core = e_min; /* line 6 */
    else
        core = naive_di(naive, e_min, l + 1); /* line 10 */
    for (size_t e = 1; e < all->count; e++)   /* line 12 */
        same = same && naive->threads[l][e] == naive->threads[l][0];
    if (same)
        naive->order[l] = !naive->order[l]; /* line 14 */
    return core;
}

/* Algorithm 1: again and again the first of the most aggressive threads that are left. */
static void naive_place(const struct di_machine *machine, size_t n, const struct di_unit *unit,
                        size_t *core)
{
    struct naive naive = {.machine = machine};
    unsigned char done[ENTITIES_MAX] = {0};

    for (size_t placed = 0; placed < n; placed++) {
        size_t t = SIZE_MAX;

        for (size_t i = 0; i < n; i++)
            if (!done[i] && (t == SIZE_MAX || unit[i].miss_pmi > unit[t].miss_pmi))
                t = i;
        done[t] = 1;
        core[t] = naive_di(&naive, 0, 0);
    }
}

static void test_pseudo_code(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        size_t depth = between(&random, 1, LEVELS_MAX), arity[LEVELS_MAX];
        size_t cores = 1, n, got[ENTITIES_MAX], want[ENTITIES_MAX];
        struct di_unit unit[ENTITIES_MAX];
        struct machine machine;

        for (size_t i = 0; i < depth; i++)
            cores *= arity[i] = between(&random, 1, 3);
        machine_regular(&machine, depth, arity);
        n = between(&random, 0, round % 2 ? cores : 3 * cores);
        for (size_t i = 0; i < n; i++) /* few different rates: many ties */
            unit[i] = (struct di_unit){(double)between(&random, 0, round % 3 ? 5 : 100000), 1};
        naive_place(&machine.di, n, unit, want);
        assert_int_equal(di_place(&machine.di, n, unit, got), 0);
        assert_memory_equal(got, want, n * sizeof(*got));
    }
}

/* ---- any machine, units of any size ---- */

static void machine_random(struct machine *machine, uint64_t *random)
{
    size_t children[ENTITIES_MAX], containers = 1;

    memset(machine, 0, sizeof(*machine));
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < containers; j++)
            children[j] = between(random, 1, i == 2 ? 6 : 3);
        machine_add_level(machine, children, containers);
        containers = machine->level[i].count;
    }
}

static size_t cores_of_cache(const struct machine *machine, size_t cache)
{
    size_t cores = 0;

    for (size_t i = 0; i < machine->level[2].count; i++)
        cores += machine->parent[2][i] == cache;
    return cores;
}

/* Place again, one unit after the other in DI's order, and check each against the room that it
 * found. */
static void check_units(const struct machine *machine, size_t n, const struct di_unit *unit,
                        const size_t *core)
{
    size_t room[ENTITIES_MAX], uses[ENTITIES_MAX] = {0};

    for (size_t i = 0; i < machine->level[1].count; i++)
        room[i] = cores_of_cache(machine, i);
    for (size_t i = 0; i < n; core += unit[i++].cores) {
        size_t most = 0, caches = 0, last = SIZE_MAX;

        for (size_t j = 0; j < machine->level[1].count; j++)
            most = room[j] > most ? room[j] : most;
        for (size_t j = 0; j < unit[i].cores; j++) {
            assert_true(core[j] < machine->level[2].count);
            assert_int_equal(uses[core[j]]++, 0);         /* nobody else's */
            assert_true(j == 0 || core[j - 1] < core[j]); /* ascending */
            caches += machine->parent[2][core[j]] != last;
            last = machine->parent[2][core[j]];
            room[last]--;
        }
        if (most >= unit[i].cores)
            assert_int_equal(caches, 1);
    }
}

static void test_units_on_any_machine(void **state)
{
    uint64_t random = 2463534242u;

    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct di_unit unit[ENTITIES_MAX];
        size_t core[ENTITIES_MAX], n = 0, left;
        struct machine machine;

        machine_random(&machine, &random);
        left = between(&random, 1, machine.level[2].count);
        while (left > 0) { /* descending rates, so that the order of placement is the input's */
            size_t cores = between(&random, 1, left < 5 ? left : 5);

            unit[n] = (struct di_unit){(double)(ENTITIES_MAX - n), cores};
            n++;
            left -= cores;
        }
        assert_int_equal(di_place(&machine.di, n, unit, core), 0);
        check_units(&machine, n, unit, core);
    }
}

/* With single cores on any machine all are used before any is used twice. */
static void test_threads_beyond_the_cores(void **state)
{
    uint64_t random = 362436069u;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        size_t core[3 * ENTITIES_MAX], uses[ENTITIES_MAX] = {0}, cores, n;
        struct di_unit unit[3 * ENTITIES_MAX];
        struct machine machine;

        machine_random(&machine, &random);
        cores = machine.level[2].count;
        n = between(&random, 0, 3 * cores);
        for (size_t i = 0; i < n; i++)
            unit[i] = (struct di_unit){(double)between(&random, 0, 9), 1};
        assert_int_equal(di_place(&machine.di, n, unit, core), 0);
        for (size_t i = 0; i < n; i++)
            uses[core[i]]++;
        for (size_t i = 0; i < cores; i++)
            assert_in_range(uses[i], n / cores, (n + cores - 1) / cores);
    }
}

/* A package without a core is passed over, and does not keep the order from being reversed. */
static void test_empty_package(void **state)
{
    static const size_t packages[] = {0, 0, 0}, cores[] = {0, 2};
    const struct di_level level[] = {{3, packages}, {2, cores}};
    const struct di_machine machine = {2, level};
    const struct di_unit unit[] = {{9, 1}, {8, 1}, {7, 1}, {6, 1}};
    size_t core[4];

    (void)state;
    assert_int_equal(di_place(&machine, 4, unit, core), 0);
    assert_int_equal(core[0], 0);
    assert_int_equal(core[1], 1);
    assert_int_equal(core[2], 1);
    assert_int_equal(core[3], 0);
}

/* ---- the measure ---- */

/* Two packages of two caches, a memory node each: 1 and 2 beside 3 and 0. */
static void test_uneven(void **state)
{
    static const size_t domain[] = {0, 0, 2, 2}, package[] = {0, 0, 1, 1}, alone[] = {0, 1, 2, 3};
    double rate[10] = {1, 2, 3, 0, 77, 77, 77, 77, 77, 77};

    (void)state;
    assert_true(di_uneven(4, 2, domain, package, rate) == 1 + 4 + 9 + (9 + 9) + (9 + 9));
    assert_true(di_uneven(4, 2, alone, package, rate) == 14 + 14 + (9 + 9));
}

/* ---- refusals ---- */

static void test_refusals(void **state)
{
    static const size_t good[] = {0, 0}, beyond[] = {0, 1}, falling[] = {1, 0};
    const struct di_level one[] = {{2, good}}, none[] = {{0, good}}, out[] = {{2, beyond}};
    const struct di_level fall[] = {{2, good}, {2, falling}};
    const struct di_machine machine = {1, one};
    const struct di_machine bad[] = {{0, NULL}, {1, none}, {1, out}, {2, fall}};
    const struct di_unit fine = {1, 1}, wrong[] = {{1, 0}, {-1, 1}, {NAN, 1}, {INFINITY, 1}};
    size_t core = 77;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        errno = 0;
        assert_int_equal(di_place(&bad[i], 1, &fine, &core), -1);
        assert_int_equal(errno, EINVAL);
        errno = 0;
        assert_int_equal(di_place(&machine, 1, &wrong[i], &core), -1);
        assert_int_equal(errno, EINVAL);
    }
    assert_int_equal(core, 77);
    assert_int_equal(di_place(&machine, 0, NULL, NULL), 0);
    assert_int_equal(di_place(&machine, 1, &fine, &core), 0);
    assert_int_equal(core, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hand_worked),
        cmocka_unit_test(test_units_hand_worked),
        cmocka_unit_test(test_pseudo_code),
        cmocka_unit_test(test_units_on_any_machine),
        cmocka_unit_test(test_threads_beyond_the_cores),
        cmocka_unit_test(test_empty_package),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
