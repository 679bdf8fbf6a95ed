/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pairs - see pairs.h */
#include "packer/steps/pairs.h"

#include <stdlib.h>
#include <string.h>

/* Makes the ring larger; it then begins at 0. Returns -1 where it is as large as it gets, or for
 * want of memory. */
static int grow(struct pairs *pairs)
{
    size_t room = pairs->room ? 2 * pairs->room : 16;
    struct pair *pair = room <= PAIRS_MAX ? malloc(room * sizeof(*pair)) : NULL;

    if (!pair)
        return -1;
    for (size_t i = 0; i < pairs->n; i++)
        pair[i] = pairs->pair[(pairs->first + i) % pairs->room];
    free(pairs->pair);
    pairs->pair = pair;
    pairs->room = room;
    pairs->first = 0;
    return 0;
}

static void drop_first(struct pairs *pairs)
{
    pairs->first = (pairs->first + 1) % pairs->room;
    pairs->n--;
}

void pairs_put(struct pairs *pairs, const struct pair *pair)
{
    if (pairs->n == pairs->room && grow(pairs) < 0) {
        pairs->lost++;
        if (pairs->n == 0)
            return;
        drop_first(pairs);
    }
    pairs->pair[(pairs->first + pairs->n++) % pairs->room] = *pair;
}

bool pairs_take(struct pairs *pairs, struct pair *pair)
{
    if (pairs->n == 0)
        return false;
    *pair = pairs->pair[pairs->first];
    drop_first(pairs);
    if (pairs->n == 0)
        pairs_free(pairs);
    return true;
}

int pair_add(struct pair *pair, uint16_t program, uint16_t cores)
{
    size_t i = 0;

    while (i < pair->n && pair->beside[i].program < program)
        i++;
    if (i < pair->n && pair->beside[i].program == program) {
        pair->beside[i].cores = (uint16_t)(pair->beside[i].cores + cores);
        return 0;
    }
    if (pair->n == PAIR_BESIDE_MAX)
        return -1;
    memmove(&pair->beside[i + 1], &pair->beside[i], (pair->n - i) * sizeof(pair->beside[0]));
    pair->beside[i] = (struct pair_part){program, cores};
    pair->n++;
    return 0;
}

/* Bytes of a pair with n beside it. */
static size_t size_of(size_t n)
{
    return offsetof(struct pair, beside) + n * sizeof(struct pair_part);
}

struct pair *pair_copy(const struct pair *pair)
{
    struct pair *copy = malloc(size_of(pair->n));

    return copy ? memcpy(copy, pair, size_of(pair->n)) : NULL;
}

void pair_take(struct pair *to, const struct pair *copy)
{
    *to = (struct pair){0};
    memcpy(to, copy, size_of(copy->n));
}

bool pair_same(const struct pair *a, const struct pair *b)
{
    return a->self.program == b->self.program && a->self.cores == b->self.cores &&
           a->sibling == b->sibling && a->n == b->n &&
           memcmp(a->beside, b->beside, a->n * sizeof(a->beside[0])) == 0;
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->pair);
    *pairs = (struct pairs){.lost = pairs->lost};
}
