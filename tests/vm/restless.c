/* SPDX-License-Identifier: GPL-2.0-or-later */
/* restless COMMAND.. - runs the command beside threads and children that come and go all the time.
 *
 * For tests of moving: a thread that is born while a step is moved must be caught, too. One thread
 * narrows itself to the first CPU that it has. Ends with the command, by its status. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BREEDERS 2
#define LIFE_US 20000

static void *live(void *unused)
{
    usleep(LIFE_US);
    return unused;
}

/* Threads, one after the other, and a child at each fourth. */
static void *breed(void *unused)
{
    pthread_t thread;

    for (unsigned round = 0;; round++) {
        if (round % 4 == 0) {
            pid_t child = fork();

            if (child == 0) {
                usleep(LIFE_US);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
        if (pthread_create(&thread, NULL, live, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return unused;
}

static void *narrow(void *unused)
{
    cpu_set_t all, one;
    int cpu = 0;

    if (sched_getaffinity(0, sizeof(all), &all) < 0)
        return unused;
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (;;)
        pause();
    return unused;
}

static void start(void *(*body)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) != 0) {
        perror("restless: pthread_create");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int status = 1;
    pid_t command;

    if (argc < 2) {
        fprintf(stderr, "usage: restless COMMAND..\n");
        return 2;
    }
    command = fork();
    if (command == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    start(narrow);
    for (int i = 0; i < BREEDERS; i++)
        start(breed);
    if (command < 0 || waitpid(command, &status, 0) < 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
