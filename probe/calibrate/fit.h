/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit - the arithmetic of berthctl calibrate: what repeated runs say, the straight line
 * of Wang 2015, Figure 5.4, and the ways between nodes. The paper measures with lmbench, keeps beta
 * as the line gives it, and knows the ways from a drawing (Figure 3.1); here beta is kept in 0 ..
 * 1, and the ways follow from the firmware's distances. Only reads are measured between nodes: the
 * limits of links are taken to bind writes, too. */
#ifndef BERTH_PROBE_CALIBRATE_FIT_H
#define BERTH_PROBE_CALIBRATE_FIT_H

#include <stddef.h>

#include "packer/machine/profile.h"

/* Returns the median of n runs, and how far they were apart; a single run has no spread. Runs that
 * are not finite do not count. The array is sorted. */
struct machine_figure calibrate_figure(double *run, size_t n);

/* Holds y = intercept + slope * x by least squares; correlation is -1 .. 1. */
struct calibrate_line {
    double intercept, slope, correlation;
};

/* Fits a line to n points. 0, or -1 where they are fewer than two or have all one x. A y that never
 * changes has correlation 0. */
int calibrate_line(size_t n, const double *x, const double *y, struct calibrate_line *line);

/* Finds alpha and beta of a node (eq. 5.7) from `runs` times n points: demand[k] is what its cores
 * asked of its memory by themselves, out[r * n + k] what the other nodes then got of it beside
 * them. Each run gives one line, and the medians of their intercepts and slopes are taken; beta is
 * kept in 0 .. 1. The correlation is that of all points, without its sign. 0, or -1 where there is
 * no line or no memory, and the node as it was. */
int calibrate_contention(struct machine_node *node, size_t n, size_t runs, const double *demand,
                         const double *out);

/* Finds the routes of a profile, by the distances that the firmware tells (distance[i * nodes + j],
 * as in numa_distance(3)). Two nodes are linked directly unless a third one is nearer to both than
 * they are to each other. The others take the fewest links; of these ways the one whose narrowest
 * link has the greatest uni bandwidth, and of equal ones that over the lower nodes. 0, or -1 with
 * ENOMEM. */
int calibrate_routes(struct machine_profile *profile, const unsigned *distance);

#endif
