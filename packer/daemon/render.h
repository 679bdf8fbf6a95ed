/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render - what berthctl is told: the node and its steps as JSON (berth-protocol(7)). */
#ifndef BERTH_DAEMON_RENDER_H
#define BERTH_DAEMON_RENDER_H

#include <json-c/json.h>

#include "packer/steps/packer.h"

struct json_object *render_node(const struct packer *packer);
struct json_object *render_step(struct packer *packer, struct step *step); /* a line of `status` */
struct json_object *
render_explanation(struct packer *packer, struct step *step,
                   uid_t viewer); /* every stage, in order, as this user may see it */

#endif
