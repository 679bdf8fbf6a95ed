/* SPDX-License-Identifier: GPL-2.0-or-later */
/* terminal - see terminal.h */
#include "packer/cli/options/terminal.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/base/text.h"

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

size_t ctl_word(const char *text)
{
    size_t length = strcspn(text, " ");

    if (text[length] == ' ' && text[length + 1] == '%')
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

void ctl_put_paragraph(FILE *out, const char *title, size_t indent, const char *text,
                       size_t columns)
{
    size_t used = indent;

    fprintf(out, "%-*s", (int)indent - 1, title);
    while (*text) {
        size_t length = ctl_word(text), wide = text_columns(text, length) + 1;

        if (columns && used > indent && used + wide > columns) {
            fprintf(out, "\n%*s", (int)indent - 1, "");
            used = indent;
        }
        fputc(' ', out);
        text_put(out, text, length);
        used += wide;
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}
