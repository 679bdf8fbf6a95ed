/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/online/statstack.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 99
#define WITHIN 95 /* of 99: the 95 % quantile */

/* One sample, in ascending order of reuse distance. */
struct place {
    double distance; /* expected stack distance, lines */
    double mass;     /* probability of it; 0 censored */
    double survival; /* of a longer reuse distance */
};

/* A question to the distribution: one of the two that statstack.h offers. */
struct query {
    size_t count;                        /* of answers */
    const double *lines;                 /* of a curve, or NULL */
    const struct statstack_cache *cache; /* of a profile */
};

/* What both need: samples in order, and their places. */
struct fit {
    size_t n;
    struct statstack_reuse *sample; /* [n], ascending */
    struct place *place;            /* [n] */
};

/* At the same distance those that came back first: they were watched until then, too. */
static int compare(const void *a, const void *b)
{
    const struct statstack_reuse *left = a, *right = b;

    if (left->references != right->references)
        return left->references < right->references ? -1 : 1;
    return (int)left->censored - (int)right->censored;
}

static int compare_double(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Kaplan and Meier's survival function, and its sum. Weights of the samples; NULL: all 1. */
static void place_samples(struct fit *fit, const double *weight)
{
    double left = 0, survival = 1, distance = 0, before = 0;

    for (size_t i = 0; i < fit->n; i++)
        left += weight ? weight[i] : 1;
    for (size_t i = 0; i < fit->n; i++) {
        const struct statstack_reuse *sample = &fit->sample[i];
        double own = weight ? weight[i] : 1;
        double hazard = sample->censored ? 0 : i + 1 == fit->n ? 1 : fmin(own / left, 1);

        distance += survival * (sample->references - before);
        before = sample->references;
        fit->place[i].distance = distance;
        fit->place[i].mass = survival * hazard;
        survival -= fit->place[i].mass;
        fit->place[i].survival = survival;
        left -= own;
    }
}

static int fit_open(struct fit *fit, const struct statstack_reuse *sample, size_t n)
{
    fit->n = n;
    fit->sample = calloc(n + 1, sizeof(*fit->sample));
    fit->place = calloc(n + 1, sizeof(*fit->place));
    if (n == 0 || !fit->sample || !fit->place) {
        free(fit->sample);
        free(fit->place);
        return -1;
    }
    memcpy(fit->sample, sample, n * sizeof(*sample));
    qsort(fit->sample, n, sizeof(*sample), compare);
    place_samples(fit, NULL);
    return 0;
}

static void fit_close(struct fit *fit)
{
    free(fit->sample);
    free(fit->place);
}

/* Samples of a stack distance below so many lines, from the first one on. */
static size_t nearer(const struct fit *fit, double lines)
{
    size_t low = 0, high = fit->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fit->place[middle].distance < lines)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double miss_ratio(const struct fit *fit, double lines)
{
    size_t hits = nearer(fit, lines);

    return hits > 0 ? fit->place[hits - 1].survival : 1;
}

/* Spreads a reuse over the positions of its set. */
static void spread(const struct statstack_cache *cache, const struct place *place, double *out)
{
    double s = place->distance, p = 1 / (double)cache->sets, left = place->mass, here;

    if (cache->sets == 1) {
        out[s < (double)cache->ways ? (size_t)s : cache->ways] += left;
        return;
    }
    here = place->mass * exp(s * log1p(-p));
    for (size_t i = 0; i < cache->ways && here > 0; i++) {
        here = fmin(here, left);
        out[i] += here;
        left -= here;
        here *= fmax(s - (double)i, 0) / ((double)i + 1) * p / (1 - p);
    }
    out[cache->ways] += left;
}

static void answer_profile(const struct fit *fit, const struct statstack_cache *cache, double *out)
{
    for (size_t i = nearer(fit, cache->inner_lines); i < fit->n; i++)
        if (fit->place[i].mass > 0)
            spread(cache, &fit->place[i], out);
    out[cache->ways] += fit->place[fit->n - 1].survival;
}

static void estimate_query(const struct fit *fit, const struct query *query, double *out)
{
    memset(out, 0, query->count * sizeof(*out));
    if (!query->lines) {
        answer_profile(fit, query->cache, out);
        return;
    }
    for (size_t i = 0; i < query->count; i++)
        out[i] = miss_ratio(fit, query->lines[i]);
}

/* Returns how many lines the i-th answer is about. */
static double lines_of(const struct query *query, size_t i)
{
    if (query->lines)
        return query->lines[i];
    return (double)query->cache->sets * (double)(i < query->cache->ways ? i + 1 : i);
}

/* The rule of three at so many lines: of those who were still watched there, three more or less
 * could have come back. */
static double least_error(const struct fit *fit, double lines)
{
    size_t hits = nearer(fit, lines);
    double watched = (double)(fit->n - hits);
    double survival = hits > 0 ? fit->place[hits - 1].survival : 1;

    return fmax(3 / (double)fit->n, survival * (watched > 3 ? 3 / watched : 1));
}

/* ---- the bootstrap ---- */

/* Exponentially distributed, from Steele, Lea and Flood's splitmix64 (2014). */
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return -log(((double)(z >> 11) + 0.5) * 0x1p-53);
}

/* How far each resample's answers lie off: off[i * RESAMPLES + resample]. */
static void resample(struct fit *fit, const struct query *query, const double *value,
                     double *weight, double *off, double *again)
{
    uint64_t state = 1;

    for (size_t r = 0; r < RESAMPLES; r++) {
        for (size_t i = 0; i < fit->n; i++)
            weight[i] = draw(&state);
        place_samples(fit, weight);
        estimate_query(fit, query, again);
        for (size_t i = 0; i < query->count; i++)
            off[i * RESAMPLES + r] = fabs(again[i] - value[i]);
    }
}

static void estimate(struct fit *fit, const struct query *query, double *work,
                     struct statstack_value *out)
{
    double *value = work, *again = value + query->count, *weight = again + query->count;
    double *off = weight + fit->n;

    estimate_query(fit, query, value);
    for (size_t i = 0; i < query->count; i++)
        out[i] = (struct statstack_value){value[i], least_error(fit, lines_of(query, i))};
    resample(fit, query, value, weight, off, again);
    for (size_t i = 0; i < query->count; i++) {
        qsort(off + i * RESAMPLES, RESAMPLES, sizeof(*off), compare_double);
        out[i].error = fmax(out[i].error, off[i * RESAMPLES + WITHIN - 1]);
    }
}

static int ask(const struct statstack_reuse *sample, size_t n, const struct query *query,
               struct statstack_value *out)
{
    struct fit fit;
    double *work;

    if (fit_open(&fit, sample, n) < 0)
        return -1;
    work = calloc(n + query->count * (RESAMPLES + 2), sizeof(*work));
    if (work)
        estimate(&fit, query, work, out);
    fit_close(&fit);
    free(work);
    return work ? 0 : -1;
}

/* ---- public ---- */

int statstack_curve(const struct statstack_reuse *sample, size_t n, const double *lines,
                    size_t count, struct statstack_value *out)
{
    const struct query query = {.count = count, .lines = lines};

    return ask(sample, n, &query, out);
}

int statstack_profile(const struct statstack_reuse *sample, size_t n,
                      const struct statstack_cache *cache, struct statstack_value *out)
{
    const struct query query = {.count = cache->ways + 1, .cache = cache};

    return ask(sample, n, &query, out);
}
