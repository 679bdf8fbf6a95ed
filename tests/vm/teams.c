/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teams COMMAND.. - runs the command beside two teams of threads with a lock each: whose threads
 * are named `first` wait for theirs most of the time, those named `second` hold theirs seldom.
 *
 * Two more, named `bound`, have bound themselves to the first and the last CPU that they had. Ends
 * with the command, by its status. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEAM 4
#define WORK_S 0.004
#define PAUSE_US 500 /* who waits for the lock gets it meanwhile */

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
    for (;; usleep(50 * PAUSE_US))
        work(WORK_S);
    return last;
}

static void start(void *(*body)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, argument) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    int status = 0;
    pid_t pid;

    if (argc < 2 || (pid = fork()) < 0)
        return 2;
    if (pid == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    for (int i = 0; i < TEAM; i++) {
        start(first, NULL);
        start(second, NULL);
    }
    start(bound, NULL);
    start(bound, lock);
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
