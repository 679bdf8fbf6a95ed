/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal - lines and paragraphs for a person, cut or wrapped to the terminal's width. */
#ifndef BERTH_CLI_OPTIONS_TERMINAL_H
#define BERTH_CLI_OPTIONS_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal on stdout; 0 where it is none: nothing is cut then. */
size_t ctl_columns(void);

/* Writes one line, cut to `columns` characters (0: not), with control characters replaced: what
 * users named must not drive the reader's terminal. */
void ctl_put_line(FILE *out, const char *line, size_t columns);

/* Writes a line of progress over the one before, on a terminal on stderr: cut so that it never
 * wraps, for a line that did could not be written over. */
void ctl_put_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the bytes of the word that a text begins with; a number and the '%' behind it are one,
 * and so is a short text in brackets. */
size_t ctl_word(const char *text);

/* Writes a paragraph beside a title, its words wrapped to `columns` (0: not) and all of them
 * indented by `indent` (1 at least). */
void ctl_put_paragraph(FILE *out, const char *title, size_t indent, const char *text,
                       size_t columns);

/* Writes lines as they are, and those of one indentation that are too wide for `columns` (0: none
 * is) as a paragraph. */
void ctl_put_text(FILE *out, const char *text, size_t columns);

#endif
