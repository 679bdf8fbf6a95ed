/* SPDX-License-Identifier: GPL-2.0-or-later */
/* weigh - what it gains and what it costs to go from one standing to another: the same scales for a
 * launch and for steps that run.
 *
 * A move costs cold caches, and pages that follow or are far from then on. A step that has just
 * come has neither: it starts anywhere for nothing. */
#ifndef BERTH_ENACT_WEIGH_H
#define BERTH_ENACT_WEIGH_H

#include "packer/place/place.h"

struct weighed {
    double gain;   /* cores' worth of work (place/gain.h); NAN: nobody can tell */
    double cost_s; /* core-seconds */
    size_t moves;  /* steps that would move, without fresh ones */
    bool owed;     /* somebody was promised what only this gives: isolation, a bound of slowdown */
    bool energy;   /* gain is in energy times time, as cores */
    bool by_rule;  /* DIO-POWER's rule decides about a step that starts, for power is not known */
    double worth;  /* the speed at which it still pays, of that before; 1 by work */
};

/* Weighs two permutations of the same pool by the forecast, which is up to date. The terms say who
 * is fresh. */
void weigh(const struct scene *now, const struct scene *next, const struct place_terms *terms,
           struct weighed *weighed);

/* Returns the terms on which the policies may move steps (place.h): those by which they are
 * weighed. */
struct place_terms weigh_terms(const struct packer *packer, const struct step *fresh);

/* Decides anew where everybody stands (place_decide) and weighs it: `next` begins as a copy of
 * now's pool. Where all would do more work at home, where Slurm put them, and that pays better, it
 * is that. Returns 0, or -1 and err. */
int weigh_decide(const struct scene *now, const struct scene *next, const struct place_terms *terms,
                 struct weighed *weighed, struct berth_error *err);

/* Does it pay within the horizon, or is it owed to somebody? What nobody can tell does not pay, but
 * that DIO-POWER clusters steps that start, as its paper says. */
bool weigh_pays(const struct weighed *weighed, double horizon_s);

/* Would the step, one that the decision is for, stand elsewhere? */
bool weigh_moves(const struct scene *now, const struct scene *next, const struct step *step);

/* Fills in the CPUs of the step's tasks under a permutation, and the NUMA nodes of these under two.
 */
void weigh_image(const struct packer *packer, const struct pool *pool, const struct step *step,
                 struct cpus *cpus);
void weigh_nodes(const struct scene *now, const struct scene *next, const struct step *step,
                 struct cpus *before, struct cpus *after);

#endif
