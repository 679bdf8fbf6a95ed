/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder - see folder.h */
#include "tests/bench/folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *folder;
static pid_t owner; /* children that exit do not remove it */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int bench_folder(char *path)
{
    if (!mkdtemp(path))
        return -1;
    folder = path;
    owner = getpid();
    return atexit(remove_folder);
}
