/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim - see cachesim.h
 *
 * The hot loop of `berthctl profile`. A set is an array of line numbers in LRU order, and one walk
 * both looks for a line and moves it to the front: each entry is carried one place on until the
 * line's old place, or the set's end, takes the last. */
#include "cachesim.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (1ULL << 36) /* more than any cache: 64 GiB, simulated in 8 */

struct cache {
    uint64_t *line; /* [sets * ways] line number + 1, in LRU order in each set; 0 is a free place */
    uint64_t sets, mask; /* mask: sets - 1 when that is a power of two, else 0 */
    unsigned ways;       /* 0: there is no such cache */
};

struct cachesim {
    struct cache l1, l2, llc;
    unsigned line_shift;
    struct cachesim_counts counts;
};

/* Bring the line to the front of its set. Its LRU position until now, or `ways` when it was not
 * there. */
static inline unsigned cache_touch(const struct cache *cache, uint64_t line)
{
    uint64_t set = cache->mask ? line & cache->mask : line % cache->sets;
    uint64_t *at = cache->line + set * cache->ways, carried = line + 1, found;
    unsigned position;

    for (position = 0; position < cache->ways; position++) {
        found = at[position];
        at[position] = carried;
        if (found == line + 1)
            break;
        carried = found;
    }
    return position;
}

/* Does a private cache hold the line? It does afterwards. */
static inline bool cache_holds(const struct cache *cache, uint64_t line)
{
    return cache->ways && cache_touch(cache, line) < cache->ways;
}

static inline void reference_line(struct cachesim *sim, uint64_t line)
{
    unsigned position;

    sim->counts.references++;
    if (cache_holds(&sim->l1, line) || cache_holds(&sim->l2, line))
        return;
    position = cache_touch(&sim->llc, line);
    if (position < sim->llc.ways)
        sim->counts.hits[position]++;
    else
        sim->counts.misses++;
}

void cachesim_reference(struct cachesim *sim, uint64_t address, uint32_t size)
{
    uint64_t line = address >> sim->line_shift, last = (address + size - 1) >> sim->line_shift;

    for (; line <= last; line++)
        reference_line(sim, line);
}

static int cache_init(struct cache *cache, const char *name, const struct cachesim_cache *is,
                      unsigned line_bytes, struct berth_error *err)
{
    if (is->bytes == 0)
        return 0;
    if (is->ways == 0 || is->ways > PROFILE_WAYS_MAX)
        return berth_error_set(err, "%s: %u ways, where 1 to %d can be simulated", name, is->ways,
                               PROFILE_WAYS_MAX);
    if (is->bytes > BYTES_MAX)
        return berth_error_set(err, "%s: %llu bytes are more than can be simulated", name,
                               (unsigned long long)is->bytes);
    cache->sets = is->bytes / line_bytes / is->ways;
    if (cache->sets == 0)
        return berth_error_set(err, "%s: %llu bytes hold no set of %u lines of %u bytes", name,
                               (unsigned long long)is->bytes, is->ways, line_bytes);
    cache->ways = is->ways;
    cache->mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
    cache->line = calloc(cache->sets * cache->ways, sizeof(*cache->line));
    if (!cache->line)
        return berth_error_set(err, "%s: no memory to simulate %llu sets", name,
                               (unsigned long long)cache->sets);
    return 0;
}

int cachesim_create(struct cachesim **out, const struct cachesim_geometry *geometry,
                    struct berth_error *err)
{
    unsigned line_bytes = geometry->line_bytes;
    struct cachesim *sim;

    if (line_bytes < 8 || line_bytes > 4096 || (line_bytes & (line_bytes - 1)) != 0)
        return berth_error_set(err, "lines of %u bytes: a power of two from 8 to 4096 expected",
                               line_bytes);
    if (geometry->llc.bytes == 0)
        return berth_error_set(err, "LLC: its size is not known");
    sim = calloc(1, sizeof(*sim));
    if (!sim)
        return berth_error_set(err, "%s", strerror(ENOMEM));
    sim->line_shift = (unsigned)__builtin_ctz(line_bytes);
    if (cache_init(&sim->l1, "L1", &geometry->l1, line_bytes, err) < 0 ||
        cache_init(&sim->l2, "L2", &geometry->l2, line_bytes, err) < 0 ||
        cache_init(&sim->llc, "LLC", &geometry->llc, line_bytes, err) < 0) {
        cachesim_free(sim);
        return -1;
    }
    *out = sim;
    return 0;
}

void cachesim_free(struct cachesim *sim)
{
    if (!sim)
        return;
    free(sim->l1.line);
    free(sim->l2.line);
    free(sim->llc.line);
    free(sim);
}

const struct cachesim_counts *cachesim_counts(const struct cachesim *sim)
{
    return &sim->counts;
}

uint64_t cachesim_accesses(const struct cachesim_counts *counts)
{
    uint64_t accesses = counts->misses;

    for (unsigned i = 0; i < PROFILE_WAYS_MAX; i++)
        accesses += counts->hits[i];
    return accesses;
}

void cachesim_difference(const struct cachesim_counts *later, const struct cachesim_counts *earlier,
                         struct cachesim_counts *difference)
{
    difference->references = later->references - earlier->references;
    difference->misses = later->misses - earlier->misses;
    for (unsigned i = 0; i < PROFILE_WAYS_MAX; i++)
        difference->hits[i] = later->hits[i] - earlier->hits[i];
}
