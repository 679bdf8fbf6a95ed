/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crowd - see crowd.h.
 *
 * The CPUs are those that the process was given when it began, or those that its step has,
 * whichever are fewer. The threads are those that the kernel counts.
 *
 * A thread looks at the clock once in LOOK_AGAIN calls. When a second has passed one of them counts
 * again; the others go on with what is known. */
#include "runtime/crowd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cancel.h"

#define LOOK_AGAIN 256
#define OLD_S 1
#define THREADS_FIELD 18 /* of /proc/PID/stat after its name: num_threads, the 20th */

static unsigned cpus_given; /* 0: not known */
static _Atomic int64_t counted_s = -OLD_S;
static atomic_bool crowded = true;

static __thread uint8_t calls __attribute__((tls_model("initial-exec")));

void crowd_begin(void)
{
    cpu_set_t given;
    int before = errno;

    if (sched_getaffinity(0, sizeof(given), &given) == 0)
        cpus_given = (unsigned)CPU_COUNT(&given);
    errno = before;
}

/* Returns how many threads a line of /proc/PID/stat says, or INT_MAX. */
static int threads_of(const char *line)
{
    const char *field = strrchr(line, ')'); /* a name may have any bytes in it */

    for (int i = 0; i < THREADS_FIELD && field; i++)
        field = strchr(field + 1, ' ');
    return field ? atoi(field) : INT_MAX;
}

static int count_threads(void)
{
    char line[1024] = "";
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return INT_MAX;
    if (read(fd, line, sizeof(line) - 1) < 0)
        line[0] = 0;
    close(fd);
    return threads_of(line);
}

static void count(unsigned cpus)
{
    int before = errno, state = cancel_begin();

    if (cpus_given && (!cpus || cpus_given < cpus))
        cpus = cpus_given;
    atomic_store(&crowded, count_threads() - 1 > (int)cpus);
    cancel_end(state);
    errno = before;
}

static void look(unsigned (*cpus)(void))
{
    struct timespec now;
    int64_t last_s = atomic_load(&counted_s);

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec - last_s >= OLD_S &&
        atomic_compare_exchange_strong(&counted_s, &last_s, now.tv_sec))
        count(cpus());
}

bool crowd_is(unsigned (*cpus)(void))
{
    if (calls++ % LOOK_AGAIN == 0)
        look(cpus);
    return atomic_load_explicit(&crowded, memory_order_relaxed);
}
