/* SPDX-License-Identifier: GPL-2.0-or-later */
/* screen - see screen.h */
#include "packer/cli/common/screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "packer/base/text.h"
#include "packer/cli/common/ctl.h"
#include "enum_table.h"

#define LINE_MAX_BYTES 4096

/* Select Graphic Rendition of ECMA-48, as every terminal of the last 40 years has it. */
static const char *const TABLE(style_on, SCREEN_STYLES) = {
    ROW(SCREEN_PLAIN) = NULL,      ROW(SCREEN_STRONG) = "\033[1m", ROW(SCREEN_FAINT) = "\033[2m",
    ROW(SCREEN_GOOD) = "\033[32m", ROW(SCREEN_WARN) = "\033[33m",  ROW(SCREEN_BAD) = "\033[31m",
};
TABLE_COMPLETE(style_on);

/* https://no-color.org: set and not empty. */
static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0 && !(no && *no);
}

/* Says whether the locale's characters are UTF-8: the first of these that is set decides, as in
 * locale(7). */
static bool has_utf8(void)
{
    static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        const char *value = getenv(name[i]);

        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

struct screen screen_stdout(void)
{
    return (struct screen){.out = stdout,
                           .columns = ctl_columns(),
                           .colour = wants_colour(),
                           .utf8 = has_utf8(),
                           .ascii = isatty(STDOUT_FILENO) && !has_utf8()};
}

bool screen_full(const struct screen *screen, size_t spare)
{
    return screen->rows && screen->used + spare >= screen->rows;
}

/* Writes text with a '?' for each character that a terminal of ASCII would misread. */
static void put_ascii(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t n = text_character(text + i);

        fputc(n == 1 ? text[i] : '?', out);
        i += n ? n : 1;
    }
}

/* Writes the bytes of a piece, none of them a blank at the line's end. */
static void write_piece(struct screen *screen, enum screen_style style, const char *text,
                        size_t length)
{
    bool painted = screen->colour && style_on[style];

    fprintf(screen->out, "%*s", (int)screen->blanks, "");
    screen->blanks = 0;
    if (painted)
        fputs(style_on[style], screen->out);
    if (screen->ascii)
        put_ascii(screen->out, text, length);
    else
        text_put(screen->out, text, length);
    if (painted)
        fputs("\033[0m", screen->out);
}

static void put_text(struct screen *screen, enum screen_style style, const char *text)
{
    size_t length = strlen(text), solid;

    if (screen_full(screen, 0))
        return;
    if (screen->columns)
        length = screen->at < screen->columns ? text_fit(text, screen->columns - screen->at) : 0;
    for (solid = length; solid > 0 && text[solid - 1] == ' ';)
        solid--;
    if (solid)
        write_piece(screen, style, text, solid);
    screen->blanks += length - solid;
    screen->at += text_columns(text, length);
}

void screen_put(struct screen *screen, enum screen_style style, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_text(screen, style, text);
}

void screen_tab(struct screen *screen, size_t column)
{
    if (column > screen->at)
        screen_put(screen, SCREEN_PLAIN, "%*s", (int)(column - screen->at), "");
}

void screen_end(struct screen *screen)
{
    if (!screen_full(screen, 0))
        fputc('\n', screen->out);
    screen->used++;
    screen->at = screen->blanks = 0;
}

void screen_line(struct screen *screen, enum screen_style style, const char *format, ...)
{
    char text[LINE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_text(screen, style, text);
    screen_end(screen);
}

void screen_wrap(struct screen *screen, enum screen_style style, size_t indent, const char *text)
{
    for (bool begun = screen->at > indent; *text; begun = true) {
        size_t length = ctl_word(text), wide = text_columns(text, length);

        if (screen->columns && begun && screen->at + 1 + wide > screen->columns) {
            screen_end(screen);
            screen_tab(screen, indent);
        } else if (begun) {
            screen_put(screen, SCREEN_PLAIN, " ");
        }
        screen_put(screen, style, "%.*s", (int)length, text);
        text += length + strspn(text + length, " ");
    }
    screen_end(screen);
}

const char *screen_bar(const struct screen *screen, double used, double all, size_t columns,
                       char text[256])
{
    size_t inner = columns > 66 ? 64 : columns > 2 ? columns - 2 : 1, full = 0, length = 0;

    if (all > 0)
        full = (size_t)fmin((double)inner, ceil((double)inner * used / all));
    text[length++] = '[';
    for (size_t i = 0; i < inner; i++) {
        const char *one =
            screen->utf8 ? (i < full ? "\xe2\x96\x88" : "\xe2\x96\x91") : (i < full ? "#" : ".");

        length += (size_t)sprintf(text + length, "%s", one);
    }
    text[length++] = ']';
    text[length] = '\0';
    return text;
}

#define LEVELS 8

const char *screen_level(const struct screen *screen, double part)
{
    static const char *const block[LEVELS + 1] = {
        " ",
        "\xe2\x96\x81",
        "\xe2\x96\x82",
        "\xe2\x96\x83",
        "\xe2\x96\x84",
        "\xe2\x96\x85",
        "\xe2\x96\x86",
        "\xe2\x96\x87",
        "\xe2\x96\x88",
    };
    static const char *const plain[LEVELS + 1] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
    size_t level = (size_t)lround(fmin(fmax(part, 0), 1) * LEVELS);

    return screen->utf8 ? block[level] : plain[level];
}

const char *screen_percent(double fraction, char text[32])
{
    double percent = 100 * fraction;

    snprintf(text, 32, "%.*f %%", fabs(percent) < 9.95 && percent != 0 ? 1 : 0, percent);
    return isnan(fraction) ? "-" : text;
}
