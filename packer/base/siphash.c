/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siphash - see siphash.h; the names are the paper's (section 2). */
#include "packer/base/siphash.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotated(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* Returns up to 8 bytes as a number, the first one the lowest. */
static uint64_t word_of(const uint8_t *byte, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)byte[i] << 8 * i;
    return word;
}

static void sip_rounds(struct state *s, unsigned n)
{
    for (; n > 0; n--) {
        s->v0 += s->v1;
        s->v1 = rotated(s->v1, 13) ^ s->v0;
        s->v0 = rotated(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotated(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotated(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotated(s->v1, 17) ^ s->v2;
        s->v2 = rotated(s->v2, 32);
    }
}

static void compress(struct state *s, uint64_t m)
{
    s->v3 ^= m;
    sip_rounds(s, 2);
    s->v0 ^= m;
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY], const void *bytes, size_t length)
{
    const uint64_t k0 = word_of(key, 8), k1 = word_of(key + 8, 8);
    struct state s = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                      k1 ^ 0x7465646279746573};
    const uint8_t *byte = bytes;
    size_t left = length;

    for (; left >= 8; left -= 8, byte += 8)
        compress(&s, word_of(byte, 8));
    compress(&s, word_of(byte, left) | (uint64_t)(length & 0xff) << 56);
    s.v2 ^= 0xff;
    sip_rounds(&s, 4);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
