/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - the NUMA nodes on which berthctl calibrate measures: their cores in the order
 * in which they are taken, and memory on each. */
#ifndef BERTH_PROBE_CALIBRATE_PLACES_H
#define BERTH_PROBE_CALIBRATE_PLACES_H

#include "probe/calibrate/measure.h"

struct place {
    const struct topo_node *node;
    size_t cores;
    unsigned *cpu;      /* [cores] one of each core: the first core of each cache, the second ... */
    size_t llc_bytes;   /* of all caches of these cores */
    size_t chain_bytes; /* of the memory that is one chain, from its beginning */
    size_t bytes;
    char *memory; /* NULL until places_fill */
};

/* Finds those nodes of the topology that have a core and memory that may be used; the others are
 * noted. 0 and *place (free with places_free) and *n, at least 1, or -1 and err. */
int places_find(const struct calibrate_wish *wish, struct place **place, size_t *n,
                struct berth_error *err);
void places_free(struct place *place, size_t n);

/* Gives each place its memory, and a chain in it. 0, or -1 and err. */
int places_fill(struct place *place, size_t n, struct berth_error *err);

#endif
