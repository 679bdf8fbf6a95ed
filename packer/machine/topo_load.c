/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo_load - see topo_load.h */
#include "packer/machine/topo_load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES 4096 /* of a file, in which its version stands */
#define VERSION_IS " version=\""

static const hwloc_obj_type_t wanted_types[] = {
    HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE};

static int set_filters(hwloc_topology_t hwloc)
{
    if (hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
        hwloc_topology_set_all_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_NONE) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(wanted_types) / sizeof(wanted_types[0]); i++)
        if (hwloc_topology_set_type_filter(hwloc, wanted_types[i], HWLOC_TYPE_FILTER_KEEP_ALL) < 0)
            return -1;
    /* without groups hwloc would widen a NUMA node to the next larger object */
    return hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
}

/* ---- why not ---- */

/* Reads where a file of hwloc's begins, into *major the major number of the hwloc that wrote it (0:
 * it does not say). False: the file has no such place. */
static bool find_version(const char *path, unsigned long *major)
{
    char head[HEAD_BYTES];
    const char *topology, *version;
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(head, 1, sizeof(head) - 1, file) : 0;

    if (file)
        fclose(file);
    head[length] = '\0';
    topology = strstr(head, "<topology");
    version = topology ? strstr(topology, VERSION_IS) : NULL;
    *major = version ? strtoul(version + strlen(VERSION_IS), NULL, 10) : 0;
    return topology != NULL;
}

/* Is it meant as the name of a file? No synthetic string has one of these. */
static bool names_file(const char *spec)
{
    const char *end = strrchr(spec, '.');

    return strchr(spec, '/') || (end && strcmp(end, ".xml") == 0);
}

static int refuse_file(const char *path, const struct stat *is, struct berth_error *err)
{
    unsigned long own = hwloc_get_api_version() >> 16, version;

    if (!S_ISREG(is->st_mode))
        return berth_error_set(err, "%s: no hwloc XML file, but a %s", path,
                               S_ISDIR(is->st_mode) ? "folder" : "special file");
    if (!find_version(path, &version))
        return berth_error_set(err, "%s: no hwloc XML file (lstopo FILE.xml writes one)", path);
    if (version > own)
        return berth_error_set(err,
                               "%s: hwloc %lu has written it, and berth runs with hwloc %lu, "
                               "which cannot read that (lstopo --of v2xml FILE.xml writes what it "
                               "can)",
                               path, version, own);
    return berth_error_set(err, "%s: hwloc cannot read it: it is cut off, or has errors", path);
}

static int refuse(const char *spec, struct berth_error *err)
{
    struct stat is;

    if (!spec[0])
        return berth_error_set(err, "hwloc cannot read this machine");
    if (stat(spec, &is) == 0)
        return refuse_file(spec, &is, err);
    if (names_file(spec))
        return berth_error_set(err, "%s: %s", spec, strerror(errno));
    return berth_error_set(err,
                           "%s: neither an hwloc XML file (lstopo FILE.xml writes one) nor a "
                           "synthetic topology such as \"package:2 l3:2 core:4 pu:1\"",
                           spec);
}

/* ---- loading ---- */

static int set_source(hwloc_topology_t hwloc, const char *spec)
{
    struct stat is;

    if (!spec[0])
        return 0;
    if (stat(spec, &is) == 0)
        return S_ISREG(is.st_mode) ? hwloc_topology_set_xml(hwloc, spec) : -1;
    return names_file(spec) ? -1 : hwloc_topology_set_synthetic(hwloc, spec);
}

int topo_load(hwloc_topology_t *out, const char *spec, struct berth_error *err)
{
    hwloc_topology_t hwloc;

    if (hwloc_topology_init(&hwloc) < 0)
        return berth_error_set(err, "hwloc: %s", strerror(errno));
    if (set_filters(hwloc) == 0 && set_source(hwloc, spec) == 0 &&
        hwloc_topology_load(hwloc) == 0) {
        *out = hwloc;
        return 0;
    }
    hwloc_topology_destroy(hwloc);
    return refuse(spec, err);
}
