/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_fields - a struct's fields (base/json_fields.h) as the parameters and the columns of a
 * statement.
 *
 * A column has the field's name. Fields are texts, numbers and bools; what is out of a field's
 * range (so NAN) is null, and null leaves a field as it was. */
#ifndef BERTH_SQL_FIELDS_H
#define BERTH_SQL_FIELDS_H

#include <stdio.h>

#include "packer/base/json_fields.h"
#include "packer/sql/sql.h"

/* Writes the fields' names, quoted and with commas; and a ? for each of them. */
void sql_put_names(FILE *out, const struct json_field *fields);
void sql_put_holes(FILE *out, const struct json_field *fields);

/* Binds the fields of a struct to the parameters from `first` on. Texts are borrowed until the next
 * sql_reset. Returns the parameter after them. */
size_t sql_bind_fields(struct sql_statement *statement, size_t first,
                       const struct json_field *fields, const void *from);

/* Takes the fields of a struct from the present row's columns from `first` on. Returns the column
 * after them. */
size_t sql_take_fields(const struct sql_statement *row, size_t first,
                       const struct json_field *fields, void *into);

#endif
