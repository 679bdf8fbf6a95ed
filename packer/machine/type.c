/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/machine/type.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_MAX 96

/* The value of a field of /proc/cpuinfo ("model name\t: X"), of the first CPU that has it, with its
 * blanks normalised and what is not printable left out. "" when there is none. */
static void field(const char *cpuinfo, const char *name, char value[MODEL_MAX])
{
    size_t length = strlen(name), used = 0;
    const char *line = cpuinfo, *c;

    value[0] = '\0';
    while (line) {
        if (strncmp(line, name, length) == 0 && line[length + strspn(line + length, " \t")] == ':')
            break;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        return;
    for (c = strchr(line, ':') + 1; *c && *c != '\n' && used + 1 < MODEL_MAX; c++)
        if (isgraph((unsigned char)*c))
            value[used++] = *c;
        else if (used && value[used - 1] != ' ')
            value[used++] = ' ';
    while (used && value[used - 1] == ' ')
        used--;
    value[used] = '\0';
}

static void model(const char *cpuinfo, char text[MODEL_MAX])
{
    char implementer[MODEL_MAX], part[MODEL_MAX], variant[MODEL_MAX];

    field(cpuinfo, "model name", text); /* x86; Arm in 32 bit */
    if (text[0])
        return;
    field(cpuinfo, "cpu", text); /* POWER */
    if (text[0])
        return;
    field(cpuinfo, "CPU implementer", implementer);
    field(cpuinfo, "CPU part", part);
    field(cpuinfo, "CPU variant", variant);
    if (implementer[0] && part[0])
        snprintf(text, MODEL_MAX, "Arm %.20s/%.20s/%.20s", implementer, part, variant);
}

void machine_type(const struct topo *topo, const struct rootfs *root, char *text, size_t size)
{
    char *cpuinfo = rootfs_read(root, "/proc/cpuinfo"), name[MODEL_MAX] = "";

    text[0] = '\0';
    if (cpuinfo)
        model(cpuinfo, name);
    free(cpuinfo);
    if (name[0])
        snprintf(text, size, "%s; LLC %zu:%u", name, topo->llc[0].size_bytes, topo->llc[0].ways);
}
