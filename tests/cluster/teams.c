/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teams [-n THREADS] [-b] [-o] COMMAND.. - runs the command beside two teams of threads with a
 * lock each: whose threads are named `first` wait for theirs most of the time, those named `second`
 * hold theirs seldom.
 *
 *   -n THREADS  of each team (4)
 *   -b          two more, named `bound`, have bound themselves to the first and the last CPU
 *   -o          three more have something of their own: `idle` the class SCHED_IDLE, `sliced` a
 *               time slice of 5 ms (where the kernel has such), `nice` a nice value of 5 more
 *
 * Ends with the command, by its status, and the command with it. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/common/attributes.h"

#define WORK_S 0.004
#define PAUSE_US 500 /* who waits for the lock gets it meanwhile */
#define OWN_SLICE_NS 5000000

static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

/* Computes for so long. */
static void work(double seconds)
{
    struct timespec began, now;

    clock_gettime(CLOCK_MONOTONIC, &began);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9 <
           seconds);
}

static void *first(void *unused)
{
    prctl(PR_SET_NAME, "first");
    for (;; usleep(PAUSE_US)) {
        pthread_mutex_lock(&lock[0]);
        work(WORK_S);
        pthread_mutex_unlock(&lock[0]);
    }
    return unused;
}

static void *second(void *unused)
{
    prctl(PR_SET_NAME, "second");
    for (;; usleep(PAUSE_US)) {
        work(WORK_S);
        pthread_mutex_lock(&lock[1]);
        work(WORK_S / 40);
        pthread_mutex_unlock(&lock[1]);
    }
    return unused;
}

static void work_on_and_on(void)
{
    for (;; usleep(50 * PAUSE_US))
        work(WORK_S);
}

static void *bound(void *last)
{
    cpu_set_t all, one;
    int cpu = -1;

    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        exit(2);
    for (int i = 0; i < CPU_SETSIZE && (cpu < 0 || last); i++)
        if (CPU_ISSET(i, &all))
            cpu = i;
    CPU_SET(cpu, &one);
    prctl(PR_SET_NAME, "bound");
    if (sched_setaffinity(0, sizeof(one), &one) < 0)
        exit(2);
    work_on_and_on();
    return last;
}

static void *idle(void *unused)
{
    struct sched_param none = {0};

    prctl(PR_SET_NAME, "idle");
    if (sched_setscheduler(0, SCHED_IDLE, &none) < 0)
        exit(2);
    work_on_and_on();
    return unused;
}

static void *sliced(void *unused)
{
    struct attributes own;

    prctl(PR_SET_NAME, "sliced");
    if (attributes_get(0, &own) < 0)
        exit(2);
    own.runtime_ns = own.runtime_ns ? OWN_SLICE_NS : 0;
    if (attributes_set(0, &own) < 0)
        exit(2);
    work_on_and_on();
    return unused;
}

static void *nice_to_others(void *unused)
{
    prctl(PR_SET_NAME, "nice");
    if (setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5) <
        0) /* of this thread only */
        exit(2);
    work_on_and_on();
    return unused;
}

static void start(void *(*body)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, argument) != 0)
        exit(2);
}

static void start_bound(void)
{
    start(bound, NULL);
    start(bound, lock);
}

static void start_own(void)
{
    start(idle, NULL);
    start(sliced, NULL);
    start(nice_to_others, NULL);
}

static pid_t run(char **command)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv)
{
    bool binds = false, owns = false;
    int status = 0, threads = 4;
    pid_t pid;

    for (int option; (option = getopt(argc, argv, "+n:bo")) != -1;) {
        if (option == '?')
            return 2;
        threads = option == 'n' ? atoi(optarg) : threads;
        binds |= option == 'b';
        owns |= option == 'o';
    }
    if (optind == argc || (pid = run(argv + optind)) < 0)
        return 2;
    for (int i = 0; i < threads; i++) {
        start(first, NULL);
        start(second, NULL);
    }
    if (binds)
        start_bound();
    if (owns)
        start_own();
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
