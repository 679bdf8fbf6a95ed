/* SPDX-License-Identifier: GPL-2.0-or-later */
/* near - steps with GPUs or network adapters stand near them.
 *
 * What holds a step is the list of devices in its registration, found on this node (devices.h).
 * Where one of them is not found, nothing here is about the step, and it stays where Slurm put it
 * (enact/care.h). A unit of such a step moves in one case only: it stands far from the devices, and
 * there is room near them. No policy moves it, and once it is near it never leaves. */
#ifndef BERTH_PLACE_NEAR_H
#define BERTH_PLACE_NEAR_H

#include "packer/machine/devices.h"
#include "packer/place/place.h"
#include "packer/place/units.h"

#define NEAR_DEVICES_MAX 32 /* of a step: with more of them it stays where Slurm put it */

/* Lists the step's devices that are known on this node, NULL for one that is not. Returns how many
 * the step has; at most NEAR_DEVICES_MAX are listed. */
size_t near_devices(const struct packer *packer, const struct step *step,
                    const struct device *device[NEAR_DEVICES_MAX]);

/* Writes "near gpu0 (PCI 0000:3b:00.0, node 0)", or that it is far from it, by where the step
 * stands now, or what is not known of its devices; "" where it has none. */
void near_text(const struct packer *packer, const struct step *step, char *text, size_t size);

/* Returns on how many CPUs steps would stand in the scene that are far from their devices. */
size_t near_missing(const struct scene *scene);

/* Is some of the step far from its devices, where it stands in the scene? */
bool near_is_far(const struct scene *scene, const struct step *step);

/* Brings the units that are far from their devices near, in the scene's pool, as far as there is
 * room: on cores where no unit stands, and, where berth.conf has device_near = must, on those of
 * units without devices, which change places with it as a whole. At a launch only the new step is
 * brought; where others stay (terms), it gets what is free. The pool stays as it is for want of
 * memory. */
void near_settle(const struct scene *scene, const struct place_terms *terms, struct units *units);

#endif
