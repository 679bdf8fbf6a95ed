/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_marker - see pool_marker.h */
#include "packer/steps/pool_marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/file.h"

/* Who knows a job's number can look for it; nobody but root lists whose jobs are here. */
#define DIR_MODE 0711

/* The folder beside the socket. */
static void marker_dir(const struct packer *packer, char *path, size_t size)
{
    char socket[sizeof(packer->conf.socket)];

    memcpy(socket, packer->conf.socket, sizeof(socket));
    snprintf(path, size, "%s/%s", dirname(socket), WIRE_POOL_DIR);
}

/* Does the job keep its marker: has it a live step that opted in? */
static bool opted_in(const struct packer *packer, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step->request.id.job == job && step->request.options.mode != WIRE_MODE_OFF)
        return true;
    return false;
}

/* Makes or removes a job's marker of that kind. */
static void mark(const struct packer *packer, uint32_t job, const char *suffix, bool there)
{
    char dir[PATH_MAX], path[PATH_MAX + 32];
    int fd;

    marker_dir(packer, dir, sizeof(dir));
    snprintf(path, sizeof(path), "%s/%u%s", dir, job, suffix);
    if (!there) {
        unlink(path);
        return;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        log_error("%s: %s", path, strerror(errno));
    else
        close(fd);
}

void pool_marker_update(const struct packer *packer, uint32_t job)
{
    mark(packer, job, "", opted_in(packer, job));
}

void pool_marker_watch(const struct packer *packer, uint32_t job, bool watch)
{
    mark(packer, job, WIRE_WATCH_SUFFIX, watch);
}

void pool_marker_unwatch(const struct packer *packer,
                         bool (*wanted)(const struct packer *packer, uint32_t job))
{
    char path[PATH_MAX], *end;
    struct dirent *entry;
    unsigned long job;
    DIR *dir;

    marker_dir(packer, path, sizeof(path));
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        job = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && strcmp(end, WIRE_WATCH_SUFFIX) == 0 && job <= UINT32_MAX &&
            !wanted(packer, (uint32_t)job))
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

/* Remove every marker of the folder. */
static void remove_all(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

void pool_marker_update_all(const struct packer *packer)
{
    const struct step *step;
    char path[PATH_MAX];

    marker_dir(packer, path, sizeof(path));
    if (file_folder(path, DIR_MODE) < 0 || chmod(path, DIR_MODE) < 0)
        log_error("%s: %s", path, strerror(errno));
    remove_all(path);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        pool_marker_update(packer, step->request.id.job);
        pool_marker_watch(packer, step->request.id.job, true);
    }
}

void pool_marker_remove_all(const struct packer *packer)
{
    char path[PATH_MAX];

    marker_dir(packer, path, sizeof(path));
    remove_all(path);
    rmdir(path);
}
