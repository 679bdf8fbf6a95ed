/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_times - see thread_times.h */
#include "packer/counters/thread_times.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packer/base/array.h"
#include "packer/counters/lock_time.h"

/* Time on a CPU, time waiting for one, slices. -1: it has ended. */
static int read_schedstat(const struct rootfs *root, struct thread_times *thread)
{
    char path[64], *text;
    double ran, waited;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)thread->pid, (int)thread->tid);
    text = rootfs_read(root, path);
    if (!text)
        return -1;
    if (sscanf(text, "%lf %lf", &ran, &waited) != 2)
        ran = waited = NAN;
    thread->running = ran / 1e9;
    thread->waiting = waited / 1e9;
    free(text);
    return 0;
}

/* One that is not watched yet is from now on. */
static void read_lock(struct lock_time *lock, struct thread_times *thread)
{
    uint64_t ns;

    thread->lock = NAN;
    if (!lock)
        return;
    if (lock_time_read_thread(lock, thread->pid, thread->tid, &ns) == 0)
        thread->lock = (double)ns / 1e9;
    else if (lock_time_watch_thread(lock, thread->pid, thread->tid) == 0)
        thread->lock = 0;
}

static int add(const struct rootfs *root, struct lock_time *lock, struct thread_list *list,
               pid_t pid, pid_t tid)
{
    struct thread_times thread = {.pid = pid, .tid = tid};

    if (read_schedstat(root, &thread) < 0)
        return 0;
    if (array_grow(&list->thread, &list->room, list->n + 1, sizeof(*list->thread)) < 0)
        return -1;
    read_lock(lock, &thread);
    list->thread[list->n++] = thread;
    return 0;
}

static int read_process(const struct rootfs *root, struct lock_time *lock, pid_t pid,
                        struct thread_list *list)
{
    char path[64], **name;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    name = rootfs_list(root, path);
    for (size_t i = 0; name && name[i] && rc == 0 && list->n < THREAD_TIMES_MAX; i++)
        rc = add(root, lock, list, pid, (pid_t)atoi(name[i]));
    rootfs_list_free(name);
    return rc;
}

int thread_times_read(const struct rootfs *root, struct lock_time *lock, size_t n, const pid_t *pid,
                      struct thread_list *list)
{
    *list = (struct thread_list){.n = 0};
    for (size_t i = 0; i < n && list->n < THREAD_TIMES_MAX; i++)
        if (read_process(root, lock, pid[i], list) < 0) {
            thread_list_free(list);
            return -1;
        }
    return 0;
}

void thread_times_forget(struct lock_time *lock, const struct thread_list *list)
{
    for (size_t i = 0; lock && i < list->n; i++)
        lock_time_forget_thread(lock, list->thread[i].pid, list->thread[i].tid);
}

/* Both lists are in the order in which /proc lists, so the next one is near. */
static const struct thread_times *find_thread(const struct thread_list *list, size_t *at, pid_t tid)
{
    for (size_t tried = 0; tried < list->n; tried++) {
        const struct thread_times *thread = &list->thread[(*at + tried) % list->n];

        if (thread->tid == tid) {
            *at = (*at + tried + 1) % list->n;
            return thread;
        }
    }
    return NULL;
}

void thread_times_forget_but(struct lock_time *lock, const struct thread_list *list,
                             const struct thread_list *kept)
{
    size_t at = 0;

    for (size_t i = 0; lock && i < list->n; i++) {
        const struct thread_times *thread = &list->thread[i],
                                  *other = find_thread(kept, &at, thread->tid);

        if (!other || other->pid != thread->pid)
            lock_time_forget_thread(lock, thread->pid, thread->tid);
    }
}

void thread_times_since(struct thread_list *later, const struct thread_list *earlier)
{
    size_t kept = 0, at = 0;

    for (size_t i = 0; i < later->n; i++) {
        struct thread_times now = later->thread[i];
        const struct thread_times *then = find_thread(earlier, &at, now.tid);

        if (!then || then->pid != now.pid || now.running < then->running)
            continue;
        now.running -= then->running;
        now.waiting -= then->waiting;
        now.lock -= then->lock;
        later->thread[kept++] = now;
    }
    later->n = kept;
}

void thread_list_free(struct thread_list *list)
{
    free(list->thread);
    *list = (struct thread_list){.n = 0};
}
