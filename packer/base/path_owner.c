/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path_owner - see path_owner.h. It is for mistakes in a configuration: who may write one of the
 * folders can wait until it has been looked at. */
#include "packer/base/path_owner.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 16

static bool is_ours(const struct stat *st)
{
    return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Who else may write a folder that is not sticky could replace what is in it. */
static int check_folder(const char *path, const struct stat *st, struct berth_error *err)
{
    bool group = (st->st_mode & S_IWGRP) && st->st_gid != 0;

    if (!is_ours(st))
        return berth_error_set(err,
                               "%.400s: belongs to user %u, who could replace what berth keeps"
                               " there",
                               path, st->st_uid);
    if (S_ISDIR(st->st_mode) && !(st->st_mode & S_ISVTX) && (group || (st->st_mode & S_IWOTH)))
        return berth_error_set(err, "%.400s: mode %04o: %s could replace what berth keeps there",
                               path, (unsigned)st->st_mode & 07777,
                               st->st_mode & S_IWOTH ? "any user" : "its group");
    return 0;
}

static int check(const char *path, int links, struct berth_error *err);

/* Follows a link, whose target is relative to the folder that is the first `folder` bytes. */
static int check_link(const char *link, size_t folder, const char *rest, int links,
                      struct berth_error *err)
{
    char target[PATH_MAX], whole[3 * PATH_MAX];
    ssize_t length = readlink(link, target, sizeof(target) - 1);

    if (length < 0 || links == LINKS_MAX)
        return berth_error_set(err, "%.400s: %s", link,
                               length < 0 ? strerror(errno) : "too many links");
    target[length] = '\0';
    snprintf(whole, sizeof(whole), "%.*s%s%s", target[0] == '/' ? 0 : (int)folder, link, target,
             rest);
    if (strlen(whole) >= PATH_MAX)
        return berth_error_set(err, "%.400s: %s", link, strerror(ENAMETOOLONG));
    return check(whole, links + 1, err);
}

static int check(const char *path, int links, struct berth_error *err)
{
    char part[PATH_MAX];
    struct stat st;

    for (size_t at = 0; path[at];) {
        size_t end = at + strspn(path + at, "/");

        snprintf(part, sizeof(part), "%.*s", (int)(at == 0 ? 1 : at), path);
        if (lstat(part, &st) < 0)
            return errno == ENOENT ? 0 : berth_error_set(err, "%.400s: %s", part, strerror(errno));
        if (check_folder(part, &st, err) < 0)
            return -1;
        if (S_ISLNK(st.st_mode))
            return check_link(part, strlen(part) - strlen(strrchr(part, '/') + 1), path + at, links,
                              err);
        at = end + strcspn(path + end, "/");
    }
    return 0;
}

int path_owner_check(const char *path, struct berth_error *err)
{
    char whole[PATH_MAX];

    if (path[0] != '/' || (size_t)snprintf(whole, sizeof(whole), "%s", path) >= sizeof(whole))
        return berth_error_set(err, "%.400s: no absolute path", path);
    return check(whole, 0, err);
}
