/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steer - the weight that Slurm is told of a node, so that a job goes to a quiet one.
 *
 * Slurm takes nodes of the least weight first. A node's weight is its admin's, and a level more:
 * the busier its memory, the higher; a node without jobs has the highest, so that whole nodes stay
 * free for who wants them. Weights of the admin that differ must differ by more than all levels:
 * then his order stays. Fine levels avoid more, coarse ones do with weights that are nearer. */
#ifndef BERTH_MODELS_PLACING_STEER_H
#define BERTH_MODELS_PLACING_STEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many levels nodes with jobs have, N: 0 is the quietest and N - 1 the busiest. A node without
 * jobs has the level N. */
#define STEER_FINE 32
#define STEER_COARSE 8
#define STEER_UNKNOWN (-1) /* the level of a node of which nothing is known */
/* Of a level: so far outside of its level a pressure changes it, so that one at the edge of two
 * does not go to and fro. */
#define STEER_BEYOND 0.5

/* Returns the level of a node with jobs, of so many levels. pressure: the part of the memory's
 * bandwidth that is in use, 0 to 1 (more is 1); NAN: STEER_UNKNOWN. before: the level it had; that
 * of a node without jobs or STEER_UNKNOWN: none. */
int steer_level(double pressure, int before, int levels);

/* Returns the weight of a node whose admin gave it the weight `own`, at that level. */
uint32_t steer_weight(uint32_t own, int level);

/* Returns the level, of so many levels, that a node's weight shows; STEER_UNKNOWN: the weight is
 * not of that admin's weight with a level. */
int steer_level_of(uint32_t own, uint32_t weight, int levels);

/* Says whether so many levels leave the admin's order as it is. own: [n] his weights, in ascending
 * order. If not, *a and *b are two that are too near. */
bool steer_has_room(const uint32_t *own, size_t n, int levels, uint32_t *a, uint32_t *b);

#endif
