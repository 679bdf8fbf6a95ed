/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json_asked - which fields of a JSON input somebody has asked for, so that a field that nobody
 * knows can be told: "apps[0].lcc_mpki: nobody reads it (llc_mpki?)".
 *
 * No reader needs a list of its fields for that: what it asks for is its list. Objects whose keys
 * are names, which nobody asks for one by one, are left out. */
#ifndef BERTH_BASE_JSON_ASKED_H
#define BERTH_BASE_JSON_ASKED_H

#include <json-c/json.h>
#include <stdbool.h>

/* From now on this thread remembers the fields that are asked for, beside those that it remembers
 * already, until json_asked_end(). */
void json_asked_go_on(void);

/* Remembers a question, where questions are remembered. json_find() and json_fields call it. */
void json_asked_note(struct json_object *object, const char *key);

/* Returns object[key], borrowed; NULL where there is none, or null. */
struct json_object *json_find(struct json_object *object, const char *key);

/* Calls tell for each field below the input that nobody has asked for, though others of its object
 * were: its path, and the field that may be meant (NULL: none is near). Where the reading was given
 * up (`whole` is false) only fields in whose place one was missed. A name that begins with '_', and
 * "note", "notes" and "comment", are their writer's own. Without memory for all questions it tells
 * nothing. */
void json_asked_tell(struct json_object *input, bool whole,
                     void (*tell)(const char *path, const char *meant, void *arg), void *arg);

/* Forgets all of them. */
void json_asked_end(void);

#endif
