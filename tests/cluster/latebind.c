/* SPDX-License-Identifier: GPL-2.0-or-later */
/* latebind FILE - says "begun", remembers the first CPU that it may use, and binds itself to that
 * when FILE exists. It ends when FILE.end does. It finds the functions by itself: nothing that
 * reads its executable knows that it binds. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int affinity(pid_t pid, size_t size, cpu_set_t *set);

static void wait_for(const char *file)
{
    for (int i = 0; i < 6000 && access(file, F_OK) < 0; i++)
        usleep(10000);
}

/* Leaves of a set its first CPU. */
static void keep_first(cpu_set_t *set)
{
    int cpu = 0;

    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, set))
        cpu++;
    CPU_ZERO(set);
    CPU_SET(cpu, set);
}

int main(int argc, char **argv)
{
    affinity *get = (affinity *)dlsym(RTLD_DEFAULT, "sched_getaffinity");
    affinity *bind = (affinity *)dlsym(RTLD_DEFAULT, "sched_setaffinity");
    char end[4096];
    cpu_set_t set;

    if (argc != 2 || !get || !bind || get(0, sizeof(set), &set) != 0)
        return 2;
    keep_first(&set);
    puts("begun");
    fflush(stdout);
    wait_for(argv[1]);
    if (bind(0, sizeof(set), &set) != 0)
        return 1;
    puts("bound");
    fflush(stdout);
    snprintf(end, sizeof(end), "%s.end", argv[1]);
    wait_for(end);
    return 0;
}
