/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place - which cores each step shall stand on: what a policy says of the units of the pool.
 *
 * What the units are: place/units.h. One policy decides about all: the one that all steps of the
 * pool ask for, else the site's. Where nothing is known of anybody that is DI. */
#ifndef BERTH_PLACE_PLACE_H
#define BERTH_PLACE_PLACE_H

#include "packer/base/clock.h"
#include "packer/steps/stand.h"

/* The part of the cores' work that is at stake at least where a policy of the papers, which scores
 * places in no unit of time, wants another place. */
#define PLACE_AT_STAKE 0.01

/* On what terms steps move. */
struct place_terms {
    const struct step *fresh; /* it has no state yet, and moves for nothing; NULL: nobody */
    bool newcomers;           /* all that have just begun (step_begins) are fresh like it */
    double horizon_s;         /* a move must have paid by then */
    size_t moves_max;         /* parts of units that move; 0: any number */
    bool others_stay;         /* nobody moves but `fresh` */
    /* What it costs, core-seconds, that the step's memory follows it, or does not. */
    double (*pages_s)(const struct packer *packer, const struct step *step,
                      const struct cpus *from_nodes, const struct cpus *to_nodes);
};

/* Is the step fresh? */
static inline bool place_fresh(const struct place_terms *terms, const struct step *step)
{
    return terms && (step == terms->fresh || (terms->newcomers && step_begins(step, clock_s())));
}

/* Decides anew where everybody in the scene's pool stands, on one kind of cores (topo.h) after the
 * other; what the policy leaves open (which of equal units, which core of a cache) is decided for
 * staying. terms may be NULL: no move costs anything; moves_max is for each kind.
 *
 * contend, pain, sdc, animal and missrate move whom it pays to move (search.h); where somebody is
 * fresh, for his sake only. DI and DIO-POWER place by rule, whatever the terms. Units of steps for
 * DIO-POWER (step_place.policy_asked) are clustered beside the others, which DI spreads; or, where
 * the power of the packages is known and that has the smaller predicted energy-delay product for
 * the node's steps, all are spread by DI.
 * While somebody is to be isolated (isolation.h) DI is DI's prioritised mode. Fills in which policy
 * has decided, the rank and the energy-delay products of the steps that the decision is for. Brings
 * the forecast up to date. 0, or -1 and err: the scene's pool is of no use then. */
int place_decide(const struct scene *scene, const struct place_terms *terms,
                 struct berth_error *err);

/* Is the first look enough to begin with for a step that has just come (place_look)? Not under
 * policies that place by rule, nor while anybody was promised something, nor where steps that run
 * are never moved for each other's sake. Brings the forecast up to date. */
bool place_looks(const struct scene *scene);

/* The first look: gives a step that has just come the best of its own cores and of those on which
 * nobody stands; all others stay. It costs little, since the step's tasks wait for it: what the
 * step means for others is decided in a turn soon, once for all that have come (enact/replace.h).
 * The forecast is up to date. 0, or -1 and err: the scene's pool is of no use then. */
int place_look(const struct scene *scene, struct step *fresh, double horizon_s,
               struct berth_error *err);

/* Returns the policy that decides about the scene's steps now, as of the last forecast_update. */
enum wire_policy place_policy(const struct scene *scene);

/* Fills in what is predicted of each live step where it stands now: step->place.predicted, and
 * whether that is what its user allowed. Brings the forecast up to date. */
void place_predict(const struct packer *packer);

/* Does that of max-slowdown only: it may be allowed later than the step began. */
void place_bound(struct step *step);

/* Fills in where the step's tasks stand under the pool. */
void place_describe(const struct packer *packer, const struct pool *pool, struct step *step);

/* Notes which live steps stand on cores of nobody. */
void place_note_idle(const struct packer *packer);

/* Returns the core-seconds until at_s (CLOCK_MONOTONIC) for which the step has stood on such cores.
 */
double place_idle_core_s(const struct step *step, double at_s);

/* The step stands where Slurm put it. */
void place_home(const struct packer *packer, struct step *step);

#endif
