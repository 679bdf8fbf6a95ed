/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lateteam FILE - an OpenMP program that makes its team of two threads late: it says "begun" at
 * once, and makes the team when FILE exists. Ends well when both threads have worked. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int worked = 0;

#pragma omp parallel num_threads(1)
    worked = omp_get_num_threads() - 1;
    puts("begun");
    fflush(stdout);
    for (int i = 0; argc == 2 && i < 6000 && access(argv[1], F_OK) < 0; i++)
        usleep(10000);
#pragma omp parallel num_threads(2) reduction(+ : worked)
    worked++;
    printf("%d worked\n", worked);
    return worked == 2 ? 0 : 1;
}
