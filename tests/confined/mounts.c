/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mounts - the file system that a unit leaves to its service, in a mount namespace: what systemd's
 * namespace.c does for the directives that unit.c knows. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/confined/confined.h"

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Makes the mounts at and below `path` read-only, or the one at `path` alone writable. */
static void set_read_only(const char *path, bool read_only, bool recursive)
{
    struct mount_attr attr = {0};

    if (read_only)
        attr.attr_set = MOUNT_ATTR_RDONLY;
    else
        attr.attr_clr = MOUNT_ATTR_RDONLY;
    if (syscall(SYS_mount_setattr, AT_FDCWD, path, recursive ? AT_RECURSIVE : 0, &attr,
                sizeof(attr)) < 0)
        err(2, "%s: read-only=%d", path, read_only);
}

static void bind(const char *from, const char *to)
{
    if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0)
        err(2, "bind %s to %s", from, to);
}

static void close_path(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        if (mount("tmpfs", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=000,size=4k") < 0)
            err(2, "%s", path);
        return;
    }
    if (mount("/dev/null", path, NULL, MS_BIND, NULL) < 0)
        err(2, "%s", path);
}

static void close_paths(const char *const *path)
{
    for (; *path; path++)
        close_path(*path);
}

static void freeze(const char *const *path)
{
    for (; *path; path++) {
        if (!is_there(*path))
            continue;
        bind(*path, *path);
        set_read_only(*path, true, true);
    }
}

static void allow_writing(const char *path)
{
    bool may_lack = path[0] == '-';

    path += may_lack;
    if (may_lack && !is_there(path))
        return;
    bind(path, path);
    set_read_only(path, false, true);
}

/* ---- /dev ---- */

static void make_device(const char *name, unsigned major_number, unsigned minor_number)
{
    char path[64];

    snprintf(path, sizeof(path), "/tmp/%s", name); /* the new /dev, before it is moved */
    if (mknod(path, S_IFCHR | 0666, makedev(major_number, minor_number)) < 0 ||
        chmod(path, 0666) < 0)
        err(2, "%s", path);
}

/* Puts a /dev in place that has no hardware in it. The new one is made on /tmp, which is private
 * already. */
static void private_devices(void)
{
    umask(0);
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=755,size=4m") < 0)
        err(2, "a private /dev");
    make_device("null", 1, 3);
    make_device("zero", 1, 5);
    make_device("full", 1, 7);
    make_device("random", 1, 8);
    make_device("urandom", 1, 9);
    make_device("tty", 5, 0);
    mkdir("/tmp/shm", 01777);
    if (is_there("/dev/log") && mknod("/tmp/log", S_IFREG | 0666, 0) == 0)
        bind("/dev/log", "/tmp/log");
    if (is_there("/dev/shm"))
        bind("/dev/shm", "/tmp/shm");
    if (mount("/tmp", "/dev", NULL, MS_MOVE, NULL) < 0)
        err(2, "a private /dev");
}

/* ---- what stays reachable ---- */

struct kept {
    size_t n;
    int fd[2 * WORDS_MAX];
    const char *path[2 * WORDS_MAX];
};

static void keep(struct kept *kept, const struct words *paths)
{
    for (size_t i = 0; i < paths->n; i++) {
        kept->fd[kept->n] = open(paths->word[i], O_PATH | O_CLOEXEC);
        if (kept->fd[kept->n] < 0)
            err(2, "%s", paths->word[i]);
        kept->path[kept->n++] = paths->word[i];
    }
}

/* Makes the folders of a path that a private /tmp has not. */
static void make_folders(const char *path)
{
    char part[4096];

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            err(2, "%s", part);
    }
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        err(2, "%s", path);
}

static void bring_back(const struct kept *kept)
{
    char from[64];

    for (size_t i = 0; i < kept->n; i++) {
        snprintf(from, sizeof(from), "/proc/self/fd/%d", kept->fd[i]);
        make_folders(kept->path[i]);
        bind(from, kept->path[i]);
    }
}

static void private_tmp(const struct kept *kept)
{
    umask(0);
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=1777") < 0 ||
        mount("tmpfs", "/var/tmp", "tmpfs", MS_NOSUID | MS_STRICTATIME, "mode=1777") < 0)
        err(2, "a private /tmp");
    bring_back(kept);
}

/* ---- all ---- */

static const char *const homes[] = {"/home", "/root", "/run/user", NULL};
static const char *const modules[] = {"/lib/modules", "/usr/lib/modules", NULL};
static const char *const logs[] = {"/dev/kmsg", "/proc/kmsg", NULL};
static const char *const tunables[] = {
    "/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr", "/proc/acpi", "/proc/asound", "/proc/bus",
    "/proc/fs",  "/proc/irq",           "/sys",       NULL};
static const char *const closed_tunables[] = {"/proc/kallsyms", "/proc/kcore", NULL};
static const char *const cgroups[] = {"/sys/fs/cgroup", NULL};

static void allow_all(const struct words *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        allow_writing(paths->word[i]);
}

/* The order is from what holds for much to what holds for little. */
static void protect(const struct unit *unit, const struct words *writable)
{
    if (unit->strict_system) {
        set_read_only("/", true, true);
        set_read_only("/proc", false, true);
        set_read_only("/sys", false, true);
        set_read_only("/dev", false, true);
    }
    if (unit->protect_tunables) {
        freeze(tunables);
        if (!unit->protect_cgroups && is_there(cgroups[0]))
            set_read_only(cgroups[0], false, true);
        close_paths(closed_tunables);
    }
    if (unit->protect_cgroups)
        freeze(cgroups);
    if (unit->private_tmp) {
        set_read_only("/tmp", false, true);
        set_read_only("/var/tmp", false, true);
    }
    allow_all(&unit->writable);
    allow_all(writable);
    if (unit->protect_home)
        close_paths(homes);
    if (unit->protect_modules)
        close_paths(modules);
    if (unit->protect_logs)
        close_paths(logs);
}

static int namespaces(const struct unit *unit)
{
    return CLONE_NEWNS | (unit->private_network ? CLONE_NEWNET : 0) |
           (unit->private_ipc ? CLONE_NEWIPC : 0) | (unit->protect_hostname ? CLONE_NEWUTS : 0);
}

void mounts_apply(const struct unit *unit, const struct words *writable,
                  const struct words *readable)
{
    static struct kept kept;
    mode_t mask = umask(0);

    if (unshare(namespaces(unit)) < 0 || mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
        err(2, "namespaces");
    keep(&kept, readable);
    keep(&kept, writable);
    if (unit->private_devices)
        private_devices();
    if (unit->private_tmp)
        private_tmp(&kept);
    protect(unit, writable);
    umask(mask);
}
