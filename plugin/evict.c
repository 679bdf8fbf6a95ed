/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evict - see evict.h */
#include "evict.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire_guest.h"

#define DEPTH_MAX 4 /* of folders below a step's: Slurm has one for each task */
#define ROUNDS 5    /* over a step: what it forked meanwhile is where its parent was */

/* Returns the number that a name is; 0: it is none. */
static pid_t number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    return *end == '\0' && number > 0 && number <= INT_MAX ? (pid_t)number : 0;
}

/* Sends one thread home. Returns 1 where it was elsewhere, else 0. */
static size_t send_thread(pid_t tid, const struct cpus *home)
{
    struct cpus now;

    if (sched_getaffinity(tid, sizeof(now.word), (cpu_set_t *)now.word) < 0 ||
        cpus_subset(&now, home))
        return 0;
    return sched_setaffinity(tid, sizeof(home->word), (const cpu_set_t *)home->word) == 0;
}

static size_t send_process(pid_t pid, const struct cpus *home)
{
    char path[64];
    struct dirent *entry;
    size_t sent = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        pid_t tid = number_of(entry->d_name);

        if (tid)
            sent += send_thread(tid, home);
    }
    if (tasks)
        closedir(tasks);
    return sent;
}

/* Those of one folder. */
static size_t send_listed(const char *dir, const struct cpus *home)
{
    char path[PATH_MAX], *line = NULL;
    size_t sent = 0, room = 0;
    FILE *list;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    list = fopen(path, "re");
    while (list && getline(&line, &room, list) > 0) {
        pid_t pid;

        line[strcspn(line, "\n")] = '\0';
        pid = number_of(line);
        if (pid)
            sent += send_process(pid, home);
    }
    free(line);
    if (list)
        fclose(list);
    return sent;
}

/* And of the folders below it. */
static size_t send_folder(const char *dir, const struct cpus *home, unsigned depth)
{
    size_t sent = send_listed(dir, home);
    struct dirent *entry;
    DIR *folder = depth < DEPTH_MAX ? opendir(dir) : NULL;

    while (folder && (entry = readdir(folder))) {
        char below[PATH_MAX];

        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (snprintf(below, sizeof(below), "%s/%s", dir, entry->d_name) < (int)sizeof(below))
            sent += send_folder(below, home, depth + 1);
    }
    if (folder)
        closedir(folder);
    return sent;
}

static size_t send_step(const struct wire_guest *guest)
{
    size_t all = 0, sent;
    unsigned round = 0;

    do {
        sent = send_folder(guest->dir, &guest->home, 0);
        all += sent;
    } while (sent > 0 && ++round < ROUNDS);
    return all;
}

size_t evict_from(const struct cpus *cpus, const char *path)
{
    struct wire_guest guest;
    size_t sent = 0, room = 0;
    FILE *mark = fopen(path, "re");
    char *line = NULL;

    while (mark && getline(&line, &room, mark) > 0)
        if (wire_guest_read(line, &guest) && cpus_intersect(&guest.on, cpus))
            sent += send_step(&guest);
    free(line);
    if (mark)
        fclose(mark);
    return sent;
}
