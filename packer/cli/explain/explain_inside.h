/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain_inside - what was done inside a step, as sentences: `berthctl explain`, and with -v. */
#ifndef BERTH_CLI_EXPLAIN_EXPLAIN_INSIDE_H
#define BERTH_CLI_EXPLAIN_EXPLAIN_INSIDE_H

#include <json-c/json.h>
#include <stdio.h>

/* Says in one line of each policy that the step, or its site, has asked for whether it is in
 * effect, was, or why not; nothing where none was asked for. */
void explain_inside(FILE *out, struct json_object *step);

/* Each says what the object of its word tells (doc/schemas/explain.schema.json). */
void explain_faithful(FILE *out, struct json_object *faithful);
void explain_tranquil(FILE *out, struct json_object *tranquil);
void explain_shuffle(FILE *out, struct json_object *shuffle);
void explain_adapt(FILE *out, struct json_object *adapt);
void explain_follow(FILE *out, struct json_object *follow);
void explain_throttle(FILE *out, struct json_object *throttle);
void explain_flex(FILE *out, struct json_object *flex);
void explain_locks(FILE *out, struct json_object *locks);
void explain_frequency(FILE *out, struct json_object *frequency);
void explain_prefetch(FILE *out, struct json_object *prefetch);

#endif
