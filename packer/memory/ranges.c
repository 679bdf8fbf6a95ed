/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/memory/ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"

/* One line of maps. */
struct mapping {
    uint64_t start, end;
    char perms[8];
    bool file;        /* something has an inode */
    const char *path; /* up to the line's end; "\n" none */
};

static const char *next_line(const char *line)
{
    line = strchrnul(line, '\n');
    return *line ? line + 1 : line;
}

/* "55d0-55d1 rw-p 00001000 fd:00 1234   /lib/libc.so" */
static bool read_mapping(const char *line, struct mapping *mapping)
{
    unsigned long long inode;
    char fields[128]; /* sscanf looks for the end of what it is given */
    int path = 0;

    snprintf(fields, sizeof(fields), "%.127s", line);
    if (sscanf(fields, "%" SCNx64 "-%" SCNx64 " %7s %*x %*s %llu%n", &mapping->start, &mapping->end,
               mapping->perms, &inode, &path) != 4)
        return false;
    mapping->file = inode != 0;
    mapping->path = line + path + strspn(line + path, " ");
    return true;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Memory without a file that the kernel keeps as one. */
static bool is_shared_memory(const char *path)
{
    return begins(path, "/dev/shm/") || begins(path, "/SYSV") || begins(path, "/memfd:") ||
           begins(path, "/dev/zero") || begins(path, "/anon_hugepage");
}

/* Is it memory that follows, and how? */
static bool follows(const struct mapping *mapping, struct memory_range *range)
{
    if (!mapping->file) {
        range->all = true;
        return !begins(mapping->path, "[v");
    }
    range->shared = range->all = is_shared_memory(mapping->path);
    return range->shared || strchr(mapping->perms, 'w');
}

/* Has a mapping no policy of the program's own? text: behind the address. */
static bool is_free(const char *text)
{
    return begins(text, " default") || begins(text, " local");
}

/* The pages of a line of numa_maps on these nodes. */
static double pages_on(const char *line, const struct cpus *nodes)
{
    const char *end = strchrnul(line, '\n');
    double pages = 0;
    char *after;

    while ((line = memmem(line, (size_t)(end - line), " N", 2))) {
        unsigned long node = strtoul(line + 2, &after, 10);

        if (after != line + 2 && *after == '=' && node < CPUS_MAX && cpus_has(nodes, node))
            pages += (double)strtoull(after + 1, NULL, 10);
        line += 2;
    }
    return pages;
}

static size_t page_size(const char *line, size_t otherwise)
{
    static const char name[] = " kernelpagesize_kB=";
    const char *at = memmem(line, (size_t)(strchrnul(line, '\n') - line), name, strlen(name));

    return at ? (size_t)strtoull(at + strlen(name), NULL, 10) * 1024 : otherwise;
}

/* A great reservation (the shadow memory of a sanitizer) with next to nothing in it: to find that
 * would take minutes. */
static bool is_desert(const struct memory_range *range)
{
    double size = (double)(range->end - range->start);

    return size > MEMORY_DESERT_BYTES && range->bytes < size / 4096;
}

static int add(struct memory_ranges *ranges, const struct memory_range *range)
{
    if (array_grow(&ranges->range, &ranges->room, ranges->n + 1, sizeof(*range)) < 0)
        return -1;
    ranges->range[ranges->n++] = *range;
    return 0;
}

/* The line of maps for the mapping that begins there; *maps moves on to it. */
static bool find_mapping(const char **maps, uint64_t start, struct mapping *mapping)
{
    for (; **maps; *maps = next_line(*maps)) {
        if (!read_mapping(*maps, mapping))
            continue;
        if (mapping->start >= start)
            return mapping->start == start;
    }
    return false;
}

int memory_ranges_add(struct memory_ranges *ranges, const char *maps, const char *numa_maps,
                      size_t page_bytes, const struct cpus *leave, const struct cpus *leave_shared)
{
    for (const char *line = numa_maps; *line; line = next_line(line)) {
        struct memory_range range = {0};
        struct mapping mapping;
        char *after;

        range.start = strtoull(line, &after, 16);
        if (after == line || !is_free(after) || !find_mapping(&maps, range.start, &mapping) ||
            !follows(&mapping, &range))
            continue;
        range.end = mapping.end;
        range.page_bytes = page_size(line, page_bytes);
        if (range.page_bytes < page_bytes)
            continue;
        range.bytes =
            pages_on(line, range.shared ? leave_shared : leave) * (double)range.page_bytes;
        if (range.bytes > 0 && !is_desert(&range) && add(ranges, &range) < 0)
            return -1;
    }
    return 0;
}
