/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_statstack - stack distances by hand, and miss ratio curves of sampled traces against the
 * exact ones (Mattson 1970): how far the model itself is off, and how often the error it states for
 * a sample covers the truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "models/online/statstack.h"
#include "tests/unit/common/noise.h"

#define LENGTH (1u << 20)  /* references of a trace */
#define ASKED (LENGTH / 2) /* of them, whose next use is asked for */
#define LINES (1u << 20)   /* a trace has fewer different ones */
#define NEVER UINT32_MAX
#define SIZES 15
#define BLOCK (1u << 16) /* references of a phase */

/* ---- traces: the line of each reference ---- */

static void sequential(uint32_t *line)
{
    for (uint32_t i = 0; i < LENGTH; i++)
        line[i] = i / 8; /* eight words to a line, and never back */
}

static void strided(uint32_t *line)
{
    for (uint32_t i = 0; i < LENGTH; i++)
        line[i] = i * 24 % 40000 / 8; /* every 24th word of 5000 lines, again and again */
}

static void uniform(uint32_t *line)
{
    struct noise noise = {11};

    for (uint32_t i = 0; i < LENGTH; i++)
        line[i] = (uint32_t)(noise_uniform(&noise) * 6000);
}

/* One cycle through 3000 lines in a random order (Sattolo). */
static void ring(uint32_t *line)
{
    struct noise noise = {12};
    uint32_t next[3000], at = 0;

    for (uint32_t i = 0; i < 3000; i++)
        next[i] = i;
    for (uint32_t i = 2999; i > 0; i--) {
        uint32_t other = (uint32_t)(noise_uniform(&noise) * i), was = next[i];

        next[i] = next[other];
        next[other] = was;
    }
    for (uint32_t i = 0; i < LENGTH; i++)
        line[i] = at = next[at];
}

static void zipf(uint32_t *line)
{
    static double sum[20000];
    struct noise noise = {13};
    double all = 0;

    for (uint32_t i = 0; i < 20000; i++)
        sum[i] = all += pow(i + 1.0, -0.8);
    for (uint32_t i = 0; i < LENGTH; i++) {
        double wanted = noise_uniform(&noise) * all;
        uint32_t low = 0, high = 19999;

        while (low < high) {
            uint32_t middle = (low + high) / 2;

            if (sum[middle] < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        line[i] = low;
    }
}

/* Turns of a loop over 500 lines, and of random references to 8000 others. */
static void phases(uint32_t *line)
{
    struct noise noise = {14};

    for (uint32_t i = 0; i < LENGTH; i++)
        line[i] = i / BLOCK % 2 ? 500 + (uint32_t)(noise_uniform(&noise) * 8000) : i % 500;
}

/* c += a * b of 64 by 64 doubles in blocks of 16, again and again. */
static void matrix(uint32_t *line)
{
    uint32_t at = 0;

    for (uint32_t turn = 0; at < LENGTH; turn++) {
        uint32_t block = turn % 64, inner = 0;

        for (; inner < 16 * 16 * 16 && at + 3 <= LENGTH; inner++) {
            uint32_t i = block / 16 * 16 + inner / 256, j = block / 4 % 4 * 16 + inner / 16 % 16;
            uint32_t k = block % 4 * 16 + inner % 16;

            line[at++] = (i * 64 + k) / 8;
            line[at++] = 512 + (k * 64 + j) / 8;
            line[at++] = 1024 + (i * 64 + j) / 8;
        }
        if (inner < 16 * 16 * 16)
            line[at++] = 0;
    }
}

/* ---- the exact distances ---- */

struct truth {
    uint32_t *reuse, *stack; /* [ASKED] of the next use; NEVER: there is none */
};

static void tree_add(int32_t *tree, uint32_t at, int32_t by)
{
    for (at++; at <= LENGTH; at += at & -at)
        tree[at] += by;
}

static uint32_t tree_sum(const int32_t *tree, uint32_t end)
{
    int32_t sum = 0;

    for (; end > 0; end -= end & -end)
        sum += tree[end];
    return (uint32_t)sum;
}

/* Mattson's stack as a Fenwick tree over the latest use of each line (Bennett and Kruskal 1975). */
static void measure(const uint32_t *line, struct truth *truth)
{
    uint32_t *last = malloc(LINES * sizeof(*last));
    int32_t *tree = calloc(LENGTH + 1, sizeof(*tree));

    memset(last, 0xff, LINES * sizeof(*last));
    memset(truth->reuse, 0xff, ASKED * sizeof(*truth->reuse));
    memset(truth->stack, 0xff, ASKED * sizeof(*truth->stack));
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t before = last[line[i]];

        if (before != NEVER) {
            tree_add(tree, before, -1);
            if (before < ASKED) {
                truth->reuse[before] = i - before - 1;
                truth->stack[before] = tree_sum(tree, i) - tree_sum(tree, before);
            }
        }
        tree_add(tree, i, 1);
        last[line[i]] = i;
    }
    free(last);
    free(tree);
}

static double exact_misses(const struct truth *truth, double lines)
{
    size_t misses = 0;

    for (uint32_t i = 0; i < ASKED; i++)
        misses += truth->stack[i] >= lines; /* NEVER, too */
    return (double)misses / ASKED;
}

/* Take each reference with odds of one in `every`, and watch it to the trace's end. phase: only
 * those of that phase, watched to the turn's end; or -1: all. */
static size_t take(const struct truth *truth, double every, int phase, struct noise *noise,
                   struct statstack_reuse *sample)
{
    size_t n = 0;

    for (uint32_t i = 0; i < ASKED; i++) {
        uint32_t left = phase < 0 ? LENGTH - i - 1 : BLOCK - i % BLOCK - 1;

        if (noise_uniform(noise) * every >= 1 || (phase >= 0 && i / BLOCK % 2 != (uint32_t)phase))
            continue;
        sample[n].censored = truth->reuse[i] >= left; /* NEVER, too */
        sample[n].references = sample[n].censored ? left : truth->reuse[i];
        n++;
    }
    return n;
}

/* ---- tests ---- */

static void assert_near(double got, double wanted, double within)
{
    if (!(fabs(got - wanted) <= within))
        fail_msg("%.15g, not %.15g", got, wanted);
}

/* Distances 1, 3, 3, 7: P(D > k) is 1 to k = 0, 3/4 to 2, 1/4 to 6; so they are stack distances of
 * 1, 1 + 2 * 3/4 = 2.5 and 2.5 + 4 * 1/4 = 3.5: a cache that is larger than that has them. */
static void test_distance(void **state)
{
    static const struct statstack_reuse sample[] = {{3, false}, {7, false}, {1, false}, {3, false}};
    static const double lines[] = {1, 1 + 1e-12, 2.5, 2.5 + 1e-12, 3.5, 3.5 + 1e-12};
    static const double wanted[] = {1, 0.75, 0.75, 0.25, 0.25, 0};
    struct statstack_value out[6];

    (void)state;
    assert_int_equal(statstack_curve(sample, 4, lines, 6, out), 0);
    for (size_t i = 0; i < 6; i++)
        assert_near(out[i].value, wanted[i], 1e-12);
}

/* Kaplan and Meier: of 4 watched one came back after 1; one was given up at 2; of the other two one
 * came back at 4, a stack distance of 1 + 3 * 3/4 = 3.25, and one never did while it was watched.
 */
static void test_censored(void **state)
{
    static const struct statstack_reuse sample[] = {{9, true}, {4, false}, {2, true}, {1, false}};
    static const double lines[] = {1, 2, 3.25, 3.25 + 1e-12, 100};
    struct statstack_value out[5];

    (void)state;
    assert_int_equal(statstack_curve(sample, 4, lines, 5, out), 0);
    assert_near(out[0].value, 1, 1e-12);
    assert_near(out[1].value, 0.75, 1e-12);
    assert_near(out[2].value, 0.75, 1e-12);
    assert_near(out[3].value, 0.375, 1e-12);
    assert_near(out[4].value, 0.375, 1e-12); /* it was watched to a stack distance of 5.1 */
    assert_true(out[4].error >= 0.375);
}

static void test_nothing(void **state)
{
    static const struct statstack_reuse one = {5, true};
    static const double lines = 100;
    static const struct statstack_cache cache = {.sets = 4, .ways = 2};
    struct statstack_value out[3];

    (void)state;
    assert_int_equal(statstack_curve(&one, 0, &lines, 1, out), -1);
    assert_int_equal(statstack_profile(&one, 0, &cache, out), -1);
    assert_int_equal(statstack_curve(&one, 1, &lines, 1, out), 0);
    assert_near(out[0].value, 1, 0);
    assert_true(out[0].error >= 1); /* it says nothing of so large a cache */
}

/* Stack distance 6 in 4 sets of 2 ways: none of 6 lines in the set (3/4)^6, one 6/4 (3/4)^5. */
static void test_profile(void **state)
{
    static const struct statstack_reuse sample[] = {{6, false}, {6, false}};
    struct statstack_cache cache = {.sets = 4, .ways = 2};
    struct statstack_value out[9];

    (void)state;
    assert_int_equal(statstack_profile(sample, 2, &cache, out), 0);
    assert_near(out[0].value, pow(0.75, 6), 1e-12);
    assert_near(out[1].value, 1.5 * pow(0.75, 5), 1e-12);
    assert_near(out[2].value, 1 - pow(0.75, 6) - 1.5 * pow(0.75, 5), 1e-12);
    cache = (struct statstack_cache){.sets = 1, .ways = 8};
    assert_int_equal(statstack_profile(sample, 2, &cache, out), 0);
    assert_near(out[6].value, 1, 1e-12);
    cache.inner_lines = 6;
    assert_int_equal(statstack_profile(sample, 2, &cache, out), 0);
    assert_near(out[6].value, 1, 1e-12);
    cache.inner_lines = 7; /* the inner cache has it */
    assert_int_equal(statstack_profile(sample, 2, &cache, out), 0);
    assert_near(out[6].value + out[8].value, 0, 1e-12);
}

/* Of a huge cache: nothing overflows, and all is shared out. */
static void test_profile_whole(void **state)
{
    static const struct statstack_cache cache = {.sets = 65536, .ways = 16};
    struct statstack_reuse sample[300];
    struct statstack_value out[17];
    double sum = 0;

    (void)state;
    for (size_t i = 0; i < 300; i++)
        sample[i] = (struct statstack_reuse){pow(1.1, (double)i), i % 7 == 0};
    assert_int_equal(statstack_profile(sample, 300, &cache, out), 0);
    for (size_t i = 0; i <= 16; i++) {
        assert_true(out[i].value >= 0 && out[i].error >= 0.01);
        sum += out[i].value;
    }
    assert_near(sum, 1, 1e-9);
}

struct kernel {
    const char *name;
    void (*make)(uint32_t *line);
    double bias;  /* the most that the model itself may be off, of any size */
    double cover; /* the least share of errors that cover the truth */
};

/* The curve of a sample; by_phase: the phases' own curves, averaged. */
static void curve(const struct truth *truth, double every, bool by_phase, struct noise *noise,
                  const double *lines, struct statstack_value *out)
{
    struct statstack_reuse *sample = malloc(ASKED * sizeof(*sample));
    struct statstack_value part[SIZES];
    size_t n, all = 0;

    memset(out, 0, SIZES * sizeof(*out));
    for (int phase = by_phase ? 0 : -1; phase < (by_phase ? 2 : 0); phase++) {
        n = take(truth, every, phase, noise, sample);
        assert_int_equal(statstack_curve(sample, n, lines, SIZES, part), 0);
        for (size_t i = 0; i < SIZES; i++) {
            out[i].value += part[i].value * (by_phase ? 0.5 : 1);
            out[i].error = hypot(out[i].error, part[i].error * (by_phase ? 0.5 : 1));
        }
        all += n;
    }
    assert_true(all > 0);
    free(sample);
}

/* The curve of samples taken 20 times: how far off at most, and how often within the error. */
static void try_rate(const struct truth *truth, const struct kernel *kernel, bool by_phase,
                     double every, const double *lines)
{
    struct statstack_value out[SIZES];
    struct noise noise = {(uint64_t)every};
    double worst = 0, stated = 0, within = 0;
    int tries = every < 1000 ? 5 : 20;

    for (int t = 0; t < tries; t++) {
        curve(truth, every, by_phase, &noise, lines, out);
        for (size_t i = 0; i < SIZES; i++) {
            double off = fabs(out[i].value - exact_misses(truth, lines[i]));

            worst = fmax(worst, off);
            stated += out[i].error / (tries * SIZES);
            within += (off <= out[i].error) / (double)(tries * SIZES);
        }
    }
    print_message("%-12s 1/%-6g off by %.4f at most, error stated %.4f, covers %.3f\n",
                  kernel->name, every, worst, stated, within);
    assert_true(stated < 3 / sqrt(ASKED / every)); /* it could cover all by being large */
    if (within < kernel->cover)
        fail_msg("%s: only %.3f of the errors cover the truth", kernel->name, within);
}

static void try_kernel(const struct kernel *kernel, bool by_phase)
{
    struct truth truth = {malloc(ASKED * sizeof(uint32_t)), malloc(ASKED * sizeof(uint32_t))};
    uint32_t *line = malloc(LENGTH * sizeof(*line));
    struct statstack_value out[SIZES];
    struct noise noise = {1};
    double lines[SIZES], bias = 0;

    kernel->make(line);
    measure(line, &truth);
    for (size_t i = 0; i < SIZES; i++)
        lines[i] = floor(8 * pow(2, (double)i * 0.8)); /* to 18820 */
    curve(&truth, 2, by_phase, &noise, lines, out);
    for (size_t i = 0; i < SIZES; i++)
        bias = fmax(bias, fabs(out[i].value - exact_misses(&truth, lines[i])));
    print_message("%-12s the model itself is off by %.4f\n", kernel->name, bias);
    if (bias > kernel->bias)
        fail_msg("%s: the model is off by %.4f", kernel->name, bias);
    try_rate(&truth, kernel, by_phase, 100, lines);
    try_rate(&truth, kernel, by_phase, 1000, lines);
    try_rate(&truth, kernel, by_phase, 10000, lines);
    free(line);
    free(truth.reuse);
    free(truth.stack);
}

static void test_kernels(void **state)
{
    static const struct kernel kernels[] = {
        {"sequential", sequential, 0.005, 0.9},
        {"strided", strided, 0.005, 0.9},
        {"uniform", uniform, 0.005, 0.9},
        {"ring", ring, 0.005, 0.9},
        {"zipf", zipf, 0.005, 0.9},
        {"matrix", matrix, 0.005, 0.9},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
        try_kernel(&kernels[i], false);
}

/* Mixed samples of different phases are what the model cannot do. */
static void test_phases(void **state)
{
    static const struct kernel mixed = {"phases mixed", phases, 0.2, 0.5},
                               apart = {"phases apart", phases, 0.015, 0.85};

    (void)state;
    try_kernel(&mixed, false);
    try_kernel(&apart, true);
}

#define SETS 256
#define WAYS 8

/* The set of a line, as good as drawn at random (the finaliser of MurmurHash3). */
static uint32_t set_of(uint32_t line)
{
    line = (line ^ line >> 16) * 0x85ebca6bu;
    line = (line ^ line >> 13) * 0xc2b2ae35u;
    return (line ^ line >> 16) % SETS;
}

/* The shares of references that hit at each position of a cache with hashed sets; [WAYS] misses. */
static void simulate(const uint32_t *line, double *share)
{
    uint32_t(*stack)[WAYS] = malloc(SETS * sizeof(*stack));

    memset(stack, 0xff, SETS * sizeof(*stack));
    memset(share, 0, (WAYS + 1) * sizeof(*share));
    for (uint32_t i = 0; i < LENGTH; i++) {
        uint32_t *set = stack[set_of(line[i])];
        size_t at = 0;

        while (at < WAYS && set[at] != line[i])
            at++;
        if (i >= ASKED)
            share[at] += 1.0 / (LENGTH - ASKED);
        memmove(set + 1, set, (at < WAYS ? at : WAYS - 1) * sizeof(*set));
        set[0] = line[i];
    }
    free(stack);
}

static void test_sets(void **state)
{
    static const struct {
        void (*make)(uint32_t *line);
        double within;
    } kernels[] = {{uniform, 0.01}, {zipf, 0.01}, {ring, 0.02}};
    static const struct statstack_cache cache = {.sets = SETS, .ways = WAYS};
    struct truth truth = {malloc(ASKED * sizeof(uint32_t)), malloc(ASKED * sizeof(uint32_t))};
    struct statstack_reuse *sample = malloc(ASKED * sizeof(*sample));
    uint32_t *line = malloc(LENGTH * sizeof(*line));
    struct statstack_value out[WAYS + 1];
    double share[WAYS + 1];

    (void)state;
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        struct noise noise = {k};

        kernels[k].make(line);
        measure(line, &truth);
        simulate(line, share);
        assert_int_equal(
            statstack_profile(sample, take(&truth, 20, -1, &noise, sample), &cache, out), 0);
        for (size_t i = 0; i <= WAYS; i++)
            assert_near(out[i].value, share[i], kernels[k].within);
    }
    free(line);
    free(sample);
    free(truth.reuse);
    free(truth.stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),      cmocka_unit_test(test_censored),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_profile),
        cmocka_unit_test(test_profile_whole), cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_phases),        cmocka_unit_test(test_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
