/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal - see terminal.h */
#include "packer/cli/options/terminal.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/base/text.h"

#define BRACKETS_MAX 48 /* bytes that are kept in one line */

size_t ctl_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void ctl_put_line(FILE *out, const char *line, size_t columns)
{
    size_t length = columns ? text_fit(line, columns) : strlen(line);

    while (length > 0 && line[length - 1] == ' ')
        length--;
    text_put(out, line, length);
    fputc('\n', out);
}

void ctl_put_progress(const char *format, ...)
{
    struct winsize size = {0};
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
        size.ws_col = 80;
    fputc('\r', stderr);
    text_put(stderr, line, text_fit(line, size.ws_col - 1u));
    fputs("\033[K", stderr);
}

/* Returns the bytes of what is in brackets at the beginning of a text: an option, as a usage has
 * it; 0 where there is none. */
static size_t bracketed(const char *text)
{
    size_t depth = 0;

    for (size_t i = 0; *text == '[' && text[i] && i < BRACKETS_MAX; i++) {
        depth += text[i] == '[';
        depth -= text[i] == ']';
        if (depth == 0)
            return i + 1;
    }
    return 0;
}

size_t ctl_word(const char *text)
{
    size_t in = bracketed(text), length = in + strcspn(text + in, " \n");

    if (text[length] == ' ' && text[length + 1] == '%')
        length += 1 + strcspn(text + length + 1, " \n");
    return length;
}

/* Puts so many words of a text behind what the line has, and goes on in new lines, indented. */
static void put_words(FILE *out, size_t indent, const char *text, size_t size, size_t columns)
{
    const char *end = text + size;
    size_t used = 0;

    while (text < end) {
        size_t length = ctl_word(text), wide = text_columns(text, length) + 1;

        if (columns && used && indent + used + wide > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            used = 0;
        }
        if (used)
            fputc(' ', out);
        text_put(out, text, length);
        used += wide;
        text += length + strspn(text + length, " \n");
    }
    fputc('\n', out);
}

void ctl_put_paragraph(FILE *out, const char *title, size_t indent, const char *text,
                       size_t columns)
{
    fprintf(out, "%-*s ", (int)indent - 1, title);
    put_words(out, indent, text, strlen(text), columns);
}

/* Returns the bytes of the lines from `text` on that have its indentation, and how wide they are.
 */
static size_t alike(const char *text, size_t indent, size_t *widest)
{
    size_t size = 0;

    for (*widest = 0; text[size];) {
        size_t length = strcspn(text + size, "\n"), wide = text_columns(text + size, length);

        if (strspn(text + size, " ") != indent || (size && length == 0))
            break;
        *widest = wide > *widest ? wide : *widest;
        size += length + (text[size + length] == '\n');
    }
    return size;
}

void ctl_put_text(FILE *out, const char *text, size_t columns)
{
    while (*text) {
        size_t indent = strspn(text, " "), widest, size = alike(text, indent, &widest);

        fprintf(out, "%*s", (int)indent, "");
        if (columns && widest > columns)
            put_words(out, indent, text + indent, size - indent, columns);
        else
            fprintf(out, "%.*s%s", (int)(size - indent), text + indent,
                    text[size - 1] == '\n' ? "" : "\n");
        text += size;
    }
}
