/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads FOLDER - two threads that are made late and bind nothing (wait.h). */
#include <pthread.h>
#include <stdint.h>

#include "wait.h"

/* The first thread adds the even numbers below 100, the second the odd ones. */
static void *add(void *first)
{
    uintptr_t sum = 0;

    for (uintptr_t i = (uintptr_t)first; i < 100; i += 2)
        sum += i;
    return (void *)sum;
}

int main(int argc, char **argv)
{
    const char *folder = argc == 2 ? argv[1] : "/";
    pthread_t thread[2];
    uintptr_t sum = 0;
    void *its;

    begin(folder);
    for (uintptr_t i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, add, (void *)i) != 0)
            return 1;
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &its);
        sum += (uintptr_t)its;
    }
    printf("sum %d\n", (int)sum);
    done(folder);
    return 0;
}
