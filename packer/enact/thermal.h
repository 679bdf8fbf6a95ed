/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thermal - the stage that moves steps from cores that are too hot (REEact, Wang 2015, section
 * 7.4.1; models/energy/thermal.h): thermal=on of berth.conf.
 *
 * Each THERMAL_EVERY_S the cores of the pool are looked at. Who stands on one that has reached its
 * threshold goes to a core of the pool that nobody stands on, or exchanges places with a step of
 * the same class; by the permutation of the pool, in the journal, as each other move. A core that
 * has reached t2 is hot for its step as long as it runs, also after a restart of berthd. Nobody
 * comes to, or leaves, a core twice in that time. Who is to be isolated stays, and nobody comes to
 * his caches; so does who shares his core. */
#ifndef BERTH_ENACT_THERMAL_H
#define BERTH_ENACT_THERMAL_H

#include "packer/energy/temperatures.h"
#include "packer/steps/packer.h"

struct thermal;

/* Looks at the cores now (CLOCK_MONOTONIC). */
void thermal_look(const struct packer *packer, double now_s);

/* Returns the seconds until it is; < 0: nobody is looked after. */
double thermal_due(const struct packer *packer);

/* Is there something to tell of the step: was a core of it too hot? */
bool thermal_tells(const struct step *step);

#endif
