/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auction - see auction.h
 *
 * Bertsekas' auction in ever smaller steps, the last of which (Jonker and Volgenant's augmenting
 * row reduction) leaves what is matched tight. Where an odd circle of vertices is left over it
 * would never end, so the bids are counted; each moves the duals by no more than the range of the
 * weights and a step, which keeps all of them below 2^26 times that range. */
#include "models/partition/auction.h"

#define FAR ((blossom_weight)1 << 125)
/* Speed, not correctness, depends on these. */
#define STEPS 8
#define FACTOR 8 /* from one step to the next */
#define ROUNDS 2
#define BIDS 16

struct auction {
    size_t n;
    const blossom_weight *weight; /* [n * n] */
    blossom_weight *dual;
    unsigned *mate;
};

/* Half of its cheapest edge is a dual that every vertex can have. Returns the range of all edges.
 */
static blossom_weight first_duals(const struct auction *a)
{
    blossom_weight low = FAR, high = -FAR;

    for (unsigned u = 0; u < a->n; u++) {
        blossom_weight least = FAR;

        for (unsigned v = 0; v < a->n; v++) {
            blossom_weight weight = a->weight[u * a->n + v];

            if (v != u && weight < least)
                least = weight;
            if (v != u && weight > high)
                high = weight;
        }
        a->dual[u] = least / 2;
        if (least < low)
            low = least;
    }
    return high - low;
}

/* The two edges of least slack of vertex u; of equal ones, first one to an unmatched vertex. */
struct nearest {
    unsigned vertex;
    blossom_weight first, second;
};

static struct nearest find_two(const struct auction *a, unsigned u)
{
    const blossom_weight *weight = &a->weight[u * a->n];
    struct nearest two = {.vertex = AUCTION_NONE, .first = FAR, .second = FAR};

    for (unsigned v = 0; v < a->n; v++) {
        blossom_weight found = weight[v] - a->dual[v]; /* u's own dual is the same for all */

        if (found > two.second || v == u)
            continue;
        if (found < two.first || (found == two.first && a->mate[v] == AUCTION_NONE &&
                                  a->mate[two.vertex] != AUCTION_NONE)) {
            two.second = two.first;
            two.first = found;
            two.vertex = v;
        } else {
            two.second = found;
        }
    }
    two.first -= a->dual[u];
    two.second -= a->dual[u];
    return two;
}

/* Matches u with its nearest, which its mate loses; u's dual rises until a second edge is tight,
 * and the nearest one's falls as much, so that the next to want it has to pay more; by `step` more
 * than leaves their own edge tight. Returns the mate that was, or AUCTION_NONE. */
static unsigned bid(const struct auction *a, unsigned u, blossom_weight step)
{
    struct nearest two = find_two(a, u);
    unsigned was = a->mate[two.vertex];

    if (was == AUCTION_NONE) {
        a->dual[u] += two.first;
    } else {
        a->dual[u] += two.second;
        a->dual[two.vertex] -= two.second - two.first + step;
        a->mate[was] = AUCTION_NONE;
    }
    a->mate[u] = two.vertex;
    a->mate[two.vertex] = u;
    return was;
}

static void hold(const struct auction *a, blossom_weight step)
{
    for (unsigned v = 0; v < a->n; v++)
        a->mate[v] = AUCTION_NONE;
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned u = 0; u < a->n; u++) {
            unsigned loser = a->mate[u] == AUCTION_NONE ? u : AUCTION_NONE;

            for (unsigned i = 0; loser != AUCTION_NONE && i < BIDS; i++)
                loser = bid(a, loser, step);
        }
}

void auction_run(size_t n, const blossom_weight *weight, blossom_weight *dual, unsigned *mate)
{
    const struct auction a = {.n = n, .weight = weight, .dual = dual, .mate = mate};
    blossom_weight step = first_duals(&a);

    for (unsigned i = 0; i < STEPS; i++) {
        step /= FACTOR;
        hold(&a, step * 2);
    }
    hold(&a, 0);
}
