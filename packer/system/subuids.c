/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subuids - see subuids.h */
#include "packer/system/subuids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"

#define FILE_MAX (4 << 20)

struct subuid_range {
    uint64_t first, count;
    uid_t owner;
    const char *name; /* while the text is read */
};

/* Reads a number of 32 bits that ends there. Returns 0, or -1. */
static int read_number(const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end || errno || *number >= UINT32_MAX ? -1 : 0;
}

/* Reads "NAME:FIRST:COUNT", or with a uid as NAME. Returns 0, or -1: it is none. */
static int read_range(char *line, struct subuid_range *range)
{
    char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;

    if (!count || *line == '#')
        return -1;
    *first = *count = '\0';
    range->name = line;
    if (read_number(first + 1, &range->first) < 0 || read_number(count + 1, &range->count) < 0)
        return -1;
    return range->first + range->count <= UINT32_MAX ? 0 : -1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct subuid_range *)a)->name, ((const struct subuid_range *)b)->name);
}

/* All ranges of a name have one owner. */
static void set_owners(struct subuids *subuids)
{
    for (size_t i = 0; i < subuids->n; i++) {
        struct subuid_range *range = &subuids->range[i];
        uint64_t uid;

        if (i && by_name(range - 1, range) == 0)
            range->owner = range[-1].owner;
        else
            range->owner = (uid_t)(read_number(range->name, &uid) == 0 ? uid : range->first);
    }
}

void subuids_parse(struct subuids *subuids, char *text)
{
    size_t lines = 1;
    char *rest = text;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    subuids_free(subuids);
    subuids->range = calloc(lines, sizeof(*subuids->range));
    for (char *line; subuids->range && (line = strsep(&rest, "\n"));)
        subuids->n += read_range(line, &subuids->range[subuids->n]) == 0;
    if (subuids->n)
        qsort(subuids->range, subuids->n, sizeof(*subuids->range), by_name);
    set_owners(subuids);
}

void subuids_read(struct subuids *subuids, const struct rootfs *root)
{
    int fd = rootfs_openat(root, "etc/subuid", O_RDONLY | O_NONBLOCK);
    struct timespec changed = subuids->changed;
    struct stat st;
    char *text;

    if (fd < 0 || fstat(fd, &st) < 0) {
        file_close(fd);
        subuids_free(subuids);
        return;
    }
    if (st.st_mtim.tv_sec != changed.tv_sec || st.st_mtim.tv_nsec != changed.tv_nsec) {
        text = file_read_fd(fd, FILE_MAX, NULL);
        if (text)
            subuids_parse(subuids, text);
        subuids->changed = st.st_mtim;
        free(text);
    }
    close(fd);
}

uid_t subuids_owner(const struct subuids *subuids, uid_t uid)
{
    for (size_t i = 0; i < subuids->n; i++)
        if (uid >= subuids->range[i].first &&
            uid - subuids->range[i].first < subuids->range[i].count)
            return subuids->range[i].owner;
    return uid;
}

void subuids_free(struct subuids *subuids)
{
    free(subuids->range);
    *subuids = (struct subuids){.n = 0};
}
