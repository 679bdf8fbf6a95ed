/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preload - what cannot be done to a machine that others use, done to one berthd: its wall clock
 * jumps, and it gets no memory. Loaded before the C library (LD_PRELOAD); the file that
 * BERTH_FAULT_PAGE names says what, in two 64-bit numbers that are read at each call:
 *
 *   the seconds by which the wall clock is wrong
 *   every how many-th allocation fails (0: none)
 *
 * A clock that is set moves the wall clock only; the monotonic one, by which berthd waits, is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct page {
    _Atomic int64_t shift_s, refuse_every;
} none, *page = &none;

static atomic_long allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((constructor)) static void open_page(void)
{
    const char *path = getenv("BERTH_FAULT_PAGE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd >= 0 ? mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED)
        page = map;
}

/* ---- the clock ---- */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long rc = syscall(SYS_clock_gettime, clock, now);

    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += page->shift_s;
    return (int)rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec time;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *now)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    if (now)
        *now = time.tv_sec;
    return time.tv_sec;
}

/* ---- memory ---- */

static int refuse(void)
{
    int64_t every = page->refuse_every;

    if (every <= 0 || atomic_fetch_add(&allocations, 1) % every != every - 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return refuse() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return refuse() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return refuse() ? NULL : __libc_realloc(old, size);
}
