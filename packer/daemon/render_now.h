/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_now - what pages draw of the machine and of a step at this moment, as JSON
 * (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_NOW_H
#define BERTH_DAEMON_RENDER_NOW_H

#include <json-c/json.h>
#include <stdbool.h>

#include "packer/steps/packer.h"

/* Returns a list with an object for each last-level cache: {"package","cpus","cores","size_bytes",
 * "pool","used"}. `pool` are its cores that belong to the pool, `used` those of them on which a
 * step stands; both are null where they are hidden. size_bytes is null where it is not known. */
struct json_object *render_caches(const struct packer *packer, bool hidden);

/* Returns a list of the node's devices: {"name","kind","pci","node","cpus"}; node is null, and cpus
 * empty, where that is not known. */
struct json_object *render_devices(const struct packer *packer);

/* Returns {"asked","devices","holds","far","text"}: where the step's devices are, and whether it is
 * far from them; null where it has none. */
struct json_object *render_near(const struct packer *packer, const struct step *step);

/* Says whether the step is a batch script or an interactive shell that waits for steps of its job:
 * it is nobody's neighbour. */
bool render_waits(const struct packer *packer, const struct step *step);

#endif
