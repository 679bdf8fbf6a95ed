/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pain - what two programs lose beside each other, from how sensitive the one and how intensive the
 * other is (Blagodurov 2010, section 2.2.4).
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_SLOWDOWN_PAIN_H
#define BERTH_MODELS_SLOWDOWN_PAIN_H

#include "models/slowdown/app.h"

struct pain {
    double sensitivity; /* S: hits that are likely to be lost, per million instructions (eq. 1) */
    double intensity;   /* Z: LLC accesses per million instructions */
};

/* Returns both of a program with this profile: its ways are those of the cache (the n of eq. 1),
 * its accesses are all hits and misses in it. */
struct pain pain_of(const struct app_sdp *sdp);

/* Returns a_given_b = S(a) * Z(b) (eq. 2), and their sum (eq. 3). */
struct app_pair pain_pair(const struct pain *a, const struct pain *b);

#endif
