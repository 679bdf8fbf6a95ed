/* SPDX-License-Identifier: GPL-2.0-or-later */
/* animal - see animal.h
 *
 * Of the symbiosis table the paper tells the ends: 0 for two turtles, 8 for two devils, everything
 * else between. The rest follows what it says of the classes: what a class suffers grows in the
 * order turtle, sheep, rabbit, devil (in a rabbit's case from lost ways, in a devil's from memory
 * and prefetching), and so does what it does to others; a rabbit loses most of its ways to a devil.
 */
#include "models/slowdown/animal.h"
#include "enum_table.h"

static const double TABLE(symbiosis, ANIMAL_COUNT)[ANIMAL_COUNT] = {
    /*                 turtle sheep rabbit devil */
    ROW(ANIMAL_TURTLE) = {0, 1, 1, 2},
    ROW(ANIMAL_SHEEP) = {1, 2, 3, 4},
    ROW(ANIMAL_RABBIT) = {1, 3, 5, 7},
    ROW(ANIMAL_DEVIL) = {2, 4, 7, 8},
};
TABLE_COMPLETE(symbiosis);
_Static_assert(ANIMAL_COUNT == 4, "a column of symbiosis for each");

static double accesses(const struct app_sdp *sdp)
{
    double sum = sdp->misses;

    for (size_t i = 0; i < sdp->ways; i++)
        sum += sdp->hits[i];
    return sum;
}

/* Returns the hits that are lost with half of the ways. */
static double loss(const struct app_sdp *sdp)
{
    double sum = sdp->ways % 2 ? sdp->hits[sdp->ways / 2] / 2 : 0;

    for (size_t i = (sdp->ways + 1) / 2; i < sdp->ways; i++)
        sum += sdp->hits[i];
    return sum;
}

enum animal animal_of(const struct app_sdp *sdp, const struct animal_limits *limits)
{
    if (sdp->misses >= limits->devil_miss_pmi)
        return ANIMAL_DEVIL;
    if (accesses(sdp) < limits->turtle_access_pmi)
        return ANIMAL_TURTLE;
    return loss(sdp) >= limits->rabbit_loss_pmi ? ANIMAL_RABBIT : ANIMAL_SHEEP;
}

const char *animal_name(enum animal animal)
{
    static const char *const TABLE(names, ANIMAL_COUNT) = {
        ROW(ANIMAL_TURTLE) = "turtle",
        ROW(ANIMAL_SHEEP) = "sheep",
        ROW(ANIMAL_RABBIT) = "rabbit",
        ROW(ANIMAL_DEVIL) = "devil",
    };
    TABLE_COMPLETE(names);

    return names[animal];
}

struct app_pair animal_pair(enum animal a, enum animal b)
{
    double both = symbiosis[a][b];

    return (struct app_pair){.score = both, .a_given_b = both / 2, .b_given_a = both / 2};
}
