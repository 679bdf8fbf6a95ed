/* SPDX-License-Identifier: GPL-2.0-or-later */
/* matching - the perfect policy for two cores per cache: a minimum-weight perfect matching on the
 * sum of mutual degradations (Jiang 2008; Blagodurov 2010, section 2). Exact, O(n^3): 2000 programs
 * take one to three seconds.
 *
 * Our own code, not LEMON's (the solver it is checked against): that one is C++, and this archive
 * is linked into a C daemon and asks the system for nothing but memory. */
#ifndef BERTH_MODELS_PARTITION_MATCHING_H
#define BERTH_MODELS_PARTITION_MATCHING_H

#include <stddef.h>

/* Puts n programs into `pairs` caches of two cores each, 2 * pairs >= n. degradation[i * n + j] is
 * what i suffers beside j; any finite numbers, the diagonal is ignored. Who is alone suffers
 * nothing, and as many are alone, and as many caches empty, as is best. mate[i] is the program
 * beside i, or i itself. Returns the least sum of what all suffer, in *total; 0, or -1 with errno
 * EINVAL or ENOMEM and mate and total unchanged. */
int matching_pairs(size_t n, const double *degradation, size_t pairs, size_t *mate, double *total);

#endif
