/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chunks STOP - one dynamic loop of eight threads after the other, until the file STOP is there.
 * Ends with 1 where an iteration was lost, or done twice. */
#include <stdio.h>
#include <unistd.h>

#define ITEMS 400

int main(int argc, char **argv)
{
    long sum = 0, wanted = 0;

    while (argc == 2 && access(argv[1], F_OK) < 0) {
#pragma omp parallel for num_threads(8) schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < ITEMS; i++) {
            usleep(500);
            sum += i;
        }
        wanted += (long)ITEMS * (ITEMS - 1) / 2;
    }
    return argc == 2 && sum == wanted ? 0 : 1;
}
