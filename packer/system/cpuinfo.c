/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/cpuinfo.h"

#include <ctype.h>
#include <string.h>

static const char *next_line(const char *line)
{
    line = strchr(line, '\n');
    return line ? line + 1 : NULL;
}

/* Returns what stands behind the name and its colon, before `end`; NULL: nothing does. */
static const char *find_value(const char *cpuinfo, const char *end, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = cpuinfo; line && line < end; line = next_line(line))
        if (strncmp(line, name, length) == 0 && line[length + strspn(line + length, " \t")] == ':')
            return strchr(line, ':') + 1;
    return NULL;
}

static void copy(const char *from, char *value, size_t size)
{
    size_t used = 0;

    for (; from && *from && *from != '\n' && used + 1 < size; from++)
        if (isgraph((unsigned char)*from))
            value[used++] = *from;
        else if (used && value[used - 1] != ' ')
            value[used++] = ' ';
    while (used && value[used - 1] == ' ')
        used--;
    value[used] = '\0';
}

void cpuinfo_field(const char *cpuinfo, const char *name, char *value, size_t size)
{
    copy(find_value(cpuinfo, cpuinfo + strlen(cpuinfo), name), value, size);
}

void cpuinfo_first(const char *cpuinfo, const char *name, char *value, size_t size)
{
    const char *blank = strstr(cpuinfo, "\n\n");

    copy(find_value(cpuinfo, blank ? blank : cpuinfo + strlen(cpuinfo), name), value, size);
}
