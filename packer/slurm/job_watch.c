/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/slurm/job_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "packer/base/array.h"

struct job_watch {
    int fd;
    size_t n, room;
    struct watched {
        uint32_t job;
        int wd;
        bool written;
    } * job; /* [n] */
};

int job_watch_open(struct job_watch **watch, struct berth_error *err)
{
    *watch = calloc(1, sizeof(**watch));
    if (!*watch)
        return berth_no_memory(err);
    (*watch)->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if ((*watch)->fd >= 0)
        return 0;
    berth_error_set(err, "inotify: %s", strerror(errno));
    free(*watch);
    *watch = NULL;
    return -1;
}

void job_watch_close(struct job_watch *watch)
{
    if (!watch)
        return;
    close(watch->fd);
    free(watch->job);
    free(watch);
}

int job_watch_fd(const struct job_watch *watch)
{
    return watch->fd;
}

static struct watched *find_job(const struct job_watch *watch, uint32_t job)
{
    for (size_t i = 0; i < watch->n; i++)
        if (watch->job[i].job == job)
            return &watch->job[i];
    return NULL;
}

int job_watch_add(struct job_watch *watch, uint32_t job, const char *path, struct berth_error *err)
{
    int wd;

    if (find_job(watch, job))
        return 0;
    if (array_grow(&watch->job, &watch->room, watch->n + 1, sizeof(*watch->job)) < 0)
        return berth_no_memory(err);
    wd = inotify_add_watch(watch->fd, path, IN_MODIFY);
    if (wd < 0)
        return berth_error_set(err, "%s: cannot be watched: %s", path, strerror(errno));
    watch->job[watch->n++] = (struct watched){.job = job, .wd = wd};
    return 0;
}

void job_watch_drop(struct job_watch *watch, uint32_t job)
{
    struct watched *gone = find_job(watch, job);

    if (!gone)
        return;
    inotify_rm_watch(watch->fd, gone->wd); /* fails where the file has gone already */
    *gone = watch->job[--watch->n];
}

/* Mark the jobs that waiting events are about. */
static void hear(struct job_watch *watch)
{
    _Alignas(struct inotify_event) char buffer[4096];
    const struct inotify_event *event;
    ssize_t size;

    while ((size = read(watch->fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof(*event) + event->len)) {
            event = (const struct inotify_event *)(buffer + at);
            for (size_t i = 0; i < watch->n; i++)
                if ((event->wd == watch->job[i].wd && (event->mask & IN_MODIFY)) ||
                    (event->mask & IN_Q_OVERFLOW))
                    watch->job[i].written = true;
        }
}

bool job_watch_next(struct job_watch *watch, uint32_t *job)
{
    hear(watch);
    for (size_t i = 0; i < watch->n; i++)
        if (watch->job[i].written) {
            watch->job[i].written = false;
            *job = watch->job[i].job;
            return true;
        }
    return false;
}
