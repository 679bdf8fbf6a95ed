/* SPDX-License-Identifier: GPL-2.0-or-later */
/* binds FOLDER - remembers its CPUs when it begins, and binds a late thread to one of them (wait.h). */
#include <pthread.h>
#include <sched.h>

#include "wait.h"

static pthread_barrier_t end;

static void *add(void *sum)
{
    for (int i = 0; i < 100; i++)
        *(int *)sum += i;
    pthread_barrier_wait(&end); /* the sum is made */
    pthread_barrier_wait(&end); /* the masks are read */
    return NULL;
}

/* Leaves of a set its last CPU. */
static void keep_last(cpu_set_t *set)
{
    int last = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, set))
            last = cpu;
    CPU_ZERO(set);
    CPU_SET(last, set);
}

int main(int argc, char **argv)
{
    const char *folder = argc == 2 ? argv[1] : "/";
    pthread_attr_t attributes;
    pthread_t thread;
    cpu_set_t set;
    int sum = 0, rc;

    sched_getaffinity(0, sizeof(set), &set);
    begin(folder);
    keep_last(&set);
    pthread_barrier_init(&end, NULL, 2);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    rc = pthread_create(&thread, &attributes, add, &sum);
    if (rc != 0) {
        printf("a thread cannot be made: %d\n", rc);
        return 1;
    }
    pthread_barrier_wait(&end);
    printf("sum %d\n", sum);
    done(folder);
    pthread_barrier_wait(&end);
    return pthread_join(thread, NULL);
}
