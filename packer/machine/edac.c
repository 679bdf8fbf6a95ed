/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edac - see edac.h */
#include "packer/machine/edac.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MC "/sys/devices/system/edac/mc"
#define CHANNELS_MAX 64 /* of a controller: a bit each */

long edac_channel(const char *location)
{
    const char *at = location;
    char *end;
    long channel;

    while (*at) {
        size_t length = strcspn(at, " \n");
        bool named = length == 7 && strncmp(at, "channel", length) == 0;

        at += length;
        at += strspn(at, " \n");
        if (!named)
            continue;
        if (*at < '0' || *at > '9')
            return -1;
        channel = strtol(at, &end, 10);
        return (*end == ' ' || *end == '\n' || !*end) && channel < CHANNELS_MAX ? channel : -1;
    }
    return -1;
}

/* Says whether a folder is PREFIX and a number. */
static bool is_numbered(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] >= '0' && name[length] <= '9';
}

/* Adds one module or rank: *channels gets its bit. */
static int add_part(const struct rootfs *root, const char *folder, uint64_t *channels, bool *there,
                    struct berth_error *err)
{
    char path[512], *size, *location;
    long channel = -1;

    snprintf(path, sizeof(path), "%s/size", folder);
    size = rootfs_read(root, path);
    *there = size && strtoul(size, NULL, 10) > 0; /* MB; 0: nothing in the slot */
    free(size);
    if (!*there)
        return 0;
    snprintf(path, sizeof(path), "%s/dimm_location", folder);
    location = rootfs_read(root, path);
    if (location)
        channel = edac_channel(location);
    free(location);
    if (channel < 0)
        return berth_error_set(err, "%s: no channel", path);
    *channels |= UINT64_C(1) << channel;
    return 0;
}

static int add_controller(const struct rootfs *root, const char *name, struct edac_memory *memory,
                          struct berth_error *err)
{
    char folder[256], path[400];
    uint64_t channels = 0;
    char **parts;
    int rc = 0;

    snprintf(folder, sizeof(folder), MC "/%.64s", name);
    parts = rootfs_list(root, folder);
    for (size_t i = 0; parts && parts[i] && rc == 0; i++) {
        bool there = false, rank = is_numbered(parts[i], "rank");

        if (!rank && !is_numbered(parts[i], "dimm"))
            continue;
        snprintf(path, sizeof(path), "%s/%.64s", folder, parts[i]);
        rc = add_part(root, path, &channels, &there, err);
        memory->ranks += rank && there;
    }
    rootfs_list_free(parts);
    memory->channels += (size_t)__builtin_popcountll(channels);
    return rc;
}

int edac_read(const struct rootfs *root, struct edac_memory *memory, struct berth_error *err)
{
    char **controllers = rootfs_list(root, MC);
    struct edac_memory read = {0};
    int rc = 0;

    for (size_t i = 0; controllers && controllers[i] && rc == 0; i++)
        if (is_numbered(controllers[i], "mc"))
            rc = add_controller(root, controllers[i], &read, err);
    rootfs_list_free(controllers);
    if (rc == 0 && read.channels == 0)
        rc = berth_error_set(err, "%s: no memory controller", MC);
    if (rc == 0)
        *memory = read;
    return rc;
}
