/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank NAME - a rank of an MPI program: it computes until there is a file NAME.stop, and says in
 * NAME.RANK where it may run, at its beginning and whenever that changes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile double sum; /* work */

static void say(FILE *out, char last[256])
{
    static const char field[] = "Cpus_allowed_list:\t";
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];

    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, field, sizeof(field) - 1) == 0 && strcmp(last, line) != 0) {
            snprintf(last, 256, "%s", line);
            fputs(line + sizeof(field) - 1, out);
            fflush(out);
        }
    if (status)
        fclose(status);
}

int main(int argc, char **argv)
{
    char path[512], stop[512], last[256] = "";
    int rank;
    FILE *out;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
    snprintf(stop, sizeof(stop), "%s.stop", argv[1]);
    out = fopen(path, "w");
    do {
        if (out)
            say(out, last);
        for (int i = 0; i < 10000000; i++)
            sum += i;
    } while (out && access(stop, F_OK) != 0);
    return MPI_Finalize() == MPI_SUCCESS && out ? 0 : 1;
}
