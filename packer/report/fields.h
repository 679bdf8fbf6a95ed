/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fields - names the columns of a report, and says what a row has in each of them. */
#ifndef BERTH_REPORT_FIELDS_H
#define BERTH_REPORT_FIELDS_H

#include <json-c/json.h>
#include <stdio.h>

#include "packer/report/report.h"

enum report_form {
    REPORT_FORM_TEXT,
    REPORT_FORM_GROUP,    /* of a total: whose it is, by the key `index` */
    REPORT_FORM_CURRENCY, /* in which the site has told its price */
    REPORT_FORM_JOB_ID,
    REPORT_FORM_JOB_ID_RAW,
    REPORT_FORM_STATE,
    REPORT_FORM_EXIT,
    REPORT_FORM_START,
    REPORT_FORM_END,
    REPORT_FORM_SPAN,  /* [D-]HH:MM:SS */
    REPORT_FORM_HOURS, /* the same in hours: 1234.5 */
    REPORT_FORM_WHOLE, /* a whole number */
    REPORT_FORM_CPU,   /* [[D-]HH:]MM:SS[.mmm], as sacct has CPU times */
    REPORT_FORM_TOTAL_CPU,
    REPORT_FORM_KIB,
    REPORT_FORM_BYTES,
    REPORT_FORM_ENERGY,
    REPORT_FORM_ENERGY_RAW,
    REPORT_FORM_RECORDS,
    REPORT_FORM_METERED, /* "3/4": records that know their energy */
    REPORT_FORM_WATT,
    REPORT_FORM_EDP,
    REPORT_FORM_TINY, /* 1.234e-09 */
    REPORT_FORM_PERCENT,
    REPORT_FORM_COST, /* of the energy, as the site says (struct report_terms) */
    REPORT_FORM_CO2,
};

struct report_field {
    const char *name;
    int width;       /* negative: to the left */
    const char *key; /* in CSV and JSON, with the unit */
    enum report_form form;
    int index;  /* of the text, the number or the energy */
    bool again; /* the same figure as another field's: not in JSON and CSV unless asked for */
};

struct report_column {
    const struct report_field *field;
    int width;
    const char *title, *key; /* the field's own as a rule */
};

extern const char *const report_unit_name[REPORT_UNITS + 1]; /* up to a NULL */

/* Reads "FIELD[%[-]WIDTH],...", names in any case and cut as short as one likes (the first that
 * begins so), "ALL" for all. The caller frees *columns. 0, or -1 and err. */
int report_columns_parse(const char *format, struct report_column **columns, size_t *n,
                         struct berth_error *err);

/* Takes every field but those that say the same again: who it was, when, and what it took come
 * first, and then all others in the order of their names. */
int report_columns_all(struct report_column **columns, size_t *n, struct berth_error *err);

/* Returns the column of whose a total is by the i-th of its keys. */
struct report_column report_column_group(size_t i);

/* Is it a figure, or what names a job? Of that nothing is ever cut off. */
bool report_field_is_whole(const struct report_field *field);

/* May it have any text? Figures, times and jobs' names are made of letters, digits and points. */
bool report_field_is_text(const struct report_field *field);

/* Writes the names of all, four in a line, as sacct --helpformat has them. */
void report_fields_print(FILE *out);

/* ---- what a row says (report/format.c) ---- */

#define REPORT_CELL_MAX 512
#define REPORT_NUMBER_MAX 64 /* of one that is a number or a time */

/* Writes it for a person: "12.34kJ", "00:01:30"; "" where it is not known. A sum of energy that is
 * not complete has a ">=" before it. Returns its length. */
size_t report_format_cell(const struct report_row *row, const struct report_field *field,
                          const struct report_terms *terms, char text[REPORT_CELL_MAX]);

/* Writes it for a program, in the unit that the key names: "12340.000000"; times as
 * 2026-11-21T08:00:00. Returns its length. */
size_t report_format_raw(const struct report_row *row, const struct report_field *field,
                         const struct report_terms *terms, char text[REPORT_CELL_MAX]);

/* Returns what a JSON Schema calls the field's values, which may also be null. */
const char *report_format_type(const struct report_field *field);

/* Returns the same as a JSON value, which the caller releases; NULL (null) where it is not known.
 * Times are unix seconds. */
struct json_object *report_format_json(const struct report_row *row,
                                       const struct report_field *field,
                                       const struct report_terms *terms);

/* Writes an energy as "12.34kJ" with at most four digits that count; "" where it is NAN. Returns
 * its length. */
size_t report_format_energy(double joules, enum report_unit unit, char text[REPORT_NUMBER_MAX]);

/* Writes one line of what a row's energy is to the site, with its newline:
 * "12.34kWh, 3.70EUR (0.3EUR a kWh), 4.690kg of CO2 (380g a kWh)". Nothing where the site has
 * told neither, or no energy is known. */
void report_format_terms(FILE *out, const struct report_row *row, const struct report_terms *terms);

#endif
