/* SPDX-License-Identifier: GPL-2.0-or-later */
/* silence_train - what the threads of a process did while they were watched: bursts, each from a
 * thread's waking to its next sleep. */
#ifndef BERTH_BENCH_SILENCE_TRAIN_H
#define BERTH_BENCH_SILENCE_TRAIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SILENCE_CPU_ANY (-1) /* nobody knows on which */

struct silence_burst {
    double at_s,
        end_s;    /* CLOCK_MONOTONIC: its begin and its end; who was interrupted has it later */
    double run_s; /* what it had of a CPU */
    int cpu;      /* where it ended */
    pid_t thread;
};

struct silence_thread {
    pid_t id;
    char name[17];
};

/* All bursts that ended from began_s on, in the order of their begin. */
struct silence_train {
    double began_s, seconds;
    const char *by; /* how it was seen */
    uint64_t lost;  /* switches that nobody saw */
    struct silence_burst *burst;
    size_t n, room;
    struct silence_thread *thread;
    size_t threads, threads_room;
};

/* NAN: there was no burst. */
struct silence_figures {
    size_t n;
    double a_second;                 /* bursts */
    double median_s, p90_s, worst_s; /* what a burst had of a CPU */
    double share;                    /* of a core */
};

/* Adds a burst; makes sure that its thread is among the threads. */
void silence_train_add(struct silence_train *train, const struct silence_burst *burst);
void silence_train_know(struct silence_train *train, pid_t process, pid_t thread);

/* Puts the bursts in their order. */
void silence_train_sort(struct silence_train *train);

/* Those of one thread, or of all (0). */
struct silence_figures silence_train_figures(const struct silence_train *train, pid_t thread);

void silence_train_clear(struct silence_train *train);

#endif
