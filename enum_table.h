/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enum_table - proves when it is compiled that a table has a row for each value of the enum that
 * indexes it:
 *
 *     const char *const TABLE(colour_name, COLOURS) = {
 *         ROW(COLOUR_RED) = "red",
 *         ROW(COLOUR_BLUE) = "blue",
 *     };
 *     TABLE_COMPLETE(colour_name);
 *
 * COLOURS ends the enum: no row can lie behind the array's end. Two rows of one value are an error.
 * ROW counts the rows: where there are as many as elements, none is missing. SPARSE is an array
 * that has few rows on purpose, as [COLOUR_RED] = 1: what it lacks is 0 or NULL, and whoever reads
 * it takes that for an answer. tests/check-tables refuses an array with rows that is neither.
 *
 * Every folder may include this header, which needs nothing. */
#ifndef BERTH_ENUM_TABLE_H
#define BERTH_ENUM_TABLE_H

#pragma GCC diagnostic error "-Woverride-init"

#define TABLE(name, n) name[(n) + 0 * sizeof(enum {name##_begins = __COUNTER__})]
#define ROW(value) [(value) + 0 * __COUNTER__]
#define TABLE_COMPLETE(name)                                                                       \
    _Static_assert(__COUNTER__ - name##_begins - 1 == sizeof(name) / sizeof((name)[0]),            \
                   #name ": a row for each value of its enum")
#define SPARSE(name, n) name[n]

#endif
