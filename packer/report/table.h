/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table - writes rows as a table like sacct's, as its parsable lines, as CSV, and as JSON. */
#ifndef BERTH_REPORT_TABLE_H
#define BERTH_REPORT_TABLE_H

#include "packer/report/fields.h"

enum report_shape {
    REPORT_SHAPE_TABLE,
    REPORT_SHAPE_PARSABLE,  /* a delimiter after each field */
    REPORT_SHAPE_PARSABLE2, /* between them */
    REPORT_SHAPE_CSV,       /* RFC 4180, figures in the units of the header */
    REPORT_SHAPE_JSON
};

struct report_table {
    FILE *out;
    enum report_shape shape;
    const char *delimiter; /* of the parsable shapes */
    bool header;
    struct report_terms terms;
    struct report_column *column; /* [columns], borrowed */
    size_t columns;
    size_t rows; /* written so far: 0 at first */
};

/* Makes columns as wide as the row needs; of rows that are to be written all the same. */
void report_table_widen(struct report_table *table, const struct report_row *row);

/* Writes the lines above the rows, where there are any; not for JSON. */
void report_table_header(struct report_table *table);

/* Writes a row as a line, its texts cleaned (base/text.h); not for JSON. */
void report_table_row(struct report_table *table, const struct report_row *row);

/* The same of a sum over all rows: `name` stands in its first column. */
void report_table_sum(struct report_table *table, const struct report_row *row, const char *name);

/* Returns a row as a JSON object, which the caller releases; NULL: no memory. */
struct json_object *report_table_object(const struct report_table *table,
                                        const struct report_row *row);

#endif
