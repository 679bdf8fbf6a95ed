/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpusets - see cpusets.h */
#include "tests/unit/common/cpusets.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/enforce/enforce.h"
#include "tests/unit/common/folder.h"

bool cpusets_usable(void)
{
    struct rootfs root = {.fd = -1};
    struct cpus want, all;
    bool fit =
        geteuid() == 0 && cpus_parse(&want, "0-1") == 0 && rootfs_open(&root, "/", NULL) == 0 &&
        enforce_cgroup1.probe(&root, "/sys/fs/cgroup", NULL) == 1 &&
        rootfs_read_cpus(&root, CPUSET "/cpuset.cpus", &all, NULL) == 0 && cpus_subset(&want, &all);

    rootfs_close(&root);
    return fit;
}

void cpuset_set(const char *dir, const char *cpus)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/cpuset.cpus", dir);
    file_put(path, cpus);
}

void cpuset_make(const char *dir, const char *cpus)
{
    char path[PATH_MAX];

    if (mkdir(dir, 0755) < 0 && errno != EEXIST)
        fail_msg("%s: %s", dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/cpuset.mems", dir);
    file_put(path, "0");
    cpuset_set(dir, cpus);
}
