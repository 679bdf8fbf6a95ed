/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input - a verb's input: one JSON object from a file or from stdin, and the lists in it. */
#ifndef BERTH_CLI_COMMON_INPUT_H
#define BERTH_CLI_COMMON_INPUT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "packer/base/error.h"

/* Reads one JSON object from the file, or from stdin where path is NULL or "-". The caller releases
 * it; NULL and err (without the file's name). */
struct json_object *ctl_input_read(const char *path, struct berth_error *err);

/* Says on stderr which fields of an input nobody has read (base/json_asked.h), and what may be
 * meant by them. They change nothing. Call it when the input was read, with its name, and whether
 * to its end. */
void ctl_input_tell_unread(const char *name, struct json_object *input, bool whole);

/* Reads all of the file, of whatever kind, or all of stdin where path is NULL or "-". Returns text
 * that the caller frees, with a NUL at its end; NULL and err. */
char *ctl_input_text(const char *path, size_t *length, struct berth_error *err);

/* Returns what errors about that input call it: the path, or "stdin". */
const char *ctl_input_name(const char *path);

/* Finds the array object[key] and checks that it has at least one element, all of them of that
 * type. 0, or -1 and err. */
int ctl_input_list(struct json_object *object, const char *key, enum json_type type,
                   struct json_object **out, struct berth_error *err);

/* Reads the number input.thresholds[key], in events per million instructions; *value stays as it is
 * where there is none. 0, or -1 and err when it is negative or no number. */
int ctl_input_threshold(struct json_object *input, const char *key, double *value,
                        struct berth_error *err);

/* Reads "time_limit_s" of a model's input; *limit_s is 10 where it is absent. 0, or -1 and err. */
int ctl_input_time_limit(struct json_object *input, double *limit_s, struct berth_error *err);

/* Says whether the monotonic clock has come to *(double *)end_s: the `stop` of models that search.
 */
bool ctl_input_is_late(void *end_s);

#endif
