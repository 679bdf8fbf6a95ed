/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known - see known.h */
#include "tests/bench/known.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *known_option(const char *berthd)
{
    char command[PATH_MAX + 64];

    snprintf(command, sizeof(command), "'%s' --test-keys --version >/dev/null 2>&1", berthd);
    return system(command) == 0 ? "--test-keys" : NULL;
}

/* All that it prints, with a newline before the first line; NULL and errno. */
static char *print_config(const char *berthd)
{
    const char *option = known_option(berthd);
    char command[PATH_MAX + 64], *text = NULL;
    size_t length;
    FILE *from, *to;
    int c, rc;

    snprintf(command, sizeof(command), "'%s' %s --print-config", berthd, option ? option : "");
    from = popen(command, "re");
    to = from ? open_memstream(&text, &length) : NULL;
    if (!to) {
        if (from)
            pclose(from);
        return NULL;
    }
    fputc('\n', to);
    while ((c = getc(from)) != EOF)
        fputc(c, to);
    fclose(to);
    rc = pclose(from);
    if (rc == 0)
        return text;
    free(text);
    errno = ENOEXEC;
    return NULL;
}

/* Says whether the text has a line "KEY = .." with this one's key, or an entry "# KEY=.." of tune,
 * which can stand as a key of its own, too. */
static bool has_key(const char *text, const char *line)
{
    char key[128], entry[128];
    int length = (int)strcspn(line, " =\n");

    length = length < 120 ? length : 120;
    snprintf(key, sizeof(key), "\n%.*s =", length, line);
    snprintf(entry, sizeof(entry), "\n# %.*s=", length, line);
    return strstr(text, key) || strstr(text, entry);
}

int known_lines(const char *berthd, const char *lines, FILE *out)
{
    char *text = print_config(berthd);

    if (!text)
        return -1;
    for (const char *line = lines; *line;) {
        int length = (int)strcspn(line, "\n");

        if (has_key(text, line))
            fprintf(out, "%.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    free(text);
    return 0;
}
