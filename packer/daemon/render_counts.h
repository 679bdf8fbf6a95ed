/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_counts - what was counted of a step, as JSON. */
#ifndef BERTH_DAEMON_RENDER_COUNTS_H
#define BERTH_DAEMON_RENDER_COUNTS_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* {"backends":[..],"windows","phase","phase_windows","rates":{"ipc":{"mean","error"},..},
 * "alone":{"windows","seconds","rates"},"beside":{..},"threads","rss_node":[..]}: rates of the
 * present phase, and of the whole run in windows alone on its caches and beside others. A rate that
 * is not known is null; so is all of it where nothing is counted. */
struct json_object *render_counts(const struct packer *packer, const struct step *step);

/* The node's backends: [{"name","used","say"}]. */
struct json_object *render_backends(const struct packer *packer);

#endif
