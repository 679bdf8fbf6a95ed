/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranks FOLDER - an MPI program: its ranks add their part each, late, and the first one says the sum (wait.h). */
#include <mpi.h>

#include "wait.h"

int main(int argc, char **argv)
{
    const char *folder = argc == 2 ? argv[1] : "/";
    int rank, ranks, part = 0, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    begin(folder);
    for (int i = rank; i < 100; i += ranks)
        part += i;
    MPI_Reduce(&part, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("sum %d\n", sum);
        done(folder);
    } else {
        wait_for_file(folder, "end");
    }
    MPI_Finalize();
    return 0;
}
