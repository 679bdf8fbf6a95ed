/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen - lines for a terminal: cut to its width, with colour where the reader wants it.
 *
 * A line is put together from pieces, each with its style. Text of unknown origin is cleaned
 * (base/text.h); colour is written around it, never by it. */
#ifndef BERTH_CLI_COMMON_SCREEN_H
#define BERTH_CLI_COMMON_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum screen_style {
    SCREEN_PLAIN,
    SCREEN_STRONG,
    SCREEN_FAINT,
    SCREEN_GOOD,
    SCREEN_WARN,
    SCREEN_BAD,
    SCREEN_STYLES
};

struct screen {
    FILE *out;
    size_t columns, rows; /* of the terminal; 0: no limit */
    bool colour;
    bool ascii;        /* what is not ASCII is shown as '?' */
    bool utf8;         /* lines and bars may be drawn with characters that are not ASCII */
    size_t used;       /* lines that are written */
    size_t at, blanks; /* columns of the present line; blanks at its end, not written yet */
};

/* Returns a screen on stdout: as wide as the terminal there; in colour where it is a terminal, TERM
 * names one that can, and NO_COLOR is not set; with UTF-8 where the locale has it. */
struct screen screen_stdout(void);

/* Writes one more piece of the present line; what does not fit is dropped. */
void screen_put(struct screen *screen, enum screen_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Moves on to that column (from 0); nothing where the line is there already. */
void screen_tab(struct screen *screen, size_t column);

/* Ends the line. */
void screen_end(struct screen *screen);

/* Writes one line. */
void screen_line(struct screen *screen, enum screen_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes a text on as many lines as it needs, its words wrapped, from the second line on indented.
 */
void screen_wrap(struct screen *screen, enum screen_style style, size_t indent, const char *text);

/* Says whether fewer than `spare` + 1 rows are left. */
bool screen_full(const struct screen *screen, size_t spare);

/* Returns "[####....]", or blocks where UTF-8 is at hand: how much of `all` is used, in so many
 * columns (64 at most). */
const char *screen_bar(const struct screen *screen, double used, double all, size_t columns,
                       char text[256]);

/* Returns a character that is filled from below by so much, 0 to 1: blocks where UTF-8 is at hand.
 */
const char *screen_level(const struct screen *screen, double part);

/* Returns "50 %", "7.5 %" of a fraction: one digit after the point below 10; "-" of NAN. */
const char *screen_percent(double fraction, char text[32]);

#endif
