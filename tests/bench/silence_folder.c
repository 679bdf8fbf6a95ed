/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_folder - see silence_folder.h */
#include "tests/bench/silence_folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define STEP "job_1/step_0"

static int put(const char *folder, const char *file, const char *text)
{
    char path[192];
    FILE *out;
    int rc;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    out = fopen(path, "we");
    if (!out)
        return -1;
    rc = fputs(text, out) < 0;
    return fclose(out) != 0 || rc ? -1 : 0;
}

/* Makes the folder, and those that lead to it; version 2 counts only where it is told to. */
static int make(char *path, bool unified)
{
    for (char *at = strchr(path + sizeof(CGROUPS), '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if ((mkdir(path, 0755) < 0 && errno != EEXIST) ||
            (unified && put(path, "cgroup.subtree_control", "+cpu +memory") < 0)) {
            *at = '/';
            return -1;
        }
        *at = '/';
    }
    return mkdir(path, 0755);
}

static int enter(const char *path, const pid_t *pid, size_t n)
{
    char text[16];

    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%d", (int)pid[i]);
        if (put(path, "cgroup.procs", text) < 0)
            return -1;
    }
    return 0;
}

void silence_folder_make(struct silence_folder *folder, const pid_t *pid, size_t n)
{
    bool unified = access(CGROUPS "/cgroup.controllers", F_OK) == 0;
    static const char *const controllers[] = {"cpuacct", "memory"};

    *folder = (struct silence_folder){{""}};
    for (size_t i = 0; i < (unified ? 1 : 2); i++) {
        char *path = folder->path[i];

        snprintf(path, sizeof(folder->path[i]), "%s/%s%sberth_silence_%d/" STEP "%s", CGROUPS,
                 unified ? "" : controllers[i], unified ? "" : "/", (int)getpid(),
                 unified ? "/user" : "");
        if (make(path, unified) < 0 || enter(path, pid, n) < 0)
            fprintf(stderr, "silence: %s: %s: the step has none\n", path, strerror(errno));
    }
}

void silence_folder_remove(struct silence_folder *folder)
{
    for (size_t i = 0; i < sizeof(folder->path) / sizeof(folder->path[0]); i++)
        while (strstr(folder->path[i], "berth_silence_") && rmdir(folder->path[i]) == 0)
            *strrchr(folder->path[i], '/') = '\0';
}
