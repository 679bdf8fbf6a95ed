/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cachesim - see cachesim.h
 *
 * The hot loop of `berthctl profile`. A set is an array of line numbers in LRU order, and one walk
 * both looks for a line and moves it to the front: each entry is carried one place on until the
 * line's old place, or the set's end, takes the last. */
#include "probe/trace/cachesim.h"

#include <stdbool.h>

#define NOWHERE (~(uint64_t)0) /* the address of no line that is used: no entry in `recent` */

struct cache {
    uint64_t *line; /* [simulated sets * ways] line number + 1, in LRU order in each set; 0 is a
                       free place */
    uint64_t sets, mask; /* mask: sets - 1 when that is a power of two, else 0 */
    uint32_t ways;       /* 0: there is no such cache */
};

/* Made in one piece of memory, but for the private caches of later cores. */
struct cachesim {
    struct cache l1, l2, llc; /* l1 and l2 of the core that refers now */
    struct cachesim_recent recent;
    uint32_t sample;
    struct cachesim_counts counts;
    struct dramsim *dram; /* NULL: what memory is asked is not simulated */
    unsigned now;         /* the core that refers */
    void *(*alloc)(size_t);
    uint64_t *core[CACHESIM_CORES_MAX]; /* its L1 and its L2 */
    uint64_t memory[];                  /* `recent`, the caches of core 0, the LLC */
};

/* Brings the line to the front of its set. Returns its LRU position until now, or `ways` when it
 * was not there. */
static inline unsigned set_touch(uint64_t *at, unsigned ways, uint64_t line)
{
    uint64_t carried = line + 1, found;
    unsigned position;

    for (position = 0; position < ways; position++) {
        found = at[position];
        at[position] = carried;
        if (found == line + 1)
            break;
        carried = found;
    }
    return position;
}

static inline uint64_t cache_set(const struct cache *cache, uint64_t line)
{
    return cache->mask ? line & cache->mask : line % cache->sets;
}

/* Returns whether a private cache holds the line; it holds the line afterwards. */
static inline bool cache_holds(const struct cache *cache, uint64_t line)
{
    return cache->ways && set_touch(cache->line + cache_set(cache, line) * cache->ways, cache->ways,
                                    line) < cache->ways;
}

/* Returns the finishing function of splitmix64 (Steele 2014). */
static inline uint64_t hash(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* Simulates one set of each `sample` neighbours, chosen by the hash of their number. */
static inline void reference_llc(struct cachesim *sim, uint64_t line)
{
    const struct cache *llc = &sim->llc;
    uint64_t set = cache_set(llc, line), stratum = set, random = 0;
    unsigned position;

    sim->counts.accesses++;
    if (sim->sample > 1) {
        stratum = set / sim->sample;
        random = hash(stratum + 1);
        if (set % sim->sample != (random >> 32) % sim->sample)
            return;
    }
    position = set_touch(llc->line + stratum * llc->ways, llc->ways, line);
    if (position < llc->ways)
        sim->counts.hits[position]++;
    else
        sim->counts.misses++;
    if (sim->sample > 1) {
        sim->counts.group[random % CACHESIM_GROUPS].accesses++;
        sim->counts.group[random % CACHESIM_GROUPS].misses += position == llc->ways;
    }
}

/* ---- with a memory behind the LLC ---- */

#define DIRTY (1ULL << 63) /* of an entry of the LLC: the line was stored to */

/* Brings the line to the front of its set, with its mark. Returns its LRU position until now, or
 * `ways`, and then the entry that had to go. */
static unsigned set_touch_marked(uint64_t *at, unsigned ways, uint64_t line, uint64_t mark,
                                 uint64_t *gone)
{
    uint64_t carried = line + 1, found = 0;
    unsigned position;

    for (position = 0; position < ways; position++) {
        found = at[position];
        at[position] = carried;
        if ((found & ~DIRTY) == line + 1) {
            mark |= found & DIRTY;
            break;
        }
        carried = found;
    }
    at[0] |= mark;
    *gone = position == ways ? carried : 0;
    return position;
}

/* A line that a private cache has is marked where the LLC has it, without being used there. */
static bool mark_stored(uint64_t *at, unsigned ways, uint64_t line)
{
    for (unsigned i = 0; i < ways; i++)
        if ((at[i] & ~DIRTY) == line + 1) {
            at[i] |= DIRTY;
            return true;
        }
    return false;
}

static void access_llc(struct cachesim *sim, uint64_t line, bool held, bool store)
{
    const struct cache *llc = &sim->llc;
    uint64_t *set = llc->line + cache_set(llc, line) * llc->ways, gone;
    unsigned position;

    if (held && (!store || mark_stored(set, llc->ways, line)))
        return;
    position = set_touch_marked(set, llc->ways, line, store ? DIRTY : 0, &gone);
    if (!held) {
        sim->counts.accesses++;
        if (position < llc->ways)
            sim->counts.hits[position]++;
        else
            sim->counts.misses++;
        if (position == llc->ways)
            dramsim_request(sim->dram, sim->now, line, false);
    }
    if (gone & DIRTY)
        dramsim_request(sim->dram, sim->now, (gone & ~DIRTY) - 1, true);
}

void cachesim_access(struct cachesim *sim, uint64_t address, uint32_t size, bool store)
{
    unsigned shift = sim->recent.line_shift;
    uint64_t line = address >> shift, last = (address + size - 1) >> shift;

    for (; line <= last; line++) {
        bool held = cache_holds(&sim->l1, line) || cache_holds(&sim->l2, line);

        sim->counts.references++;
        access_llc(sim, line, held, store);
    }
}

void cachesim_memory(struct cachesim *sim, struct dramsim *memory)
{
    sim->dram = memory;
    sim->recent.address = NULL;
}

static inline void reference_line(struct cachesim *sim, uint64_t line)
{
    bool held;

    sim->counts.references++;
    held = cache_holds(&sim->l1, line);
    if (sim->recent.address)
        sim->recent.address[line & sim->recent.mask] = line << sim->recent.line_shift;
    if (!held && !cache_holds(&sim->l2, line))
        reference_llc(sim, line);
}

void cachesim_reference(struct cachesim *sim, uint64_t address, uint32_t size)
{
    unsigned shift = sim->recent.line_shift;
    uint64_t line = address >> shift, last = (address + size - 1) >> shift;

    for (; line <= last; line++)
        reference_line(sim, line);
}

/* ---- setting up ---- */

static void describe(struct cache *cache, const struct cachesim_cache *is, uint32_t line_bytes)
{
    if (is->bytes == 0)
        return;
    cache->sets = is->bytes / line_bytes / is->ways;
    cache->ways = is->ways;
    cache->mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
}

/* Returns how many lines of the cache are kept where one set of `sample` is simulated. */
static uint64_t places(const struct cache *cache, uint32_t sample)
{
    return (cache->sets + sample - 1) / sample * cache->ways;
}

/* Fills the table with what the core's L1 used last in each set. */
static void fill_recent(struct cachesim *sim)
{
    for (uint64_t set = 0; sim->recent.address && set < sim->l1.sets; set++) {
        uint64_t first = sim->l1.line[set * sim->l1.ways];

        sim->recent.address[set] = first ? (first - 1) << sim->recent.line_shift : NOWHERE;
    }
}

struct cachesim *cachesim_new(const struct cachesim_geometry *geometry, void *(*alloc)(size_t))
{
    struct cachesim head = {.alloc = alloc, .sample = geometry->sample}, *sim;
    uint64_t recent, own;

    describe(&head.l1, &geometry->l1, geometry->line_bytes);
    describe(&head.l2, &geometry->l2, geometry->line_bytes);
    describe(&head.llc, &geometry->llc, geometry->line_bytes);
    recent = head.l1.mask ? head.l1.sets : 0;
    own = places(&head.l1, 1) + places(&head.l2, 1);
    sim = alloc(sizeof(head) + sizeof(uint64_t) * (recent + own + places(&head.llc, head.sample)));
    if (!sim)
        return NULL;
    *sim = head;
    sim->recent.line_shift = (unsigned)__builtin_ctz(geometry->line_bytes);
    sim->recent.mask = head.l1.mask;
    sim->recent.address = recent ? sim->memory : NULL;
    sim->core[0] = sim->memory + recent;
    sim->llc.line = sim->memory + recent + own;
    cachesim_core(sim, 0);
    return sim;
}

void cachesim_core(struct cachesim *sim, unsigned core)
{
    uint64_t l1 = places(&sim->l1, 1), l2 = places(&sim->l2, 1);
    uint64_t *caches = sim->core[core];

    sim->now = core;
    if (!caches)
        caches = sim->core[core] = sim->alloc((l1 + l2 + 1) * sizeof(*caches));
    if (!caches)
        caches = sim->core[0];
    sim->l1.line = caches;
    sim->l2.line = caches + l1;
    fill_recent(sim);
}

const struct cachesim_recent *cachesim_recent(const struct cachesim *sim)
{
    return sim->recent.address ? &sim->recent : NULL;
}

const struct cachesim_counts *cachesim_counts(const struct cachesim *sim)
{
    return &sim->counts;
}
