/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regions FILE STOP - one parallel region after the other, until the file STOP is there: FILE gets
 * a line with their number of threads when it is another than before, as the run-time has it, and
 * "wrong" where another number of threads came. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int run_region(void)
{
    int said = 0, came = 0;

#pragma omp parallel reduction(+ : came)
    {
        came++;
#pragma omp master
        said = omp_get_num_threads();
    }
    return came == said ? said : -1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 3 ? fopen(argv[1], "ae") : NULL;
    int before = 0;

    if (!file)
        return 2;
    while (access(argv[2], F_OK) < 0) {
        int threads = run_region();

        if (threads != before && fprintf(file, threads < 0 ? "wrong\n" : "%d\n", threads) > 0)
            fflush(file);
        before = threads;
        usleep(10000);
    }
    fclose(file);
    return 0;
}
