/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rootfs - see rootfs.h
 *
 * openat2(2) with RESOLVE_IN_ROOT: a symbolic link of a recorded tree cannot lead out of it. Below
 * "/" there is no way out: where openat2 may not be called, openat() opens the same files. */
#include "packer/system/rootfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"

#define OPEN_TRIES 16 /* EAGAIN: something was renamed while ".." was resolved */

/* Calls openat2(2) until it has an answer. */
static int open_inside(int root, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    long fd = -1;

    for (int i = 0; i < OPEN_TRIES; i++) {
        fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return (int)fd;
}

static bool is_slash(int fd)
{
    struct stat here, slash;

    return fstat(fd, &here) == 0 && stat("/", &slash) == 0 && here.st_dev == slash.st_dev &&
           here.st_ino == slash.st_ino;
}

int rootfs_open(struct rootfs *root, const char *path, struct berth_error *err)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), inside;

    if (fd < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    inside = open_inside(fd, ".", O_PATH);
    if (inside < 0 && !is_slash(fd)) {
        berth_error_set(err, "%s: no file can be opened below it: openat2: %s", path,
                        strerror(errno));
        close(fd);
        return -1;
    }
    *root = (struct rootfs){.fd = fd, .plain = inside < 0, .machine = is_slash(fd)};
    file_close(inside);
    return 0;
}

bool rootfs_is_machine(const struct rootfs *root)
{
    return root->machine;
}

void rootfs_close(struct rootfs *root)
{
    if (root->fd >= 0)
        close(root->fd);
    root->fd = -1;
}

int rootfs_openat(const struct rootfs *root, const char *path, int flags)
{
    const char *at = path + strspn(path, "/");
    int fd;

    if (!*at)
        at = ".";
    fd = root->plain ? openat(root->fd, at, flags | O_CLOEXEC) : open_inside(root->fd, at, flags);
    return fd < 0 ? rootfs_ask_for(root, path, flags) : fd;
}

static rootfs_opener *other;

void rootfs_ask(rootfs_opener *opener)
{
    other = opener;
}

int rootfs_ask_for(const struct rootfs *root, const char *path, int flags)
{
    bool reads = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY);

    return other && root->machine && reads && (errno == EACCES || errno == EPERM)
               ? other(path, flags)
               : -1;
}

bool rootfs_exists(const struct rootfs *root, const char *path)
{
    int saved = errno, fd = rootfs_openat(root, path, O_PATH);

    errno = saved;
    file_close(fd);
    return fd >= 0;
}

char *rootfs_read(const struct rootfs *root, const char *path)
{
    int fd = rootfs_openat(root, path, O_RDONLY);
    char *text = fd < 0 ? NULL : file_read_fd(fd, SIZE_MAX, NULL);

    file_close(fd);
    return text;
}

int rootfs_write(const struct rootfs *root, const char *path, const char *text,
                 struct berth_error *err)
{
    int fd = rootfs_openat(root, path, O_WRONLY | O_TRUNC);
    size_t length = strlen(text);
    ssize_t wrote;

    if (fd < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    wrote = write(fd, text, length);
    if (wrote >= 0 && (size_t)wrote != length)
        errno = EIO;
    file_close(fd);
    if (wrote >= 0 && (size_t)wrote == length)
        return 0;
    return berth_error_set(err, "%s: cannot write '%.*s': %s", path, (int)strcspn(text, "\n"), text,
                           strerror(errno));
}

int rootfs_read_cpus(const struct rootfs *root, const char *path, struct cpus *set,
                     struct berth_error *err)
{
    char *text = rootfs_read(root, path);
    int saved, rc;

    if (!text)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    rc = cpus_parse(set, text);
    saved = errno;
    if (rc < 0)
        berth_error_set(err, "%s: '%.*s' is not a CPU list", path, (int)strcspn(text, "\n"), text);
    free(text);
    errno = saved;
    return rc;
}

int rootfs_write_cpus(const struct rootfs *root, const char *path, const struct cpus *set,
                      struct berth_error *err)
{
    char text[CPUS_TEXT_MAX + 1];

    if (cpus_format(set, text, sizeof(text) - 1) < 0)
        return berth_error_set(err, "%s: the CPU list is too long", path);
    strcat(text, "\n"); /* an empty list needs a byte to be written at all */
    return rootfs_write(root, path, text, err);
}

/* Open the folder that holds path, and point *name at path's last part. */
static int open_parent(const struct rootfs *root, const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char parent[PATH_MAX];

    *name = slash ? slash + 1 : path;
    if (length >= sizeof(parent) || !**name || strcmp(*name, "..") == 0) {
        errno = EINVAL;
        return -1;
    }
    memcpy(parent, path, length);
    parent[length] = '\0';
    return rootfs_openat(root, parent, O_PATH | O_DIRECTORY);
}

/* Makes a directory, or removes it; `fine` is the errno that says that nothing was to be done. */
static int change_dir(const struct rootfs *root, const char *path, bool make, int fine,
                      struct berth_error *err)
{
    const char *name;
    int rc = -1, parent = open_parent(root, path, &name);

    if (parent >= 0)
        rc = make ? mkdirat(parent, name, 0755) : unlinkat(parent, name, AT_REMOVEDIR);
    if (rc == 0 && make)
        rc = fchmodat(parent, name, 0755, 0); /* whatever the umask */
    file_close(parent);
    if (rc == 0 || ((parent >= 0 || !make) && errno == fine))
        return 0;
    return berth_error_set(err, "%s: cannot %s: %s", path, make ? "create" : "remove",
                           strerror(errno));
}

int rootfs_mkdir(const struct rootfs *root, const char *path, struct berth_error *err)
{
    return change_dir(root, path, true, EEXIST, err);
}

int rootfs_rmdir(const struct rootfs *root, const char *path, struct berth_error *err)
{
    return change_dir(root, path, false, ENOENT, err);
}

/* One more name at the end of the list, which NULL ends. */
static int add_name(char ***names, size_t *room, size_t n, const char *name)
{
    if (array_grow(names, room, n + 2, sizeof(**names)) < 0)
        return -1;
    (*names)[n] = strdup(name);
    (*names)[n + 1] = NULL;
    return (*names)[n] ? 0 : -1;
}

/* Is that a folder, or a link, which may lead to one; or does the file system not say what it is?
 */
static bool may_be_folder(const struct dirent *entry)
{
    return entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN;
}

static char **list_names(const struct rootfs *root, const char *path, bool folders)
{
    int fd = rootfs_openat(root, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    char **names = dir ? calloc(1, sizeof(*names)) : NULL;
    struct dirent *entry;
    size_t n = 0, room = 1;

    if (!dir)
        file_close(fd);
    while (names && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || (folders && !may_be_folder(entry)))
            continue;
        if (add_name(&names, &room, n++, entry->d_name) < 0) {
            rootfs_list_free(names);
            names = NULL;
        }
    }
    if (dir)
        closedir(dir);
    return names;
}

char **rootfs_list(const struct rootfs *root, const char *path)
{
    return list_names(root, path, false);
}

char **rootfs_list_folders(const struct rootfs *root, const char *path)
{
    return list_names(root, path, true);
}

void rootfs_list_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}
