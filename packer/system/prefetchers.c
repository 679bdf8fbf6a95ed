/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetchers - see prefetchers.h */
#include "packer/system/prefetchers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/cpuinfo.h"

#define MISC_FEATURE_CONTROL 0x1a4
#define FOUR_SWITCHES 0xfull
#define INTEL_FAMILY 6

/* Of Intel's family 6, with one kind of core each: hybrid processors have registers of two kinds.
 * Intel has told of them in its disclosure of 2014, up to Broadwell, and by its tool pepc. */
static const unsigned char models[] = {
    0x1a, 0x1e, 0x1f, 0x2e,       /* Nehalem */
    0x25, 0x2c, 0x2f,             /* Westmere */
    0x2a, 0x2d,                   /* Sandy Bridge */
    0x3a, 0x3e,                   /* Ivy Bridge */
    0x3c, 0x3f, 0x45, 0x46,       /* Haswell */
    0x3d, 0x47, 0x4f, 0x56,       /* Broadwell */
    0x4e, 0x55, 0x5e, 0x8e, 0x9e, /* Skylake, Cascade Lake, Cooper Lake, Kaby Lake */
    0xa5, 0xa6, 0x66,             /* Comet Lake, Cannon Lake */
    0x6a, 0x6c, 0x7d, 0x7e, 0xa7, /* Ice Lake, Rocket Lake */
    0x8c, 0x8d,                   /* Tiger Lake */
    0x8f, 0xcf, 0xad, 0xae,       /* Sapphire Rapids, Emerald Rapids, Granite Rapids */
};

/* Returns a number of these lines; -1: it is not there. */
static long number_of(const char *cpuinfo, const char *key)
{
    char value[32], *rest;
    long number;

    cpuinfo_first(cpuinfo, key, value, sizeof(value));
    number = strtol(value, &rest, 10);
    return rest == value || *rest ? -1 : number;
}

int prefetchers_by_cpuinfo(const char *cpuinfo, uint64_t *mask, struct berth_error *err)
{
    long family = number_of(cpuinfo, "cpu family"), model = number_of(cpuinfo, "model");
    char vendor[32];

    cpuinfo_first(cpuinfo, "vendor_id", vendor, sizeof(vendor));
    if (!vendor[0])
        return berth_error_set(err, "/proc/cpuinfo does not say whose processor this is");
    if (strcmp(vendor, "GenuineIntel") != 0)
        return berth_error_set(
            err, "only Intel's processors have a switch for their prefetchers: this one is %s",
            vendor);
    if (family != INTEL_FAMILY || model < 0 || model > UCHAR_MAX ||
        !memchr(models, (int)model, sizeof(models)))
        return berth_error_set(err,
                               "nobody has told of Intel's family %ld, model %ld how its "
                               "prefetchers are switched",
                               family, model);
    *mask = FOUR_SWITCHES;
    return 0;
}

int prefetchers_find(const struct rootfs *root, uint64_t *mask, struct berth_error *err)
{
    char *cpuinfo = rootfs_read(root, "/proc/cpuinfo");
    int rc;

    if (!cpuinfo)
        return berth_error_set(err, "/proc/cpuinfo: %s", strerror(errno));
    rc = prefetchers_by_cpuinfo(cpuinfo, mask, err);
    free(cpuinfo);
    return rc;
}

/* ---- the register ---- */

/* Says what has failed, with what an administrator can do about it. */
static int fail(size_t cpu, const char *what, struct berth_error *err)
{
    const char *hint = errno == ENOENT  ? " (modprobe msr)"
                       : errno == EPERM ? " (CAP_SYS_RAWIO, and no kernel lockdown)"
                       : errno == EIO   ? " (the processor, or a hypervisor, refuses it)"
                                        : "";

    return berth_error_set(err, "/dev/cpu/%zu/msr: register 0x%x: %s: %s%s", cpu,
                           MISC_FEATURE_CONTROL, what, strerror(errno), hint);
}

static int open_msr(const struct rootfs *root, size_t cpu, int flags)
{
    char path[64];

    snprintf(path, sizeof(path), "/dev/cpu/%zu/msr", cpu);
    return rootfs_openat(root, path, flags);
}

/* A file that is too short is no register. */
static int whole(ssize_t bytes)
{
    if (bytes >= 0 && bytes != sizeof(uint64_t))
        errno = EIO;
    return bytes == sizeof(uint64_t) ? 0 : -1;
}

static int read_open(int fd, size_t cpu, uint64_t *value, struct berth_error *err)
{
    return whole(pread(fd, value, sizeof(*value), MISC_FEATURE_CONTROL)) == 0
               ? 0
               : fail(cpu, "read", err);
}

int prefetchers_get(const struct rootfs *root, size_t cpu, uint64_t *value, struct berth_error *err)
{
    int fd = open_msr(root, cpu, O_RDONLY), rc;

    if (fd < 0)
        return fail(cpu, "open", err);
    rc = read_open(fd, cpu, value, err);
    file_close(fd);
    return rc;
}

int prefetchers_put(const struct rootfs *root, size_t cpu, uint64_t value, struct berth_error *err)
{
    int fd = open_msr(root, cpu, O_RDWR), rc;
    uint64_t holds = 0;

    if (fd < 0)
        return fail(cpu, "open", err);
    rc = whole(pwrite(fd, &value, sizeof(value), MISC_FEATURE_CONTROL)) == 0
             ? read_open(fd, cpu, &holds, err)
             : fail(cpu, "write", err);
    if (rc == 0 && holds != value)
        rc = berth_error_set(err,
                             "/dev/cpu/%zu/msr: register 0x%x: 0x%llx was written, and it holds "
                             "0x%llx",
                             cpu, MISC_FEATURE_CONTROL, (unsigned long long)value,
                             (unsigned long long)holds);
    file_close(fd);
    return rc;
}
