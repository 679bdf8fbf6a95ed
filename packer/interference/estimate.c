/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/interference/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Means by Welford's method. */
struct situation {
    size_t llc_bytes;
    struct probe_set set;
    unsigned n;      /* probes of it */
    double mean, m2; /* of their ratios; m2: the sum of squared distances from the mean */
    uint64_t seen;   /* number of the probe that saw it last */
};

struct probe_history {
    size_t n;
    uint64_t probes; /* all, counted */
    struct situation situation[PROBE_SITUATIONS_MAX];
};

/* ---- sets ---- */

static int compare(struct wire_step_id a, struct wire_step_id b)
{
    if (a.job != b.job)
        return a.job < b.job ? -1 : 1;
    return (a.step > b.step) - (a.step < b.step);
}

/* Where the step is, or would be. */
static size_t position(const struct probe_set *set, struct wire_step_id id)
{
    size_t i = 0;

    while (i < set->steps && compare(set->step[i], id) < 0)
        i++;
    return i;
}

bool probe_set_has(const struct probe_set *set, struct wire_step_id id)
{
    size_t i = position(set, id);

    return i < set->steps && compare(set->step[i], id) == 0;
}

int probe_set_add(struct probe_set *set, struct wire_step_id id)
{
    size_t i = position(set, id);

    if (probe_set_has(set, id))
        return 0;
    if (set->steps == PROBE_SET_MAX)
        return -1;
    memmove(&set->step[i + 1], &set->step[i], (set->steps - i) * sizeof(set->step[0]));
    set->step[i] = id;
    set->steps++;
    return 0;
}

static void set_remove(struct probe_set *set, struct wire_step_id id)
{
    size_t i = position(set, id);

    set->steps--;
    memmove(&set->step[i], &set->step[i + 1], (set->steps - i) * sizeof(set->step[0]));
}

static bool same(const struct probe_set *a, const struct probe_set *b)
{
    if (a->steps != b->steps)
        return false;
    for (size_t i = 0; i < a->steps; i++)
        if (compare(a->step[i], b->step[i]) != 0)
            return false;
    return true;
}

/* ---- situations ---- */

struct probe_history *probe_history_new(void)
{
    return calloc(1, sizeof(struct probe_history));
}

void probe_history_free(struct probe_history *history)
{
    free(history);
}

static const struct situation *find_situation(const struct probe_history *history, size_t llc_bytes,
                                              const struct probe_set *set)
{
    for (size_t i = 0; i < history->n; i++)
        if (history->situation[i].llc_bytes == llc_bytes && same(&history->situation[i].set, set))
            return &history->situation[i];
    return NULL;
}

/* A place for a new situation: a free one, or that of the one seen least lately. An empty
 * situation stays: everything is measured by it. */
static struct situation *new_situation(struct probe_history *history)
{
    struct situation *oldest = NULL;

    if (history->n < PROBE_SITUATIONS_MAX)
        return &history->situation[history->n++];
    for (size_t i = 0; i < history->n; i++) {
        struct situation *one = &history->situation[i];

        if (one->set.steps > 0 && (!oldest || one->seen < oldest->seen))
            oldest = one;
    }
    return oldest ? oldest : &history->situation[0];
}

int probe_history_add(struct probe_history *history, size_t llc_bytes, const struct probe_set *set,
                      double ratio, struct berth_error *err)
{
    struct situation *one = (struct situation *)find_situation(history, llc_bytes, set);
    double distance;

    if (!(isfinite(ratio) && ratio > 0))
        return berth_error_set(err, "the reporter's result is none: %g", ratio);
    if (!one) {
        one = new_situation(history);
        *one = (struct situation){.llc_bytes = llc_bytes, .set = *set};
    }
    one->seen = ++history->probes;
    one->n++;
    distance = ratio - one->mean;
    one->mean += distance / one->n;
    one->m2 += distance * (ratio - one->mean);
    return 0;
}

unsigned probe_history_count(const struct probe_history *history, size_t llc_bytes,
                             const struct probe_set *set)
{
    const struct situation *one = find_situation(history, llc_bytes, set);

    return one ? one->n : 0;
}

void probe_history_forget(struct probe_history *history, struct wire_step_id id)
{
    size_t kept = 0;

    for (size_t i = 0; i < history->n; i++)
        if (!probe_set_has(&history->situation[i].set, id))
            history->situation[kept++] = history->situation[i];
    history->n = kept;
}

/* ---- estimates ---- */

/* The variance of one probe, from what repeated ones differ by in all situations; NAN: there were
 * none. */
static double variance(const struct probe_history *history)
{
    double m2 = 0, freedom = 0;

    for (size_t i = 0; i < history->n; i++) {
        m2 += history->situation[i].m2;
        freedom += history->situation[i].n - 1;
    }
    return freedom > 0 ? m2 / freedom : NAN;
}

bool probe_history_estimate(const struct probe_history *history, struct wire_step_id id,
                            struct probe_estimate *estimate)
{
    const struct probe_set none = {.steps = 0};
    double sum = 0, weights = 0, squares = 0;
    unsigned probes = 0;

    for (size_t i = 0; i < history->n; i++) {
        const struct situation *with = &history->situation[i], *without, *empty;
        struct probe_set rest = with->set;
        double weight;

        if (!probe_set_has(&rest, id))
            continue;
        set_remove(&rest, id);
        without = find_situation(history, with->llc_bytes, &rest);
        empty = find_situation(history, with->llc_bytes, &none);
        if (!without || !empty)
            continue;
        weight = 1 / (1. / with->n + 1. / without->n); /* the inverse variance, in probes */
        weights += weight;
        sum += weight * (with->mean - without->mean) / empty->mean;
        squares += weight / (empty->mean * empty->mean);
        probes += with->n;
    }
    if (probes == 0)
        return false;
    *estimate = (struct probe_estimate){.intensity = fmax(0, sum / weights),
                                        .error = sqrt(variance(history) * squares) / weights,
                                        .probes = probes};
    return true;
}
