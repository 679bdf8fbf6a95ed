/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_daemons - finds daemons by the name that the kernel has of them, which any program can
 * take: so only root's count. See doctor.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/cli/doctor/doctor.h"
#include "packer/system/process.h"

static bool is_called(const struct rootfs *root, const char *pid, const char *name)
{
    char path[320], *text;
    bool is;

    snprintf(path, sizeof(path), "/proc/%s/comm", pid);
    text = rootfs_read(root, path);
    is = text && strncmp(text, name, strlen(name)) == 0 && text[strlen(name)] == '\n';
    free(text);
    return is;
}

size_t doctor_daemons(const struct rootfs *root, const char *name, doctor_daemon_seen *seen,
                      void *arg)
{
    char **pids = rootfs_list(root, "/proc");
    size_t n = 0;

    for (size_t i = 0; pids && pids[i]; i++) {
        pid_t pid = (pid_t)strtol(pids[i], NULL, 10);

        if (pid <= 0 || !is_called(root, pids[i], name) || process_uid(root, pid) != 0)
            continue;
        n++;
        if (seen)
            seen(root, pid, arg);
    }
    rootfs_list_free(pids);
    return n;
}
