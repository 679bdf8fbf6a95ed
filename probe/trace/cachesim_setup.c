/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim_setup - what berthctl does with a geometry and with counts; see cachesim.h. It needs
 * libc, which the valgrind tool does not have. */
#include <math.h>
#include <string.h>

#include "probe/trace/cachesim.h"

#define BYTES_MAX (1ULL << 36) /* more than any cache: 64 GiB, simulated in 8 */

static int check_cache(const char *name, const struct cachesim_cache *is, unsigned line_bytes,
                       struct berth_error *err)
{
    if (is->bytes == 0)
        return 0;
    if (is->ways == 0 || is->ways > CACHESIM_WAYS_MAX)
        return berth_error_set(err, "%s: %u ways, where 1 to %d can be simulated", name, is->ways,
                               CACHESIM_WAYS_MAX);
    if (is->bytes > BYTES_MAX)
        return berth_error_set(err, "%s: %llu bytes are more than can be simulated", name,
                               (unsigned long long)is->bytes);
    if (is->bytes / line_bytes / is->ways == 0)
        return berth_error_set(err, "%s: %llu bytes hold no set of %u lines of %u bytes", name,
                               (unsigned long long)is->bytes, is->ways, line_bytes);
    return 0;
}

int cachesim_check(const struct cachesim_geometry *geometry, struct berth_error *err)
{
    unsigned line_bytes = geometry->line_bytes;
    uint64_t sets;

    if (line_bytes < 8 || line_bytes > 4096 || (line_bytes & (line_bytes - 1)) != 0)
        return berth_error_set(err, "lines of %u bytes: a power of two from 8 to 4096 expected",
                               line_bytes);
    if (geometry->llc.bytes == 0)
        return berth_error_set(err, "LLC: its size is not known");
    if (check_cache("L1", &geometry->l1, line_bytes, err) < 0 ||
        check_cache("L2", &geometry->l2, line_bytes, err) < 0 ||
        check_cache("LLC", &geometry->llc, line_bytes, err) < 0)
        return -1;
    sets = geometry->llc.bytes / line_bytes / geometry->llc.ways;
    if (geometry->sample == 0 ||
        (geometry->sample > 1 && sets / geometry->sample < CACHESIM_SETS_MIN))
        return berth_error_set(err, "one of %u sets: of the LLC's %llu sets %d must be left",
                               geometry->sample, (unsigned long long)sets, CACHESIM_SETS_MIN);
    return 0;
}

void cachesim_difference(const struct cachesim_counts *later, const struct cachesim_counts *earlier,
                         struct cachesim_counts *difference)
{
    uint64_t a[CACHESIM_WORDS], b[CACHESIM_WORDS];

    memcpy(a, later, sizeof(a));
    memcpy(b, earlier, sizeof(b));
    for (size_t i = 0; i < CACHESIM_WORDS; i++)
        a[i] -= b[i];
    memcpy(difference, a, sizeof(a));
}

/* Returns the accesses of the simulated sets. */
static uint64_t simulated(const struct cachesim_counts *counts)
{
    uint64_t accesses = counts->misses;

    for (unsigned i = 0; i < CACHESIM_WAYS_MAX; i++)
        accesses += counts->hits[i];
    return accesses;
}

double cachesim_scale(const struct cachesim_counts *counts)
{
    uint64_t seen = simulated(counts);

    return seen ? (double)counts->accesses / (double)seen : 0;
}

/* Returns the variance of the groups' misses about the common ratio, summed over the groups. */
static double residual_variance(const struct cachesim_counts *counts, double ratio,
                                unsigned *groups)
{
    double sum = 0;

    *groups = 0;
    for (unsigned i = 0; i < CACHESIM_GROUPS; i++) {
        double rest = (double)counts->group[i].misses - ratio * (double)counts->group[i].accesses;

        *groups += counts->group[i].accesses > 0;
        sum += rest * rest;
    }
    return *groups > 1 ? sum * CACHESIM_GROUPS / (CACHESIM_GROUPS - 1) : NAN;
}

double cachesim_misses(const struct cachesim_counts *counts, uint32_t sample, double *error)
{
    uint64_t seen = simulated(counts);
    double ratio = seen ? (double)counts->misses / (double)seen : 0, variance;
    unsigned groups;

    if (error && sample <= 1)
        *error = 0;
    else if (error) {
        variance = residual_variance(counts, ratio, &groups);
        *error = cachesim_scale(counts) * sqrt(variance * (1 - 1.0 / sample));
        if (counts->accesses == 0)
            *error = 0;
    }
    return ratio * (double)counts->accesses;
}
