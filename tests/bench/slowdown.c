/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slowdown [PAIRS [SECONDS]] - what counting adds to a program that runs, in one run: PAIRS (20)
 * times SECONDS (1) counted, by every backend that works here and a reading at the end of each, and
 * as long not counted. As root.
 *
 * A cpu-bound and a memory-bound worker, one after the other, repeat a quantum of work of some
 * milliseconds on a CPU of their own. What others do to this machine hits some quanta and not
 * others: the median quantum of each half is compared, and the ratio printed is the median over the
 * pairs, with its 95 % interval by ranks. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/counters/counters.h"
#include "tests/bench/bench.h"

#define QUANTA_MAX 100000
#define STREAM_BYTES ((size_t)256 << 20)

/* What the worker tells: how long each quantum took. */
struct told {
    volatile size_t n;
    float us[QUANTA_MAX];
};

static void compute(void)
{
    volatile unsigned long x = 1;

    for (int i = 0; i < 2000000; i++)
        x = x * 6364136223846793005UL + 1;
}

static void stream(char *data, size_t *at)
{
    for (size_t i = 0; i < ((size_t)16 << 20); i += 64)
        data[(*at + i) % STREAM_BYTES]++;
    *at = (*at + ((size_t)16 << 20)) % STREAM_BYTES;
}

static pid_t worker(struct told *told, bool memory)
{
    pid_t pid = fork();
    size_t at = 0;
    cpu_set_t cpu;
    char *data;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&cpu);
    CPU_SET(0, &cpu);
    sched_setaffinity(0, sizeof(cpu), &cpu);
    data = calloc(1, STREAM_BYTES);
    for (;;) {
        double began = 1e6 * clock_s();

        if (memory)
            stream(data, &at);
        else
            compute();
        told->us[told->n % QUANTA_MAX] = (float)(1e6 * clock_s() - began);
        told->n++;
    }
}

static int compare_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The median of the quanta from..to. */
static double median_us(const struct told *told, size_t from, size_t to)
{
    size_t n = to - from;
    float *copy = malloc((n + 1) * sizeof(*copy));
    double median;

    if (!copy || n == 0)
        bench_die("worker", "no quantum was done");
    for (size_t i = 0; i < n; i++)
        copy[i] = told->us[(from + i) % QUANTA_MAX];
    qsort(copy, n, sizeof(*copy), compare_float);
    median = copy[n / 2];
    free(copy);
    return median;
}

struct bench {
    struct rootfs root;
    struct topo *topo;
    struct enforce enforce;
    struct conf conf;
    struct counters *counters;
};

static void open_bench(struct bench *bench)
{
    struct counters_node node = {
        .root = &bench->root, .enforce = &bench->enforce, .conf = &bench->conf};
    static struct counters_node kept;
    struct counters_about about;
    struct berth_error err;

    conf_init(&bench->conf);
    if (topo_read(&bench->topo, "", &err) < 0 || rootfs_open(&bench->root, "/", &err) < 0 ||
        enforce_open(&bench->enforce, &bench->root, bench->conf.cgroup_root, "dryrun", &err) < 0)
        bench_die("node", err.text);
    snprintf(bench->enforce.tree, sizeof(bench->enforce.tree), "berth_slowdown");
    node.topo = bench->topo;
    kept = node;
    if (counters_open(&bench->counters, &kept, &err) < 0)
        bench_die("counters", err.text);
    for (size_t i = 0; counters_about(bench->counters, i, &about); i++)
        if (about.used)
            printf("%s: %s\n", about.name, about.say);
}

/* A span of the worker's time: its median quantum, in microseconds. */
static double span_us(struct bench *bench, const struct told *told,
                      const struct counters_target *target, double seconds, bool counted)
{
    struct counters_step *step = counted ? counters_attach(bench->counters, target) : NULL;
    struct counters_sample sample;
    size_t from = told->n;

    usleep((useconds_t)(seconds * 1e6));
    if (step)
        counters_read(bench->counters, step, target, &sample, NULL);
    counters_detach(bench->counters, step);
    return median_us(told, from, told->n);
}

static void measure(struct bench *bench, bool memory, size_t pairs, double seconds)
{
    struct told *told =
        mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct enforce_task task = {.pid = worker(told, memory)};
    struct enforce_step body = {.id = {900001, 0}, .ntasks = 1, .task = &task};
    struct counters_target target = {.body = &body, .name = "worker", .elapsed_s = 10};
    double *ratio = calloc(pairs, sizeof(*ratio)), median;
    size_t lower = (size_t)fmax(0, floor((double)pairs / 2 - 0.98 * sqrt((double)pairs)));

    cpus_add(&target.cpus, 0);
    cpus_add(&task.cpus, 0);
    task.home = task.use = task.cpus;
    sleep(1);
    for (size_t i = 0; ratio && i < pairs; i++) {
        double first = span_us(bench, told, &target, seconds, i % 2);
        double second = span_us(bench, told, &target, seconds, !(i % 2));

        target.elapsed_s += 2 * seconds;
        ratio[i] = i % 2 ? first / second : second / first;
    }
    kill(task.pid, SIGKILL);
    waitpid(task.pid, NULL, 0);
    median = array_median(ratio, pairs);
    printf(
        "%s-bound: ratio %.4f of the median quantum, counted over not counted (%zu pairs; 95 %%: "
        "%.4f to %.4f)\n",
        memory ? "memory" : "cpu", median, pairs, ratio[lower], ratio[pairs - 1 - lower]);
    munmap(told, sizeof(*told));
    free(ratio);
}

int main(int argc, char **argv)
{
    size_t pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 20;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
    static struct bench bench;

    if (pairs < 1 || !(seconds > 0 && seconds <= 60) || argc > 3) {
        fprintf(stderr, "usage: slowdown [PAIRS [SECONDS]]\n");
        return 2;
    }
    open_bench(&bench);
    measure(&bench, false, pairs, seconds);
    measure(&bench, true, pairs, seconds);
    counters_sweep(bench.counters, NULL, 0);
    counters_close(bench.counters);
    rootfs_close(&bench.root);
    topo_free(bench.topo);
    return 0;
}
