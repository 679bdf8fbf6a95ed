/* SPDX-License-Identifier: GPL-2.0-or-later */
/* msr_tree - see msr_tree.h */
#include "tests/unit/common/msr_tree.h"

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

#define REGISTER 0x1a4

void msr_tree_make(const char *folder, size_t cpus, const char *cpuinfo)
{
    char path[64];

    folder_put(folder, "proc/cpuinfo", cpuinfo);
    for (size_t cpu = 0; cpu < cpus; cpu++) {
        snprintf(path, sizeof(path), "dev/cpu/%zu/msr", cpu);
        folder_put(folder, path, "");
        msr_tree_put(folder, cpu, 0);
    }
}

static int open_msr(const char *folder, size_t cpu)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof(path), "%s/dev/cpu/%zu/msr", folder, cpu);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        err(1, "%s", path);
    return fd;
}

uint64_t msr_tree_get(const char *folder, size_t cpu)
{
    int fd = open_msr(folder, cpu);
    uint64_t value = 0;

    if (pread(fd, &value, sizeof(value), REGISTER) != sizeof(value))
        err(1, "CPU %zu", cpu);
    close(fd);
    return value;
}

void msr_tree_put(const char *folder, size_t cpu, uint64_t value)
{
    int fd = open_msr(folder, cpu);

    if (pwrite(fd, &value, sizeof(value), REGISTER) != sizeof(value))
        err(1, "CPU %zu", cpu);
    close(fd);
}
