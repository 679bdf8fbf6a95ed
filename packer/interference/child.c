/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child - see child.h
 *
 * The child is forked, not executed: it needs a few pages of berthd and no more, and calls nothing
 * that may not be called after fork(2). It closes what it inherits, so that it holds none of
 * berthd's locks, and dies with berthd. */
#include "packer/interference/child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/base/cpus.h"
#include "packer/system/urgency.h"

#define STREAMS 8
#define REST_NS                                                                                    \
    2e6 /* between two readings: a stream of 15 GB/s then brings 30 MB into the cache              \
         */
#define READINGS_MAX 512
#define OPS 8192 /* multiplications timed at once */
#define OPS_PORTIONS 16
#define PAGE_BYTES 4096
#define BUSY_SHARE 0.8 /* of its time the child works; the rest is for its start and its end */
#define OWN_CPU 0.9    /* it must have had its CPU for that part of the time */

/* What the child writes into the pipe. */
struct message {
    int error; /* errno of what failed; 0 */
    struct probe_child_result result;
};

size_t probe_child_bytes(size_t llc_bytes)
{
    size_t bytes = llc_bytes / 2;

    if (llc_bytes == 0 || bytes > PROBE_CHILD_BYTES_MAX)
        bytes = PROBE_CHILD_BYTES_MAX;
    if (bytes < PROBE_CHILD_BYTES_MIN)
        bytes = PROBE_CHILD_BYTES_MIN;
    return bytes - bytes % PROBE_CHILD_BYTES_MIN;
}

/* ---- in the child ---- */

/* Be on that CPU only, give way to everybody, and end when the time is over. 0, or -1 with errno.
 */
static int settle(const struct probe_child_task *task)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = task->time_ms / 1000, .tv_usec = task->time_ms % 1000 * 1000}};
    const struct sched_param none = {0};
    struct cpus cpus;
    sigset_t all;

    urgency_yield();
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    cpus_zero(&cpus);
    cpus_add(&cpus, task->cpu);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setitimer(ITIMER_REAL, &timer, NULL) < 0 ||
        sched_setaffinity(0, sizeof(cpus.word), (const cpu_set_t *)cpus.word) < 0)
        return -1;
    return sched_setscheduler(0, SCHED_IDLE, &none);
}

/* A buffer in memory of its own, near the CPU: the first touch places it. NULL with errno. */
static char *make_buffer(size_t bytes)
{
    char *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (buffer == MAP_FAILED)
        return NULL;
    madvise(buffer, bytes, MADV_HUGEPAGE); /* fewer page faults now, fewer TLB misses later */
    for (size_t i = 0; i < bytes; i += PAGE_BYTES)
        *(volatile char *)(buffer + i) = 1;
    return buffer;
}

/* ns per multiplication, each waiting for the one before. */
static double time_ops(void)
{
    double sample[OPS_PORTIONS], begin_ns;
    volatile uint64_t sink;

    for (size_t i = 0; i < OPS_PORTIONS; i++) {
        uint64_t x = i;

        begin_ns = clock_ns(CLOCK_MONOTONIC);
        for (size_t op = 0; op < OPS; op++)
            x = x * 6364136223846793005u + op;
        sink = x;
        sample[i] = (clock_ns(CLOCK_MONOTONIC) - begin_ns) / OPS;
    }
    (void)sink;
    return array_median(sample, OPS_PORTIONS);
}

/* Read one word of each line of the buffer, in eight streams at once. ns per line. */
static double read_buffer(const char *buffer, size_t bytes)
{
    const double begin_ns = clock_ns(CLOCK_MONOTONIC);
    const size_t stream = bytes / STREAMS;

    for (size_t i = 0; i < stream; i += PROBE_CHILD_LINE_BYTES)
        for (size_t s = 0; s < STREAMS; s++)
            (void)*(const volatile uint64_t *)(buffer + s * stream + i);
    return (clock_ns(CLOCK_MONOTONIC) - begin_ns) / (double)(bytes / PROBE_CHILD_LINE_BYTES);
}

/* Keep the CPU awake, and leave the cache to the others. */
static void rest(void)
{
    const double end_ns = clock_ns(CLOCK_MONOTONIC) + REST_NS;

    while (clock_ns(CLOCK_MONOTONIC) < end_ns)
        ;
}

/* The measurement, until end_ns. 0, or the errno that tells why there is none. */
static int measure(const char *buffer, size_t bytes, double end_ns,
                   struct probe_child_result *result)
{
    double sample[READINGS_MAX], cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const double begin_ns = clock_ns(CLOCK_MONOTONIC);
    size_t n = 0;

    read_buffer(buffer, bytes);
    while (n < READINGS_MAX && clock_ns(CLOCK_MONOTONIC) + REST_NS < end_ns) {
        rest();
        sample[n++] = read_buffer(buffer, bytes);
    }
    cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
    if (n == 0)
        return ETIME;
    if (cpu_ns < OWN_CPU * (clock_ns(CLOCK_MONOTONIC) - begin_ns))
        return EBUSY;
    result->readings = (uint32_t)n;
    result->access_ns = array_median(sample, n);
    return 0;
}

static void work(const struct probe_child_task *task, double begin_ns, struct message *message)
{
    double end_ns = begin_ns + BUSY_SHARE * 1e6 * task->time_ms;
    char *buffer;

    if (settle(task) < 0 || !(buffer = make_buffer(task->bytes))) {
        message->error = errno;
        return;
    }
    message->result.op_ns = time_ops();
    message->error = measure(buffer, task->bytes, end_ns, &message->result);
    message->result.cpu_s = clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static void run_child(const struct probe_child_task *task, int out) __attribute__((noreturn));
static void run_child(const struct probe_child_task *task, int out)
{
    double begin_ns = clock_ns(CLOCK_MONOTONIC);
    struct message message = {0};

    if (dup2(out, STDIN_FILENO) < 0)
        _exit(1);
    syscall(SYS_close_range, 1, ~0U, 0);
    work(task, begin_ns, &message);
    _exit(write(STDIN_FILENO, &message, sizeof(message)) == sizeof(message) ? 0 : 1);
}

/* ---- in berthd ---- */

int probe_child_start(struct probe_child *child, const struct probe_child_task *task,
                      struct berth_error *err)
{
    int fd[2];

    if (task->cpu >= CPUS_MAX || task->bytes < PROBE_CHILD_BYTES_MIN || task->time_ms == 0)
        return berth_error_set(err, "reporter: no such CPU, buffer or time");
    if (pipe2(fd, O_CLOEXEC | O_NONBLOCK) < 0)
        return berth_error_set(err, "reporter: %s", strerror(errno));
    child->pid = fork();
    if (child->pid == 0)
        run_child(task, fd[1]);
    close(fd[1]);
    if (child->pid < 0) {
        berth_error_set(err, "reporter: cannot fork: %s", strerror(errno));
        close(fd[0]);
        return -1;
    }
    child->fd = fd[0];
    return 0;
}

/* Whoever came to its CPU meanwhile shall not keep it from ending. */
static void let_end(pid_t pid)
{
    const struct sched_param none = {0};
    struct cpus all;

    memset(&all, 0xff, sizeof(all));
    sched_setaffinity(pid, sizeof(all.word), (const cpu_set_t *)all.word);
    sched_setscheduler(pid, SCHED_OTHER, &none);
}

int probe_child_finish(struct probe_child *child, struct probe_child_result *result,
                       struct berth_error *err)
{
    struct message message;
    bool whole = read(child->fd, &message, sizeof(message)) == sizeof(message);

    if (!whole)
        kill(child->pid, SIGKILL);
    let_end(child->pid);
    close(child->fd);
    child->fd = -1;
    *result = whole ? message.result : (struct probe_child_result){0};
    if (!whole || message.error == ETIME)
        return berth_error_set(err, "the reporter's time was over before it had read its buffer "
                                    "again; a longer probe_time may help");
    if (message.error == EBUSY)
        return berth_error_set(err, "somebody else ran on the reporter's CPU");
    if (message.error)
        return berth_error_set(err, "reporter: %s", strerror(message.error));
    return 0;
}

bool probe_child_gone(struct probe_child *child)
{
    if (child->pid > 0 && waitpid(child->pid, NULL, WNOHANG) != 0)
        child->pid = 0; /* or nobody's child any more */
    return child->pid <= 0;
}
