/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_improve - a few moves from where units stand: against all placements, tried one by one, and
 * against the optimal partition. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/partition/partition.h"
#include "models/placing/improve_guess.h"
#include "tests/unit/common/noise.h"

#define N_MAX 24
#define CACHES_MAX 8

static struct noise noise;

/* Programs with two numbers each, what they suffer and what they do, and noise on each pair; memory
 * nodes whose queue grows with the square of what is asked of them. */
struct box {
    struct improve problem;
    size_t cores[N_MAX], room[CACHES_MAX], domain[CACHES_MAX], cache_of[N_MAX];
    double pair[N_MAX][N_MAX], asks[N_MAX], minds[N_MAX], price[N_MAX * CACHES_MAX];
    double power; /* of the members of a cache: > 1 makes them more than their pairs */
    size_t asked; /* calls of pair() */
};

static double pair_of(size_t a, size_t b, void *arg)
{
    struct box *box = arg;

    box->asked++;
    return box->pair[a][b] + box->pair[b][a];
}

static double cache_lost(const struct box *box, const size_t *cache_of, size_t cache)
{
    double sum = 0;

    for (size_t i = 0; i < box->problem.n; i++) {
        double suffers = 0;

        for (size_t j = 0; cache_of[i] == cache && j < box->problem.n; j++)
            suffers += j != i && cache_of[j] == cache ? box->pair[i][j] : 0;
        sum += (double)box->cores[i] * pow(suffers, box->power);
    }
    return sum;
}

static double domain_lost(const struct box *box, const size_t *cache_of, size_t domain)
{
    double asks = 0, minds = 0, own = 0;

    for (size_t i = 0; i < box->problem.n; i++)
        if (box->domain[cache_of[i]] == domain) {
            asks += box->asks[i];
            minds += box->minds[i];
            own += box->asks[i] * box->minds[i];
        }
    return asks * minds - own;
}

/* All of it: more than the caches that are asked for is allowed. */
static double lost_of(const size_t *cache_of, const size_t *touched, size_t n, void *arg)
{
    const struct box *box = arg;
    double sum = 0;

    (void)touched;
    assert_true(n >= 1);
    for (size_t c = 0; c < box->problem.caches; c++)
        sum += cache_lost(box, cache_of, c) + domain_lost(box, cache_of, c);
    return sum;
}

static void box_init(struct box *box, size_t n, size_t caches, size_t room)
{
    memset(box, 0, sizeof(*box));
    box->power = 1;
    box->problem = (struct improve){.n = n,
                                    .cores = box->cores,
                                    .caches = caches,
                                    .room = box->room,
                                    .horizon = 1,
                                    .pair = pair_of,
                                    .lost = lost_of,
                                    .arg = box};
    for (size_t i = 0; i < n; i++) {
        box->cores[i] = 1;
        box->cache_of[i] = i / room;
    }
    for (size_t c = 0; c < caches; c++)
        box->room[c] = room;
}

static void fill_pairs(struct box *box)
{
    double suffers[N_MAX], does[N_MAX];

    for (size_t i = 0; i < box->problem.n; i++) {
        suffers[i] = noise_uniform(&noise);
        does[i] = noise_uniform(&noise);
    }
    for (size_t i = 0; i < box->problem.n; i++)
        for (size_t j = 0; j < box->problem.n; j++)
            box->pair[i][j] = suffers[i] * does[j] * (0.7 + 0.6 * noise_uniform(&noise));
}

static void solve(struct box *box, struct improve_found *found)
{
    size_t start[N_MAX], all[CACHES_MAX], used[CACHES_MAX] = {0}, moved = 0;
    double before, after, price = 0;

    for (size_t c = 0; c < box->problem.caches; c++)
        all[c] = c;
    memcpy(start, box->cache_of, sizeof(start));
    before = lost_of(start, all, box->problem.caches, box);
    assert_int_equal(improve_solve(&box->problem, box->cache_of, found), 0);
    after = lost_of(box->cache_of, all, box->problem.caches, box);
    assert_true(fabs(found->gain - (before - after)) < 1e-9);
    for (size_t i = 0; i < box->problem.n; i++) {
        used[box->cache_of[i]] += box->cores[i];
        moved += box->cache_of[i] != start[i];
        if (box->problem.price)
            price += box->price[i * box->problem.caches + box->cache_of[i]];
    }
    for (size_t c = 0; c < box->problem.caches; c++)
        assert_true(used[c] <= box->room[c]);
    assert_int_equal(found->moved, moved);
    assert_true(fabs(found->price - price) < 1e-9);
    assert_true(found->gain * box->problem.horizon >= price - 1e-9);
}

/* ---- all placements, one by one ---- */

struct tried {
    const struct box *box;
    double before, best; /* value: gain * horizon - price */
    size_t at[N_MAX], used[CACHES_MAX];
};

static void try_all(struct tried *tried, size_t unit, double price)
{
    const struct box *box = tried->box;
    size_t all[CACHES_MAX] = {0};

    if (unit == box->problem.n) {
        double gain = tried->before - lost_of(tried->at, all, 1, (void *)box);

        tried->best = fmax(tried->best, gain * box->problem.horizon - price);
        return;
    }
    for (size_t c = 0; c < box->problem.caches; c++) {
        double its = box->problem.price ? box->price[unit * box->problem.caches + c] : 0;

        if (tried->used[c] + box->cores[unit] > box->room[c] || its == INFINITY)
            continue;
        tried->at[unit] = c;
        tried->used[c] += box->cores[unit];
        try_all(tried, unit + 1, price + its);
        tried->used[c] -= box->cores[unit];
    }
}

static double best_value(const struct box *box)
{
    struct tried tried = {.box = box};
    size_t all[CACHES_MAX] = {0};

    tried.before = lost_of(box->cache_of, all, 1, (void *)box);
    try_all(&tried, 0, 0);
    return tried.best;
}

static double value_of(const struct box *box, const struct improve_found *found)
{
    return found->gain * box->problem.horizon - found->price;
}

/* ---- small cases ---- */

/* Four on two caches of two: always the optimum. */
static void test_four(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct improve_found found;
        struct box box;
        double best;

        box_init(&box, 4, 2, 2);
        fill_pairs(&box);
        box.power = round % 3 ? 1 : 1.5;
        best = best_value(&box);
        solve(&box, &found);
        assert_true(fabs(value_of(&box, &found) - best) < 1e-9);
        assert_true(found.moved <= 2);
    }
}

/* The same where the moves have a price: at times it is better to stay. */
static void test_four_priced(void **state)
{
    size_t stayed = 0;

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct improve_found found;
        struct box box;
        double best;

        box_init(&box, 4, 2, 2);
        fill_pairs(&box);
        box.problem.price = box.price;
        for (size_t i = 0; i < 4; i++)
            box.price[i * 2 + 1 - box.cache_of[i]] = 0.1 * noise_uniform(&noise);
        best = best_value(&box);
        solve(&box, &found);
        assert_true(fabs(value_of(&box, &found) - best) < 1e-9);
        stayed += found.moved == 0;
    }
    assert_true(stayed > 30 && stayed < 270);
}

/* Caches and units of any size, some that may not stand everywhere, memory nodes: what is found is
 * nearly all that there is. */
static void test_small(void **state)
{
    double sum = 0, best_sum = 0;

    (void)state;
    for (int round = 0; round < 200; round++) {
        size_t caches = 2 + (size_t)(3 * noise_uniform(&noise)), n = 0, used = 0;
        struct improve_found found;
        struct box box;
        double best;

        box_init(&box, 0, caches, 4);
        for (size_t c = 0; c < caches; c++) {
            box.domain[c] = c / 2;
            for (used = 0; n < 8 && used < 4 && noise_uniform(&noise) < 0.8;
                 used += box.cores[n++]) {
                box.cores[n] = used < 3 && noise_uniform(&noise) < 0.3 ? 2 : 1;
                box.cache_of[n] = c;
            }
        }
        box.problem.n = n;
        fill_pairs(&box);
        box.problem.price = box.price;
        box.problem.domain = box.domain;
        box.problem.asks = box.asks;
        box.problem.minds = box.minds;
        for (size_t i = 0; i < n; i++) {
            box.asks[i] = noise_uniform(&noise);
            box.minds[i] = 0.3 * noise_uniform(&noise);
            for (size_t c = 0; c < caches; c++)
                if (c != box.cache_of[i])
                    box.price[i * caches + c] =
                        noise_uniform(&noise) < 0.1 ? INFINITY : 0.1 * noise_uniform(&noise);
        }
        best = best_value(&box);
        solve(&box, &found);
        assert_true(value_of(&box, &found) >= 0);
        sum += value_of(&box, &found);
        best_sum += best;
    }
    assert_true(sum > 0.97 * best_sum);
}

/* a and b disturb each other, and so do b and c; d and e fill the third cache but for one core. No
 * exchange of two is good: b goes to the free core, and nobody else moves; but where only d may
 * leave its cache, it makes room first. */
static void test_free_core(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 5, 3, 2);
    box.room[2] = 3;
    memcpy(box.cache_of, (size_t[]){0, 0, 1, 1, 2}, 5 * sizeof(size_t));
    box.pair[0][1] = box.pair[1][0] = 1;   /* on cache 0 */
    box.pair[1][2] = box.pair[1][3] = 1;   /* 1 and those on cache 1 */
    box.pair[1][4] = 1;                    /* 1 and the one on cache 2 */
    box.pair[0][2] = box.pair[0][4] = 0.9; /* 0 elsewhere */
    box.pair[0][3] = 0.9;
    box.pair[2][4] = box.pair[4][2] = 0.01;
    box.problem.price = box.price;
    for (size_t i = 0; i < 5; i++)
        for (size_t c = 0; c < 3; c++)
            box.price[i * 3 + c] = c == box.cache_of[i] ? 0 : 0.01;
    for (size_t c = 0; c < 3; c++) { /* 2 may leave, for the free core; 1 takes its place */
        box.price[0 * 3 + c] = c == 0 ? 0 : INFINITY;
        box.price[3 * 3 + c] = c == 1 ? 0 : INFINITY;
        box.price[4 * 3 + c] = c == 2 ? 0 : INFINITY;
        box.price[1 * 3 + c] = c == 2 ? INFINITY : box.price[1 * 3 + c];
    }
    box.pair[1][3] = 0;
    solve(&box, &found);
    assert_int_equal(box.cache_of[1], 1);
    assert_int_equal(box.cache_of[2], 2);
    assert_int_equal(found.moved, 2);
}

/* Three that are each beside the wrong one: no exchange of two helps, a ring of three does. */
static void test_ring(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 6, 3, 2);
    for (size_t i = 0; i < 3;
         i++) /* 2i stays, 2i + 1 is the guest; he gets on with the next host */
        for (size_t j = 0; j < 3; j++) {
            box.pair[2 * i + 1][2 * j] = j == (i + 1) % 3 ? 0 : j == i ? 1 : 2;
            for (size_t c = 0; c < 3; c++)
                box.price[2 * i * 3 + c] = c == i ? 0 : INFINITY;
        }
    box.problem.price = box.price;
    solve(&box, &found);
    assert_int_equal(found.moved, 3);
    assert_true(fabs(found.gain - 3) < 1e-9);
}

/* A unit of four cores changes places with four small ones. */
static void test_several(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 6, 2, 6);
    box.cores[0] = 4;
    memcpy(box.cache_of, (size_t[]){0, 1, 1, 1, 1, 0}, 6 * sizeof(size_t));
    box.room[0] = 5;
    box.room[1] = 4;
    box.pair[0][5] = 1; /* 5 disturbs the large one, and nobody else */
    box.problem.price = box.price;
    box.price[5 * 2 + 1] = INFINITY; /* and it cannot go itself */
    solve(&box, &found);
    assert_int_equal(box.cache_of[0], 1);
    assert_int_equal(found.moved, 5);
}

/* ---- memory nodes ---- */

/* Two streams on the two caches of one memory node, two turtles on those of the other: the caches
 * are as good as each other, the nodes are not. */
static void test_domains(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 4, 4, 1);
    memcpy(box.domain, (size_t[]){0, 0, 1, 1}, 4 * sizeof(size_t));
    box.problem.domain = box.domain;
    box.problem.asks = box.asks;
    box.problem.minds = box.minds;
    box.asks[0] = box.asks[1] = box.minds[0] = box.minds[1] = 1;
    solve(&box, &found);
    assert_int_equal(found.moved, 2);
    assert_true(box.domain[box.cache_of[0]] != box.domain[box.cache_of[1]]);
}

/* ---- the newcomer, and bounds ---- */

/* All have a price but one, who is beside the worst neighbour. Only he moves. */
static void test_newcomer(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 5, 3, 2);
    box.pair[0][1] = 1;
    box.problem.price = box.price;
    for (size_t i = 0; i < 5; i++)
        for (size_t c = 0; c < 3; c++)
            box.price[i * 3 + c] = i != 1 && c != box.cache_of[i] ? 0.5 : 0;
    solve(&box, &found);
    assert_int_equal(box.cache_of[1], 2);
    assert_int_equal(found.moved, 1);
    assert_true(found.price == 0);
}

/* Nobody moves for nothing: among equals the newcomer stays at home. */
static void test_equals_stay(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 4, 4, 2);
    solve(&box, &found);
    assert_int_equal(found.moved, 0);
    assert_true(found.gain == 0);
}

static void test_bounds(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    for (size_t most = 2; most <= 8; most += 2) {
        box_init(&box, 16, 8, 2);
        fill_pairs(&box);
        box.problem.moves_max = most;
        solve(&box, &found);
        assert_true(found.moved > 0 && found.moved <= most);
    }
    box_init(&box, 16, 8, 2);
    fill_pairs(&box);
    box.problem.changes_max = 1;
    solve(&box, &found);
    assert_true(found.moved > 0 && found.moved <= 3);
}

/* With a focus nobody moves but for it: 0 and 1 disturb each other, but 5 is fine where it is. */
static void test_focus(void **state)
{
    bool focus[6] = {false, false, false, false, false, true};
    struct improve_found found;
    struct box box;

    (void)state;
    for (int focused = 1; focused >= 0; focused--) {
        box_init(&box, 6, 3, 2);
        box.pair[0][1] = 1;
        for (size_t i = 0; i < 4; i++)
            box.pair[5][i] = 2;
        box.problem.focus = focused ? focus : NULL;
        solve(&box, &found);
        assert_int_equal(found.moved > 0, !focused);
    }
}

/* The units are of so many programs, in any order, and it costs all the same to move. */
static void fill_programs(struct box *box, size_t programs, size_t *like)
{
    size_t n = box->problem.n, program[N_MAX], first[N_MAX];

    fill_pairs(box);
    memset(first, 0xff, sizeof(first));
    for (size_t i = 0; i < n; i++) {
        program[i] = (size_t)(noise_uniform(&noise) * (double)programs) % programs;
        first[program[i]] = first[program[i]] < n ? first[program[i]] : i;
        like[i] = first[program[i]];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            box->pair[i][j] = box->pair[like[i]][like[j]];
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < box->problem.caches; c++)
            box->price[i * box->problem.caches + c] = c == box->cache_of[i] ? 0 : 0.3;
    box->problem.price = box->price;
}

/* That units are known to be alike saves questions, and changes nothing else, to the last digit. */
static void test_like(void **state)
{
    size_t like[N_MAX], saved = 0, asked = 0, moved = 0;

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct improve_found found, found_alike;
        struct box box, alike;

        box_init(&box, 24, 4 + 2 * (size_t)(round % 2), 6);
        box.problem.moves_max = round % 3 ? 0 : 4;
        fill_programs(&box, 5, like);
        alike = box;
        alike.problem.cores = alike.cores;
        alike.problem.room = alike.room;
        alike.problem.price = alike.price;
        alike.problem.arg = &alike;
        alike.problem.like = like;
        solve(&box, &found);
        solve(&alike, &found_alike);
        assert_memory_equal(box.cache_of, alike.cache_of, sizeof(box.cache_of));
        assert_memory_equal(&found, &found_alike, sizeof(found));
        moved += found.moved;
        asked += box.asked;
        saved += box.asked - alike.asked;
    }
    assert_true(moved > 60);
    assert_true(saved > asked / 10);
}

/* What an exchange is worth is the same on the short way, where it is more than was asked for. */
static void test_exchange(void **state)
{
    size_t like[N_MAX], more = 0, less = 0;

    (void)state;
    for (int round = 0; round < 40; round++) {
        struct guess guess;
        struct box box;

        box_init(&box, 24, 4, 6);
        fill_programs(&box, 5 + 19 * (size_t)(round % 2), like);
        box.problem.like = round % 4 < 2 ? like : NULL;
        assert_int_equal(guess_init(&guess, &box.problem, box.cache_of), 0);
        for (size_t u = 0; u < 24; u++)
            for (size_t v = 0; v < 24; v++) {
                size_t here = box.cache_of[u], there = box.cache_of[v];
                struct guess_change change = {.n = 2, .move = {{u, there}, {v, here}}};
                double value, least = noise_uniform(&noise) - 0.5;

                if (here == there)
                    continue;
                value = guess_value(&guess, &change);
                if (fabs(value - least) < 1e-9)
                    continue;
                if (value > least)
                    assert_true(fabs(guess_exchange(&guess, u, v, least) - value) < 1e-9);
                else
                    assert_true(guess_exchange(&guess, u, v, least) <= least);
                *(value > least ? &more : &less) += 1;
            }
        guess_free(&guess);
    }
    assert_true(more > 100 && less > 100);
}

static void test_invalid(void **state)
{
    struct improve_found found;
    struct box box;

    (void)state;
    box_init(&box, 3, 2, 2);
    box.room[0] = 1;
    assert_int_equal(improve_solve(&box.problem, box.cache_of, &found), -1);
    assert_int_equal(errno, EINVAL);
    box_init(&box, 3, 2, 2);
    box.cache_of[1] = 2;
    assert_int_equal(improve_solve(&box.problem, box.cache_of, &found), -1);
    assert_int_equal(errno, EINVAL);
    box_init(&box, 0, 0, 2);
    assert_int_equal(improve_solve(&box.problem, box.cache_of, &found), 0);
}

/* ---- against the optimal partition ---- */

/* Sixteen on eight caches of two, from any start and with no price: within a few hundredths of what
 * there is to gain. */
static void test_partition(void **state)
{
    double gained = 0, possible = 0;

    (void)state;
    for (int round = 0; round < 40; round++) {
        size_t group_of[N_MAX], all[CACHES_MAX] = {0};
        double degradation[16 * 16];
        struct partition_pairs pairs = {16, degradation};
        struct partition partition = {.n = 16,
                                      .groups = 8,
                                      .group = 2,
                                      .cost = partition_pairs_cost,
                                      .arg = &pairs,
                                      .pairwise = true};
        struct partition_found optimum;
        struct improve_found found;
        struct box box;

        box_init(&box, 16, 8, 2);
        fill_pairs(&box);
        for (size_t i = 0; i < 16; i++)
            for (size_t j = 0; j < 16; j++)
                degradation[i * 16 + j] = box.pair[i][j];
        assert_int_equal(partition_solve(&partition, group_of, &optimum), 0);
        possible += lost_of(box.cache_of, all, 1, &box) - optimum.total;
        solve(&box, &found);
        gained += found.gain;
    }
    assert_true(gained <= possible + 1e-9);
    assert_true(gained > 0.97 * possible);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_four),        cmocka_unit_test(test_four_priced),
        cmocka_unit_test(test_small),       cmocka_unit_test(test_free_core),
        cmocka_unit_test(test_ring),        cmocka_unit_test(test_several),
        cmocka_unit_test(test_domains),     cmocka_unit_test(test_newcomer),
        cmocka_unit_test(test_equals_stay), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_invalid),     cmocka_unit_test(test_focus),
        cmocka_unit_test(test_like),        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_partition),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
