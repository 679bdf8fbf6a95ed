/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_exe - see process_exe.h */
#include "packer/system/process_exe.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int process_exe_open(const struct rootfs *root, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "proc/%d/exe", (int)pid);
    return rootfs_is_machine(root)
               ? openat(root->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
               : -1;
}

static bool read_link(const struct rootfs *root, pid_t pid, char exe[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[64], *end;
    ssize_t length;

    snprintf(path, sizeof(path), "proc/%d/exe", (int)pid);
    length = readlinkat(root->fd, path, exe, PATH_MAX - 1);
    if (length <= 0)
        return false;
    exe[length] = '\0';
    end = (size_t)length > sizeof(deleted) ? exe + length - (sizeof(deleted) - 1) : NULL;
    if (end && strcmp(end, deleted) == 0)
        *end = '\0';
    return true;
}

void process_exe_read(const struct rootfs *root, pid_t pid, char exe[PATH_MAX])
{
    char path[64], *name;

    exe[0] = '\0';
    if (read_link(root, pid, exe))
        return;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    name = rootfs_read(root, path);
    if (name)
        snprintf(exe, PATH_MAX, "%.*s", (int)strcspn(name, "\n"), name);
    free(name);
}
