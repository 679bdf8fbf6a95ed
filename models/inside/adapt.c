/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/inside/adapt.h"
#include "enum_table.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* points: what is nearer to each other is equal */

const struct adapt_coefficients adapt_pusukuri = {
    .paap = {65.2, -0.6, -0.8, -9.6, -10.2, 7.8},
    .pacc = {18.6, -0.3, 32.5},
};

const char *const TABLE(adapt_why_name, ADAPT_WHYS) = {
    ROW(ADAPT_NO_REASON) = NULL,
    ROW(ADAPT_UNEVEN) = "uneven",
    ROW(ADAPT_FELL) = "fell",
    ROW(ADAPT_PROMISED) = "promised",
};
TABLE_COMPLETE(adapt_why_name);

/* ---- the two models ---- */

void adapt_paap_row(const struct adapt_program *a, const struct adapt_program *b, unsigned cores,
                    double *x)
{
    x[0] = a->lock;
    x[1] = b->lat;
    x[2] = a->mpa;
    x[3] = a->sys;
    x[4] = (double)cores / b->threads;
}

void adapt_pacc_row(const struct adapt_program *a, double cores, double *x)
{
    x[0] = a->lock;
    x[1] = cores / a->threads;
}

/* c[0] + c[1] x[0] + .. */
static double linear(size_t n, const double *c, const double *x)
{
    double y = c[0];

    for (size_t i = 1; i < n; i++)
        y += c[i] * x[i - 1];
    return y;
}

double adapt_paap(const struct adapt_coefficients *coefficients, const struct adapt_program *a,
                  const struct adapt_program *b, unsigned cores)
{
    double x[ADAPT_PAAP - 1];

    adapt_paap_row(a, b, cores, x);
    return linear(ADAPT_PAAP, coefficients->paap, x);
}

double adapt_pacc(const struct adapt_coefficients *coefficients, const struct adapt_program *a,
                  double cores)
{
    double x[ADAPT_PACC - 1];

    adapt_pacc_row(a, cores, x);
    return linear(ADAPT_PACC, coefficients->pacc, x);
}

static double percent(double value)
{
    return fmin(fmax(value, 0), 100);
}

/* In a set: more cores than threads are of no use. */
static double in_set(const struct adapt_coefficients *coefficients, const struct adapt_program *a,
                     double cores)
{
    return percent(adapt_pacc(coefficients, a, fmin(cores, a->threads)));
}

/* ---- configurations ---- */

bool adapt_is_all(const struct adapt_question *question, size_t configuration)
{
    for (size_t i = 0; i < question->n; i++)
        if (question->configuration[configuration * question->n + i] != question->cores)
            return false;
    return true;
}

/* Beside all the others on all cores. */
static double beside(const struct adapt_question *question, size_t i)
{
    double sum = 0;

    for (size_t j = 0; j < question->n; j++)
        if (j != i)
            sum += percent(adapt_paap(question->coefficients, &question->program[i],
                                      &question->program[j], question->cores));
    return sum / (double)(question->n - 1);
}

double adapt_predict(const struct adapt_question *question, size_t configuration, double *usr)
{
    bool all = question->n > 1 && adapt_is_all(question, configuration);
    double sum = 0;

    for (size_t i = 0; i < question->n; i++) {
        unsigned cores = question->configuration[configuration * question->n + i];

        usr[i] = all ? beside(question, i)
                     : in_set(question->coefficients, &question->program[i], cores);
        sum += usr[i];
    }
    return sum / (double)question->n;
}

/* How many cores the largest part of a configuration has more than the smallest. */
static unsigned spread_of(const struct adapt_question *question, size_t configuration)
{
    const unsigned *cores = &question->configuration[configuration * question->n];
    unsigned least = cores[0], most = cores[0];

    for (size_t i = 1; i < question->n; i++) {
        least = cores[i] < least ? cores[i] : least;
        most = cores[i] > most ? cores[i] : most;
    }
    return most - least;
}

/* The best of all configurations but those of the bits, and the most even of equal ones; their
 * number where there is no other. *mean: of the best, -INFINITY where there is none. */
static size_t best_but(const struct adapt_question *question, unsigned but, double *mean)
{
    double usr[ADAPT_PROGRAMS_MAX], is[ADAPT_CONFIGURATIONS_MAX];
    size_t best = question->configurations;

    *mean = -INFINITY;
    for (size_t c = 0; c < question->configurations; c++) {
        is[c] = but >> c & 1 ? -INFINITY : adapt_predict(question, c, usr);
        *mean = fmax(*mean, is[c]);
    }
    for (size_t c = 0; isfinite(*mean) && c < question->configurations; c++)
        if (is[c] >= *mean - ROUNDING && (best == question->configurations ||
                                          spread_of(question, c) < spread_of(question, best)))
            best = c;
    return best;
}

size_t adapt_best(const struct adapt_question *question)
{
    double mean;
    size_t best = best_but(question, 0, &mean);

    return best < question->configurations ? best : 0; /* nothing is known */
}

bool adapt_is_light(const struct adapt_limits *limits, const struct adapt_program *program)
{
    return program->mpa <= limits->mpa && program->lock <= limits->lock;
}

size_t adapt_enter(const struct adapt_question *question, const struct adapt_limits *limits,
                   size_t newcomer)
{
    for (size_t c = 0; c < question->configurations; c++)
        if (adapt_is_all(question, c) && adapt_is_light(limits, &question->program[newcomer]))
            return c;
    return adapt_best(question);
}

void adapt_leave(size_t n, unsigned *cores, size_t gone, bool light)
{
    unsigned freed = light ? 0 : cores[gone], left = freed, others = (unsigned)n - 1;

    cores[gone] = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned part = i == gone ? 0 : (left + others - 1) / others;

        if (i == gone)
            continue;
        cores[i] += part;
        left -= part;
        others--;
    }
}

/* ---- when it changes ---- */

/* Rule 1: sets, of which one is used less than another. */
static bool is_uneven(const struct adapt *adapt, const struct adapt_question *question,
                      const double *used)
{
    double least = INFINITY, most = -INFINITY;

    if (!used || adapt_is_all(question, adapt->present))
        return false;
    for (size_t i = 0; i < question->n; i++) {
        least = fmin(least, used[i]);
        most = fmax(most, used[i]);
    }
    return most - least > ADAPT_ALPHA;
}

/* Rule 2: a program's user time has been lower for two intervals. */
static bool has_fallen(const struct adapt *adapt, size_t n)
{
    for (size_t i = 0; adapt->seen == 3 && i < n; i++)
        if (adapt->usr[2][i] - adapt->usr[1][i] > ADAPT_BETA &&
            adapt->usr[2][i] - adapt->usr[0][i] > ADAPT_BETA)
            return true;
    return false;
}

/* Rule 3, in this interval: another one is predicted to be better than what there is. */
static bool is_promised(const struct adapt *adapt, const struct adapt_question *question,
                        const double *usr)
{
    double mean, sum = 0;

    best_but(question, adapt->tried | 1u << adapt->present, &mean);
    for (size_t i = 0; i < question->n; i++)
        sum += usr[i];
    return mean > sum / (double)question->n + ADAPT_GAMMA;
}

/* Notes what the programs did. */
static void remember(struct adapt *adapt, size_t n, const double *usr)
{
    memmove(adapt->usr[1], adapt->usr[0], 2 * sizeof(adapt->usr[0]));
    memcpy(adapt->usr[0], usr, n * sizeof(*usr));
    if (adapt->seen < 3)
        adapt->seen++;
}

static void move_to(struct adapt *adapt, size_t configuration)
{
    adapt->tried |= 1u << adapt->present;
    adapt->present = configuration;
    adapt->changes++;
    adapt->seen = 0;
    adapt->promised = false;
}

bool adapt_interval(struct adapt *adapt, const struct adapt_question *question,
                    const struct adapt_measured *measured)
{
    bool promised = is_promised(adapt, question, measured->usr), again = adapt->promised;
    size_t best;
    double mean;

    remember(adapt, question->n, measured->usr);
    adapt->promised = promised;
    adapt->why = is_uneven(adapt, question, measured->used) ? ADAPT_UNEVEN
                 : has_fallen(adapt, question->n)           ? ADAPT_FELL
                 : promised && again                        ? ADAPT_PROMISED
                                                            : ADAPT_NO_REASON;
    if (adapt->why == ADAPT_NO_REASON)
        return false;
    best = adapt->why == ADAPT_PROMISED
               ? best_but(question, adapt->tried | 1u << adapt->present, &mean)
               : adapt_best(question);
    if (best == adapt->present || best == question->configurations)
        return false;
    move_to(adapt, best);
    return true;
}

/* ---- policies ---- */

void adapt_policies(const struct adapt_question *question, const struct adapt_limits *limits,
                    size_t configuration, struct adapt_policy *policy)
{
    bool all = adapt_is_all(question, configuration), any = false;

    for (size_t i = 0; i < question->n; i++) {
        bool heavy = !adapt_is_light(limits, &question->program[i]);

        policy[i] = (struct adapt_policy){heavy, heavy};
        any |= heavy;
    }
    for (size_t i = 0; all && i < question->n; i++)
        policy[i].faithful = any;
}

/* ---- candidates ---- */

static const unsigned eighths[] = {2, 3, 4, 5, 6};
#define SIZES (sizeof(eighths) / sizeof(eighths[0]))

static unsigned least_of(const unsigned *least, size_t i)
{
    return least && least[i] > 0 ? least[i] : 1;
}

/* Is that one among the n pairs? */
static bool has_pair(const unsigned *pair, size_t n, unsigned first)
{
    for (size_t i = 0; i < n; i++)
        if (pair[2 * i] == first)
            return true;
    return false;
}

/* In the paper's order: of equal ones the most even is the first. */
static size_t candidates_of_two(unsigned cores, const unsigned *least, unsigned *out)
{
    static const unsigned order[SIZES] = {4, 3, 5, 2, 6};
    size_t n = 0;

    for (size_t s = 0; s < SIZES; s++) {
        unsigned first = cores * order[s] / 8;

        if (first < least_of(least, 0) || cores - first < least_of(least, 1) ||
            has_pair(out, n, first))
            continue;
        out[2 * n] = first;
        out[2 * n + 1] = cores - first;
        n++;
    }
    return n;
}

/* What the programs from `from` on get of so many cores in equal parts, together. */
static double shared(const struct adapt_coefficients *coefficients,
                     const struct adapt_program *program, size_t from, size_t n, double cores)
{
    double sum = 0;

    for (size_t i = from; i < n; i++)
        sum += in_set(coefficients, &program[i], cores / (double)(n - from));
    return sum;
}

/* What program i and those after it get together where i has so many of `left` cores. */
static double promise(const struct adapt_coefficients *coefficients,
                      const struct adapt_program *program, size_t i, size_t n, double size,
                      unsigned left)
{
    return in_set(coefficients, &program[i], size) +
           shared(coefficients, program, i + 1, n, left - size);
}

/* The part of program i, of `left` cores of which those after it need `needed`: its equal one, or
 * the size that promises more. */
static unsigned part_of(const struct adapt_coefficients *coefficients, unsigned cores, size_t n,
                        const struct adapt_program *program, size_t i, unsigned left, unsigned own,
                        unsigned needed)
{
    unsigned best = left / (unsigned)(n - i);
    double most = promise(coefficients, program, i, n, (double)left / (double)(n - i), left);

    for (size_t s = 0; s < SIZES; s++) {
        unsigned size = cores * eighths[s] / 8;
        double sum;

        if (size < own || size + needed > left)
            continue;
        sum = promise(coefficients, program, i, n, size, left);
        if (sum > most + ROUNDING) {
            most = sum;
            best = size;
        }
    }
    if (best + needed > left)
        best = left - needed;
    return best > own ? best : own;
}

static size_t candidate_of_many(const struct adapt_coefficients *coefficients, unsigned cores,
                                size_t n, const struct adapt_program *program,
                                const unsigned *least, unsigned *out)
{
    unsigned left = cores, needed = 0;

    for (size_t i = 0; i < n; i++)
        needed += least_of(least, i);
    if (needed > cores)
        return 0;
    for (size_t i = 0; i < n; i++) {
        unsigned own = least_of(least, i);

        needed -= own;
        out[i] = i + 1 < n ? part_of(coefficients, cores, n, program, i, left, own, needed) : left;
        left -= out[i];
    }
    return 1;
}

size_t adapt_candidates(const struct adapt_coefficients *coefficients, unsigned cores, size_t n,
                        const struct adapt_program *program, const unsigned *least, unsigned *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = cores;
    if (n < 2)
        return 1;
    return 1 + (n == 2 ? candidates_of_two(cores, least, out + n)
                       : candidate_of_many(coefficients, cores, n, program, least, out + n));
}
