/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map - the sections of this node's blackboard, and what they say of a reading: arithmetic alone.
 *
 * A section's roof is what the machine profile says that the memory delivers to all of its cores,
 * its knee what it delivers to as many as saturate it. Packages and the node have the sums of their
 * memories', a cache has what its own cores get. What is not known is NAN. */
#ifndef BERTH_BOARD_MAP_H
#define BERTH_BOARD_MAP_H

#include <stddef.h>

#include "blackboard/berth_blackboard.h"
#include "models/tasks/saturation.h"
#include "packer/conf/conf.h"
#include "packer/machine/profile.h"
#include "packer/machine/topo.h"

enum board_kind { BOARD_NODE, BOARD_PACKAGE, BOARD_MEMORY, BOARD_LLC, BOARD_KINDS };

#define BOARD_NOWHERE ((size_t)-1)

struct board_section {
    char name[BERTH_BLACKBOARD_NAME_SIZE];
    enum board_kind kind;
    size_t index;                  /* in the topology; of a memory that of topo->node */
    size_t package;                /* that it is part of; BOARD_NOWHERE: of none, or of several */
    double roof, knee;             /* bytes per second */
    struct saturation_rules rules; /* rules.saturated NAN: there is no state */
    struct saturation saturation;
    double value[BERTH_BLACKBOARD_KNOWN_VALUES];
};

struct board_map {
    size_t n;                  /* sections: the node, packages, memories, caches */
    size_t first[BOARD_KINDS]; /* of each kind */
    size_t count[BOARD_KINDS];
    struct board_section *section;
};

/* Makes the sections. profile NULL: no roof is known. Free with board_map_free. 0, or -1: no
 * memory.
 */
int board_map_make(struct board_map *map, const struct topo *topo,
                   const struct machine_profile *profile, const struct conf *conf);
void board_map_free(struct board_map *map);

/* Returns the number of a section. */
size_t board_map_at(const struct board_map *map, enum board_kind kind, size_t index);

/* Returns the number of the only memory of a package; BOARD_NOWHERE: it has several, or none. */
size_t board_map_memory_of(const struct board_map *map, size_t package);

/* Finds what follows from the rest of a figure that adds up: of a package from its memories, of the
 * node from its memories, else its packages or caches, of the only part from the whole. figure:
 * [map->n]. */
void board_map_complete(const struct board_map *map, double *figure);

/* Fills in a reading: traffic and watts of each section, [map->n] each. */
void board_map_take(struct board_map *map, const double *traffic, const double *watts);

/* Fills in watts alone: traffic and states stay. */
void board_map_power(struct board_map *map, const double *watts);

/* Forgets all: nothing is known any more. */
void board_map_forget(struct board_map *map);

#endif
