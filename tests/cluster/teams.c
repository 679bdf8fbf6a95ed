/* SPDX-License-Identifier: GPL-2.0-or-later */
/* teams [-n THREADS] [-b] [-o] [-s] [-c CPUS FILE] COMMAND.. - runs the command beside two teams of
 * threads with a lock each: whose threads are named `first` wait for theirs most of the time, those
 * named `second` hold theirs seldom.
 *
 *   -n THREADS  of each team (4)
 *   -b          two more, named `bound`, have bound themselves to the first and the last CPU
 *   -c CPUS     the packages of this machine have so many CPUs each, numbered one package after the
 *               other: FILE, the first word of COMMAND, always has how often a lock came from
 *               another thread until now, and how often of these from one in another package
 *   -s          sleep where others compute: on emulated CPUs, which are slow
 *   -o          three more have something of their own: `idle` the class SCHED_IDLE, `sliced` a
 *               time slice of 5 ms (where the kernel has such), `nice` a nice value of 5 more
 *
 * Ends with the command, by its status, and the command with it. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Who had each lock last; written by who has it. */
static struct {
    pthread_t thread;
    int package;
} owner[2];
static int package_cpus; /* 0: nothing is counted */
static bool sleeps;
static atomic_ulong handed, crossed;

/* The lock has come to this thread. */
static void note_lock(int team)
{
    int package = package_cpus ? sched_getcpu() / package_cpus : 0;

    if (owner[team].thread && !pthread_equal(owner[team].thread, pthread_self())) {
        handed++;
        crossed += package != owner[team].package;
    }
    owner[team].thread = pthread_self();
    owner[team].package = package;
}

/* Writes what was counted, so that nobody ever finds a half of it. */
static void tell(const char *path)
{
    char draft[4096];
    FILE *file;

    snprintf(draft, sizeof(draft), "%s.new", path);
    file = fopen(draft, "w");
    if (!file)
        exit(2);
    fprintf(file, "%lu %lu\n", atomic_load(&handed), atomic_load(&crossed));
    if (fclose(file) != 0 || rename(draft, path) != 0)
        exit(2);
}

/* Computes for so long, or sleeps. */
static void work(double seconds)
{
    struct timespec began, now;

    if (sleeps) {
        usleep((useconds_t)(seconds * 1e6));
        return;
    }
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
        note_lock(0);
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
        note_lock(1);
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

/* Returns the command's exit status. What was counted is told by the first thread meanwhile, which
 * shuffle leaves alone: one more thread would make the teams uneven. */
static int wait_for(pid_t pid, const char *file)
{
    int status = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &status, file ? WNOHANG : 0)) == 0) {
        tell(file);
        usleep(100 * PAUSE_US);
    }
    return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    bool binds = false, owns = false;
    int threads = 4;
    char *file = NULL;
    pid_t pid;

    for (int option; (option = getopt(argc, argv, "+n:bosc:")) != -1;) {
        if (option == '?')
            return 2;
        threads = option == 'n' ? atoi(optarg) : threads;
        package_cpus = option == 'c' ? atoi(optarg) : package_cpus;
        binds |= option == 'b';
        owns |= option == 'o';
        sleeps |= option == 's';
    }
    if (package_cpus > 0 && optind < argc)
        file = argv[optind++];
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
    return wait_for(pid, file);
}
