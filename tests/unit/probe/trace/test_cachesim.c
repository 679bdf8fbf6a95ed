/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_cachesim - the cache simulator against hand-worked cases, a naive oracle, and Mattson's
 * inclusion property. */
#include "probe/trace/cachesim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LINE 64

/* ---- the oracle: each set a list of lines with the time of their last use ---- */

#define ORACLE_PLACES 4096

struct oracle_cache {
    uint64_t sets;
    unsigned ways;
    uint64_t line[ORACLE_PLACES], used[ORACLE_PLACES]; /* used 0: free */
};

struct oracle {
    struct oracle_cache l1, l2, llc;
    uint64_t clock;
    struct cachesim_counts counts;
};

/* How many lines of the set were used later than this one: its LRU position; -1 when it is not
 * there. */
static int oracle_position(const struct oracle_cache *cache, uint64_t line)
{
    uint64_t base = line % cache->sets * cache->ways, used = 0;
    int later = 0;

    for (unsigned i = 0; i < cache->ways; i++)
        if (cache->used[base + i] && cache->line[base + i] == line)
            used = cache->used[base + i];
    for (unsigned i = 0; i < cache->ways; i++)
        later += cache->used[base + i] > used;
    return used ? later : -1;
}

/* Use the line now: its own place, else the least recently used (a free one has time 0). */
static int oracle_touch(struct oracle_cache *cache, uint64_t line, uint64_t now)
{
    uint64_t base = line % cache->sets * cache->ways;
    int position = oracle_position(cache, line);
    unsigned at = 0;

    for (unsigned i = 0; i < cache->ways; i++)
        if (position >= 0 ? cache->used[base + i] && cache->line[base + i] == line
                          : cache->used[base + i] < cache->used[base + at])
            at = i;
    cache->line[base + at] = line;
    cache->used[base + at] = now;
    return position;
}

static void oracle_reference(struct oracle *oracle, uint64_t address, uint32_t size)
{
    for (uint64_t line = address / LINE; line <= (address + size - 1) / LINE; line++) {
        uint64_t now = ++oracle->clock;
        int position;

        oracle->counts.references++;
        if ((oracle->l1.ways && oracle_touch(&oracle->l1, line, now) >= 0) ||
            (oracle->l2.ways && oracle_touch(&oracle->l2, line, now) >= 0))
            continue;
        oracle->counts.accesses++;
        position = oracle_touch(&oracle->llc, line, now);
        if (position < 0)
            oracle->counts.misses++;
        else
            oracle->counts.hits[position]++;
    }
}

static void oracle_init_cache(struct oracle_cache *cache, const struct cachesim_cache *is)
{
    cache->ways = is->bytes ? is->ways : 0;
    cache->sets = is->bytes ? is->bytes / LINE / is->ways : 1;
    assert_true(cache->sets * cache->ways <= ORACLE_PLACES);
}

/* ---- helpers ---- */

static void *piece[4 + CACHESIM_CORES_MAX]; /* of memory that a simulator was given */
static size_t pieces;

static void *alloc_zeroed(size_t size)
{
    assert_true(pieces < sizeof(piece) / sizeof(piece[0]));
    return piece[pieces++] = calloc(1, size);
}

static void free_all(void)
{
    while (pieces > 0)
        free(piece[--pieces]);
}

static struct cachesim *create(const struct cachesim_geometry *geometry)
{
    struct cachesim *sim;
    struct berth_error err = {""};

    if (cachesim_check(geometry, &err) < 0)
        fail_msg("%s", err.text);
    sim = cachesim_new(geometry, alloc_zeroed);
    assert_non_null(sim);
    return sim;
}

static uint64_t random64(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* A reference of a program with some locality: often near the last, sometimes far, sometimes across
 * a line's end. */
static uint64_t random_address(uint64_t *state, uint64_t last, uint64_t span)
{
    uint64_t r = random64(state);

    return r % 4 ? (last + r / 4 % 512) % span : r / 4 % span;
}

/* ---- tests ---- */

/* A 2-set, 2-way LLC alone: lines 0, 2, 4 are of set 0. */
static void test_by_hand(void **state)
{
    static const struct cachesim_geometry geometry = {
        .llc = {4 * LINE, 2}, .line_bytes = LINE, .sample = 1};
    static const struct {
        uint64_t line, hits0, hits1, misses; /* counts after it */
    } step[] = {{0, 0, 0, 1}, {0, 1, 0, 1}, {2, 1, 0, 2}, {0, 1, 1, 2},
                {1, 1, 1, 3}, {4, 1, 1, 4}, {2, 1, 1, 5}, {1, 2, 1, 5}};
    struct cachesim *sim = create(&geometry);

    (void)state;
    for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
        const struct cachesim_counts *counts = cachesim_counts(sim);

        cachesim_reference(sim, step[i].line * LINE + i, 1);
        assert_int_equal(counts->references, i + 1);
        assert_int_equal(counts->hits[0], step[i].hits0);
        assert_int_equal(counts->hits[1], step[i].hits1);
        assert_int_equal(counts->misses, step[i].misses);
    }
    assert_int_equal(cachesim_counts(sim)->accesses, 8);
    free_all();
}

static void test_private_caches_filter(void **state)
{
    static const struct cachesim_geometry geometry = {.l1 = {LINE, 1},
                                                      .l2 = {4 * LINE, 4},
                                                      .llc = {64 * LINE, 8},
                                                      .line_bytes = LINE,
                                                      .sample = 1};
    struct cachesim *sim = create(&geometry);

    (void)state;
    for (int round = 0; round < 10; round++)
        for (uint64_t line = 0; line < 4; line++)
            cachesim_reference(sim, line * LINE, 8);
    assert_int_equal(cachesim_counts(sim)->misses, 4); /* then the L2 holds all four */
    assert_int_equal(cachesim_counts(sim)->accesses, 4);
    for (uint64_t line = 0; line < 5; line++) /* a fifth line: the L2 holds each too short */
        for (int round = 0; round < 2; round++)
            cachesim_reference(sim, line * LINE, 8);
    assert_int_equal(cachesim_counts(sim)->misses, 5);
    free_all();
}

static void test_straddling(void **state)
{
    static const struct cachesim_geometry geometry = {
        .llc = {64 * LINE, 8}, .line_bytes = LINE, .sample = 1};
    static const struct {
        uint64_t address;
        uint32_t size;
        uint64_t lines;
    } reference[] = {{0, 64, 1},
                     {60, 4, 1},
                     {60, 5, 2},
                     {63, 2, 2},
                     {0, 512, 8},
                     {1, 512, 9},
                     {UINT64_MAX - 7, 8, 1},
                     {UINT64_MAX - 64, 65, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(reference) / sizeof(reference[0]); i++) {
        struct cachesim *sim = create(&geometry);

        cachesim_reference(sim, reference[i].address, reference[i].size);
        assert_int_equal(cachesim_counts(sim)->references, reference[i].lines);
        assert_int_equal(cachesim_counts(sim)->misses, reference[i].lines);
        free_all();
    }
}

/* Random programs on many machines, some with sets that are no power of two, must count as the
 * oracle does. */
static void test_oracle(void **state)
{
    static const struct cachesim_geometry machine[] = {
        {{0, 0}, {0, 0}, {64 * LINE, 4}, LINE, 1},
        {{8 * LINE, 2}, {32 * LINE, 4}, {256 * LINE, 16}, LINE, 1},
        {{8 * LINE, 8}, {0, 0}, {3 * 11 * LINE, 11}, LINE, 1},
        {{6 * LINE, 2}, {20 * LINE, 4}, {5 * 12 * LINE, 12}, LINE, 1},
        {{LINE, 1}, {2 * LINE, 1}, {64 * LINE, 64}, LINE, 1},
        {{4 * LINE, 1}, {7 * LINE, 1}, {13 * LINE, 1}, LINE, 1},
    };
    struct oracle *oracle = malloc(sizeof(*oracle));
    uint64_t seed = 20101125;

    (void)state;
    for (size_t m = 0; m < sizeof(machine) / sizeof(machine[0]); m++) {
        struct cachesim *sim = create(&machine[m]);
        uint64_t address = 0;

        memset(oracle, 0, sizeof(*oracle));
        oracle_init_cache(&oracle->l1, &machine[m].l1);
        oracle_init_cache(&oracle->l2, &machine[m].l2);
        oracle_init_cache(&oracle->llc, &machine[m].llc);
        for (int i = 0; i < 50000; i++) {
            uint32_t size = 1 + (uint32_t)(random64(&seed) % 32);

            address = random_address(&seed, address, 2 * machine[m].llc.bytes);
            cachesim_reference(sim, address, size);
            oracle_reference(oracle, address, size);
        }
        assert_memory_equal(cachesim_counts(sim), &oracle->counts, sizeof(oracle->counts));
        assert_true(oracle->counts.misses > 0);
        assert_true(oracle->counts.accesses > oracle->counts.misses);
        free_all();
    }
    free(oracle);
}

/* hits[0..k-1] of an n-way LLC are all hits of a k-way one with as many sets (Mattson 1970), behind
 * the same private caches. */
static void test_inclusion(void **state)
{
    enum { SETS = 12, WAYS = 8, REFERENCES = 30000 };
    struct cachesim_geometry geometry = {.l1 = {4 * LINE, 2}, .line_bytes = LINE, .sample = 1};
    uint64_t hits_upto[WAYS + 1] = {0};

    (void)state;
    for (unsigned ways = WAYS; ways >= 1; ways--) {
        uint64_t seed = 42, address = 0, hits = 0;
        struct cachesim *sim;

        geometry.llc = (struct cachesim_cache){(uint64_t)SETS * ways * LINE, ways};
        sim = create(&geometry);
        for (int i = 0; i < REFERENCES; i++) {
            address = random_address(&seed, address, 2 * SETS * WAYS * LINE);
            cachesim_reference(sim, address, 4);
        }
        for (unsigned i = 0; i < ways; i++) {
            hits += cachesim_counts(sim)->hits[i];
            if (ways == WAYS)
                hits_upto[i + 1] = hits;
        }
        assert_int_equal(hits, hits_upto[ways]);
        free_all();
    }
}

/* A loop over what just fits hits at the last position; over one line more per set, LRU never hits.
 */
static void test_cliff(void **state)
{
    static const struct cachesim_geometry geometry = {
        .llc = {16 * LINE, 4}, .line_bytes = LINE, .sample = 1};

    (void)state;
    for (uint64_t lines = 16; lines <= 20; lines += 4) {
        struct cachesim *sim = create(&geometry);

        for (int round = 0; round < 10; round++)
            for (uint64_t line = 0; line < lines; line++)
                cachesim_reference(sim, line * LINE, 8);
        assert_int_equal(cachesim_counts(sim)->hits[3], lines == 16 ? 9 * 16 : 0);
        assert_int_equal(cachesim_counts(sim)->misses, lines == 16 ? 16 : 10 * 20);
        free_all();
    }
}

/* Two cores use the same lines: each has an L1 of its own, so both ask the LLC, once. */
static void test_cores(void **state)
{
    static const struct cachesim_geometry geometry = {
        .l1 = {8 * LINE, 2}, .l2 = {16 * LINE, 4}, .llc = {64 * LINE, 8}, LINE, 1};
    struct cachesim *sim = create(&geometry);
    const struct cachesim_recent *recent = cachesim_recent(sim);

    (void)state;
    for (int round = 0; round < 5; round++)
        for (unsigned core = 0; core < 2; core++) {
            cachesim_core(sim, core * (CACHESIM_CORES_MAX - 1));
            for (uint64_t line = 0; line < 4; line++)
                cachesim_reference(sim, line * LINE, 8);
            assert_int_equal(recent->address[3], 3 * LINE);
        }
    assert_int_equal(cachesim_counts(sim)->misses, 4);
    assert_int_equal(cachesim_counts(sim)->hits[0], 4);
    assert_int_equal(cachesim_counts(sim)->accesses, 8);
    cachesim_core(sim, 1); /* a third one has used nothing yet */
    assert_true(recent->address[3] != 3 * LINE);
    free_all();
}

/* Who passes over references to the recent lines counts the same but for the references. */
static void test_recent(void **state)
{
    static const struct cachesim_geometry geometry = {
        .l1 = {8 * LINE, 2}, .l2 = {32 * LINE, 4}, .llc = {256 * LINE, 16}, LINE, 1};
    struct cachesim *all = create(&geometry), *some = create(&geometry);
    const struct cachesim_recent *recent = cachesim_recent(some);
    uint64_t seed = 7, address = 0, passed = 0;

    (void)state;
    for (int i = 0; i < 50000; i++) {
        address = random_address(&seed, address, 512 * LINE);
        cachesim_reference(all, address, 1);
        if (address - recent->address[address >> recent->line_shift & recent->mask] < LINE)
            passed++;
        else
            cachesim_reference(some, address, 1);
    }
    assert_true(passed > 1000);
    assert_int_equal(cachesim_counts(all)->references, cachesim_counts(some)->references + passed);
    assert_memory_equal(&cachesim_counts(all)->accesses, &cachesim_counts(some)->accesses,
                        sizeof(struct cachesim_counts) - sizeof(uint64_t));
    free_all();
}

/* Misses of a random program, all sets or some simulated. */
static double sampled_misses(uint64_t seed, uint32_t sample, double *error)
{
    const struct cachesim_geometry geometry = {
        .l1 = {16 * LINE, 4}, .llc = {1024 * 4 * LINE, 4}, LINE, sample};
    struct cachesim *sim = create(&geometry);
    double misses;

    for (uint64_t i = 0, r; i < 60000; i++) {
        r = random64(&seed); /* lines of three regions, one hotter than the other */
        cachesim_reference(sim, (r >> 32) % (r % 4 ? 2048 : r % 8 ? 20000 : 1000000) * LINE, 8);
    }
    misses = cachesim_misses(cachesim_counts(sim), sample, error);
    assert_true(cachesim_counts(sim)->accesses > 50000);
    free_all();
    return misses;
}

/* The 95 % interval covers the truth in about 95 of 100 programs, the estimate has no bias, and the
 * error is no larger than it needs to be. */
static void test_sampling(void **state)
{
    enum { PROGRAMS = 100 };
    double sum_truth = 0, sum = 0, square = 0, stated = 0;
    int covered = 0;

    (void)state;
    for (uint64_t i = 1; i <= PROGRAMS; i++) {
        double error, exact, truth = sampled_misses(i * 977, 1, &exact);
        double estimate = sampled_misses(i * 977, 8, &error);

        assert_true(exact == 0 && error > 0);
        covered += fabs(estimate - truth) < 2.04 * error;
        sum_truth += truth;
        sum += estimate;
        square += (estimate - truth) * (estimate - truth);
        stated += error * error;
    }
    assert_in_range(covered, 88, 100);
    assert_true(fabs(sum / sum_truth - 1) < 0.01);
    assert_true(stated < 2 * square && stated > square / 2);
}

static void test_difference(void **state)
{
    struct cachesim_counts earlier = {.references = 5, .accesses = 5, .hits = {1, 2}, .misses = 2};
    struct cachesim_counts later = {.references = 9, .accesses = 9, .hits = {3, 2, 1}, .misses = 3},
                           difference;

    (void)state;
    earlier.group[3].misses = 1;
    later.group[3].misses = 8;
    cachesim_difference(&later, &earlier, &difference);
    assert_int_equal(difference.references, 4);
    assert_int_equal(difference.hits[0], 2);
    assert_int_equal(difference.hits[1], 0);
    assert_int_equal(difference.hits[2], 1);
    assert_int_equal(difference.misses, 1);
    assert_int_equal(difference.accesses, 4);
    assert_int_equal(difference.group[3].misses, 7);
}

static void test_impossible_machines(void **state)
{
    static const struct cachesim_geometry machine[] = {
        {{0, 0}, {0, 0}, {0, 0}, LINE, 1},          {{0, 0}, {0, 0}, {1024, 0}, LINE, 1},
        {{0, 0}, {0, 0}, {1 << 20, 65}, LINE, 1},   {{0, 0}, {0, 0}, {100, 16}, LINE, 1},
        {{0, 0}, {0, 0}, {1 << 20, 16}, 48, 1},     {{0, 0}, {0, 0}, {1 << 20, 16}, 0, 1},
        {{64, 2}, {0, 0}, {1 << 20, 16}, LINE, 1},  {{0, 0}, {1024, 0}, {1 << 20, 16}, LINE, 1},
        {{0, 0}, {0, 0}, {UINT64_MAX, 1}, LINE, 1}, {{0, 0}, {0, 0}, {1 << 20, 16}, LINE, 0},
        {{0, 0}, {0, 0}, {1 << 20, 16}, LINE, 17},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++) {
        struct berth_error err = {""};

        if (cachesim_check(&machine[i], &err) == 0)
            fail_msg("machine %zu was taken", i);
        assert_true(err.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_private_caches_filter),
        cmocka_unit_test(test_straddling),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_inclusion),
        cmocka_unit_test(test_cliff),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_recent),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_impossible_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
