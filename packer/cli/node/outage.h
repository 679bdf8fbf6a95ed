/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outage - does a berthd that answers place new steps? Where it does not, a node looks well and
 * gains nothing: status and doctor say so before all else. */
#ifndef BERTH_CLI_NODE_OUTAGE_H
#define BERTH_CLI_NODE_OUTAGE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/* Steps one after the other that could not be placed: one that is gone before it was seen is no
 * outage. */
#define OUTAGE_REFUSED 3

/* Writes why the node of a `status` places no new step, and what to do, into text[size]; "" where
 * it does, or is told by berth.conf not to. Returns whether there is something to say. */
bool outage_say(struct json_object *node, char *text, size_t size);

/* Writes how many launches went on without berth since berthd's start, "3 launches went on without
 * berth (2 late, 1 unheard)", into text[size]; "" where none did. Returns whether one did. */
bool outage_missed(struct json_object *node, char *text, size_t size);

#endif
