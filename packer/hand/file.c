/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file - files that only root may read are opened for the head: meters, what the firmware says of
 * the machine, and what the kernel tells of processes of registered steps. A user can have who
 * opens one of the latter wait for ever, by a lock of his process. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/hand/hand_impl.h"

/* '*' stands for the rest of a name, and for none that begins with a dot. */
static const char *const machine_file[] = {
    "/sys/class/powercap/*/energy_uj", "/sys/class/hwmon/*/energy*_input",
    "/sys/firmware/dmi/tables/DMI",    "/sys/firmware/dmi/tables/smbios_entry_point",
    "/sys/devices/system/edac/mc/*/*", "/sys/bus/i2c/devices/*/eeprom",
};

static const char *const process_file[] = {"maps",   "numa_maps", "pagemap", "exe",
                                           "status", "stat",      "cgroup"};

static bool is_machines(const char *path)
{
    for (size_t i = 0; i < sizeof(machine_file) / sizeof(machine_file[0]); i++)
        if (fnmatch(machine_file[i], path, FNM_PATHNAME | FNM_PERIOD) == 0)
            return true;
    return false;
}

/* Is it /proc/PID/NAME, of a process of a step? */
static bool is_process(struct hand_asked *asked, const char *path)
{
    int pid, at = 0;

    if (sscanf(path, "/proc/%d/%n", &pid, &at) != 1 || at == 0)
        return false;
    for (size_t i = 0; i < sizeof(process_file) / sizeof(process_file[0]); i++)
        if (strcmp(path + at, process_file[i]) == 0)
            return hand_step_of(asked->hand, pid) != NULL;
    return false;
}

int hand_may_open(struct hand_asked *asked)
{
    const struct hand_file *file = &asked->message->file;

    if (file->link <= 1 && memchr(file->path, '\0', sizeof(file->path)) &&
        (is_machines(file->path) || is_process(asked, file->path)))
        return 0;
    return hand_refuse(asked, "file: %.200s is not one that the head may read", file->path);
}

/* What was opened of a process has to be of the one that was looked at: it may have ended, and
 * another have its number. */
static bool is_still(struct hand_asked *asked, const char *path)
{
    bool is;

    if (strncmp(path, "/proc/", 6) != 0)
        return true;
    pthread_mutex_lock(&asked->hand->mutex);
    is = is_process(asked, path);
    pthread_mutex_unlock(&asked->hand->mutex);
    return is;
}

int hand_do_open(struct hand_asked *asked)
{
    const struct hand_file *file = &asked->message->file;
    const struct rootfs *root = asked->hand->site.root;
    int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (file->link ? O_PATH : O_RDONLY), fd;

    /* /proc/PID/exe leads out of any root, and of a tree that is not the machine it is no link */
    fd = rootfs_is_machine(root) ? openat(root->fd, file->path + 1, flags)
                                 : rootfs_openat(root, file->path, flags);
    if (fd >= 0 && !is_still(asked, file->path)) {
        close(fd);
        errno = ESRCH;
        fd = -1;
    }
    asked->answer->fd = fd;
    return fd < 0 ? berth_error_set(&asked->answer->why, "%s: %s", file->path, strerror(errno)) : 0;
}
