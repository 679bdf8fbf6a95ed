/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_sample - what a step has counted until now, as JSON (berth-protocol(7), COUNTERS). */
#ifndef BERTH_DAEMON_RENDER_SAMPLE_H
#define BERTH_DAEMON_RENDER_SAMPLE_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* A reading of a live step, made `now`, or when its last window ended: "id", "step", "at", and the
 * counters that are known (counters/sample_line.h). The step's name is its tag, else its program's
 * base name, else its id. */
struct json_object *render_sample(const struct packer *packer, struct step *step, bool now);

#endif
