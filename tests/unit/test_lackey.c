/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_lackey - the trace reader: lines one by one, and the same trace in pieces of every size. */
#include "packer/lackey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_lines(void **state)
{
    static const struct {
        const char *line;
        enum lackey_kind kind;
        uint64_t address;
        uint32_t size;
    } good[] = {
        {"I  0401ab70,3", LACKEY_INSTRUCTION, 0x0401ab70, 3},
        {" S 1fff000748,8", LACKEY_STORE, 0x1fff000748, 8},
        {" L 04a18de0,16", LACKEY_LOAD, 0x04a18de0, 16},
        {" M 0,1", LACKEY_MODIFY, 0, 1},
        {" L ffffffffffffffff,1", LACKEY_LOAD, UINT64_MAX, 1},
        {" L fffffffffffffff8,8", LACKEY_LOAD, UINT64_MAX - 7, 8},
        {" S 1000,16384", LACKEY_STORE, 0x1000, LACKEY_SIZE_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct lackey_record record;

        if (!lackey_parse(good[i].line, strlen(good[i].line), &record))
            fail_msg("'%s' refused", good[i].line);
        assert_int_equal(record.kind, good[i].kind);
        assert_int_equal(record.address, good[i].address);
        assert_int_equal(record.size, good[i].size);
    }
}

static void test_garbage(void **state)
{
    static const char *const bad[] = {
        "",
        "I",
        "I  ",
        "I  0401ab70",
        "I  0401ab70,",
        "I  ,8",
        " L 10,0",
        " L 10,16385",
        " L 10,99999999999999999999",
        " L 10,8 ",
        " L 10,8x",
        " L 10,-8",
        " L 10 8",
        " L 0x10,8",
        " L 1G,8",
        " L 10000000000000000,8", /* 65 bits */
        " L ffffffffffffffff,2",  /* wraps */
        "  L 10,8",
        "L 10,8",
        "L  10,8",
        " I 10,8",
        " X 10,8",
        "==7657== Counted 0 calls",
        "1fff000748,8",
        " S 1fff0 L 1fff000748,8",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct lackey_record record;
        char *copy = strdup(bad[i]); /* exact size, so that a sanitizer sees a read too far */

        if (lackey_parse(copy, strlen(copy), &record))
            fail_msg("'%s' taken", bad[i]);
        free(copy);
    }
}

/* Feed the trace in pieces of `piece` bytes. The sum of addresses of all records. */
static uint64_t read_all(struct lackey *lackey, const char *trace, size_t length, size_t piece,
                         size_t *records)
{
    struct lackey_record record;
    uint64_t sum = 0;

    *records = 0;
    lackey_init(lackey);
    for (size_t at = 0; at < length;) {
        size_t room, n;
        char *space = lackey_space(lackey, &room);

        assert_true(room > 0);
        n = length - at < piece ? length - at : piece;
        n = n < room ? n : room;
        memcpy(space, trace + at, n);
        lackey_fed(lackey, n);
        at += n;
        for (; lackey_next(lackey, &record); ++*records)
            sum += record.address;
    }
    return sum;
}

static void test_pieces(void **state)
{
    static const char trace[] =
        "==1== hello\nI  10,1\n L 20,8\n\n S 4000,4\ngarbage\n M 8000,2\nI  1";
    struct lackey *lackey = malloc(sizeof(*lackey));
    size_t records;

    (void)state;
    for (size_t piece = 1; piece <= sizeof(trace); piece++) {
        assert_int_equal(read_all(lackey, trace, sizeof(trace) - 1, piece, &records),
                         0x10 + 0x20 + 0x4000 + 0x8000);
        assert_int_equal(records, 4);
        assert_int_equal(lackey->garbage, 3); /* the torn end may yet become a record */
    }
    free(lackey);
}

/* A line without an end is one line of garbage, whatever its length, and the next one is read
 * again. */
static void test_endless_line(void **state)
{
    static const size_t lengths[] = {LACKEY_BUFFER - 1, LACKEY_BUFFER, LACKEY_BUFFER + 1,
                                     3 * LACKEY_BUFFER, 3 * LACKEY_BUFFER + 17};
    struct lackey *lackey = malloc(sizeof(*lackey));

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        static const char after[] = "\n L 20,8\n";
        size_t length = lengths[i] + sizeof(after) - 1, records;
        char *trace = malloc(length);

        memset(trace, 'I', lengths[i]);
        memcpy(trace + lengths[i], after, sizeof(after) - 1);
        assert_int_equal(read_all(lackey, trace, length, 4096, &records), 0x20);
        assert_int_equal(records, 1);
        assert_int_equal(lackey->garbage, 1);
        free(trace);
    }
    free(lackey);
}

/* Random bytes of the trace's alphabet: whatever is a record is one within its bounds. */
static void test_noise(void **state)
{
    static const char letters[] = "ILSM 0123456789abcdef,\n\n\nI  ";
    struct lackey *lackey = malloc(sizeof(*lackey));
    struct lackey_record record;
    uint32_t random = 1;

    (void)state;
    lackey_init(lackey);
    for (int round = 0; round < 2000; round++) {
        size_t room, n;
        char *space = lackey_space(lackey, &room);

        n = room < 700 ? room : 700;
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            space[i] = letters[(random >> 16) % (sizeof(letters) - 1)];
        }
        lackey_fed(lackey, n);
        while (lackey_next(lackey, &record)) {
            assert_true(record.size >= 1 && record.size <= LACKEY_SIZE_MAX);
            assert_true(record.address + (record.size - 1) >= record.address);
        }
    }
    assert_true(lackey->garbage > 0);
    free(lackey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_pieces), cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
