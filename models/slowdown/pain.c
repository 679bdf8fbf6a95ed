/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/slowdown/pain.h"

struct pain pain_of(const struct app_sdp *sdp)
{
    struct pain pain = {.intensity = sdp->misses};
    double weighted = 0;

    for (size_t i = 0; i < sdp->ways; i++) {
        weighted += (double)(i + 1) * sdp->hits[i];
        pain.intensity += sdp->hits[i];
    }
    pain.sensitivity = weighted / (double)(1 + sdp->ways); /* eq. 1 */
    return pain;
}

struct app_pair pain_pair(const struct pain *a, const struct pain *b)
{
    struct app_pair pair = {
        .a_given_b = a->sensitivity * b->intensity, /* eq. 2 */
        .b_given_a = b->sensitivity * a->intensity,
    };

    pair.score = pair.a_given_b + pair.b_given_a; /* eq. 3 */
    return pair;
}
