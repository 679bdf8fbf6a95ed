/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_detours - see silence_detours.h */
#include "tests/bench/silence_detours.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "tests/bench/bench.h"

#define KEPT 65536 /* detours of a CPU; further ones are only counted */

struct detour {
    double from_s, to_s;
};

struct cpu {
    pthread_t thread;
    struct silence_loop *loop;
    int cpu;
    struct detour *detour;
    size_t n;
};

struct silence_loop {
    double began_s, seconds;
    atomic_bool over;
    struct cpu *cpu;
    size_t cpus;
};

static void *work(void *arg)
{
    struct cpu *cpu = arg;
    double last_s = clock_s(), now_s;

    while (!atomic_load_explicit(&cpu->loop->over, memory_order_relaxed)) {
        now_s = clock_s();
        if (now_s - last_s > SILENCE_DETOUR_S && cpu->n < KEPT)
            cpu->detour[cpu->n++] = (struct detour){last_s, now_s};
        last_s = now_s;
    }
    return NULL;
}

static void start_on(struct silence_loop *loop, int cpu)
{
    struct cpu *one = &loop->cpu[loop->cpus++];
    pthread_attr_t attr;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    *one = (struct cpu){.loop = loop, .cpu = cpu, .detour = calloc(KEPT, sizeof(*one->detour))};
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
    errno = one->detour ? pthread_create(&one->thread, &attr, work, one) : ENOMEM;
    if (errno != 0)
        bench_die("threads", strerror(errno));
    pthread_attr_destroy(&attr);
}

struct silence_loop *silence_detours_begin(void)
{
    struct silence_loop *loop = calloc(1, sizeof(*loop));
    cpu_set_t all;

    sched_getaffinity(0, sizeof(all), &all);
    if (loop)
        loop->cpu = calloc((size_t)CPU_COUNT(&all), sizeof(*loop->cpu));
    if (!loop || !loop->cpu)
        bench_die("detours", strerror(errno));
    loop->began_s = clock_s();
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all))
            start_on(loop, cpu);
    return loop;
}

void silence_detours_stop(struct silence_loop *loop)
{
    atomic_store(&loop->over, true);
    for (size_t i = 0; i < loop->cpus; i++)
        pthread_join(loop->cpu[i].thread, NULL);
    loop->seconds = clock_s() - loop->began_s;
}

/* The part of a detour in which a burst was under way, at the most what that had of the CPU. */
static double of_berthd(const struct silence_train *train, int cpu, const struct detour *detour)
{
    double sum_s = 0;

    for (size_t i = 0; train && i < train->n; i++) {
        const struct silence_burst *burst = &train->burst[i];

        if (burst->cpu != cpu && burst->cpu != SILENCE_CPU_ANY)
            continue;
        if (burst->at_s < detour->to_s && burst->end_s > detour->from_s)
            sum_s += fmin(burst->run_s,
                          fmin(burst->end_s, detour->to_s) - fmax(burst->at_s, detour->from_s));
    }
    return sum_s;
}

static void count(struct silence_detours *detours, const struct silence_train *train, int cpu,
                  const struct detour *detour)
{
    double s = detour->to_s - detour->from_s, berthd_s = of_berthd(train, cpu, detour);

    detours->n++;
    detours->longs += s > SILENCE_DETOUR_LONG_S;
    detours->share += s;
    detours->worst_s = fmax(detours->worst_s, s);
    if (!(berthd_s > 0))
        return;
    detours->berthd_n++;
    detours->berthd_longs += berthd_s > SILENCE_DETOUR_LONG_S;
    detours->berthd_share += berthd_s;
    detours->berthd_worst_s = fmax(detours->berthd_worst_s, berthd_s);
}

void silence_detours_tell(struct silence_loop *loop, const struct silence_train *train,
                          struct silence_detours *detours)
{
    *detours = (struct silence_detours){
        .seconds = loop->seconds, .cpus = loop->cpus, .worst_s = NAN, .berthd_worst_s = NAN};
    for (size_t i = 0; i < loop->cpus; i++) {
        for (size_t d = 0; d < loop->cpu[i].n; d++)
            count(detours, train, loop->cpu[i].cpu, &loop->cpu[i].detour[d]);
        free(loop->cpu[i].detour);
    }
    detours->share /= loop->seconds * (double)loop->cpus;
    detours->berthd_share /= loop->seconds * (double)loop->cpus;
    free(loop->cpu);
    free(loop);
}
