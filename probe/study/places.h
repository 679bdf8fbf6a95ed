/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - where two programs stand while one is measured beside the other
 * (models/slowdown/parts.h): the first one always on the same cores, the second one nearer and
 * nearer. */
#ifndef BERTH_PROBE_STUDY_PLACES_H
#define BERTH_PROBE_STUDY_PLACES_H

#include "models/slowdown/parts.h"
#include "packer/machine/topo.h"

struct study_place {
    const char *lacks; /* why this machine has no such place; NULL: it has */
    struct cpus cpus;  /* of the second program; alone: none */
    long node;         /* where its memory is bound to; -1: nowhere */
};

struct study_places {
    struct cpus cpus; /* of the first program */
    long node;        /* where its memory is bound to; -1: there is one node */
    struct study_place at[PARTS_PLACES];
};

/* Finds them on so many cores each, all of them in `allowed`, a hardware thread of each. 0, or -1
 * and err: no cache has room for both. */
int study_places(struct study_places *places, const struct topo *topo, const struct cpus *allowed,
                 size_t cores, struct berth_error *err);

#endif
