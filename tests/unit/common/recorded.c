/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorded - see recorded.h */
#include "tests/unit/common/recorded.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/rootfs.h"
#include "tests/unit/common/folder.h"

bool recorded_path(const char *name, char path[512])
{
    const char *shared = getenv("BERTH_SHARED"), *srcdir = getenv("srcdir");

    if (shared)
        snprintf(path, 512, "%s/%s", shared, name);
    else
        snprintf(path, 512, "%s/../shared/%s", srcdir ? srcdir : ".", name);
    return access(path, R_OK) == 0;
}

static bool has_devices(const char *folder, const char *name)
{
    struct rootfs root;
    char *text = NULL;
    bool has;

    if (rootfs_open(&root, folder, NULL) == 0) {
        text = rootfs_read(&root, name);
        rootfs_close(&root);
    }
    has = text && strstr(text, "\"PCIDev\"");
    free(text);
    return has;
}

/* Visits the files of a folder in the order of their names. */
static size_t visit_folder(const char *folder, void (*visit)(const char *path, void *arg),
                           void *arg)
{
    struct dirent **entry = NULL;
    int n = scandir(folder, &entry, NULL, alphasort);
    size_t visited = 0;

    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(entry[i]->d_name, '.');
        char path[1024];

        snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
        if (dot && strcmp(dot, ".xml") == 0 && has_devices(folder, entry[i]->d_name)) {
            visit(path, arg);
            visited++;
        }
        free(entry[i]);
    }
    free(entry);
    return visited;
}

size_t recorded_topologies(void (*visit)(const char *path, void *arg), void *arg)
{
    char path[512], dir[64], command[1024];
    size_t n = 0;

    if (recorded_path("topologies", path))
        n += visit_folder(path, visit, arg);
    if (!recorded_path("data/real2/sparecores/lstopo.tar.xz", path))
        return n;
    folder_new(dir, sizeof(dir), "recorded");
    snprintf(command, sizeof(command), "tar -xJf '%s' -C '%s'", path, dir);
    if (system(command) == 0)
        n += visit_folder(dir, visit, arg);
    folder_remove(dir);
    return n;
}
