/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_look - see process_look.h
 *
 * There is one connection to taskstats for the process, of any thread that looks. It is never
 * closed: a thread that was given up may come back after everything else has gone. */
#include "packer/system/process_look.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/process.h"
#include "packer/system/taskstats.h"

/* A beginning that is told by a pidfd: its number, which no other process gets until the next boot.
 * Ticks are never that many. */
#define BY_PIDFD PROCESS_STARTED_UNKNOWN
#define TICKS_OFF 1             /* of a beginning */
#define QUICK_S 0.002           /* within that a request tells when a process began, to the tick */
#define TRIES 8                 /* to find the kernel that quick, with other threads on the CPU */
#define NUMBER_OF_THREAD O_EXCL /* PIDFD_THREAD (Linux 6.9) */

/* ---- taskstats ---- */

static struct {
    pthread_mutex_t mutex;
    bool tried;
    struct taskstats_link link; /* without a descriptor: it is not used */
} kernel = {.mutex = PTHREAD_MUTEX_INITIALIZER, .link = {.fd = -1}};

/* Connects, unless that was tried before. A kernel that counts no memory (CONFIG_TASK_XACCT) cannot
 * say who exits. */
static void try_once(void)
{
    struct taskstats_thread self;

    if (kernel.tried)
        return;
    kernel.tried = true;
    if (taskstats_connect(&kernel.link, NULL) < 0)
        return;
    if (taskstats_thread(&kernel.link, getpid(), &self) < 0 || !self.has_memory)
        taskstats_close(&kernel.link);
}

static uint64_t ticks(double seconds)
{
    uint64_t whole = (uint64_t)(seconds * (double)sysconf(_SC_CLK_TCK));

    return whole ? whole : 1;
}

/* The kernel's own clock: that of a berthd whose time is played stands still. */
static double kernel_s(void)
{
    struct timespec now = {0};

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Asks until the answer was quick: between the two looks at the clock the kernel has counted. */
static int ask_quickly(pid_t tid, struct taskstats_thread *thread, double *now_s)
{
    double began_s;
    int tries = 0;

    do {
        began_s = kernel_s();
        if (taskstats_thread(&kernel.link, tid, thread) < 0)
            return -1;
        *now_s = kernel_s();
    } while (*now_s - began_s > QUICK_S && ++tries < TRIES);
    return 0;
}

/* 1: yes; 0: taskstats is not used; -1 with errno: there is no such thread. */
static int look_taskstats(pid_t tid, struct process_look *look)
{
    struct taskstats_thread thread;
    double now_s = 0;
    int rc = 0;

    pthread_mutex_lock(&kernel.mutex);
    try_once();
    if (kernel.link.fd >= 0)
        rc = ask_quickly(tid, &thread, &now_s) == 0 ? 1 : errno == ESRCH ? -1 : 0;
    pthread_mutex_unlock(&kernel.mutex);
    if (rc <= 0)
        return rc;
    look->parent = thread.parent;
    look->exiting = !thread.has_memory;
    look->started = ticks(now_s > thread.elapsed_s ? now_s - thread.elapsed_s : 0);
    return 1;
}

/* ---- without it ---- */

static uint64_t started_pidfd(pid_t tid)
{
    int fd = (int)syscall(SYS_pidfd_open, tid, NUMBER_OF_THREAD);
    struct stat inode;
    uint64_t started = PROCESS_STARTED_UNKNOWN;

    if (fd < 0)
        return errno == ESRCH ? 0 : PROCESS_STARTED_UNKNOWN;
    if (fstat(fd, &inode) == 0)
        started = BY_PIDFD | (uint64_t)inode.st_ino;
    file_close(fd);
    return started;
}

/* 0 where the key is not there. */
static unsigned long status_number(char *text, const char *key)
{
    const char *value = process_status_value(text, key);

    return value ? strtoul(value, NULL, 10) : 0;
}

int process_look_status(const struct rootfs *root, pid_t pid, struct process_look *look)
{
    char *text = process_status(root, pid);

    if (!text)
        return -1;
    look->parent = (pid_t)status_number(text, "\nPPid:\t");
    look->threads = status_number(text, "\nThreads:\t");
    look->exiting = !process_status_value(text, "\nVmSize:");
    free(text);
    look->started = started_pidfd(pid);
    if (look->started)
        return 0;
    errno = ESRCH;
    return -1;
}

/* ---- either way ---- */

static int look_recorded(const struct rootfs *root, pid_t pid, struct process_look *look)
{
    struct process_stat stat;

    if (process_stat_get(root, pid, &stat) < 0)
        return -1;
    *look = (struct process_look){.parent = stat.parent,
                                  .started = stat.started ? stat.started : 1, /* as ticks() */
                                  .exiting = stat.exiting,
                                  .threads = (size_t)stat.threads + (stat.zombie ? 1 : 0)};
    return 0;
}

/* A folder has a link of each folder in it, and two more. */
int process_threads(const struct rootfs *root, pid_t pid, size_t *threads)
{
    char path[64];
    struct stat task;

    snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
    if (fstatat(root->fd, path, &task, 0) < 0)
        return -1;
    *threads = task.st_nlink > 2 ? task.st_nlink - 2 : 0;
    return 0;
}

int process_look(const struct rootfs *root, pid_t pid, struct process_look *look)
{
    int rc;

    if (!rootfs_is_machine(root))
        return look_recorded(root, pid, look);
    rc = look_taskstats(pid, look);
    return rc < 0    ? -1
           : rc == 0 ? process_look_status(root, pid, look)
                     : process_threads(root, pid, &look->threads);
}

uint64_t process_started(const struct rootfs *root, pid_t pid)
{
    struct process_look look;
    int rc;

    if (!rootfs_is_machine(root))
        return look_recorded(root, pid, &look) < 0 ? 0 : look.started;
    rc = look_taskstats(pid, &look);
    return rc < 0 ? 0 : rc == 0 ? started_pidfd(pid) : look.started;
}

/* Are they of one kind, so that they can be compared? */
static bool comparable(uint64_t a, uint64_t b)
{
    return a != PROCESS_STARTED_UNKNOWN && b != PROCESS_STARTED_UNKNOWN &&
           (a & BY_PIDFD) == (b & BY_PIDFD);
}

bool process_same(uint64_t started, uint64_t other)
{
    uint64_t apart = started > other ? started - other : other - started;

    return !comparable(started, other) || apart <= (started & BY_PIDFD ? 0 : TICKS_OFF);
}

bool process_later(uint64_t started, uint64_t other)
{
    return comparable(started, other) && !(started & BY_PIDFD) && started > other + TICKS_OFF;
}

bool process_is(const struct rootfs *root, pid_t pid, uint64_t started)
{
    uint64_t now = process_started(root, pid);

    return now && process_same(now, started);
}

bool process_began_by(uint64_t started, double at_s)
{
    return started & BY_PIDFD || (double)started <= at_s * (double)sysconf(_SC_CLK_TCK) + TICKS_OFF;
}

bool process_stopped(const struct rootfs *root, pid_t pid)
{
    struct process_stat stat;
    const char *state;
    char *text;
    bool stopped;

    if (!rootfs_is_machine(root))
        return process_stat_get(root, pid, &stat) == 0 && stat.stopped;
    state = process_status_line(root, pid, "\nState:\t", &text);
    stopped = state && (*state == 'T' || *state == 't');
    free(text);
    return stopped;
}

/* ---- CPU time ---- */

/* The clocks of any process, as clock_getcpuclockid(3) numbers them: both kinds of time in the
 * kernel's ticks, the user's of them, and all of it by the scheduler. */
enum { CLOCK_BOTH, CLOCK_USER, CLOCK_EXACT };

static int read_clock(pid_t pid, int which, double *ns)
{
    struct timespec time;

    if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | (unsigned)which), &time) < 0)
        return -1;
    *ns = (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
    return 0;
}

int process_cpu(const struct rootfs *root, pid_t pid, double *user_ns, double *system_ns)
{
    double both, user, exact;
    struct process_stat stat;

    if (!rootfs_is_machine(root)) {
        if (process_stat_get(root, pid, &stat) < 0)
            return -1;
        *user_ns = stat.user_ns;
        *system_ns = stat.system_ns;
        return 0;
    }
    if (read_clock(pid, CLOCK_BOTH, &both) < 0 || read_clock(pid, CLOCK_USER, &user) < 0 ||
        read_clock(pid, CLOCK_EXACT, &exact) < 0)
        return -1;
    *user_ns = both > 0 && user < both ? exact * (user / both) : exact;
    *system_ns = exact - *user_ns;
    return 0;
}
