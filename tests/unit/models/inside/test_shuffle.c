/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shuffle - Figure 4.4, the bound of section 4.2, and random programs against all chains and
 * all ways to deal. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "models/inside/shuffle.h"
#include "tests/unit/common/noise.h"

#define MOST 24

/* The paper's machine: the order 0, 2, 3, 1 is that of neighbours. */
static const double paper[] = {1.0, 2.2, 1.6, 2.2, 2.2, 1.0, 2.2, 1.6,
                               1.6, 2.2, 1.0, 1.6, 2.2, 1.6, 1.6, 1.0};
static const unsigned fours[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4};

/* Row 1 of Figure 4.4: on each of four packages two slow and two fast threads. */
static void test_figure(void **state)
{
    struct shuffle_packages packages = {4, fours, paper};
    struct shuffle_thread thread[16];
    size_t to[16], order[4], count[2][4] = {{0}};

    (void)state;
    for (size_t i = 0; i < 16; i++)
        thread[i] = (struct shuffle_thread){.lock = i % 4 < 2 ? .1 : .4, .at = i / 4};
    assert_int_equal(shuffle_deal(&packages, 16, thread, to, order), 8);
    for (size_t i = 0; i < 16; i++)
        count[i % 4 < 2][to[i]]++;
    /* each group on two neighbours: row 5, where CPU(0) and CPU(2) have one, CPU(3) and CPU(1) the
     * other; and whoever was there already stays */
    assert_int_equal(count[0][0] + count[0][2], count[0][0] ? 8 : 0);
    for (size_t p = 0; p < 4; p++)
        assert_int_equal(count[0][p] + count[1][p], 4);
    assert_true(count[0][0] == count[0][2] && count[0][1] == count[0][3]);
    assert_true((order[0] == 0 && order[1] == 2 && order[2] == 3 && order[3] == 1) ||
                (order[0] == 1 && order[1] == 3 && order[2] == 2 && order[3] == 0));

    /* the next round has nothing to do */
    for (size_t i = 0; i < 16; i++)
        thread[i].at = to[i];
    assert_int_equal(shuffle_deal(&packages, 16, thread, to, NULL), 0);
}

static void test_due(void **state)
{
    struct shuffle_packages one = {1, fours, NULL}, two = {2, fours, NULL};
    struct shuffle_thread thread[] = {{.lock = 0}, {.lock = .1}, {.lock = NAN}};

    (void)state;
    assert_false(shuffle_due(&two, 3, thread)); /* 5 %, no more */
    thread[1].lock = .11;
    assert_true(shuffle_due(&two, 3, thread));
    assert_false(shuffle_due(&one, 3, thread));
    assert_false(shuffle_due(&two, 1, &thread[2]));
    assert_false(shuffle_due(&two, 0, thread));
}

/* A thread that the program bound stays, and takes its room; one of which nothing is known, too. */
static void test_stays(void **state)
{
    struct shuffle_packages packages = {2, fours, NULL};
    struct shuffle_thread thread[] = {
        {.lock = .9, .at = 0, .bound = true},
        {.lock = .1, .at = 0},
        {.lock = .1, .at = 1},
        {.lock = .9, .at = 1},
        {.lock = .9, .at = 1},
        {.lock = NAN, .at = 0},
    };
    size_t to[6];

    (void)state;
    assert_int_equal(shuffle_deal(&packages, 6, thread, to, NULL), 0);
    assert_int_equal(to[0], 0);
    assert_int_equal(to[5], 0);
    assert_int_equal(to[3] + to[4], 2);
    assert_true(to[1] == 0 && to[2] == 1); /* the one room of package 0 that is left, and one */
    thread[0].at = SHUFFLE_NOWHERE;        /* bound over both: it has no room anywhere */
    shuffle_deal(&packages, 6, thread, to, NULL);
    assert_true(to[0] == SHUFFLE_NOWHERE);
}

/* Packages with few cores get few threads. */
static void test_sizes(void **state)
{
    static const unsigned cores[] = {6, 2};
    struct shuffle_packages packages = {2, cores, NULL};
    struct shuffle_thread thread[16];
    size_t to[16], there = 0;

    (void)state;
    for (size_t i = 0; i < 16; i++)
        thread[i] = (struct shuffle_thread){.lock = (double)i, .at = SHUFFLE_NOWHERE};
    assert_int_equal(shuffle_deal(&packages, 8, thread, to, NULL), 8);
    for (size_t i = 0; i < 8; i++)
        there += to[i] == 1;
    assert_int_equal(there, 2);
    assert_int_equal(shuffle_deal(&packages, 0, thread, to, NULL), 0);
}

/* Teams of two and three that stand in a package each stay there, whichever is the larger one; and
 * so do eleven threads of which each package has three or four. */
static void test_uneven(void **state)
{
    static const size_t many[] = {4, 3, 4}, twos[][2] = {{2, 3}, {3, 2}};
    struct shuffle_packages two = {2, fours, NULL}, three = {3, fours, NULL};
    struct shuffle_thread thread[11];
    size_t to[11], n = 0;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 5; k++)
            thread[k] =
                (struct shuffle_thread){.lock = k < twos[i][0] ? .1 : .4, .at = k >= twos[i][0]};
        assert_int_equal(shuffle_deal(&two, 5, thread, to, NULL), 0);
    }
    for (size_t p = 0; p < 3; p++)
        for (size_t k = 0; k < many[p]; k++)
            thread[n++] = (struct shuffle_thread){.lock = .1 * (double)(p + 1), .at = p};
    assert_int_equal(shuffle_deal(&three, n, thread, to, NULL), 0);
}

/* ---- all that there is ---- */

struct scene {
    unsigned cores[6];
    double distance[36];
    struct shuffle_packages packages;
    struct shuffle_thread thread[MOST];
    size_t n;
};

static void scene_draw(struct scene *scene, struct noise *noise)
{
    size_t packages = 1 + (size_t)(noise_uniform(noise) * 6);
    bool equal = noise_uniform(noise) < .5;

    scene->packages = (struct shuffle_packages){packages, scene->cores, scene->distance};
    scene->n = (size_t)(noise_uniform(noise) * MOST);
    for (size_t p = 0; p < packages; p++) {
        scene->cores[p] = equal ? 4 : 1 + (unsigned)(noise_uniform(noise) * 4);
        for (size_t q = 0; q <= p; q++)
            scene->distance[p * packages + q] = scene->distance[q * packages + p] =
                p == q ? 10 : 10 + floor(noise_uniform(noise) * 3) * 6;
    }
    for (size_t i = 0; i < scene->n; i++)
        scene->thread[i] = (struct shuffle_thread){
            .lock = floor(noise_uniform(noise) * 4) / 10,
            .at = noise_uniform(noise) < .1 ? SHUFFLE_NOWHERE
                                            : (size_t)(noise_uniform(noise) * (double)packages),
            .bound = noise_uniform(noise) < .1,
        };
}

static double length_of(const struct scene *scene, const size_t *order)
{
    double length = 0;

    for (size_t i = 1; i < scene->packages.n; i++)
        length += scene->distance[order[i - 1] * scene->packages.n + order[i]];
    return length;
}

/* The most threads that may stay in that chain: from group to group, of each lock time as many as
 * both are there and have room. sizes: of the groups. */
static size_t may_stay(const struct scene *scene, const size_t *order, const size_t *sizes)
{
    size_t left[4] = {0}, stay = 0, level = 0; /* threads of each of the four lock times */

    for (size_t i = 0; i < scene->n; i++)
        if (!scene->thread[i].bound)
            left[(size_t)lround(scene->thread[i].lock * 10)]++;
    for (size_t g = 0; g < scene->packages.n; g++)
        for (size_t room = sizes[order[g]]; room > 0;) {
            size_t here = 0, take;

            while (left[level] == 0)
                level++;
            take = left[level] < room ? left[level] : room;
            for (size_t i = 0; i < scene->n; i++)
                here += !scene->thread[i].bound && scene->thread[i].at == order[g] &&
                        (size_t)lround(scene->thread[i].lock * 10) == level;
            stay += here < take ? here : take;
            left[level] -= take;
            room -= take;
        }
    return stay;
}

/* Goes through all orders. */
static void all_orders(const struct scene *scene, size_t *order, size_t depth, const size_t *sizes,
                       double *length, size_t *stay)
{
    size_t n = scene->packages.n;

    if (depth == n) {
        double is = length_of(scene, order);
        size_t can = may_stay(scene, order, sizes);

        if (is < *length || (is == *length && can > *stay)) {
            *length = is;
            *stay = can;
        }
        return;
    }
    for (size_t i = depth; i < n; i++) {
        size_t swap = order[depth];

        order[depth] = order[i];
        order[i] = swap;
        all_orders(scene, order, depth + 1, sizes, length, stay);
        order[i] = order[depth];
        order[depth] = swap;
    }
}

static void check_deal(const struct scene *scene, const size_t *to, const size_t *order, long moves)
{
    size_t sizes[6] = {0}, load[6] = {0}, any[6] = {0, 1, 2, 3, 4, 5}, stay = 0, free_ones = 0;
    double length = INFINITY, lowest = -1;

    for (size_t i = 0; i < scene->n; i++) {
        if (to[i] < scene->packages.n)
            load[to[i]]++;
        if (scene->thread[i].bound) {
            assert_true(to[i] == scene->thread[i].at);
            continue;
        }
        assert_true(to[i] < scene->packages.n);
        sizes[to[i]]++;
        free_ones++;
    }
    /* no thread could be given elsewhere for a lower load */
    for (size_t p = 0; p < scene->packages.n; p++)
        for (size_t q = 0; q < scene->packages.n; q++)
            if (sizes[p] > 0)
                assert_true(load[p] * scene->cores[q] <= (load[q] + 1) * scene->cores[p]);
    /* groups follow each other along the chain */
    for (size_t g = 0; g < scene->packages.n; g++) {
        double most = lowest;

        for (size_t i = 0; i < scene->n; i++)
            if (!scene->thread[i].bound && to[i] == order[g]) {
                assert_true(scene->thread[i].lock >= lowest);
                most = fmax(most, scene->thread[i].lock);
            }
        lowest = most;
    }
    all_orders(scene, any, 0, sizes, &length, &stay);
    assert_true(fabs(length_of(scene, order) - length) < 1e-9);
    assert_int_equal(moves, free_ones - stay);
}

static void test_all(void **state)
{
    struct noise noise = {4};
    struct scene scene;

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        size_t to[MOST], order[6];
        long moves;

        scene_draw(&scene, &noise);
        moves = shuffle_deal(&scene.packages, scene.n, scene.thread, to, order);
        check_deal(&scene, to, order, moves);
    }
}

/* More packages than are tried out: a ring, whose chain goes around. */
static void test_many(void **state)
{
    double distance[100];
    struct shuffle_packages packages = {10, fours, distance};
    struct shuffle_thread thread[40];
    size_t to[40], order[10];

    (void)state;
    for (int p = 0; p < 10; p++)
        for (int q = 0; q < 10; q++)
            distance[p * 10 + q] = 10 + abs(p - q);
    for (size_t i = 0; i < 40; i++)
        thread[i] = (struct shuffle_thread){.lock = (double)(39 - i), .at = i / 4};
    assert_int_equal(shuffle_deal(&packages, 40, thread, to, order), 0); /* backwards */
    assert_int_equal(order[0], 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure), cmocka_unit_test(test_due),    cmocka_unit_test(test_stays),
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_uneven), cmocka_unit_test(test_all),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
