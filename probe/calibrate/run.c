/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - see run.h.
 *
 * A worker adds to its counter after each small portion, and the caller reads all counters at the
 * beginning and at the end of the window: so all of them were at work all the time, and nobody
 * waits for the slowest. The counters are on lines of their own. */
#include "probe/calibrate/run.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <math.h>
#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/cpus.h"
#include "packer/system/perf_open.h"

#define PORTION_BYTES 65536
#define STREAMS 8 /* of a reader */
#define CHASE_STEPS 256
#define SPIN_STEPS 4096
#define MORE_WINDOWS 50
#define SPINS 1024 /* between two looks at the crew's flag */
#define TRIAD_BYTES (3 * sizeof(double))
#define WORDS_PER_LINE (CALIBRATE_LINE_BYTES / sizeof(uint64_t))

struct crew {
    atomic_size_t ready;
    atomic_bool go, stop;
};

/* What perf_event_open(2) reads of a counter, with the time that it counted. */
struct counted {
    uint64_t value, running_ns;
};

struct thread {
    _Alignas(128) atomic_uint_fast64_t done; /* in the work's unit */
    struct calibrate_worker *worker;
    struct crew *crew;
    pthread_t id;
    uint64_t before; /* done at the beginning of the window */
    int cycles;      /* of SPIN: counts its cycles; -1: nothing does */
    struct counted cycles_before;
    volatile double sink; /* what was computed, so that it has to be */
};

static bool stopped(const struct thread *thread)
{
    return atomic_load_explicit(&thread->crew->stop, memory_order_relaxed);
}

static void add(struct thread *thread, uint64_t amount)
{
    atomic_fetch_add_explicit(&thread->done, amount, memory_order_relaxed);
}

/* ---- the kinds of work ---- */

/* Reads a word of each line, in eight streams at once: a single stream leaves the core waiting
 * where prefetchers follow each by itself. */
static uint64_t read_portion(const uint64_t *word, size_t stream, size_t from, size_t to)
{
    const uint64_t *a = word, *b = a + stream, *c = b + stream, *d = c + stream, *e = d + stream,
                   *f = e + stream, *g = f + stream, *h = g + stream;
    uint64_t sum = 0;

    for (size_t i = from; i < to; i += WORDS_PER_LINE)
        sum += a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i];
    return sum;
}

static void work_read(struct thread *thread)
{
    size_t stream = thread->worker->bytes / STREAMS / sizeof(uint64_t), i = 0;
    const size_t portion = PORTION_BYTES / STREAMS / sizeof(uint64_t);
    uint64_t sum = 0;

    while (!stopped(thread)) {
        size_t end = i + portion < stream ? i + portion : stream;

        sum += read_portion(thread->worker->memory, stream, i, end);
        add(thread, (end - i) * STREAMS * sizeof(uint64_t));
        i = end < stream ? end : 0;
    }
    thread->sink = (double)sum;
}

static void work_triad(struct thread *thread)
{
    size_t n = thread->worker->bytes / TRIAD_BYTES, i = 0;
    double *a = thread->worker->memory;
    const double *b = a + n, *c = b + n;
    const size_t portion = PORTION_BYTES / TRIAD_BYTES;

    while (!stopped(thread)) {
        size_t end = i + portion < n ? i + portion : n, start = i;

        for (; i < end; i++)
            a[i] = b[i] + 3.0 * c[i];
        add(thread, (end - start) * TRIAD_BYTES);
        if (i == n)
            i = 0;
    }
    thread->sink = a[0];
}

static void work_chase(struct thread *thread)
{
    void **at = thread->worker->memory;

    while (!stopped(thread)) {
        for (size_t i = 0; i < CHASE_STEPS; i++)
            at = *at;
        add(thread, CHASE_STEPS);
    }
    thread->sink = (double)(uintptr_t)at;
}

/* Waits until the word is `mine`, makes it the next number, and so on: ping has the even numbers.
 */
static void work_ping_pong(struct thread *thread, unsigned mine)
{
    atomic_uint *word = thread->worker->memory;

    for (;; mine += 2) {
        for (unsigned spin = 1; atomic_load_explicit(word, memory_order_acquire) != mine; spin++)
            if (spin % SPINS == 0 && stopped(thread))
                return;
        atomic_store_explicit(word, mine + 1, memory_order_release);
        add(thread, 1);
        if (mine % SPINS <= 1 && stopped(thread))
            return;
    }
}

static long futex(atomic_uint *word, int operation, unsigned value, const struct timespec *within)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, within, NULL, 0);
}

/* As ping and pong, but who waits sleeps: each turn is a suspending system call. Nobody sleeps for
 * longer than a moment, so that both see the end. */
static void work_sleep(struct thread *thread, unsigned mine)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    atomic_uint *word = thread->worker->memory;

    for (; !stopped(thread); mine += 2) {
        unsigned is;

        while ((is = atomic_load_explicit(word, memory_order_acquire)) != mine && !stopped(thread))
            futex(word, FUTEX_WAIT, is, &moment);
        atomic_store_explicit(word, mine + 1, memory_order_release);
        futex(word, FUTEX_WAKE, 1, NULL);
        add(thread, 1);
    }
}

/* Adds, which takes no memory: the core works as fast as its clock allows. */
static void work_spin(struct thread *thread)
{
    uint64_t sum = 0;

    while (!stopped(thread)) {
        for (uint64_t i = 0; i < SPIN_STEPS; i++) {
            sum += i ^ (sum << 1);
            __asm__ volatile("" : "+r"(sum));
        }
        add(thread, SPIN_STEPS);
    }
    thread->sink = (double)sum;
}

/* Returns a counter of the calling thread's cycles in user space, or -1. */
static int count_cycles(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    return perf_open(&attr, 0, -1, -1, 0);
}

static void *run_thread(void *arg)
{
    struct thread *thread = arg;

    if (thread->worker->work == CALIBRATE_SPIN)
        thread->cycles = count_cycles();
    atomic_fetch_add(&thread->crew->ready, 1);
    while (!atomic_load(&thread->crew->go))
        sched_yield();
    switch (thread->worker->work) {
    case CALIBRATE_READ:
        work_read(thread);
        break;
    case CALIBRATE_TRIAD:
        work_triad(thread);
        break;
    case CALIBRATE_CHASE:
        work_chase(thread);
        break;
    case CALIBRATE_PING:
        work_ping_pong(thread, 0);
        break;
    case CALIBRATE_PONG:
        work_ping_pong(thread, 1);
        break;
    case CALIBRATE_GIVE:
        work_sleep(thread, 0);
        break;
    case CALIBRATE_TAKE:
        work_sleep(thread, 1);
        break;
    case CALIBRATE_SPIN:
        work_spin(thread);
        break;
    }
    return NULL;
}

/* ---- the crew ---- */

static void sleep_s(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&time, NULL);
}

static int start_thread(struct thread *thread, struct berth_error *err)
{
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    pthread_attr_t attr;
    int rc;

    if (!set || pthread_attr_init(&attr) != 0) {
        CPU_FREE(set);
        return berth_no_memory(err);
    }
    CPU_ZERO_S(size, set);
    CPU_SET_S(thread->worker->cpu, size, set);
    rc = pthread_attr_setaffinity_np(&attr, size, set);
    if (rc == 0)
        rc = pthread_create(&thread->id, &attr, run_thread, thread);
    pthread_attr_destroy(&attr);
    CPU_FREE(set);
    if (rc != 0)
        return berth_error_set(err, "no thread on CPU %u: %s", thread->worker->cpu, strerror(rc));
    return 0;
}

static bool all_moved(struct thread *thread, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (atomic_load_explicit(&thread[i].done, memory_order_relaxed) == thread[i].before)
            return false;
    return true;
}

static struct counted read_cycles(const struct thread *thread)
{
    struct counted counted = {0};

    if (thread->cycles < 0 || read(thread->cycles, &counted, sizeof(counted)) != sizeof(counted))
        return (struct counted){0};
    return counted;
}

/* Returns the clock since the beginning of the window, GHz; NAN where nothing counts. */
static double clock_since(const struct thread *thread)
{
    struct counted now = read_cycles(thread);

    if (now.running_ns <= thread->cycles_before.running_ns ||
        now.value <= thread->cycles_before.value)
        return NAN;
    return (double)(now.value - thread->cycles_before.value) /
           (double)(now.running_ns - thread->cycles_before.running_ns);
}

/* Counts for the window, while the threads are at work. Where other programs kept one of them from
 * its CPU all the time, the window is longer. */
static void count(struct thread *thread, size_t n, double warm_s, double window_s)
{
    double begin_s;

    sleep_s(warm_s);
    begin_s = clock_s();
    for (size_t i = 0; i < n; i++) {
        thread[i].before = atomic_load_explicit(&thread[i].done, memory_order_relaxed);
        thread[i].cycles_before = read_cycles(&thread[i]);
    }
    sleep_s(window_s);
    for (unsigned more = 0; more < MORE_WINDOWS && !all_moved(thread, n); more++)
        sleep_s(window_s);
    for (size_t i = 0; i < n; i++) {
        uint64_t done = atomic_load_explicit(&thread[i].done, memory_order_relaxed);

        thread[i].worker->rate = (double)(done - thread[i].before) / (clock_s() - begin_s);
        thread[i].worker->clock_ghz = clock_since(&thread[i]);
    }
}

int calibrate_run(struct calibrate_worker *worker, size_t n, double warm_s, double window_s,
                  struct berth_error *err)
{
    struct thread *thread = aligned_alloc(_Alignof(struct thread), n * sizeof(*thread));
    struct crew crew = {0};
    size_t started = 0;
    int rc = 0;

    if (!thread)
        return berth_no_memory(err);
    memset(thread, 0, n * sizeof(*thread));
    for (; rc == 0 && started < n; started += rc == 0) {
        thread[started].worker = &worker[started];
        thread[started].crew = &crew;
        thread[started].cycles = -1;
        rc = start_thread(&thread[started], err);
    }
    while (rc == 0 && atomic_load(&crew.ready) < n)
        sched_yield();
    atomic_store(&crew.stop, rc != 0);
    atomic_store(&crew.go, true);
    if (rc == 0)
        count(thread, n, warm_s, window_s);
    atomic_store(&crew.stop, true);
    for (size_t i = 0; i < started; i++) {
        pthread_join(thread[i].id, NULL);
        if (thread[i].cycles >= 0)
            close(thread[i].cycles);
    }
    free(thread);
    return rc;
}

/* ---- memory ---- */

void *calibrate_memory(size_t bytes, unsigned node, bool bind, struct berth_error *err)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned long mask[CPUS_MAX / (8 * sizeof(unsigned long))] = {0};
    const size_t bits = 8 * sizeof(mask[0]);

    if (memory == MAP_FAILED) {
        berth_error_set(err, "%zu MiB of memory: %s", bytes >> 20, strerror(errno));
        return NULL;
    }
    if (node < CPUS_MAX)
        mask[node / bits] |= 1ul << node % bits;
    if (bind && mbind(memory, bytes, MPOL_BIND, mask, CPUS_MAX, MPOL_MF_STRICT) < 0) {
        berth_error_set(err, "memory on NUMA node %u: %s", node, strerror(errno));
        munmap(memory, bytes);
        return NULL;
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 0, bytes);
    return memory;
}

void calibrate_memory_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

/* Numbers that look random, the same in every run (xorshift). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void calibrate_chain(void *memory, size_t bytes)
{
    size_t lines = bytes / CALIBRATE_LINE_BYTES;
    uint64_t state = 88172645463325252u;
    char *base = memory;

    for (size_t i = 0; i < lines; i++)
        *(void **)(base + i * CALIBRATE_LINE_BYTES) = base + i * CALIBRATE_LINE_BYTES;
    for (size_t i = lines; i-- > 1;) { /* Sattolo: one cycle through all */
        size_t j = next_random(&state) % i;
        void **a = (void **)(base + i * CALIBRATE_LINE_BYTES);
        void **b = (void **)(base + j * CALIBRATE_LINE_BYTES);
        void *swap = *a;

        *a = *b;
        *b = swap;
    }
}
