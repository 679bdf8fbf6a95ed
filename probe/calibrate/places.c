/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places - see places.h
 *
 * A piece of memory that is read again and again has to be so much larger than the caches of those
 * who read it that hardly a line is still there when its turn comes: four times where one node
 * reads, and three times for each of the nodes that read the same memory, each its own part. */
#include "probe/calibrate/places.h"

#include <numa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/calibrate/run.h"

#define ALONE_CACHES 4
#define SHARED_CACHES 3
#define UNKNOWN_LLC_BYTES ((size_t)64 << 20)
#define MEMORY_LEAST ((size_t)64 << 20)
#define MEMORY_MOST ((size_t)2 << 30)

static size_t cache_bytes(const struct topo *topo, size_t llc)
{
    return topo->llc[llc].size_bytes ? topo->llc[llc].size_bytes : UNKNOWN_LLC_BYTES;
}

/* ---- cores ---- */

/* Returns the CPU of a core that may be used; CPUS_MAX: none. */
static size_t usable_cpu(const struct calibrate_wish *wish, const struct topo_node *node,
                         const struct topo_core *core)
{
    struct cpus cpus = core->cpus;

    cpus_and(&cpus, &node->cpus);
    cpus_and(&cpus, &wish->cpus);
    return cpus_next(&cpus, 0);
}

/* Takes each cache's usable core number `round` (from 0); taken[llc] is all zero. */
static void take_round(const struct calibrate_wish *wish, struct place *place, size_t round,
                       size_t *taken)
{
    const struct topo *topo = wish->topo;

    for (size_t i = 0; i < topo->cores; i++) {
        const struct topo_core *core = &topo->core[i];
        size_t cpu = usable_cpu(wish, place->node, core);

        if (cpu == CPUS_MAX || taken[core->llc]++ != round)
            continue;
        place->cpu[place->cores++] = (unsigned)cpu;
        if (round > 0)
            continue;
        place->llc_bytes += cache_bytes(topo, core->llc);
        if (place->chain_bytes == 0)
            place->chain_bytes = ALONE_CACHES * cache_bytes(topo, core->llc);
    }
}

static int take_cores(const struct calibrate_wish *wish, struct place *place)
{
    size_t llcs = wish->topo->llcs, before;
    size_t *taken = calloc(llcs, sizeof(*taken));

    place->cpu = calloc(wish->topo->cores, sizeof(*place->cpu));
    if (!taken || !place->cpu) {
        free(taken);
        return -1;
    }
    for (size_t round = 0; round == 0 || place->cores > before; round++) {
        before = place->cores;
        memset(taken, 0, llcs * sizeof(*taken));
        take_round(wish, place, round, taken);
    }
    free(taken);
    return 0;
}

static size_t all_cores(const struct topo *topo, const struct topo_node *node)
{
    size_t cores = 0;

    for (size_t i = 0; i < topo->cores; i++)
        cores += cpus_intersect(&topo->core[i].cpus, &node->cpus);
    return cores;
}

/* Says whether the place is one to measure, with a note where it is not, or not as a whole. */
static bool check_place(const struct calibrate_wish *wish, const struct place *place)
{
    unsigned number = place->node->os_index;
    size_t all = all_cores(wish->topo, place->node);
    char line[160] = "";

    if (all == 0)
        snprintf(line, sizeof(line), "NUMA node %u has no core: left out", number);
    else if (place->cores == 0)
        snprintf(line, sizeof(line), "NUMA node %u: none of its cores may be used here: left out",
                 number);
    else if (!cpus_has(&wish->mems, number))
        snprintf(line, sizeof(line), "NUMA node %u: its memory may not be used here: left out",
                 number);
    else if (place->cores < all)
        snprintf(line, sizeof(line),
                 "NUMA node %u: %zu of its %zu cores may be used here: the profile is of these",
                 number, place->cores, all);
    if (line[0])
        wish->note(line, wish->arg);
    return place->cores > 0 && cpus_has(&wish->mems, number);
}

int places_find(const struct calibrate_wish *wish, struct place **out, size_t *n,
                struct berth_error *err)
{
    struct place *place = calloc(wish->topo->nodes, sizeof(*place));
    size_t found = 0;

    for (size_t i = 0; place && i < wish->topo->nodes; i++) {
        place[found] = (struct place){.node = &wish->topo->node[i]};
        if (take_cores(wish, &place[found]) < 0) {
            places_free(place, found + 1);
            place = NULL;
        } else if (check_place(wish, &place[found])) {
            found++;
        } else {
            free(place[found].cpu);
        }
    }
    if (!place)
        return berth_no_memory(err);
    if (found == 0 || found > MACHINE_NODES_MAX) {
        places_free(place, found);
        return berth_error_set(err, "%zu NUMA nodes to measure: 1 to %d expected", found,
                               MACHINE_NODES_MAX);
    }
    *out = place;
    *n = found;
    return 0;
}

/* ---- memory ---- */

static size_t wanted_bytes(const struct place *place, size_t n)
{
    size_t largest = 0, bytes;
    long long free_bytes = 0;

    for (size_t i = 0; i < n; i++)
        if (place[i].llc_bytes > largest)
            largest = place[i].llc_bytes;
    bytes = largest * (n * SHARED_CACHES > ALONE_CACHES ? n * SHARED_CACHES : ALONE_CACHES);
    bytes = bytes > MEMORY_MOST ? MEMORY_MOST : bytes;
    for (size_t i = 0; i < n && numa_available() >= 0; i++)
        if (numa_node_size64((int)place[i].node->os_index, &free_bytes) > 0 &&
            bytes > (size_t)free_bytes / 4)
            bytes = (size_t)free_bytes / 4;
    return bytes < MEMORY_LEAST ? MEMORY_LEAST : bytes;
}

int places_fill(struct place *place, size_t n, struct berth_error *err)
{
    size_t bytes = wanted_bytes(place, n);

    for (size_t i = 0; i < n; i++) {
        place[i].bytes = bytes;
        place[i].memory = calibrate_memory(bytes, place[i].node->os_index, n > 1, err);
        if (!place[i].memory)
            return -1;
        if (place[i].chain_bytes > bytes)
            place[i].chain_bytes = bytes;
        calibrate_chain(place[i].memory, place[i].chain_bytes);
    }
    return 0;
}

void places_free(struct place *place, size_t n)
{
    for (size_t i = 0; place && i < n; i++) {
        calibrate_memory_free(place[i].memory, place[i].bytes);
        free(place[i].cpu);
    }
    free(place);
}
