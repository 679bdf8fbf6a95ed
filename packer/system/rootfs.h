/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rootfs - opens every file of /sys, /proc and cgroupfs below one root directory.
 *
 * The root is "/" in the daemon and a recorded tree in a test: then a machine is a directory. Paths
 * are given with or without a leading slash and always stay below the root they are resolved from.
 */
#ifndef BERTH_SYSTEM_ROOTFS_H
#define BERTH_SYSTEM_ROOTFS_H

#include <stdbool.h>
#include <stddef.h>

#include "packer/base/cpus.h"
#include "packer/base/error.h"

struct rootfs {
    int fd;       /* the root directory, O_PATH */
    bool plain;   /* it is "/", and openat2 may not be called: openat() does the same there */
    bool machine; /* it is "/" */
};

/* Opens the root at `path`. 0, or -1 and err: it is not there, or openat2(2), without which nothing
 * keeps a link of a recorded tree inside it, may not be called (a seccomp filter, as that of
 * systemd's RestrictSUIDSGID=; a kernel before 5.6). */
int rootfs_open(struct rootfs *root, const char *path, struct berth_error *err);
void rootfs_close(struct rootfs *root);

/* Is it this machine's "/", and no recorded tree? */
bool rootfs_is_machine(const struct rootfs *root);

/* Calls openat(2) below the root, close-on-exec; returns the descriptor or -1 with errno. A file of
 * this machine that this process may not read is asked for of who may, if there is one. */
int rootfs_openat(const struct rootfs *root, const char *path, int flags);

/* Opens a file of this machine for this process, to be read, or with O_PATH: a descriptor, or -1
 * with errno. */
typedef int rootfs_opener(const char *path, int flags);

/* Says who is asked; NULL: nobody. It is for the whole process. */
void rootfs_ask(rootfs_opener *opener);

/* Asks for a file that could not be opened, errno being why. Returns a descriptor, or -1 with
 * errno: nobody can be asked, or it is not the right that is missing. */
int rootfs_ask_for(const struct rootfs *root, const char *path, int flags);

bool rootfs_exists(const struct rootfs *root, const char *path);

/* Reads a whole file of any size into a string that the caller frees; NULL with errno when it
 * fails.
 */
char *rootfs_read(const struct rootfs *root, const char *path);

/* Writes text with one write(2), as kernel files want it; the file must exist. 0, or -1 with errno
 * and err naming the file, the text and the reason. */
int rootfs_write(const struct rootfs *root, const char *path, const char *text,
                 struct berth_error *err);

/* Reads or writes a CPU or node list file ("0-3,8"). 0, or -1 with errno and err. */
int rootfs_read_cpus(const struct rootfs *root, const char *path, struct cpus *set,
                     struct berth_error *err);
int rootfs_write_cpus(const struct rootfs *root, const char *path, const struct cpus *set,
                      struct berth_error *err);

/* Makes a directory (0755, whatever the umask: programs look into their cgroups), where there may
 * be one; removes one, where there may be none. 0, or -1 with errno and err. */
int rootfs_mkdir(const struct rootfs *root, const char *path, struct berth_error *err);
int rootfs_rmdir(const struct rootfs *root, const char *path, struct berth_error *err);

/* Returns the names in a folder but those with a leading dot, in no order, ended by NULL; free with
 * rootfs_list_free. NULL with errno. */
char **rootfs_list(const struct rootfs *root, const char *path);

/* Does the same for folders alone, where the file system says what a name is: else all names, and
 * links. */
char **rootfs_list_folders(const struct rootfs *root, const char *path);
void rootfs_list_free(char **names); /* NULL is fine */

#endif
