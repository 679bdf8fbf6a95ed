/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal - a step's memory, dealt over the nodes that it stands on, and put back.
 *
 * It is the mover's thread that moves the pages (memory/mover.h), bit by bit, so that a step can be
 * in four states (struct step_deal): its pages are where the program put them, are dealt, on their
 * way back, or could not be put back. The journal says that pages are dealt before the first one
 * is, and a file of the state folder where each of them was (memory/origin.h): by these the next
 * berthd puts them back after a kill. Where it cannot, since that file is lost, it says so, and
 * nobody takes for the program's own what berth has dealt. */
#ifndef BERTH_INSIDE_DEAL_H
#define BERTH_INSIDE_DEAL_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* Says whether the step's pages can be dealt: it stands on several nodes, and something moves pages
 * here. */
bool deal_can(const struct packer *packer, const struct step *step);

/* Says whether they are dealt, or on their way to that. */
bool deal_is_out(const struct step *step);

/* Has the step's pages dealt over the nodes of its cores. Nothing where they are already, there is
 * one node only, or nothing on this node can move them. 0, or -1 and err. */
int deal_out(const struct packer *packer, struct step *step, struct berth_error *err);

/* Has them put back to where they were, if they are dealt. Why that cannot be is logged, and tried
 * again by deal_turn(). */
void deal_back(const struct packer *packer, struct step *step);

/* Takes in how far the pages are. Those of a step that has moved are dealt over its new nodes, even
 * if that is one. To be called now and then. */
void deal_turn(const struct packer *packer, struct step *step);

/* Says whether pages of the step are on their way. */
bool deal_moves(const struct packer *packer, const struct step *step);

/* Returns why the step's pages stay as berth has dealt them; NULL: they do not, or shall. */
const char *deal_refusal(const struct step *step);

/* berthd stops, after deal_back() of all steps: waits until all pages are back, patience_s seconds
 * at most, as fast as it goes, and logs what is not. */
void deal_stop(const struct packer *packer, double patience_s);

/* The step is over: what is kept of its memory goes. */
void deal_end(const struct packer *packer, struct step *step);

/* After the journal was read: removes what is kept of steps whose pages are not dealt, and of those
 * that it does not know. */
void deal_clean(const struct packer *packer);

#endif
