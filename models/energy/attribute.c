/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/energy/attribute.h"

#include <math.h>
#include <stdbool.h>

#define PART_BITS 51 /* of the greatest part: with 4096 claims the sum fits into 63 bits */

__extension__ typedef unsigned __int128 wide;

/* Returns the greatest weight that counts; 0: none does. */
static double greatest(const struct attribute_claim *claim, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        if (claim[i].weight > most)
            most = claim[i].weight;
    return most;
}

/* Makes the weights integers, the greatest being 2^PART_BITS; returns their sum. */
static uint64_t take_parts(struct attribute_claim *claim, size_t n, double most)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        double weight = claim[i].weight;

        claim[i].part = 0;
        if (isinf(most))
            claim[i].part = weight > 0 && isinf(weight);
        else if (weight > 0)
            claim[i].part = (uint64_t)ldexp(weight / most, PART_BITS);
        sum += claim[i].part;
    }
    return sum;
}

static size_t count_rests(const struct attribute_claim *claim, size_t n, uint64_t least)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += claim[i].rest >= least;
    return count;
}

/* Returns the greatest bound that `left` remainders reach. */
static uint64_t find_bound(const struct attribute_claim *claim, size_t n, uint64_t sum, size_t left)
{
    uint64_t low = 0, high = sum; /* every remainder is 0 or more, and none is sum */

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (count_rests(claim, n, middle) >= left)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Gives one unit each to the largest remainders. A remainder of 0 is never among them: they add up
 * to left * sum, and each is below sum. */
static void give_rest(struct attribute_claim *claim, size_t n, uint64_t sum, size_t left)
{
    uint64_t bound = find_bound(claim, n, sum, left);
    size_t equal = left - count_rests(claim, n, bound + 1);

    for (size_t i = 0; i < n; i++) {
        bool tie = claim[i].rest == bound && equal > 0;

        claim[i].share += claim[i].rest > bound || tie;
        equal -= tie;
    }
}

uint64_t attribute_divide(uint64_t total, struct attribute_claim *claim, size_t n)
{
    uint64_t left = total, sum;
    double most = n <= ATTRIBUTE_CLAIMS ? greatest(claim, n) : 0;

    for (size_t i = 0; i < n; i++)
        claim[i].share = 0;
    if (most == 0)
        return total;
    sum = take_parts(claim, n, most);
    for (size_t i = 0; i < n; i++) {
        wide product = (wide)total * claim[i].part;

        claim[i].share = (uint64_t)(product / sum);
        claim[i].rest = (uint64_t)(product % sum);
        left -= claim[i].share;
    }
    if (left > 0)
        give_rest(claim, n, sum, (size_t)left);
    return 0;
}
