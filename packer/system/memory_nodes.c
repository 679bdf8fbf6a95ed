/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/memory_nodes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Add each " N<node>=<count>" of a line that ends at `end`, count * unit bytes. How many there
 * were. */
static size_t add_line(struct memory_nodes *nodes, const char *at, const char *end, double unit)
{
    size_t found = 0;
    char *after;

    while ((at = strstr(at, " N")) && at < end) {
        unsigned long node = strtoul(at + 2, &after, 10);

        if (after != at + 2 && *after == '=' && node < MEMORY_NODES_MAX) {
            nodes->bytes[node] += (double)strtoull(after + 1, NULL, 10) * unit;
            if (nodes->n <= node)
                nodes->n = node + 1;
            found++;
        }
        at += 2;
    }
    return found;
}

/* Add the line that begins with name, if there is one. */
static bool add_named(struct memory_nodes *nodes, const char *text, const char *name, double unit)
{
    size_t length = strlen(name);

    while (text && *text) {
        const char *end = strchrnul(text, '\n');

        if (strncmp(text, name, length) == 0)
            return add_line(nodes, text, end, unit) > 0;
        text = *end ? end + 1 : NULL;
    }
    return false;
}

int memory_nodes_add_stat(struct memory_nodes *nodes, const char *text, double page_bytes)
{
    if (add_named(nodes, text, "anon ", 1)) { /* v2, in bytes */
        add_named(nodes, text, "file_mapped ", 1);
        return 0;
    }
    if (!add_named(nodes, text, "hierarchical_anon=", page_bytes)) /* v1, in pages */
        return -1;
    add_named(nodes, text, "hierarchical_unevictable=", page_bytes);
    return 0;
}

int memory_nodes_add_maps(struct memory_nodes *nodes, const char *text, double page_bytes)
{
    static const char size[] = " kernelpagesize_kB=";
    size_t found = 0;

    while (*text) {
        const char *end = strchrnul(text, '\n'), *unit = strstr(text, size);
        double unit_bytes = page_bytes;

        if (unit && unit < end)
            unit_bytes = (double)strtoull(unit + strlen(size), NULL, 10) * 1024;
        found += add_line(nodes, text, end, unit_bytes);
        text = *end ? end + 1 : end;
    }
    return found ? 0 : -1;
}

static int add_file(struct memory_nodes *nodes, const struct rootfs *root, const char *path,
                    int (*add)(struct memory_nodes *, const char *, double))
{
    char *text = rootfs_read(root, path);
    int rc = text ? add(nodes, text, (double)sysconf(_SC_PAGESIZE)) : -1;

    free(text);
    return rc;
}

int memory_nodes_of_cgroup(struct memory_nodes *nodes, const struct rootfs *root, const char *dir)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/memory.numa_stat", dir);
    return add_file(nodes, root, path, memory_nodes_add_stat);
}

int memory_nodes_of_process(struct memory_nodes *nodes, const struct rootfs *root, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/numa_maps", (int)pid);
    return add_file(nodes, root, path, memory_nodes_add_maps);
}

size_t memory_nodes_count(const struct rootfs *root)
{
    struct cpus nodes;

    return rootfs_read_cpus(root, "/sys/devices/system/node/has_memory", &nodes, NULL) < 0
               ? 0
               : cpus_count(&nodes);
}
