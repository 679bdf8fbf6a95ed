/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_dramsim - what requests find in row buffers, by hand and by what Wang 2015 prints of streams
 * (Table 4.4, on two channels of eight banks each). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/trace/cachesim.h"
#include "probe/trace/dramsim.h"

static const struct dramsim_geometry opteron = {
    .channels = 2, .ranks = 1, .banks = 8, .auto_close = 16, .line_bytes = 64};

static void *zeroed(size_t size)
{
    return calloc(1, size);
}

static struct dramsim *make(const struct dramsim_geometry *geometry)
{
    struct dramsim *sim = dramsim_new(geometry, zeroed);

    assert_non_null(sim);
    return sim;
}

static double part(uint64_t count, uint64_t of)
{
    return (double)count / (double)of;
}

static void assert_near(double got, double wanted, double nearly)
{
    if (!(fabs(got - wanted) < nearly))
        fail_msg("%.5f, not %.5f", got, wanted);
}

static void assert_whole(const struct dramsim_counts *c)
{
    uint64_t brds = 0;

    for (size_t d = 0; d <= DRAMSIM_BRDS; d++)
        brds += c->brd[d];
    assert_int_equal(c->hits + c->misses + c->conflicts, c->requests);
    assert_int_equal(brds, c->reused);
    assert_true(c->same_row + c->same_bank + c->other_channel <= c->pairs);
}

/* Lines of one page, in order: the first of each channel opens a row, eight lines are a run. */
static void test_page(void **state)
{
    struct dramsim *sim = make(&opteron);
    const struct dramsim_counts *c = dramsim_counts(sim);

    (void)state;
    for (uint64_t line = 0; line < 64; line++)
        dramsim_request(sim, 0, line, line >= 60);
    assert_int_equal(c->requests, 64);
    assert_int_equal(c->writes, 4);
    assert_int_equal(c->misses, 2);
    assert_int_equal(c->hits, 62);
    assert_int_equal(c->brd[1], 56); /* within a run */
    assert_int_equal(c->brd[9], 6);  /* the run before the last, and one */
    assert_int_equal(c->write_to_read, 0);
    assert_whole(c);
    free(sim);
}

/* Table 4.4: a stream has distance 1 for seven of eight requests, as the run-time model assumes. */
static void test_stream(void **state)
{
    struct dramsim *sim = make(&opteron);
    const struct dramsim_counts *c = dramsim_counts(sim);

    (void)state;
    for (uint64_t line = 0; line < 1000000; line++)
        dramsim_request(sim, 0, line, false);
    assert_whole(c);
    assert_near(part(c->brd[1], c->requests), .875, .01);
    assert_near(part(c->hits, c->requests), .955,
                .02); /* a page's first line of a channel is none */
    assert_int_equal(c->writes + c->write_to_read + c->rank_turns, 0);
    free(sim);
}

/* Table 4.4: the request of another thread is in the same bank in one of 16, half are elsewhere. */
static void test_two_threads(void **state)
{
    struct dramsim *sim = make(&opteron);
    const struct dramsim_counts *c = dramsim_counts(sim);

    (void)state;
    for (uint64_t i = 0; i < 1000000; i++)
        dramsim_request(sim, i & 1, (i & 1 ? 1ull << 40 : 0) + i / 2 + (i & 1) * (i / 2 % 977),
                        false);
    assert_whole(c);
    assert_int_equal(c->pairs, c->requests - 1);
    assert_near(part(c->same_row, c->pairs), 0, .001);
    assert_near(part(c->same_bank, c->pairs), .0625, .01);
    assert_near(part(c->other_channel, c->pairs), .5, .02);
    free(sim);
}

/* A row is closed when so many requests have come; else another row is a conflict. */
static void test_closing(void **state)
{
    struct dramsim_geometry never = opteron, soon = opteron;
    uint64_t far = 1 << 20;

    (void)state;
    never.channels = soon.channels = never.banks = soon.banks = 1;
    never.auto_close = 0;
    soon.auto_close = 1;
    for (int closes = 0; closes < 2; closes++) {
        struct dramsim *sim = make(closes ? &soon : &never);
        const struct dramsim_counts *c = dramsim_counts(sim);

        for (uint64_t i = 0; i < 100; i++)
            dramsim_request(sim, 0, i % 2 ? far : 0, i % 2);
        assert_whole(c);
        assert_int_equal(c->misses, 1); /* one bank: each request comes right after the last */
        assert_int_equal(c->conflicts, 99);
        assert_int_equal(c->write_to_read, 49);
        free(sim);
    }
}

static void test_impossible(void **state)
{
    static const struct dramsim_geometry bad[] = {{0, 1, 8, 16, 64}, {2, 0, 8, 16, 64},
                                                  {2, 1, 0, 16, 64}, {64, 64, 64, 0, 64},
                                                  {2, 1, 8, 16, 48}, {2, 1, 8, 16, 8192}};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_null(dramsim_new(&bad[i], zeroed));
}

/* ---- behind the caches ---- */

/* What is stored to is written when the cache gives it up, once, also where a private cache had it;
 * what is only read is not. */
static void test_write_backs(void **state)
{
    const struct cachesim_geometry geometry = {
        .l1 = {512, 8}, .llc = {4096, 16}, .line_bytes = 64, .sample = 1};
    struct dramsim *dram = make(&opteron);
    struct cachesim *sim = cachesim_new(&geometry, zeroed);

    (void)state;
    cachesim_memory(sim, dram);
    assert_null(cachesim_recent(sim));
    for (uint64_t line = 0; line < 4096; line++) {
        cachesim_access(sim, line * 64, 8, false);
        cachesim_access(sim, line * 64 + 8, 8, line % 2); /* the L1 has it */
    }
    assert_int_equal(cachesim_counts(sim)->misses, 4096);
    assert_int_equal(dramsim_counts(dram)->requests - dramsim_counts(dram)->writes, 4096);
    assert_int_equal(dramsim_counts(dram)->writes, (4096 - 64) / 2); /* 64 lines are still there */
    free(sim);
    free(dram);
}

/* The profile is the same with a memory behind it as without. */
static void test_same_profile(void **state)
{
    const struct cachesim_geometry geometry = {
        .l1 = {512, 8}, .l2 = {2048, 4}, .llc = {65536, 16}, .line_bytes = 64, .sample = 1};
    struct cachesim *plain = cachesim_new(&geometry, zeroed),
                    *with = cachesim_new(&geometry, zeroed);
    unsigned seed = 1;

    (void)state;
    cachesim_memory(with, make(&opteron));
    for (int i = 0; i < 200000; i++) {
        uint64_t address = (uint64_t)rand_r(&seed) % 200000;

        cachesim_reference(plain, address, 4);
        cachesim_access(with, address, 4, false);
    }
    assert_memory_equal(cachesim_counts(plain), cachesim_counts(with),
                        sizeof(struct cachesim_counts));
    free(plain);
    free(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),         cmocka_unit_test(test_stream),
        cmocka_unit_test(test_two_threads),  cmocka_unit_test(test_closing),
        cmocka_unit_test(test_impossible),   cmocka_unit_test(test_write_backs),
        cmocka_unit_test(test_same_profile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
