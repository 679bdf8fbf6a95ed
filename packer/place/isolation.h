/* SPDX-License-Identifier: GPL-2.0-or-later */
/* isolation - steps that ask for a domain without intensive neighbours (--contention-aware=isolate;
 * DIO's prioritised mode, Blagodurov 2010, section 5.3): who gets it, and what came of it.
 *
 * The paper isolates a chosen program that suffers from contention, and no other: an insensitive
 * one would only waste the domain. A step is sensitive when it is a devil, or when the profile of
 * its cache hits says that it has many to lose. */
#ifndef BERTH_PLACE_ISOLATION_H
#define BERTH_PLACE_ISOLATION_H

#include "packer/steps/packer.h"

/* Pain's S, hits per million instructions that are likely to be lost beside others, from which on a
 * program is sensitive: a tenth of its time at one instruction per cycle and 200 cycles for each
 * access to memory. */
#define ISOLATION_SENSITIVE 500.0

struct isolation {
    bool asked;      /* by its user, whether or not he may */
    bool granted;    /* its neighbours are no devils, where it stands now */
    char domain[96]; /* where: "package 0", "caches 2, 3"; "" where it is not granted */
    char reason[256];
};

/* Is the step to be isolated, where there is room: did its user ask, may he, and is it sensitive?
 */
bool isolation_wanted(const struct step *step);

/* What came of it, where everybody stands now. */
void isolation_of(const struct packer *packer, const struct step *step,
                  struct isolation *isolation);

/* Movable steps that are to be isolated and have another devil in their domain, if everybody stood
 * where the pool puts him. */
size_t isolation_missing(const struct packer *packer, const struct pool *pool);

/* What came of it as the end of a sentence, "; isolated in package 0"; "" where nobody asked. */
void isolation_note(const struct packer *packer, const struct step *step, char *text, size_t size);

#endif
