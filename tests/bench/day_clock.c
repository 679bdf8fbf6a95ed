/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_clock - a clock that tests/bench/day advances, for a berthd that knows nothing of it: loaded
 * before the C library (LD_PRELOAD), it stands in for the calls that tell the time or wait for it.
 *
 * Time stands still while any thread works. When the event loop has nothing to do and every worker
 * thread waits, the bench is told when the first of them wants to go on, and says what time it is
 * next (day_clock.h): berthd and the bench take turns, so a run is the same each time. Waiting on a
 * condition is counted here by the thread that wakes the other, so that none is between the two.
 *
 * Besides, /proc/stat and what the bench says of memory nodes are those of the simulated node,
 * processes have the affinity that the bench tells for them, or none (steps stand where their
 * registration says), and whoever asks is root. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/day_clock.h"

#define NS 1000000000ll
/* A deadline is later by so much: who compares it with the time as seconds in a double, and finds
 * that it has not come, would wait for it again and again, and no time would ever pass. */
#define ROUNDED_NS 1000

/* A thread that waits on a condition, on that thread's stack. */
struct waiter {
    struct waiter *next;
    pthread_cond_t *cond;
    pthread_mutex_t *mutex;
    int64_t until; /* nanoseconds of the simulation */
    bool awake, timed_out;
};

static int control = -1;
static const char *stat_path, *nodes_path;
static pthread_t loop; /* the thread of the event loop */
static int64_t now;    /* nanoseconds of the simulation; the event loop writes it */
static bool owes;      /* the bench waits for an answer */

/* Under this lock, which is taken inside berthd's own: */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t quiet = PTHREAD_COND_INITIALIZER;
static struct waiter *waiters;
static int working; /* worker threads that do not wait */

static int (*real_epoll_wait)(int, struct epoll_event *, int, int);
static int (*real_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*real_cond_broadcast)(pthread_cond_t *);
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_getsockopt)(int, int, int, void *, socklen_t *);
static long (*real_syscall)(long, ...);

/* The conditions of glibc have two versions on x86. */
static void *real(const char *name)
{
    void *found =
        strncmp(name, "pthread_cond", 12) == 0 ? dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2") : NULL;

    return found ? found : dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void start(void)
{
    const char *fd = getenv(DAY_CLOCK_FD);

    real_epoll_wait = real("epoll_wait");
    real_cond_wait = real("pthread_cond_wait");
    real_cond_timedwait = real("pthread_cond_timedwait");
    real_cond_broadcast = real("pthread_cond_broadcast");
    real_create = real("pthread_create");
    real_getsockopt = real("getsockopt");
    real_syscall = real("syscall");
    stat_path = getenv(DAY_CLOCK_STAT);
    nodes_path = getenv(DAY_CLOCK_NODES);
    control = fd ? atoi(fd) : -1;
    loop = pthread_self();
    if (control >= 0)
        fcntl(control, F_SETFD, FD_CLOEXEC);
    unsetenv("LD_PRELOAD");
}

static bool in_loop(void)
{
    return pthread_equal(pthread_self(), loop);
}

/* ---- what time it is ---- */

/* Returns nanoseconds of a clock that stands still, or -1: it is none of these. */
static int64_t clock_at(clockid_t clock)
{
    int64_t at = __atomic_load_n(&now, __ATOMIC_SEQ_CST);

    if (control < 0)
        return -1;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        return at + DAY_CLOCK_UNIX_S * NS;
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
        clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME)
        return at + DAY_CLOCK_MONO_S * NS;
    return -1;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    int64_t ns = clock_at(clock);

    if (ns < 0)
        return (int)(real_syscall ? real_syscall : syscall)(SYS_clock_gettime, clock, at);
    *at = (struct timespec){ns / NS, ns % NS};
    return 0;
}

/* There are no timers of the kernel's: the event loop waits by epoll_wait(2), then. */
int timerfd_create(int clock, int flags)
{
    if (control >= 0) {
        errno = ENOSYS;
        return -1;
    }
    return (int)(real_syscall ? real_syscall : syscall)(SYS_timerfd_create, clock, flags);
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now_ns;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now_ns);
    *at = (struct timeval){now_ns.tv_sec, now_ns.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now_ns;

    clock_gettime(CLOCK_REALTIME, &now_ns);
    if (at)
        *at = now_ns.tv_sec;
    return now_ns.tv_sec;
}

/* ---- worker threads ---- */

struct thread {
    void *(*run)(void *);
    void *arg;
};

static void work_ends(void)
{
    if (--working == 0)
        real_cond_broadcast(&quiet);
}

static void *thread_main(void *arg)
{
    struct thread thread = *(struct thread *)arg;
    void *result;

    free(arg);
    result = thread.run(thread.arg);
    pthread_mutex_lock(&lock);
    work_ends();
    pthread_mutex_unlock(&lock);
    return result;
}

int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
                   void *(*run)(void *), void *restrict arg)
{
    struct thread *thread = malloc(sizeof(*thread));
    int rc;

    if (!thread)
        return EAGAIN;
    *thread = (struct thread){run, arg};
    pthread_mutex_lock(&lock);
    working++;
    pthread_mutex_unlock(&lock);
    rc = real_create(id, attr, thread_main, thread);
    if (rc == 0)
        return 0;
    free(thread);
    pthread_mutex_lock(&lock);
    work_ends();
    pthread_mutex_unlock(&lock);
    return rc;
}

/* ---- waiting on conditions ---- */

static void waiter_remove(const struct waiter *waiter)
{
    struct waiter **at = &waiters;

    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

/* Waits until somebody calls, or until that time. */
static int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until)
{
    struct waiter waiter = {.cond = cond, .mutex = mutex, .until = until};

    if (until <= now)
        return ETIMEDOUT;
    pthread_mutex_lock(&lock);
    waiter.next = waiters;
    waiters = &waiter;
    work_ends();
    pthread_mutex_unlock(&lock);
    while (!__atomic_load_n(&waiter.awake, __ATOMIC_SEQ_CST))
        real_cond_wait(cond, mutex);
    return waiter.timed_out ? ETIMEDOUT : 0;
}

/* A waiter works again. The lock is held. */
static void waiter_wake(struct waiter *waiter, bool timed_out)
{
    waiter_remove(waiter);
    working++;
    waiter->timed_out = timed_out;
    __atomic_store_n(&waiter->awake, true, __ATOMIC_SEQ_CST);
}

/* All waiters are called where one would do, which a caller must expect anyway. */
int pthread_cond_broadcast(pthread_cond_t *cond)
{
    struct waiter *waiter, *next;

    pthread_mutex_lock(&lock);
    for (waiter = waiters; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->cond == cond)
            waiter_wake(waiter, false);
    }
    pthread_mutex_unlock(&lock);
    return real_cond_broadcast(cond);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return pthread_cond_broadcast(cond);
}

/* The event loop waits for worker threads only while berthd starts and stops, by the real clock. */
int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    if (control < 0 || in_loop())
        return real_cond_wait(cond, mutex);
    return wait_until(cond, mutex, DAY_CLOCK_NEVER);
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    int64_t left = until->tv_sec * NS + until->tv_nsec - DAY_CLOCK_MONO_S * NS - now;
    struct timespec at;

    if (control < 0)
        return real_cond_timedwait(cond, mutex, until);
    if (!in_loop())
        return wait_until(cond, mutex, now + left + ROUNDED_NS);
    real_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &at);
    left += at.tv_sec * NS + at.tv_nsec;
    return real_cond_timedwait(cond, mutex, &(struct timespec){left / NS, left % NS});
}

/* Takes a waiter whose time has come off the list; NULL: there is none. */
static bool next_due(pthread_cond_t **cond, pthread_mutex_t **mutex)
{
    struct waiter *waiter;

    pthread_mutex_lock(&lock);
    for (waiter = waiters; waiter && waiter->until > now; waiter = waiter->next)
        ;
    if (waiter) {
        *cond = waiter->cond;
        *mutex = waiter->mutex;
        waiter_wake(waiter, true);
    }
    pthread_mutex_unlock(&lock);
    return waiter;
}

/* The mutex is taken so that the waiter is either waiting or has not looked yet. */
static void wake_due(void)
{
    pthread_cond_t *cond;
    pthread_mutex_t *mutex;

    while (next_due(&cond, &mutex)) {
        pthread_mutex_lock(mutex);
        real_cond_broadcast(cond);
        pthread_mutex_unlock(mutex);
    }
}

/* Waits until no worker thread works. Returns when the first of them wants to go on. */
static int64_t wait_quiet(void)
{
    int64_t until = DAY_CLOCK_NEVER;

    pthread_mutex_lock(&lock);
    while (working > 0)
        real_cond_wait(&quiet, &lock);
    for (const struct waiter *waiter = waiters; waiter; waiter = waiter->next)
        if (waiter->until < until)
            until = waiter->until;
    pthread_mutex_unlock(&lock);
    return until;
}

/* ---- the event loop ---- */

/* The bench has gone, and berthd with it. */
static void bench_gone(void)
{
    _exit(3);
}

/* Takes the time from the bench. */
static void take_time(void)
{
    int64_t at;

    if (recv(control, &at, sizeof(at), 0) != sizeof(at))
        bench_gone();
    __atomic_store_n(&now, at, __ATOMIC_SEQ_CST);
    owes = true;
    wake_due();
}

/* Tells the bench that all are idle, and until when. */
static void tell_idle(int64_t until)
{
    if (owes && send(control, &until, sizeof(until), MSG_NOSIGNAL) != sizeof(until))
        bench_gone();
    owes = false;
}

/* What has come to the descriptors goes before the time. */
int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout_ms)
{
    int64_t until = timeout_ms < 0 ? DAY_CLOCK_NEVER : now + timeout_ms * (NS / 1000), others;
    int n;

    if (control < 0 || !in_loop())
        return real_epoll_wait(epoll, events, max, timeout_ms);
    for (;;) {
        struct pollfd fd[2] = {{epoll, POLLIN, 0}, {control, POLLIN, 0}};

        others = wait_quiet();
        n = real_epoll_wait(epoll, events, max, 0);
        if (n != 0 || until <= now)
            return n;
        tell_idle(others < until ? others : until);
        if (poll(fd, 2, -1) < 0 || (n = real_epoll_wait(epoll, events, max, 0)) != 0)
            return n != 0 ? n : -1;
        if (fd[1].revents)
            take_time();
    }
}

/* ---- the node ---- */

/* Opens a file of the simulated node in the place of the kernel's, into *fd. False: it has none. */
static bool open_ours(const char *path, int *fd)
{
    static const char nodes[] = "sys/devices/system/node/";
    char ours[PATH_MAX];

    path += path[0] == '/';
    if (stat_path && strcmp(path, "proc/stat") == 0)
        return (*fd = open(stat_path, O_RDONLY | O_CLOEXEC)), true;
    if (!nodes_path || strncmp(path, nodes, strlen(nodes)) != 0)
        return false;
    snprintf(ours, sizeof(ours), "%s/%s", nodes_path, path + strlen(nodes));
    *fd = open(ours, O_RDONLY | O_CLOEXEC);
    return *fd >= 0;
}

/* Takes six words, as the kernel does, however many were given. */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
    long arg[6];
    va_list list;
    int fd;

    va_start(list, number);
    for (size_t i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (!real_syscall)
        real_syscall = real("syscall");
    if (number == SYS_openat2 && open_ours((const char *)arg[1], &fd))
        return fd;
    return real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* The bench has put a set there for a process that registers; others have none. */
static int affinity_put(pid_t pid, void *set, size_t size)
{
    char path[PATH_MAX];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), DAY_CLOCK_AFFINITY, stat_path ? stat_path : "", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, set, size);
        close(fd);
    }
    errno = ESRCH;
    return n == (ssize_t)size ? 0 : -1;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (control >= 0 && pid != 0)
        return affinity_put(pid, set, size);
    return (int)syscall(SYS_sched_getaffinity, pid, size, set) < 0 ? -1 : 0;
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict length)
{
    int rc = real_getsockopt(fd, level, name, value, length);

    if (rc == 0 && level == SOL_SOCKET && name == SO_PEERCRED)
        ((struct ucred *)value)->uid = 0;
    return rc;
}
