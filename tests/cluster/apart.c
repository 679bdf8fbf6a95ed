/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apart FILE [..] - says whether any of the processes whose numbers are in FILE may run on a CPU
 * on which this one may: "apart", or "beside PID" for each thread that does. The interpreter of a
 * batch script is this: then it is the first that runs on the job's cores. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int is_beside(pid_t tid, const cpu_set_t *own)
{
    cpu_set_t both;

    if (sched_getaffinity(tid, sizeof(both), &both) < 0)
        return 0;
    CPU_AND(&both, &both, own);
    return CPU_COUNT(&both) > 0;
}

static int threads_beside(long pid, const cpu_set_t *own)
{
    char path[64];
    int n = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%ld/task", pid);
    dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        n += atoi(entry->d_name) > 0 && is_beside(atoi(entry->d_name), own);
    if (dir)
        closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "re") : NULL;
    cpu_set_t own;
    int n = 0;

    if (!file || sched_getaffinity(0, sizeof(own), &own) < 0) {
        perror(file ? "sched_getaffinity" : "apart");
        return 2;
    }
    for (long pid; fscanf(file, "%ld", &pid) == 1;)
        for (int i = threads_beside(pid, &own); i > 0; i--, n++)
            printf("beside %ld\n", pid);
    if (n == 0)
        puts("apart");
    fclose(file);
    return 0;
}
