/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/slowdown/sdc.h"

static double counter(const struct app_sdp *sdp, size_t position)
{
    return position < sdp->ways ? sdp->hits[position] : 0;
}

/* Returns the hits that a program has with `ways`, but not with the `kept` first of them. */
static double lost(const struct app_sdp *sdp, size_t kept, size_t ways)
{
    double hits = 0;

    for (size_t i = kept; i < ways && i < sdp->ways; i++)
        hits += sdp->hits[i];
    return hits;
}

struct app_pair sdc_pair(const struct app_sdp *a, const struct app_sdp *b, size_t ways)
{
    size_t won_a = 0, won_b = 0; /* the current pointers, too */
    struct app_pair pair;

    while (won_a + won_b < ways) {
        double hits_a = counter(a, won_a), hits_b = counter(b, won_b);

        if (hits_a > hits_b || (hits_a == hits_b && won_a <= won_b))
            won_a++;
        else
            won_b++;
    }
    pair.a_given_b = lost(a, won_a, ways);
    pair.b_given_a = lost(b, won_b, ways);
    pair.score = pair.a_given_b + pair.b_given_a;
    return pair;
}
