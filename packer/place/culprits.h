/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprits - whose programs press on a step's caches, over its run: by their names, for people.
 *
 * Where Slurm's PrivateData, or berth.conf's private_data, hides others from users, other users'
 * programs are not noted at all: a step's record may be read by its user. */
#ifndef BERTH_PLACE_CULPRITS_H
#define BERTH_PLACE_CULPRITS_H

#include "packer/steps/packer.h"

/* Takes note of who presses on each live step from now on (CLOCK_MONOTONIC), as the forecast has
 * it: after forecast_update(). */
void culprits_note(const struct packer *packer, double now_s);

/* Writes the programs that have pressed on it most until now_s, "sweep, stream". Returns text;
 * NULL: nobody has. */
const char *culprits_of(const struct step *step, double now_s, char *text, size_t size);

#endif
