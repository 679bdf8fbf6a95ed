/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text - takes from texts of people what would drive a terminal or forge a line.
 *
 * One rule stands for logs, terminals, pages and files: what is no character of UTF-8 (RFC 3629),
 * and every control character (C0, DEL, and C1, which UTF-8 writes as 0xc2 0x80..0x9f), is not
 * passed on. '?' stands in the place of each of its bytes, where a format has no escape for it. */
#ifndef BERTH_BASE_TEXT_H
#define BERTH_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the bytes of the character that text begins with, 1 to 4; 0 at its end, before a control
 * character and before a byte that begins no character. */
size_t text_character(const char *text);

/* Replaces in place what is not passed on. */
void text_clean(char *text);

/* Writes the first `length` bytes, cleaned; a character is not cut by them. */
void text_put(FILE *out, const char *text, size_t length);

/* Writes text as a field of CSV (RFC 4180), cleaned, and in quotes where it has to be. */
void text_put_csv(FILE *out, const char *text);

/* Writes such a field for a person's spreadsheet: what would be a formula there, and is no number,
 * has an apostrophe in front. */
void text_put_csv_cell(FILE *out, const char *text);

/* Says whether that would be the text itself, and at a glance: false may be wrong. */
bool text_is_csv_cell(const char *text);

/* Writes text as text of HTML or XML: what has a meaning there is escaped, and U+FFFD stands for
 * what is not passed on. */
void text_put_markup(FILE *out, const char *text);

/* Writes a text of JSON. In its strings stand \u escapes for control characters, and U+FFFD for
 * what is no character: who reads it expects UTF-8. */
void text_put_json(FILE *out, const char *json);

/* Returns how many columns text_put() takes for these bytes: each character takes one. */
size_t text_columns(const char *text, size_t length);

/* Returns how many bytes of text fit into so many columns. */
size_t text_fit(const char *text, size_t columns);

/* Appends printf-style to the text in text[size]; what does not fit is cut off. */
void text_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Says whether a list of words, with commas or blanks between them, has the word. */
bool text_lists(const char *list, const char *word);

#endif
