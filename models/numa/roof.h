/* SPDX-License-Identifier: GPL-2.0-or-later */
/* roof - the soft roof of a memory node: what it gives falls short of what is asked of it well
 * before that is all it can give.
 *
 * With the load u, as part of what the node can give, a line takes (1 - u^p)^(-1/p) times as long
 * as on an idle one; then n cores of a program that only waits for memory, each of which would read
 * d from an idle one, have n d / (1 + (n d / B)^p)^(1/p) of the node's B. p is the root of the
 * number of channels: the more there are, the fuller they are before lines meet on one of them.
 * What it rests on is in berth-models(7), CONTEND and SIZE.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_NUMA_ROOF_H
#define BERTH_MODELS_NUMA_ROOF_H

#include <stddef.h>

#define ROOF_CHANNEL_GBPS 19.2 /* of one memory channel: tells how many there are */

/* A memory node. */
struct roof {
    double gbps;  /* B: all that it can give, 1e9 bytes/s, > 0 */
    double sharp; /* p, >= 1 */
};

/* Returns how many channels make up so much, at least one, and the p of so many. */
double roof_channels(double gbps, double channel_gbps);
double roof_sharp(double channels);

/* Returns the roof of a node that can give so much, > 0. */
struct roof roof_of(double gbps);

/* Returns by how much longer than idle memory takes when it is asked for that part of what it can
 * give (0 <= load < 1); and where an idle one would be asked for that part of it (>= 0). */
double roof_stretch_at(double load, double sharp);
double roof_stretch(double asked, double sharp);

/* Returns the part of what memory can give at which it takes that much longer (> 1), and how fast
 * it rises with the stretch. */
double roof_load(double stretch, double sharp, double *rise);

/* Returns what a core would read from an idle node that reads so much alone, GB/s >= 0: its own
 * lines make each other wait, too. */
double roof_idle(const struct roof *roof, double alone_gbps);

/* Returns what the node gives where an idle one would be asked for so much, both GB/s >= 0. */
double roof_give(const struct roof *roof, double asked_gbps);

/* Fills in what 0 .. cores cores of a node draw, gbps[cores + 1], of which one alone draws
 * alone_gbps. */
void roof_curve(const struct roof *roof, double alone_gbps, size_t cores, double *gbps);

/* Returns the fewest cores that lose no more of their speed than the part `loss` (0 <= loss < 1)
 * beside the best number of them, by what 0 .. cores of them draw, gbps[cores + 1] (>= 0), where a
 * program is as fast as what it draws: those with cores * time^2 below that of all, so that no core
 * is taken away whose part of the work is lost with it. 0 where nothing is drawn: speed is not
 * known. */
size_t roof_enough(const double *gbps, size_t cores, double loss);

#endif
