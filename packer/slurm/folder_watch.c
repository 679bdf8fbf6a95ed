/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder_watch - see folder_watch.h */
#include "packer/slurm/folder_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"
#include "enum_table.h"

/* What is in a folder that is watched. */
enum kind {
    USERS, /* uid_U (v1) */
    JOBS,  /* a job's: job_J, or a SLUID */
    FRESH, /* a job's, whose CPUs are not known yet */
    STEPS, /* a job's that is named */
    KINDS
};

static const uint32_t TABLE(mask_of, KINDS) = {
    ROW(USERS) = IN_CREATE | IN_DELETE,
    ROW(JOBS) = IN_CREATE | IN_DELETE,
    ROW(FRESH) = IN_MODIFY,
    ROW(STEPS) = IN_CREATE | IN_DELETE,
};
TABLE_COMPLETE(mask_of);

struct watched {
    int wd;
    enum kind kind;
    uint32_t job; /* of FRESH and STEPS; it may become known later (slurm_folders.h) */
    char *dir;
};

struct folder_watch {
    struct slurm_cgroups slurm;
    int fd;
    size_t n, room;
    struct watched *watched; /* [n] */
    size_t first, nevents, events_room;
    struct folder_event *event; /* [first .. nevents) are to be told */
};

int folder_watch_open(struct folder_watch **watch, struct slurm_cgroups slurm,
                      struct berth_error *err)
{
    *watch = calloc(1, sizeof(**watch));
    if (!*watch)
        return berth_no_memory(err);
    (*watch)->slurm = slurm;
    (*watch)->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if ((*watch)->fd >= 0)
        return 0;
    berth_error_set(err, "inotify: %s", strerror(errno));
    free(*watch);
    *watch = NULL;
    return -1;
}

void folder_watch_close(struct folder_watch *watch)
{
    if (!watch)
        return;
    close(watch->fd);
    for (size_t i = 0; i < watch->n; i++)
        free(watch->watched[i].dir);
    free(watch->watched);
    free(watch->event);
    free(watch);
}

int folder_watch_fd(const struct folder_watch *watch)
{
    return watch->fd;
}

/* ---- what is watched ---- */

static struct watched *find_wd(struct folder_watch *watch, int wd)
{
    for (size_t i = 0; i < watch->n; i++)
        if (watch->watched[i].wd == wd)
            return &watch->watched[i];
    return NULL;
}

static struct watched *find_dir(struct folder_watch *watch, const char *dir)
{
    for (size_t i = 0; i < watch->n; i++)
        if (strcmp(watch->watched[i].dir, dir) == 0)
            return &watch->watched[i];
    return NULL;
}

/* The kernel has dropped it, or will. */
static void forget(struct folder_watch *watch, struct watched *gone)
{
    free(gone->dir);
    *gone = watch->watched[--watch->n];
}

/* Asks the kernel. The path is the descriptor's: it stays below the root that the tests give. */
static int ask(struct folder_watch *watch, const char *dir, enum kind kind)
{
    int fd = rootfs_openat(watch->slurm.root, dir, O_RDONLY | O_DIRECTORY), wd = -1;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (fd >= 0)
        wd = inotify_add_watch(watch->fd, path, mask_of[kind] | IN_ONLYDIR);
    file_close(fd);
    return wd;
}

/* Returns 1 where the folder is watched from now on, 0 where it was so before, or -1 and err. The
 * kernel is asked in any case: a folder that was removed and made again is another one. */
static int add(struct folder_watch *watch, const char *dir, enum kind kind, uint32_t job,
               struct berth_error *err)
{
    struct watched *old = find_dir(watch, dir);
    int wd = old || watch->n < FOLDER_WATCH_MAX ? ask(watch, dir, kind) : -2;
    char *copy = wd < 0 || old ? NULL : strdup(dir);
    bool same = old && old->wd == wd && old->kind == kind;

    if (wd == -2)
        return berth_error_set(err, "%s: too many folders are watched", dir);
    if (wd < 0)
        return berth_error_set(err, "%s: cannot be watched: %s", dir, strerror(errno));
    if (old) {
        if (old->wd != wd)
            inotify_rm_watch(watch->fd, old->wd);
        old->wd = wd;
        old->kind = kind;
        return !same;
    }
    if (!copy ||
        array_grow(&watch->watched, &watch->room, watch->n + 1, sizeof(*watch->watched)) < 0) {
        inotify_rm_watch(watch->fd, wd);
        free(copy);
        return berth_no_memory(err);
    }
    watch->watched[watch->n++] = (struct watched){wd, kind, job, copy};
    return 1;
}

void folder_watch_settle(struct folder_watch *watch, uint32_t job)
{
    for (size_t i = watch->n; i-- > 0;) {
        struct watched *watched = &watch->watched[i];

        if ((watched->kind != FRESH && watched->kind != STEPS) || watched->job != job)
            continue;
        inotify_rm_watch(watch->fd, watched->wd); /* fails where the folder has gone already */
        forget(watch, watched);
    }
}

/* A folder is gone. cgroupfs does not say so of itself (IN_DELETE_SELF), only of what is in it. */
static void unwatch(struct folder_watch *watch, const char *dir)
{
    struct watched *gone = find_dir(watch, dir);

    if (!gone)
        return;
    inotify_rm_watch(watch->fd, gone->wd);
    forget(watch, gone);
}

/* ---- what is told ---- */

static void tell(struct folder_watch *watch, enum folder_what what, struct wire_step_id id,
                 const char *dir)
{
    struct folder_event *event;

    if (watch->first == watch->nevents)
        watch->first = watch->nevents = 0;
    if (array_grow(&watch->event, &watch->events_room, watch->nevents + 1, sizeof(*watch->event)) <
        0)
        return; /* the sweep finds it */
    event = &watch->event[watch->nevents++];
    event->what = what;
    event->id = id;
    snprintf(event->dir, sizeof(event->dir), "%s", dir);
}

/* The number of the job whose folder this is, or was; 0: it is none. */
static uint32_t job_of(const struct folder_watch *watch, const char *path)
{
    return slurm_folders_job(watch->slurm, path);
}

static int new_job(struct folder_watch *watch, const char *path)
{
    uint32_t job = job_of(watch, path);
    struct berth_error err;

    if (job == 0)
        return 0;
    add(watch, path, FRESH, job, &err); /* else the sweep finds it */
    tell(watch, FOLDER_JOB, (struct wire_step_id){job, UINT32_MAX}, path);
    return 0;
}

static int visit_job(struct slurm_cgroups slurm, const char *path, void *arg)
{
    (void)slurm;
    return new_job(arg, path);
}

/* Watches a user's folder, and tells of the jobs that were there before it was, where it is new. */
static int watch_user(struct folder_watch *watch, const char *path, bool fresh,
                      struct berth_error *err)
{
    int rc = add(watch, path, JOBS, 0, err);

    if (rc == 1 && fresh)
        slurm_each_dir(watch->slurm, path, "", visit_job, watch);
    return rc < 0 ? -1 : 0;
}

struct users {
    struct folder_watch *watch;
    struct berth_error *err;
};

static int visit_user(struct slurm_cgroups slurm, const char *path, void *arg)
{
    const struct users *users = arg;

    (void)slurm;
    return watch_user(users->watch, path, false, users->err);
}

static void cut(char *path)
{
    *strrchr(path, '/') = '\0';
}

int folder_watch_step(struct folder_watch *watch, struct wire_step_id id, const char *leaf,
                      struct berth_error *err)
{
    struct users users = {watch, err};
    struct slurm_job job;
    int rc;

    if (!slurm_job_of(watch->slurm, id, leaf, &job))
        return 0;
    if (add(watch, job.dir, STEPS, job.job, err) < 0)
        return -1;
    cut(job.dir);
    rc = watch_user(watch, job.dir, false, err);
    if (rc < 0 || job.unified)
        return rc;
    cut(job.dir);
    rc = add(watch, job.dir, USERS, 0, err);
    return rc == 1 ? slurm_each_dir(watch->slurm, job.dir, "uid_", visit_user, &users) : rc;
}

/* ---- what the kernel says ---- */

static void hear_step(struct folder_watch *watch, const struct watched *in,
                      const struct inotify_event *event)
{
    char name[WIRE_STEP_NAME_MAX];
    struct wire_step_id id;

    if (strncmp(event->name, "step_", 5) == 0 &&
        (size_t)snprintf(name, sizeof(name), "%u.%s", in->job, event->name + 5) < sizeof(name) &&
        wire_step_parse(name, &id) == 0 && id.step != WIRE_STEP_EXTERN)
        tell(watch, event->mask & IN_CREATE ? FOLDER_STEP : FOLDER_GONE, id, "");
}

/* A job's CPUs were written: its slurmstepd has named itself by now. */
static void hear_fresh(struct folder_watch *watch, struct watched *in)
{
    in->job = job_of(watch, in->dir);
    tell(watch, FOLDER_JOB, (struct wire_step_id){in->job, UINT32_MAX}, in->dir);
}

static void hear_one(struct folder_watch *watch, const struct inotify_event *event)
{
    struct watched *in = find_wd(watch, event->wd);
    char path[CGROUP_DIR_MAX + NAME_MAX + 2];
    struct berth_error err;
    uint32_t job;

    if (event->mask & IN_Q_OVERFLOW)
        tell(watch, FOLDER_LOST, WIRE_ALL, "");
    if (!in)
        return;
    if (event->mask & IN_IGNORED) {
        forget(watch, in);
        return;
    }
    if (event->len == 0)
        return;
    snprintf(path, sizeof(path), "%s/%s", in->dir, event->name);
    if (in->kind == STEPS)
        hear_step(watch, in, event);
    else if (in->kind == FRESH && strcmp(event->name, "cpuset.cpus") == 0)
        hear_fresh(watch, in);
    else if (in->kind == USERS && (event->mask & IN_DELETE))
        unwatch(watch, path);
    else if (in->kind == USERS && strncmp(event->name, "uid_", 4) == 0)
        watch_user(watch, path, true, &err);
    else if (in->kind == JOBS && (event->mask & IN_CREATE))
        new_job(watch, path);
    else if (in->kind == JOBS && (job = job_of(watch, path)) != 0) {
        folder_watch_settle(watch, job);
        tell(watch, FOLDER_GONE, (struct wire_step_id){job, UINT32_MAX}, "");
    }
}

static void hear(struct folder_watch *watch)
{
    _Alignas(struct inotify_event) char buffer[4096];
    const struct inotify_event *event;
    ssize_t size;

    while ((size = read(watch->fd, buffer, sizeof(buffer))) > 0)
        for (ssize_t at = 0; at < size; at += (ssize_t)(sizeof(*event) + event->len)) {
            event = (const struct inotify_event *)(buffer + at);
            hear_one(watch, event);
        }
}

bool folder_watch_next(struct folder_watch *watch, struct folder_event *event)
{
    if (watch->first == watch->nevents)
        hear(watch);
    if (watch->first == watch->nevents)
        return false;
    *event = watch->event[watch->first++];
    return true;
}
