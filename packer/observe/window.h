/* SPDX-License-Identifier: GPL-2.0-or-later */
/* window - the stage that counts what steps do: window after window, running averages by phase, and
 * what a run alone on its cache and one beside others say about the program.
 *
 * A step starts up (conf.startup: counted by nobody), has its first window (conf.first_window: the
 * class of a program that had no profile), and then windows of conf.window, which end on whole
 * multiples of it, so that all steps are read in one go. Nothing of this is on the way of a launch:
 * counting begins after the answer. */
#ifndef BERTH_OBSERVE_WINDOW_H
#define BERTH_OBSERVE_WINDOW_H

#include "packer/steps/packer.h"
#include "packer/steps/step_counts.h"

/* Above this share of one core, others work on a step's caches. */
#define WINDOW_FOREIGN 0.05

/* Its CPUs have just changed. */
void window_follow(const struct packer *packer, struct step *step);

/* It was moved for its neighbours' sake: the averages begin anew, with the new place's first whole
 * window. */
void window_moved(struct step *step);

/* The step has other cores than its own for a moment (size/loop.h): its windows say nothing until
 * window_resume(), which begins the next one with this reading. The one under way is lost. */
void window_hold(struct step *step);
void window_resume(const struct packer *packer, struct step *step,
                   const struct counters_sample *now);

/* Reads each step whose window is over. Returns those whose window has ended with that; what takes
 * longer than a turn of the event loop may is read in the next ones. */
struct windows window_turn(const struct packer *packer);

/* Returns the seconds until the next window is over, or < 0: none. Reads nothing. */
double window_due(const struct packer *packer);

/* Read a live step now, beside its windows. 0, or -1: nothing is counted of it yet. */
int window_read(const struct packer *packer, struct step *step, struct counters_sample *sample);

/* The same, with what is counted by NUMA node in *by. */
int window_read_by_node(const struct packer *packer, struct step *step,
                        struct counters_sample *sample, struct by_node *by);

/* Fills in the reading that ended its last window. Returns false: nothing is counted of it yet. */
bool window_last(const struct step *step, struct counters_sample *sample);

#endif
