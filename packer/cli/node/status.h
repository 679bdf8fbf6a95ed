/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status - the page of a node, which `top` shows again and again. */
#ifndef BERTH_CLI_NODE_STATUS_H
#define BERTH_CLI_NODE_STATUS_H

#include <json-c/json.h>
#include <stdbool.h>

#include "packer/cli/common/screen.h"

/* Puts an answer to `status` on the screen: the node, with `machine` a drawing of it, and the table
 * of steps, as `top` has it or as status does. */
void ctl_put_status(struct screen *screen, struct json_object *answer, bool top, bool machine);

#endif
