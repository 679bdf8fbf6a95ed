/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder - see folder.h */
#include "tests/unit/common/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    abort();
}

#define TMPDIR_MAX 24

void folder_new(char *path, size_t size, const char *name)
{
    const char *in = getenv("TMPDIR");

    if (!in || !in[0] || strlen(in) > TMPDIR_MAX)
        in = "/tmp";
    if (snprintf(path, size, "%s/%s-XXXXXX", in, name) >= (int)size || !mkdtemp(path))
        die(path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int folder_remove(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes all folders that the path names before its slashes, from the one at `from` on. */
static void make_parents(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
}

void folder_make(const char *folder, const char *path)
{
    char full[PATH_MAX];

    snprintf(full, sizeof(full), "%s/%s/", folder, path);
    make_parents(full, strlen(folder) + 1);
}

void folder_put(const char *folder, const char *path, const char *text)
{
    char full[PATH_MAX];

    snprintf(full, sizeof(full), "%s/%s", folder, path);
    make_parents(full, strlen(folder) + 1);
    file_put(full, text);
}

void folder_put_at(const char *folder, const char *name, const char *text, char *path)
{
    folder_put(folder, name, text);
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
}

size_t folder_count(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    if (!dir)
        die(path);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2; /* "." and ".." */
}

void file_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die(path);
    close(fd);
}

void file_line(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}
