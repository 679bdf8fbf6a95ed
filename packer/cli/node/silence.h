/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence - what berthd does by itself, for people: status and doctor have the same sentence. */
#ifndef BERTH_CLI_NODE_SILENCE_H
#define BERTH_CLI_NODE_SILENCE_H

#include <stddef.h>

#include <json-c/json.h>

/* Of a program that waits for the slowest of its nodes each 5 ms; more is worth a warning. */
#define SILENCE_MOST 1.01

/* Writes the sentence of the node's line of status. Returns how many times as long the widest step
 * takes that stands there, if it is such a program: 1 where there is none; NAN where nothing was
 * measured (the text is "" then), as by an older berthd. */
double silence_say(struct json_object *node, char *text, size_t size);

#endif
