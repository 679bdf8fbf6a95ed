/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matching - see matching.h
 *
 * An idle core is one more vertex, which costs nothing beside any other; no more of them are needed
 * than there are programs. Weights become integers of 90 bits, relative to the largest: a double
 * of 53 bits loses nothing unless it is smaller by a factor of 2^37, and what is lost then is
 * 2^-90 of the largest, so that even one pair at 1e12 ("never these two") leaves the others exact.
 */
#include "models/partition/matching.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "models/partition/blossom.h"

#define WEIGHT_BITS 90

static double mutual(size_t n, const double *degradation, size_t i, size_t j)
{
    return degradation[i * n + j] + degradation[j * n + i];
}

/* Returns the largest weight of a pair, by magnitude; not finite when one is not. */
static double largest_weight(size_t n, const double *degradation)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double weight = fabs(mutual(n, degradation, i, j));

            if (!isfinite(weight))
                return weight;
            if (weight > largest)
                largest = weight;
        }
    return largest;
}

/* Returns the symmetric matrix of n programs and idle cores, [vertices * vertices]; the caller
 * frees it. NULL with errno. */
static blossom_weight *make_weights(size_t n, const double *degradation, double largest,
                                    size_t vertices)
{
    blossom_weight *weight = calloc(vertices * vertices, sizeof(*weight));
    int exponent;

    if (!weight)
        return NULL;
    frexp(largest, &exponent);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double scaled = ldexp(mutual(n, degradation, i, j), WEIGHT_BITS - exponent);

            weight[i * vertices + j] = weight[j * vertices + i] = 4 * (blossom_weight)scaled;
        }
    return weight;
}

static double sum(size_t n, const double *degradation, const size_t *mate)
{
    double total = 0;

    for (size_t i = 0; i < n; i++)
        if (mate[i] != i)
            total += degradation[i * n + mate[i]];
    return total;
}

int matching_pairs(size_t n, const double *degradation, size_t pairs, size_t *mate, double *total)
{
    size_t idle, vertices, *matched;
    blossom_weight *weight;
    double largest = INFINITY;
    int rc = -1;

    if (n <= BLOSSOM_VERTICES_MAX / 2 && pairs >= n - n / 2)
        largest = largest_weight(n, degradation);
    if (!isfinite(largest)) {
        errno = EINVAL;
        return -1;
    }
    idle = pairs >= n ? n : 2 * pairs - n;
    vertices = n + idle;
    matched = calloc(vertices + 1, sizeof(*matched)); /* + 1: calloc(0) may be NULL */
    weight = make_weights(n, degradation, largest, vertices);
    if (matched && weight && blossom_match(vertices, weight, matched) == 0) {
        for (size_t i = 0; i < n; i++)
            mate[i] = matched[i] < n ? matched[i] : i;
        *total = sum(n, degradation, mate);
        rc = 0;
    }
    free(weight);
    free(matched);
    return rc;
}
