/* SPDX-License-Identifier: GPL-2.0-or-later */
/* breed MODE ARGUMENTS.. COMMAND.. - a task that does what a hostile one can, as any user: makes
 * processes, and is COMMAND then.
 *
 *   tree SIZE CHAIN      SIZE processes that sleep, CHAIN of them below each other
 *   threads N            one process of N threads that sleep
 *   chains N US FILE     once FILE is there, N processes each of which is replaced by its child
 *                        after US microseconds, for ten seconds at most
 *   orphan NAME          one of nobody's, that calls itself NAME
 *
 * All of them end with the task, at the latest after ten minutes; Slurm ends them, too. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIFE_S 600
#define FORKS_S 10

static void sleep_on(void)
{
    alarm(LIFE_S);
    for (;;)
        pause();
}

/* A child, which ends with its parent; 0 in the child. */
static pid_t child(void)
{
    pid_t pid = fork();

    if (pid < 0) {
        perror("breed: fork");
        exit(1);
    }
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

static int tree(char **argv)
{
    int size = atoi(argv[0]), chain = atoi(argv[1]);

    for (int i = 1; i < size - chain; i++)
        if (child() == 0)
            sleep_on();
    for (int i = 0; i < chain; i++) {
        if (child() != 0) {
            if (i > 0)
                sleep_on();
            return 2;
        }
        if (i == chain - 1)
            sleep_on();
    }
    return 2;
}

static void *thread(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static int threads(char **argv)
{
    pthread_attr_t attr;
    pthread_t id;

    if (child() != 0)
        return 1;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (int i = atoi(argv[0]); i > 1; i--)
        if (pthread_create(&id, &attr, thread, NULL) != 0)
            exit(1);
    sleep_on();
    return 1;
}

static void chain(long us)
{
    time_t end = time(NULL) + FORKS_S;

    while (time(NULL) < end) {
        usleep((useconds_t)us);
        if (fork() != 0)
            _exit(0);
    }
    _exit(0);
}

static int chains(char **argv)
{
    if (child() != 0)
        return 3;
    /* Whom nobody waits for any more is reaped here: the node has a bounded number of processes. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGCHLD, SIG_IGN);
    alarm(LIFE_S);
    while (access(argv[2], F_OK) < 0)
        usleep(10000);
    for (int i = atoi(argv[0]); i > 0; i--)
        if (child() == 0)
            chain(atol(argv[1]));
    while (wait(NULL) > 0)
        ;
    _exit(0);
}

static int orphan(char **argv)
{
    pid_t middle = fork();

    if (middle == 0) {
        if (fork() != 0)
            _exit(0);
        prctl(PR_SET_NAME, argv[0]);
        sleep_on();
    }
    waitpid(middle, NULL, 0);
    return 1;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **argv); /* returns how many arguments it took */
    } modes[] = {
        {"tree", 2, tree}, {"threads", 1, threads}, {"chains", 3, chains}, {"orphan", 1, orphan}};

    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(argv[1], modes[i].name) != 0 || argc < 3 + modes[i].arguments)
            continue;
        argv += 2 + modes[i].run(argv + 2);
        execvp(argv[0], argv);
        perror(argv[0]);
        return 1;
    }
    fprintf(
        stderr,
        "usage: breed tree SIZE CHAIN | threads N | chains N US FILE | orphan NAME  COMMAND..\n");
    return 2;
}
