/* SPDX-License-Identifier: GPL-2.0-or-later */
/* team FOLDER - an OpenMP program whose team of two threads is made late, and is there at its end (wait.h). */
#include <omp.h>

#include "wait.h"

int main(int argc, char **argv)
{
    const char *folder = argc == 2 ? argv[1] : "/";
    int sum = 0;

#pragma omp parallel num_threads(1)
    sum += omp_get_thread_num();
    begin(folder);
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += i;
    printf("sum %d\n", sum);
    done(folder);
    return 0;
}
