/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk - goes from step to step of the registry with pauses, in which steps come, end and are
 * forgotten: the live ones in order of registration, then, where they are wanted, those that have
 * ended, newest first. Each step that was known when the walk began and is not forgotten before its
 * turn is met once; one that is registered later is not met. */
#ifndef BERTH_STEPS_WALK_H
#define BERTH_STEPS_WALK_H

#include "packer/steps/registry.h"

/* Begins a walk, which the registry knows of until step_walk_end. */
void step_walk_begin(struct step_walk *walk, struct registry *registry, bool ended);

/* Returns the next step, which is good until the registry changes; NULL: there is none more. */
struct step *step_walk_next(struct step_walk *walk);
void step_walk_end(struct step_walk *walk);

#endif
