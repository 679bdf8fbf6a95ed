/* SPDX-License-Identifier: GPL-2.0-or-later */
/* room - see room.h */
#include "packer/memory/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double memory_room(const struct rootfs *root, size_t node)
{
    static const char *const name[] = {"MemFree:", "Inactive(file):"};
    char path[96], *text;
    double room = 0;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%zu/meminfo", node);
    text = rootfs_read(root, path);
    if (!text)
        return -1;
    for (size_t i = 0; i < 2 && room >= 0; i++) {
        const char *at = strstr(text, name[i]);

        room = at ? room + strtod(at + strlen(name[i]), NULL) * 1024 : -1;
    }
    free(text);
    return room;
}
