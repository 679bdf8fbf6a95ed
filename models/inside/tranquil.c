/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/inside/tranquil.h"

#include <math.h>

#include "models/online/rate.h"
#include "enum_table.h"

#define ANOTHER 2 /* times as many misses, or as few, are another phase's */

const char *const TABLE(tranquil_rule_name, TRANQUIL_RULES) = {
    ROW(TRANQUIL_SIGNIFICANT) = "significant", ROW(TRANQUIL_PRINTED) = "printed"};
TABLE_COMPLETE(tranquil_rule_name);
const char *const TABLE(tranquil_memory_name, TRANQUIL_MEMORIES) = {
    ROW(TRANQUIL_LOCAL) = "local", ROW(TRANQUIL_INTERLEAVE) = "interleave"};
TABLE_COMPLETE(tranquil_memory_name);
const char *const TABLE(tranquil_state_name, TRANQUIL_STATES) = {ROW(TRANQUIL_PROFILE) = "profile",
                                                                 ROW(TRANQUIL_TRIAL) = "trial"};
TABLE_COMPLETE(tranquil_state_name);

/* ---- two bursts ---- */

struct moments {
    size_t n;
    double mean, variance; /* NAN below one, below two values */
};

static struct moments moments_of(size_t n, const double *value)
{
    struct moments of = {.mean = 0, .variance = 0};

    for (size_t i = 0; i < n; i++)
        if (!isnan(value[i])) {
            of.mean += value[i];
            of.n++;
        }
    of.mean = of.n > 0 ? of.mean / (double)of.n : NAN;
    for (size_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            of.variance += (value[i] - of.mean) * (value[i] - of.mean);
    of.variance = of.n > 1 ? of.variance / (double)(of.n - 1) : NAN;
    return of;
}

/* Says whether the second mean is the lower one, beyond chance: Welch's test, one-sided at 2.5 %.
 */
static bool is_lower(const struct moments *a, const struct moments *b)
{
    double from_a = a->variance / (double)a->n, from_b = b->variance / (double)b->n;
    double squares = from_a + from_b;
    double freedom = squares * squares /
                     (from_a * from_a / ((double)a->n - 1) + from_b * from_b / ((double)b->n - 1));

    if (!(squares > 0)) /* values that do not vary differ by no chance */
        return b->mean < a->mean;
    return a->mean - b->mean > rate_student(floor(freedom + 1e-9)) * sqrt(squares);
}

/* The median of at most TRANQUIL_READINGS values; sorts them. */
static double median_of(size_t n, double *value)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && value[j] < value[j - 1]; j--) {
            double swap = value[j];

            value[j] = value[j - 1];
            value[j - 1] = swap;
        }
    return n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2;
}

/* Keeps the values that are known. Returns how many, at most TRANQUIL_READINGS. */
static size_t known(size_t n, const double *value, double *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < n && kept < TRANQUIL_READINGS; i++)
        if (!isnan(value[i]))
            out[kept++] = value[i];
    return kept;
}

/* Mean and variance of the distances from the median. */
static struct moments distances(size_t n, const double *value)
{
    double of[TRANQUIL_READINGS];
    double median = median_of(n, (known(n, value, of), of));

    for (size_t i = 0; i < n; i++)
        of[i] = fabs(value[i] - median);
    return moments_of(n, of);
}

bool tranquil_fell(enum tranquil_rule rule, size_t m, const double *before, size_t n,
                   const double *after)
{
    double first[TRANQUIL_READINGS], second[TRANQUIL_READINGS];
    struct moments a, b, off_a, off_b;

    m = known(m, before, first);
    n = known(n, after, second);
    if (m < TRANQUIL_READINGS_MIN || n < TRANQUIL_READINGS_MIN)
        return false;
    a = moments_of(m, first);
    b = moments_of(n, second);
    if (!(b.mean < a.mean && b.variance < a.variance))
        return false;
    off_a = distances(m, first);
    off_b = distances(n, second);
    return rule == TRANQUIL_PRINTED || is_lower(&a, &b) || is_lower(&off_a, &off_b);
}

/* Returns means and deviations. */
static struct tranquil_profile tranquil_profile(const struct tranquil_burst *burst)
{
    struct moments miss = moments_of(burst->n, burst->miss);
    struct moments icx = moments_of(burst->n, burst->icx);

    return (struct tranquil_profile){miss.mean, sqrt(miss.variance), icx.mean, sqrt(icx.variance)};
}

/* ---- a pass ---- */

static bool same(struct tranquil_policy a, struct tranquil_policy b)
{
    return a.memory == b.memory && a.slice_ms == b.slice_ms;
}

/* What is tried, and where that goes when it is not kept. */
static struct tranquil_policy trial_of(const struct tranquil *tranquil)
{
    if (tranquil->memory_intensive)
        return (struct tranquil_policy){TRANQUIL_INTERLEAVE, TRANQUIL_MEMORY_SLICE_MS};
    return (struct tranquil_policy){tranquil->left.memory, TRANQUIL_CPU_SLICE_MS};
}

static struct tranquil_policy fallback_of(const struct tranquil *tranquil, enum tranquil_rule rule)
{
    enum tranquil_memory memory = rule == TRANQUIL_PRINTED ? TRANQUIL_LOCAL : tranquil->left.memory;

    if (tranquil->memory_intensive)
        return (struct tranquil_policy){memory, TRANQUIL_MEMORY_SLICE_MS};
    return (struct tranquil_policy){tranquil->left.memory, 0};
}

/* The program is of the other kind: what was refused there says nothing here. */
static void see_kind(struct tranquil *tranquil, bool memory_intensive)
{
    if (memory_intensive != tranquil->memory_intensive) {
        tranquil->rest = tranquil->rests = 0;
        tranquil->refused_miss = 0;
    }
    tranquil->memory_intensive = memory_intensive;
}

/* Says whether the program misses otherwise than when its memory was dealt in vain: a trial carries
 * all its pages there and back. */
static bool is_another_phase(const struct tranquil *tranquil)
{
    double was = tranquil->refused_miss, is = tranquil->now.miss;

    return is >= ANOTHER * was || was >= ANOTHER * is;
}

/* Says whether there is a trial in this pass. */
static bool tries(struct tranquil *tranquil, enum tranquil_rule rule)
{
    if (rule == TRANQUIL_PRINTED)
        return true;
    if (same(trial_of(tranquil), tranquil->left))
        return false;
    if (tranquil->memory_intensive && tranquil->refused_miss > 0)
        return is_another_phase(tranquil);
    return tranquil->rest == 0 || --tranquil->rest == 0;
}

static void begin_pass(struct tranquil *tranquil, const struct tranquil_rules *rules,
                       const struct tranquil_burst *burst)
{
    bool memory = tranquil->now.miss > rules->miss; /* NAN: no */

    tranquil->pass++;
    tranquil->left = tranquil->policy;
    if (isnan(memory ? tranquil->now.miss : tranquil->now.icx))
        return;
    see_kind(tranquil, memory);
    if (!tries(tranquil, rules->rule))
        return;
    tranquil->first = *burst;
    tranquil->before = tranquil->now;
    tranquil->after = (struct tranquil_profile){NAN, NAN, NAN, NAN};
    tranquil->tried = true;
    tranquil->kept = false;
    tranquil->policy = trial_of(tranquil);
    tranquil->state = TRANQUIL_TRIAL;
}

/* The next trial is that many passes away: 2, 4, .. */
static void rest(struct tranquil *tranquil)
{
    tranquil->rests = tranquil->rests ? 2 * tranquil->rests : 2;
    if (tranquil->rests > TRANQUIL_REST_MAX)
        tranquil->rests = TRANQUIL_REST_MAX;
    tranquil->rest = tranquil->rests;
}

static void end_pass(struct tranquil *tranquil, const struct tranquil_rules *rules,
                     const struct tranquil_burst *burst)
{
    const struct tranquil_burst *first = &tranquil->first;
    bool memory = tranquil->memory_intensive;

    tranquil->state = TRANQUIL_PROFILE;
    tranquil->after = tranquil->now;
    tranquil->kept = tranquil_fell(rules->rule, first->n, memory ? first->miss : first->icx,
                                   burst->n, memory ? burst->miss : burst->icx);
    if (tranquil->kept) {
        tranquil->rest = tranquil->rests = 0;
        return;
    }
    tranquil->policy = fallback_of(tranquil, rules->rule);
    if (memory)
        tranquil->refused_miss = tranquil->before.miss;
    rest(tranquil);
}

bool tranquil_burst(struct tranquil *tranquil, const struct tranquil_rules *rules,
                    const struct tranquil_burst *burst)
{
    struct tranquil_policy was = tranquil->policy;

    tranquil->now = tranquil_profile(burst);
    if (tranquil->state == TRANQUIL_TRIAL)
        end_pass(tranquil, rules, burst);
    else
        begin_pass(tranquil, rules, burst);
    return !same(was, tranquil->policy);
}
