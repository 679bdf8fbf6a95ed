/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nucore - random machines against every allocation there is, each worked out by eq. 5.11 as
 * it is printed (GLPK): how near NuCore comes to the best, and that the proof says which it is; the
 * paper's published optima in spirit; bounds, stops, and what makes no sense. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/numa/nucore.h"
#include "lab/model/nucore_proof.h"
#include "tests/bench/numa_paper.h"
#include "tests/bench/numa_random.h"
#include "tests/unit/common/numa_scene.h"

#define CELLS_MAX 16

/* ---- every allocation ---- */

struct brute {
    const struct nucore *nucore;
    struct numem_program use[4];
    double gain[4], floor[4], unit, best;
    bool found;
    size_t nodes, cells;
    unsigned now[CELLS_MAX], allocation[CELLS_MAX];
    struct kept { /* those that are nearly as good as the best */
        double objective;
        unsigned allocation[CELLS_MAX];
    } * kept;
    size_t keep, size;
};

static bool is_allowed(const struct brute *b)
{
    const struct nucore *n = b->nucore;

    for (size_t p = 0; p < n->programs; p++) {
        unsigned sum = 0;

        for (size_t i = 0; i < b->nodes; i++)
            sum += b->now[p * b->nodes + i];
        if (sum < n->program[p].cores_min ||
            (n->program[p].cores_max > 0 && sum > n->program[p].cores_max))
            return false;
    }
    for (size_t i = 0; i < b->nodes; i++) {
        unsigned sum = 0;

        for (size_t p = 0; p < n->programs; p++)
            sum += b->now[p * b->nodes + i];
        if (sum > n->machine->cores[i])
            return false;
    }
    return true;
}

static void look_at(struct brute *b)
{
    double objective = paper_numem(b->nucore->machine, b->use, b->nucore->programs, b->gain,
                                   b->nucore->programs > 1 ? b->floor : NULL, b->now);

    if (isnan(objective))
        return;
    for (size_t cell = 0; cell < b->cells; cell++)
        objective -= b->unit * b->now[cell];
    b->best = b->found ? fmax(b->best, objective) : objective;
    b->found = true;
    if (b->keep == b->size) {
        b->size = 2 * b->size + 256;
        b->kept = realloc(b->kept, b->size * sizeof(*b->kept));
        assert_non_null(b->kept);
    }
    b->kept[b->keep].objective = objective;
    memcpy(b->kept[b->keep++].allocation, b->now, sizeof(b->now));
}

static void enumerate(struct brute *b, size_t cell)
{
    const struct nucore_program *program;
    size_t i = cell % b->nodes;

    if (cell == b->cells) {
        if (is_allowed(b))
            look_at(b);
        return;
    }
    program = &b->nucore->program[cell / b->nodes];
    for (unsigned c = program->least ? program->least[i] : 0;
         c <= nucore_most(b->nucore, cell / b->nodes, i); c++) {
        b->now[cell] = c;
        enumerate(b, cell + 1);
    }
}

/* ---- which of the best ones ---- */

/* The part of what is asked of node i's memory that it gives to everyone. */
static double memory_gives(const struct brute *b, size_t i)
{
    double asked = 0;

    for (size_t p = 0; p < b->nucore->programs; p++) {
        const unsigned *cores = &b->now[p * b->nodes];

        asked += b->use[p].local_demand[i][cores[i]];
        for (size_t to = 0; to < b->nodes; to++)
            if (to != i)
                asked += b->use[p].read_solo[i * b->nodes + to] * cores[to] +
                         b->use[p].write_solo[i * b->nodes + to] * cores[i];
    }
    return asked > b->nucore->machine->alpha[i] ? b->nucore->machine->alpha[i] / asked : 1;
}

/* The bandwidth of a core of the program on node i. */
static double core_gets(const struct brute *b, size_t p, size_t i)
{
    unsigned cores = b->now[p * b->nodes + i];
    double sum = b->use[p].local_demand[i][cores] / cores * memory_gives(b, i);

    for (size_t j = 0; j < b->nodes; j++)
        if (j != i)
            sum += b->use[p].read_solo[j * b->nodes + i] * memory_gives(b, j) +
                   b->use[p].write_solo[i * b->nodes + j] * memory_gives(b, i);
    return sum;
}

static double spread(const struct brute *b)
{
    double sum = 0;

    for (size_t p = 0; p < b->nucore->programs; p++) {
        double least = INFINITY, most = 0;

        for (size_t i = 0; i < b->nodes; i++)
            if (b->now[p * b->nodes + i] > 0) {
                least = fmin(least, core_gets(b, p, i));
                most = fmax(most, core_gets(b, p, i));
            }
        sum += most > 0 ? 1 - least / most : 0;
    }
    return sum;
}

static size_t nodes_used(const struct brute *b, const unsigned *allocation)
{
    size_t used = 0;

    for (size_t cell = 0; cell < b->cells; cell++)
        used += allocation[cell] > 0;
    return used;
}

/* Takes the one that is on trial where it comes before what is taken so far. */
static void rank(struct brute *b, size_t *nodes, double *least)
{
    size_t cell = 0, used = nodes_used(b, b->now);
    double now;

    if (used > *nodes)
        return;
    now = spread(b);
    while (cell < b->cells && b->now[cell] == b->allocation[cell])
        cell++;
    if (used < *nodes || now < *least - 1e-9 ||
        (now <= *least + 1e-9 && cell < b->cells && b->now[cell] > b->allocation[cell])) {
        *nodes = used;
        *least = now;
        memcpy(b->allocation, b->now, sizeof(b->now));
    }
}

/* Of the best ones: the fewest nodes, the least spread, the lowest nodes. */
static void choose(struct brute *b)
{
    double tie = NUCORE_TIE * (b->unit + fabs(b->best) / 1000), least = INFINITY;
    size_t nodes = SIZE_MAX;

    memset(b->allocation, 0, sizeof(b->allocation));
    for (size_t k = 0; k < b->keep; k++)
        if (b->kept[k].objective >= b->best - tie) {
            memcpy(b->now, b->kept[k].allocation, sizeof(b->now));
            rank(b, &nodes, &least);
        }
    free(b->kept);
}

static void brute_force(struct brute *b, const struct nucore *nucore)
{
    b->nucore = nucore;
    b->nodes = nucore->machine->nodes;
    b->cells = b->nodes * nucore->programs;
    for (size_t p = 0; p < nucore->programs; p++)
        b->use[p] = nucore->program[p].use;
    enumerate(b, 0);
    choose(b);
}

/* ---- one program ---- */

struct answer {
    unsigned allocation[CELLS_MAX];
    struct numem_usage usage[4];
    double speed[4], solo[4];
    enum numem_constraint constraint[8];
    struct nucore_result result;
};

static void solve(const struct nucore *nucore, struct answer *a)
{
    *a = (struct answer){0};
    a->usage[0].constraint = a->constraint;
    a->result = (struct nucore_result){
        .allocation = a->allocation, .usage = a->usage, .speed = a->speed, .solo = a->solo};
    assert_int_equal(nucore_solve(nucore, &a->result), 0);
}

/* Of how many allocations NuCore found the best, and of these the first. */
static struct score {
    size_t all, best, first;
} score;

/* Holds an answer against the best of all, and has it proven; equal: objectives that differ by no
 * more than that are the same. */
static void judge(const struct nucore *nucore, const struct brute *brute, struct answer *a,
                  double equal)
{
    size_t cells = brute->cells;
    struct berth_error err;
    double bound;

    score.all++;
    score.best += fabs(a->result.objective - brute->best) <= equal;
    score.first += memcmp(a->allocation, brute->allocation, cells * sizeof(unsigned)) == 0;
    assert_true(a->result.objective <= brute->best + equal);
    assert_int_equal(nucore_prove(nucore, 60, &a->result, &bound, &err), 0);
    assert_int_equal(a->result.status, NUCORE_OPTIMAL);
    assert_true(bound == a->result.objective);
    assert_true(fabs(a->result.objective - brute->best) <=
                fmax(equal, 2 * NUCORE_PROOF_LEAST * (1 + fabs(brute->best))));
}

static void check_one(const struct numa_wish *wish, unsigned cores_min, unsigned cores_max,
                      const unsigned *least, const unsigned *most)
{
    struct brute brute = {.gain = {NUCORE_CORES_PER_GBPS}, .unit = 1};
    struct nucore nucore = {.programs = 1};
    struct answer a;
    struct numa numa;

    numa_make(&numa, wish);
    numa.program.cores_min = cores_min;
    numa.program.cores_max = cores_max;
    numa.program.least = least;
    numa.program.most = most;
    nucore.machine = &numa.machine;
    nucore.program = &numa.program;
    brute_force(&brute, &nucore);
    solve(&nucore, &a);
    assert_int_equal(a.result.status, brute.found ? NUCORE_FOUND : NUCORE_INFEASIBLE);
    if (brute.found) {
        judge(&nucore, &brute, &a, 1e-6 * (1 + fabs(brute.best) / 1000));
    }
    numa_free(&numa);
}

/* Another kind of machine for each seed. */
static struct numa_wish wish_of(uint64_t seed, size_t nodes, unsigned cores)
{
    return (struct numa_wish){.traffic = (enum numa_traffic)(seed % NUMA_TRAFFICS),
                              .nodes = nodes,
                              .cores = cores,
                              .asymmetric = seed / 4 % 2,
                              .hops = seed / 8 % 2,
                              .uneven = seed / 16 % 2,
                              .even = seed / 32 % 4 == 0,
                              .seed = seed};
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 128; seed++) {
        struct numa_wish three = wish_of(seed, 3, 4), four = wish_of(seed + 1000, 4, 2);

        check_one(&three, 0, 0, NULL, NULL);
        check_one(&four, 0, 0, NULL, NULL);
    }
}

/* Machines whose nodes cannot be told apart, or only by their places in a ring: many optima. */
static void test_alike(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct numa_wish five = {.traffic = seed % 2 ? NUMA_RING : NUMA_DENSE,
                                 .nodes = 5,
                                 .cores = 3,
                                 .alike = true,
                                 .roof = seed / 2 % 2,
                                 .seed = seed / 2};
        struct numa_wish six = {.traffic = NUMA_RING,
                                .nodes = 6,
                                .cores = 2,
                                .alike = seed % 2,
                                .roof = seed / 2 % 2,
                                .seed = seed};

        check_one(&five, 0, 0, NULL, NULL);
        check_one(&six, 0, seed % 3 ? 0 : 7, NULL, NULL);
    }
}

static void test_bounds_of_cores(void **state)
{
    static const unsigned least[] = {0, 2, 1}, most[] = {2, 3, 1};

    (void)state;
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct numa_wish wish = wish_of(seed, 3, 3);

        check_one(&wish, 0, 1 + (unsigned)(seed % 8), NULL, NULL);
        check_one(&wish, (unsigned)(seed % 10), 0, NULL, NULL);
        check_one(&wish, 0, (unsigned)(seed % 7), least, NULL);
        check_one(&wish, (unsigned)(seed % 7), 7, least, NULL);
        check_one(&wish, 0, 0, NULL, most);
        check_one(&wish, (unsigned)(seed % 8), 0, least, most);
    }
}

/* ---- the paper's machines ---- */

static void finds(struct numa_scene *s, const unsigned *wanted, enum numem_constraint constraint)
{
    struct answer a;

    solve(&s->nucore, &a);
    assert_int_equal(a.result.status, NUCORE_FOUND);
    for (size_t i = 0; i < s->nodes; i++)
        assert_int_equal(a.allocation[i], wanted[i]);
    assert_int_equal(a.constraint[0], constraint);
}

static void test_published(void **state)
{
    struct numa_scene s;

    (void)state;
    numa_scene_init(&s, 4, 8, 20.26, 0.24, 10.8, 17.5); /* Table 5.1a */
    numa_share(&s, 1.1);
    finds(&s, (const unsigned[]){8, 8, 3, 0}, NUMEM_MAX_OUT); /* streamcluster */
    numa_scene_init(&s, 8, 6, 8.1, 0.4, 4.9, 8.5);            /* Table 5.1b */
    numa_share(&s, 1.35);
    finds(&s, (const unsigned[]){6, 0, 0, 0, 0, 0, 0, 0}, NUMEM_LOCAL_BANDWIDTH);
    numa_scene_init(&s, 8, 6, 8.1, 0.4, 4.9, 8.5);
    numa_share(&s, 0.4);
    finds(&s, (const unsigned[]){6, 6, 6, 3, 0, 0, 0, 0}, NUMEM_MAX_OUT); /* canneal */
    numa_scene_init(&s, 4, 8, 20.26, 0.24, 10.8, 17.5);
    for (size_t i = 0; i < 4; i++)
        for (unsigned c = 0; c <= 8; c++)
            s.table[i][c] = c < 7 ? 2.6 * c : 18.2;
    finds(&s, (const unsigned[]){7, 7, 7, 7}, NUMEM_LOCAL_BANDWIDTH); /* mg.D-resid */
}

/* More of Tables 5.3 and 5.5; the traffic is as chapters 3 and 5 describe it. */
static void test_published_shared(void **state)
{
    struct numa_scene s;

    (void)state;
    numa_scene_init(&s, 4, 8, 20.26, 0.24, 10.8, 17.5);
    numa_all_to_all(&s, 4, 1);
    finds(&s, (const unsigned[]){3, 3, 3, 3}, NUMEM_CONTENTION); /* sp.C-x/y/zsolve */
    numa_all_to_all(&s, 3, 1.5); /* {6, 2, 2, 2} has the same bandwidth, and slower cores */
    finds(&s, (const unsigned[]){3, 3, 3, 3}, NUMEM_CONTENTION);
    numa_scene_init(&s, 4, 8, 20.26, 0.24, 10.8, 17.5);
    numa_share(&s, 0.74);
    finds(&s, (const unsigned[]){8, 8, 8, 4}, NUMEM_MAX_OUT); /* canneal */
    numa_scene_init(&s, 4, 8, 20.26, 0.24, 10.8, 17.5);
    numa_share(&s, 1.3);
    finds(&s, (const unsigned[]){8, 8, 0, 0}, NUMEM_MAX_OUT); /* facesim */
    numa_opteron(&s);
    numa_share(&s, 0.4);
    finds(&s, (const unsigned[]){6, 6, 6, 3, 0, 0, 0, 0}, NUMEM_MAX_OUT); /* canneal */
    numa_opteron(&s);
    numa_share(&s, 0.52);
    finds(&s, (const unsigned[]){6, 6, 4, 0, 0, 0, 0, 0}, NUMEM_MAX_OUT); /* facesim */
    numa_opteron(&s);
    numa_all_to_all(&s, 2.5, 1);
    finds(&s, (const unsigned[]){1, 1, 1, 1, 1, 1, 1, 1}, NUMEM_CONTENTION); /* sp.C-x/y/zsolve */
    numa_opteron(&s);
    numa_partly_shared(&s, 1.2, 0.11);
    finds(&s, (const unsigned[]){3, 6, 6, 6, 6, 6, 6, 6}, NUMEM_CONTENTION); /* dgemm (ACML) */
    numa_opteron(&s);
    numa_partly_shared(&s, 1.3, 0.125);
    finds(&s, (const unsigned[]){2, 6, 6, 6, 6, 6, 6, 6}, NUMEM_CONTENTION); /* dgemm (MKL) */
    for (int rate = 46; rate <= 52; rate += 2) {
        numa_opteron(&s);
        numa_write_ring(&s, rate / 100.0);
        finds(&s, (const unsigned[]){6, 5, 6, 6, 6, 4, 6, 4}, NUMEM_LINK); /* mg.D-rprj3 */
    }
}

/* ---- several programs ---- */

static void check_many(uint64_t seed, size_t programs, double fairness)
{
    struct numa_wish wish = wish_of(seed, 2, programs == 2 ? 3 : 2);
    struct brute brute = {.unit = NUCORE_SPEED_PER_CORE}, alone;
    struct nucore_program program[3];
    struct nucore nucore = {.program = program, .programs = programs, .fairness = fairness}, one;
    const unsigned most[] = {2, 1};
    double sum = 0;
    struct numa numa[3];
    struct answer a;

    for (size_t p = 0; p < programs; p++) {
        wish.seed = seed + 5000 * p;
        numa_make(&numa[p], &wish);
        program[p] = numa[p].program;
        program[p].weight = 1 + (double)p;
        program[p].cores_min = seed % 3 == 0;
        program[p].cores_max = p == 1 ? 1 + (unsigned)seed % 4 : 0;
        program[p].most = p == 0 && seed % 5 == 0 ? most : NULL;
    }
    nucore.machine = &numa[0].machine;
    for (size_t p = 0; p < programs; p++) {
        const struct numem_program *use = &program[p].use;
        double wanted = 0;

        for (size_t i = 0; i < 2; i++)
            wanted += use->local_demand[i][nucore_most(&nucore, p, i)] +
                      nucore_most(&nucore, p, 1 - i) * use->read_solo[2 * i + 1 - i] +
                      nucore_most(&nucore, p, i) * use->write_solo[2 * i + 1 - i];
        brute.gain[p] = program[p].weight / wanted;
        program[p].floor = seed % 4 == p + 1 ? wanted * 0.02 * (double)(seed % 20) : 0;
        brute.floor[p] = program[p].floor * (1 - 1e-9);
        alone = (struct brute){.gain = {1}, .unit = 1 / NUCORE_CORES_PER_GBPS};
        one = nucore;
        one.program = &program[p];
        one.programs = 1;
        if (fairness > 0) {
            brute_force(&alone, &one);
            brute.floor[p] =
                fmax(brute.floor[p], fairness *
                                         paper_numem(one.machine, &program[p].use, 1, alone.gain,
                                                     NULL, alone.allocation) *
                                         (1 - 1e-9));
        }
    }
    brute_force(&brute, &nucore);
    solve(&nucore, &a);
    assert_int_equal(a.result.status, brute.found ? NUCORE_FOUND : NUCORE_INFEASIBLE);
    if (brute.found) {
        judge(&nucore, &brute, &a, 1e-8);
        for (size_t p = 0; p < programs; p++) {
            sum += program[p].weight * a.speed[p];
            assert_true(a.usage[p].bandwidth >= brute.floor[p] - 1e-9);
        }
        assert_true(sum >= a.result.objective && sum <= a.result.objective + 1e-4);
    } else
        assert_true(a.result.culprit <= programs);
    for (size_t p = 0; p < programs; p++)
        numa_free(&numa[p]);
}

static void test_programs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 48; seed++) {
        check_many(seed, 2, 0);
        check_many(seed + 100, 2, 0.3 + 0.01 * (double)seed);
    }
    for (uint64_t seed = 0; seed < 4; seed++)
        check_many(seed + 200, 3, 0.2);
}

/* Who is told that it cannot be. */
static void test_infeasible(void **state)
{
    struct nucore_program program[2];
    struct numa_scene s;
    struct answer a;

    (void)state;
    numa_scene_init(&s, 2, 2, 10, 0.2, 5, 8);
    for (size_t i = 0; i < 2; i++)
        for (unsigned c = 0; c <= 2; c++)
            s.table[i][c] = c;
    program[0] = program[1] = s.program;
    s.nucore.program = program;
    s.nucore.programs = 2;
    s.nucore.fairness = 0.6; /* of 4 cores, both want 3 */
    solve(&s.nucore, &a);
    assert_int_equal(a.result.status, NUCORE_INFEASIBLE);
    assert_int_equal(a.result.culprit, 1);
    s.nucore.fairness = 0.5;
    solve(&s.nucore, &a);
    assert_int_equal(a.result.status, NUCORE_FOUND);
    assert_true(fabs(a.solo[0] - 1) < 1e-9 && fabs(a.speed[1] - 0.5) < 1e-9);
    s.nucore.fairness = 0;
    program[1].cores_min = 5;
    solve(&s.nucore, &a);
    assert_int_equal(a.result.status, NUCORE_INFEASIBLE);
    assert_int_equal(a.result.culprit, 1);
    program[0].cores_min = program[1].cores_min = 3;
    solve(&s.nucore, &a);
    assert_int_equal(a.result.status, NUCORE_INFEASIBLE);
    assert_int_equal(a.result.culprit, 2);
    assert_string_equal(nucore_status_name(a.result.status), "infeasible");
}

/* Of all those above the best was found, and hardly ever another one than the first of the best. */
static void test_score(void **state)
{
    (void)state;
    print_message("of %zu: %zu best, %zu first\n", score.all, score.best, score.first);
    assert_true(score.all > 700);
    assert_int_equal(score.best, score.all);
    assert_true(100 * score.first >= 99 * score.all);
}

/* ---- the limit ---- */

static bool count_down(void *left)
{
    return (*(int *)left)-- <= 0;
}

static void test_stop(void **state)
{
    struct numa_wish wish = {.traffic = NUMA_DENSE, .nodes = 8, .cores = 6, .seed = 8};
    struct answer whole, a;
    struct nucore nucore = {.programs = 1};
    struct numa numa;
    int limits = 0;

    (void)state;
    numa_make(&numa, &wish);
    nucore.machine = &numa.machine;
    nucore.program = &numa.program;
    solve(&nucore, &whole);
    assert_int_equal(whole.result.status, NUCORE_FOUND);
    nucore.stop = count_down;
    for (int asked = 0; asked < 40; asked++) {
        int left = asked;

        nucore.stop_arg = &left;
        solve(&nucore, &a);
        if (a.result.status == NUCORE_UNKNOWN)
            continue;
        assert_true(a.result.objective <= whole.result.objective + 1e-6);
        limits += a.result.status == NUCORE_LIMIT;
        if (a.result.status == NUCORE_FOUND)
            assert_true(fabs(a.result.objective - whole.result.objective) < 1e-6);
    }
    assert_true(limits > 0);
    numa_free(&numa);
}

/* ---- what makes no sense ---- */

static void refused(struct numa_scene *s, const char *field)
{
    struct numem_fault fault = {0};
    struct answer a = {0};
    size_t program;

    a.result = (struct nucore_result){.allocation = a.allocation, .usage = a.usage};
    assert_int_equal(nucore_check(&s->nucore, &fault, &program), -1);
    assert_string_equal(fault.field, field);
    assert_non_null(fault.why);
    errno = 0;
    assert_int_equal(nucore_solve(&s->nucore, &a.result), -1);
    assert_int_equal(errno, EINVAL);
}

static void scene_small(struct numa_scene *s)
{
    numa_scene_init(s, 2, 2, 10, 0.5, 5, 8);
    for (size_t i = 0; i < 2; i++)
        for (unsigned c = 0; c <= 2; c++)
            s->table[i][c] = c;
}

static void test_refused(void **state)
{
    static const unsigned least[] = {0, 3}, most[] = {2, 1};
    struct numa_scene s;

    (void)state;
    scene_small(&s);
    s.alpha[1] = NAN;
    refused(&s, "alpha");
    scene_small(&s);
    s.read[1] = -1;
    refused(&s, "read_solo");
    scene_small(&s);
    s.table[1][0] = s.table[1][1] = s.table[1][2] = 21; /* eq. 5.7 for no count */
    refused(&s, "local_demand");
    scene_small(&s);
    s.program.cores_min = 3;
    s.program.cores_max = 2;
    refused(&s, "cores_max");
    scene_small(&s);
    s.program.least = least;
    refused(&s, "least");
    s.program.least = NULL;
    s.program.most = least;
    refused(&s, "most");
    s.program.least = (const unsigned[]){0, 2};
    s.program.most = most;
    refused(&s, "least");
    scene_small(&s);
    s.program.weight = 0;
    refused(&s, "weight");
    scene_small(&s);
    s.program.floor = -1;
    refused(&s, "floor");
    scene_small(&s);
    s.nucore.fairness = 1.5;
    refused(&s, "fairness");
    scene_small(&s);
    s.nucore.programs = 0;
    refused(&s, "programs");
}

/* A count of which eq. 5.7 has no solution is not taken, though those around it are. */
static void test_hole(void **state)
{
    struct numa_scene s;

    (void)state;
    scene_small(&s);
    s.table[0][1] = 21;
    s.program.cores_max = 3;
    finds(&s, (const unsigned[]){2, 1}, NUMEM_NONE);
    s.program.cores_max = 1;
    finds(&s, (const unsigned[]){0, 1}, NUMEM_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_bounds_of_cores),
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_published_shared),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_infeasible),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
