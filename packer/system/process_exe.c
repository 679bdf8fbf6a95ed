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
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (!rootfs_is_machine(root))
        return -1;
    fd = openat(root->fd, path + 1, flags);
    return fd < 0 ? rootfs_ask_for(root, path, flags) : fd;
}

/* Reads the link by a descriptor of who may see it. */
static ssize_t ask_link(const struct rootfs *root, const char *path, char exe[PATH_MAX])
{
    int fd = rootfs_ask_for(root, path, O_PATH);
    ssize_t length;
    char own[64];

    if (fd < 0)
        return -1;
    snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
    length = readlink(own, exe, PATH_MAX - 1);
    close(fd);
    return length;
}

static bool read_link(const struct rootfs *root, pid_t pid, char exe[PATH_MAX])
{
    static const char deleted[] = " (deleted)";
    char path[64], *end;
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    length = readlinkat(root->fd, path + 1, exe, PATH_MAX - 1);
    if (length < 0)
        length = ask_link(root, path, exe);
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
