/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_siphash - the example of the paper (Aumasson and Bernstein 2012, appendix A), and the first
 * of its reference's vectors; and that one bit of a number changes half of the hash's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "packer/base/siphash.h"

static uint8_t key[SIPHASH_KEY], text[64];

static int fill(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (uint8_t)i;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)i;
    return 0;
}

static void test_published(void **state)
{
    static const struct {
        size_t length;
        uint64_t hash;
    } list[] = {{0, 0x726fdb47dd0e0e31},
                {1, 0x74f839c593dc67fd},
                {8, 0x93f5f5799a932462},
                {15, 0xa129ca6149be45e5}};

    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        assert_true(siphash(key, text, list[i].length) == list[i].hash);
}

static void test_spread(void **state)
{
    unsigned changed = 0;

    (void)state;
    for (unsigned bit = 0; bit < 32; bit++) {
        uint8_t other[4] = {0, 1, 2, 3};

        other[bit / 8] ^= (uint8_t)(1 << bit % 8);
        changed += (unsigned)__builtin_popcountll(siphash(key, text, 4) ^ siphash(key, other, 4));
    }
    assert_in_range(changed, 32 * 64 * 45 / 100, 32 * 64 * 55 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published),
                                       cmocka_unit_test(test_spread)};

    return cmocka_run_group_tests(tests, fill, NULL);
}
