/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_ring - records of made-up buffers: in order, across the end, lost, too long, and
 * nonsense. */
#include "packer/reuse/perf_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DATA 64 /* bytes of records */

struct record {
    struct perf_event_header header;
    uint64_t word[4];
};

static struct perf_ring ring;

static int set_up(void **state)
{
    (void)state;
    ring = (struct perf_ring){.page = calloc(1, 4096 + DATA)};
    ring.page->data_offset = 4096;
    ring.page->data_size = DATA;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(ring.page);
    return 0;
}

/* As the kernel does: the record of this many words, byte by byte around the end. */
static void put(uint32_t type, size_t words, uint64_t first, uint64_t second)
{
    struct record record = {{.type = type, .size = (uint16_t)(8 + 8 * words)},
                            {first, second, 3, 4}};
    char *data = (char *)ring.page + 4096;

    for (size_t i = 0; i < record.header.size; i++)
        data[ring.page->data_head++ % DATA] = ((char *)&record)[i];
}

static void assert_next(uint32_t type, size_t words, uint64_t first)
{
    struct record record = {0};

    assert_int_equal(perf_ring_next(&ring, &record, sizeof(record)), 8 + 8 * words);
    assert_int_equal(record.header.type, type);
    assert_int_equal(record.word[0], first);
}

static void assert_empty(uint64_t lost)
{
    struct record record;

    assert_int_equal(perf_ring_next(&ring, &record, sizeof(record)), 0);
    assert_int_equal(ring.page->data_tail, ring.page->data_head);
    assert_int_equal(ring.lost, lost);
}

static void test_order(void **state)
{
    (void)state;
    assert_empty(0);
    put(PERF_RECORD_SAMPLE, 1, 11, 0);
    put(PERF_RECORD_MMAP, 2, 12, 0);
    assert_next(PERF_RECORD_SAMPLE, 1, 11);
    put(PERF_RECORD_SAMPLE, 3, 13, 0);
    assert_next(PERF_RECORD_MMAP, 2, 12);
    assert_next(PERF_RECORD_SAMPLE, 3, 13);
    assert_empty(0);
}

/* Records of 40 bytes in 64: each but the first begins elsewhere, most lie across the end. */
static void test_wrap(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        put(PERF_RECORD_SAMPLE, 4, i, i);
        assert_next(PERF_RECORD_SAMPLE, 4, i);
    }
    ring.page->data_head = ring.page->data_tail = UINT64_MAX - 7; /* and the count itself wraps */
    put(PERF_RECORD_SAMPLE, 4, 7, 7);
    assert_next(PERF_RECORD_SAMPLE, 4, 7);
    assert_empty(0);
}

static void test_lost(void **state)
{
    (void)state;
    put(PERF_RECORD_LOST, 2, 99, 17); /* id, number */
    put(PERF_RECORD_SAMPLE, 1, 5, 0);
    assert_next(PERF_RECORD_SAMPLE, 1, 5);
    assert_empty(17);
    put(PERF_RECORD_LOST, 1, 99, 0); /* too short to say how many */
    assert_empty(18);
}

static void test_too_long(void **state)
{
    uint64_t record[2] = {0};

    (void)state;
    put(PERF_RECORD_SAMPLE, 4, 1, 0);
    put(PERF_RECORD_SAMPLE, 1, 2, 0);
    assert_int_equal(perf_ring_next(&ring, record, sizeof(record)), 16);
    assert_int_equal(record[1], 2);
    assert_empty(1);
}

/* A size that cannot be: all that is there is dropped, and what comes later is read. */
static void test_nonsense(void **state)
{
    static const uint16_t sizes[] = {0, 7, 17, 64, UINT16_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct perf_event_header *header;

        ring.page->data_head = ring.page->data_tail = 0;
        put(PERF_RECORD_SAMPLE, 1, 1, 0);
        header = (struct perf_event_header *)((char *)ring.page + 4096);
        header->size = sizes[i];
        assert_empty(i + 1);
        put(PERF_RECORD_SAMPLE, 1, 2, 0);
        assert_next(PERF_RECORD_SAMPLE, 1, 2);
    }
    ring.page->data_head += 4; /* less than a header */
    assert_empty(6);
    ring.page->data_head += DATA + 8; /* more than there is room for */
    assert_empty(7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nonsense, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
