/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_line - one sample of a step's counters as a line of text: a JSON object or a CSV row.
 *
 *     {"version":1,"step":"solver","at":12.5,"instructions":12e9,...,"rss_node":[4096,0],
 *      "by_node":{"reads_local":[3e6,0],"reads_remote":[1e6,0]},
 *      "error":{"cycles":0.01}}                                              (in one line)
 *
 *     step,at,instructions,cycles,...
 *     solver,12.5,12000000000,,...
 *
 * `step` is the name that a replay looks up, `at` the seconds since the step was registered, the
 * other keys the names of counter_info. What is not known is absent, null, or an empty cell; keys
 * and columns that are not known here are ignored. CSV has no rss_node, no by_node
 * (counters/by_node.h) and no error. Numbers are
 * written so that they are read back exactly. A file of them: counters/recorded.h. */
#ifndef BERTH_COUNTERS_SAMPLE_LINE_H
#define BERTH_COUNTERS_SAMPLE_LINE_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "packer/counters/counters.h"

#define SAMPLES_VERSION 1
#define SAMPLES_NAME_MAX 256   /* of a step, with its NUL */
#define SAMPLES_LINE_MAX 65536 /* with its newline */
#define SAMPLES_COLUMNS_MAX 256

/* How many numbers it has: counters that are known, errors of them, nodes, and what is
 * counted by node. */
size_t sample_line_values(const struct counters_sample *sample);

/* ---- JSON ---- */

/* Add what is known of a sample, but its time, to an object. */
void sample_line_add(struct json_object *object, const struct counters_sample *sample);

/* The reverse, from an object with "at": the whole sample, its time too, and what was counted by
 * node in *by, at which sample->by_node points. 0, or -1 and err: "cycles: -1: 0 or more
 * expected". */
int sample_line_take(struct json_object *object, struct counters_sample *sample, struct by_node *by,
                     struct berth_error *err);

/* A sample as a line with its newline, which the caller frees; its time is `at_s` of the sample.
 * NULL when out of memory. */
char *sample_line_json(const char *step, const struct counters_sample *sample);

/* Read such a line. 0, or -1 and err that names the field; *sample is then undefined. */
int sample_line_read_json(const char *line, size_t length, char step[SAMPLES_NAME_MAX],
                          struct counters_sample *sample, struct by_node *by,
                          struct berth_error *err);

/* ---- CSV ---- */

/* The header, all counters, with its newline; and a row under it, in which control characters of
 * the step's name become '?'. The caller frees them. NULL when out of memory. */
char *sample_line_csv_header(void);
char *sample_line_csv(const char *step, const struct counters_sample *sample);

/* What each column of a file is. */
struct sample_line_columns {
    size_t n;
    int column[SAMPLES_COLUMNS_MAX]; /* a counter, or one of the negative ones of
                                        counters/sample_line.c */
};

/* Read a header: "step" and "at" must be in it, none twice. 0, or -1 and err. */
int sample_line_read_header(const char *line, size_t length, struct sample_line_columns *columns,
                            struct berth_error *err);

/* Read a row under that header. 0, or -1 and err that names the field. */
int sample_line_read_csv(const char *line, size_t length, const struct sample_line_columns *columns,
                         char step[SAMPLES_NAME_MAX], struct counters_sample *sample,
                         struct berth_error *err);

#endif
