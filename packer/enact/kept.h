/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept - steps that have to stay, and may begin elsewhere.
 *
 * A program that binds its threads is not moved while it runs. It may begin on idle cores all
 * the same: nothing of it has run yet, and it takes the CPUs that it finds for those that Slurm
 * gave it. From then on nothing moves it, unless somebody gets a core on which it stands. Then
 *   - each of its threads has the image of what it had (bindings.h), and
 *   - its cpuset has the CPUs where it began, too, as long as it runs: a thread that the program
 *     makes later, and binds to one of them, does not fail. It shares that CPU until the next look.
 *
 * Who may: what the environment says of its threads holds wherever it begins (wire.h: pin_within),
 * or the program looks where it runs and can bind nobody, nothing else speaks against a move, and it has all cores of its job to itself. (With others
 * Slurm writes the job's list of CPUs again while it runs, and takes its CPUs for an instant.) */
#ifndef BERTH_ENACT_KEPT_H
#define BERTH_ENACT_KEPT_H

#include "packer/steps/packer.h"

/* May the new step begin elsewhere, though it has to stay from then on? */
bool kept_can(const struct packer *packer, const struct step *step);

#endif
