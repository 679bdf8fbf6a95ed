/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text - writes the two text formats that Prometheus reads: OpenMetrics 1.0 and its own 0.0.4.
 *
 * The writer keeps what the formats demand: the description of a family once, before its first
 * sample and only if it has one; suffixes by type (_total, _info); escaped text in UTF-8; "# EOF".
 * The caller keeps the samples of a family together. A value that is not finite is not written:
 * what was not measured is absent. */
#ifndef BERTH_METRICS_TEXT_H
#define BERTH_METRICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum metrics_format { METRICS_OPENMETRICS, METRICS_PLAIN, METRICS_FORMATS };

/* The value of the header Content-Type. */
extern const char *const metrics_content_type[METRICS_FORMATS];

enum metrics_type { METRICS_GAUGE, METRICS_COUNTER, METRICS_INFO, METRICS_TYPES };

struct metrics_family {
    const char *name; /* without _total and _info */
    enum metrics_type type;
    const char *unit; /* "" none; else the end of the name */
    const char *help; /* one sentence */
};

struct metrics_label {
    const char *name, *value; /* a value that is NULL or "" is left out, as if it were not there */
};

struct metrics_text {
    enum metrics_format format;
    FILE *out;  /* writes into text; NULL: no memory */
    char *text; /* once it is ended; the caller frees it */
    size_t used;
    const struct metrics_family *family; /* of the last sample */
    bool failed;                         /* out of memory */
};

void metrics_text_begin(struct metrics_text *text, enum metrics_format format);

/* Writes one sample of the family, with n labels. */
void metrics_text_add(struct metrics_text *text, const struct metrics_family *family,
                      const struct metrics_label *label, size_t n, double value);

/* Writes the same, from millionths (microjoules, microseconds): all digits are kept. */
void metrics_text_add_micro(struct metrics_text *text, const struct metrics_family *family,
                            const struct metrics_label *label, size_t n, uint64_t micro);

/* Ends the page. 0, or -1 when memory was short: text->text is then freed and NULL. */
int metrics_text_end(struct metrics_text *text);

/* Writes the name of the family's samples, of at most METRICS_NAME_MAX bytes with its NUL. */
#define METRICS_NAME_MAX 64
void metrics_sample_name(const struct metrics_family *family, char name[METRICS_NAME_MAX]);

/* Returns the format that a client with this header Accept (NULL: none) gets: OpenMetrics when it
 * is asked for by name and not less wanted than plain text. */
enum metrics_format metrics_negotiate(const char *accept);

#endif
