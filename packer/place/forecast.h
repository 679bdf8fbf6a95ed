/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forecast - how much work the node will do under another placement, by models/slowdown/contend.h:
 * from what was counted of the steps and what the store knows of their programs. */
#ifndef BERTH_PLACE_FORECAST_H
#define BERTH_PLACE_FORECAST_H

#include "packer/steps/stand.h"

struct forecast;

/* Study the live steps that are at work. NULL when out of memory, or when no model can be made. */
struct forecast *forecast_new(const struct packer *packer);
void forecast_free(struct forecast *forecast); /* NULL is fine */

/* Returns how many cores' worth of work per second the steps do under the scene's permutation: each
 * core in use by a step counts 1 / (1 + its slowdown beside the others on its cache). Steps that do
 * not count as movable in the scene stand at home. */
double forecast_work(const struct forecast *forecast, const struct scene *scene);

/* Returns what they draw while they do it, W (node_power.h): all packages of the node, busy, kept
 * awake by others, or asleep. NAN where the power of one is not known. */
double forecast_watts(const struct forecast *forecast, const struct scene *scene);

/* Returns their energy-delay product, J s, for what their cores do alone in a second (power_edp).
 * NAN where that is not known. */
double forecast_edp(const struct forecast *forecast, const struct scene *scene);

/* Predict for each live step how much slower than alone its cores are, as the steps stand now and
 * if all stood where Slurm put them: step->slowdown (contend's mean over its cores; NAN for those
 * that are not at work). */
void forecast_slowdowns(struct packer *packer);

/* The means over the step's time, until now_s, as far as they were predicted: NAN where never. */
void forecast_mean(const struct step *step, double now_s, double *placed, double *home);

#endif
