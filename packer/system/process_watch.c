/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_watch - see process_watch.h */
#include "packer/system/process_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/system/process_look.h"

#define LOOK_S 1.0 /* between two looks at the processes without a descriptor */

struct watched {
    uint64_t tag, started;
    pid_t pid;
    int fd; /* -1: looked at now and then */
    bool ended;
};

struct process_watch {
    const struct rootfs *root;
    int epoll;
    bool at_once; /* the kernel has descriptors of processes, and gives them to us */
    double looked_s;
    size_t n, room, by_fd;
    struct watched *process; /* [n] */
};

static bool can_open_fd(void)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0); /* close-on-exec by itself */

    file_close(self);
    return self >= 0;
}

int process_watch_open(struct process_watch **watch, const struct rootfs *root,
                       struct berth_error *err)
{
    *watch = calloc(1, sizeof(**watch));
    if (!*watch)
        return berth_no_memory(err);
    (*watch)->root = root;
    (*watch)->epoll = epoll_create1(EPOLL_CLOEXEC);
    if ((*watch)->epoll >= 0) {
        (*watch)->at_once = can_open_fd();
        return 0;
    }
    berth_error_set(err, "epoll: %s", strerror(errno));
    free(*watch);
    *watch = NULL;
    return -1;
}

/* Takes the process at that position out of the list. */
static void take_out(struct process_watch *watch, size_t at)
{
    struct watched *gone = &watch->process[at];

    if (gone->fd >= 0) {
        watch->by_fd--;
        epoll_ctl(watch->epoll, EPOLL_CTL_DEL, gone->fd, NULL); /* a child may have it still */
        close(gone->fd);
    }
    *gone = watch->process[--watch->n];
}

void process_watch_close(struct process_watch *watch)
{
    if (!watch)
        return;
    while (watch->n)
        take_out(watch, watch->n - 1);
    close(watch->epoll);
    free(watch->process);
    free(watch);
}

int process_watch_fd(const struct process_watch *watch)
{
    return watch->epoll;
}

/* Has it ended? One that exits has. One that cannot be looked at, for want of a descriptor, has
 * not. */
static bool has_ended(const struct process_watch *watch, const struct watched *process)
{
    struct process_look look;

    if (process_look(watch->root, process->pid, &look) < 0)
        return errno == ENOENT || errno == ESRCH;
    return look.exiting || !process_same(look.started, process->started);
}

/* Returns a descriptor of the process in the epoll set; -1: it goes without. */
static int open_fd(const struct process_watch *watch, const struct watched *process)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = process->tag};
    struct rlimit files;
    int fd;

    if (!watch->at_once || getrlimit(RLIMIT_NOFILE, &files) < 0 ||
        watch->by_fd >= files.rlim_cur / 4)
        return -1;
    fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd >= 0 && epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event) == 0)
        return fd;
    file_close(fd);
    return -1;
}

int process_watch_add(struct process_watch *watch, uint64_t tag, pid_t pid, uint64_t started,
                      struct berth_error *err)
{
    struct watched process = {.tag = tag, .started = started, .pid = pid};

    if (array_grow(&watch->process, &watch->room, watch->n + 1, sizeof(*watch->process)) < 0)
        return berth_no_memory(err);
    process.fd = open_fd(watch, &process);
    process.ended =
        has_ended(watch, &process); /* looked up after the descriptor was opened: it is his */
    if (process.fd < 0 && watch->n == watch->by_fd)
        watch->looked_s = clock_s(); /* it is the first of those */
    watch->by_fd += process.fd >= 0;
    watch->process[watch->n++] = process;
    return 0;
}

static struct watched *find_watched(const struct process_watch *watch, uint64_t tag)
{
    for (size_t i = 0; i < watch->n; i++)
        if (watch->process[i].tag == tag)
            return &watch->process[i];
    return NULL;
}

void process_watch_drop(struct process_watch *watch, uint64_t tag)
{
    struct watched *process = find_watched(watch, tag);

    if (process)
        take_out(watch, (size_t)(process - watch->process));
}

/* Marks those that have ended. */
static void hear(struct process_watch *watch)
{
    struct epoll_event event[16];
    int n = epoll_wait(watch->epoll, event, sizeof(event) / sizeof(event[0]), 0);
    struct watched *process;

    for (int i = 0; i < n; i++)
        if ((process = find_watched(watch, event[i].data.u64)))
            process->ended = true;
    if (watch->by_fd == watch->n || clock_s() - watch->looked_s < LOOK_S)
        return;
    watch->looked_s = clock_s();
    for (size_t i = 0; i < watch->n; i++)
        if (watch->process[i].fd < 0 && has_ended(watch, &watch->process[i]))
            watch->process[i].ended = true;
}

bool process_watch_next(struct process_watch *watch, uint64_t *tag)
{
    hear(watch);
    for (size_t i = 0; i < watch->n; i++)
        if (watch->process[i].ended) {
            *tag = watch->process[i].tag;
            take_out(watch, i);
            return true;
        }
    return false;
}

double process_watch_due(const struct process_watch *watch)
{
    double in_s = watch->looked_s + LOOK_S - clock_s();

    for (size_t i = 0; i < watch->n; i++)
        if (watch->process[i].ended)
            return 0;
    if (watch->by_fd == watch->n)
        return -1;
    return in_s > 0 ? in_s : 0;
}

bool process_watch_at_once(const struct process_watch *watch)
{
    return watch->at_once && watch->by_fd == watch->n;
}
