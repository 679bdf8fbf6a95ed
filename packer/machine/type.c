/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/machine/type.h"

#include <stdio.h>
#include <stdlib.h>

#include "packer/system/cpuinfo.h"

#define MODEL_MAX 96

static void model(const char *cpuinfo, char text[MODEL_MAX])
{
    char implementer[MODEL_MAX], part[MODEL_MAX], variant[MODEL_MAX];

    cpuinfo_field(cpuinfo, "model name", text, MODEL_MAX); /* x86; Arm in 32 bit */
    if (text[0])
        return;
    cpuinfo_field(cpuinfo, "cpu", text, MODEL_MAX); /* POWER */
    if (text[0])
        return;
    cpuinfo_field(cpuinfo, "CPU implementer", implementer, MODEL_MAX);
    cpuinfo_field(cpuinfo, "CPU part", part, MODEL_MAX);
    cpuinfo_field(cpuinfo, "CPU variant", variant, MODEL_MAX);
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
        snprintf(text, size, "%s; LLC %zu:%u", name, topo_cache(topo)->size_bytes,
                 topo_cache(topo)->ways);
}
