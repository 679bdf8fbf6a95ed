/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attributes PID.. - prints of each thread of these processes its name, class, nice value and time
 * slice in ms, as sched_getattr(2) has them; 0: this kernel has no slices. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/common/attributes.h"

static void print(const char *pid, const char *tid)
{
    struct attributes has;
    char path[300], name[32] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/comm", pid, tid);
    file = fopen(path, "r");
    if (!file || attributes_get(atoi(tid), &has) < 0 || fscanf(file, "%31s", name) != 1)
        name[0] = '\0'; /* it has ended */
    else
        printf("%s %u %d %g\n", name, has.policy, has.nice, (double)has.runtime_ns / 1e6);
    if (file)
        fclose(file);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct dirent *entry;
        char path[64];
        DIR *dir;

        snprintf(path, sizeof(path), "/proc/%.20s/task", argv[i]);
        dir = opendir(path);
        while (dir && (entry = readdir(dir)))
            if (entry->d_name[0] != '.')
                print(argv[i], entry->d_name);
        if (dir)
            closedir(dir);
    }
    return 0;
}
