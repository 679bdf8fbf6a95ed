/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render - what berthctl is told: the node and its steps as JSON (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_H
#define BERTH_DAEMON_RENDER_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

/* What is shown was found out before: rendering only reads, whatever is asked. */

struct json_object *render_node(const struct packer *packer);

/* The same, with those who run on the pool's cores and are not in berth's care (strangers.h); their
 * names only as far as this user may see them. */
struct json_object *render_node_to(const struct packer *packer, uid_t viewer);

/* A line of `status`. */
struct json_object *render_step(const struct packer *packer, const struct step *step);

/* Every stage, in order, as this user may see it. */
struct json_object *render_explanation(const struct packer *packer, const struct step *step,
                                       uid_t viewer);

#endif
