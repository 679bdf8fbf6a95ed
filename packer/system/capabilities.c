/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capabilities - see capabilities.h. Two system calls and a list of names: no reason for a library
 * in a daemon of root's. */
#include "packer/system/capabilities.h"
#include "enum_table.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const TABLE(names, CAP_CHECKPOINT_RESTORE + 1) = {
    ROW(CAP_CHOWN) = "CAP_CHOWN",
    ROW(CAP_DAC_OVERRIDE) = "CAP_DAC_OVERRIDE",
    ROW(CAP_DAC_READ_SEARCH) = "CAP_DAC_READ_SEARCH",
    ROW(CAP_FOWNER) = "CAP_FOWNER",
    ROW(CAP_FSETID) = "CAP_FSETID",
    ROW(CAP_KILL) = "CAP_KILL",
    ROW(CAP_SETGID) = "CAP_SETGID",
    ROW(CAP_SETUID) = "CAP_SETUID",
    ROW(CAP_SETPCAP) = "CAP_SETPCAP",
    ROW(CAP_LINUX_IMMUTABLE) = "CAP_LINUX_IMMUTABLE",
    ROW(CAP_NET_BIND_SERVICE) = "CAP_NET_BIND_SERVICE",
    ROW(CAP_NET_BROADCAST) = "CAP_NET_BROADCAST",
    ROW(CAP_NET_ADMIN) = "CAP_NET_ADMIN",
    ROW(CAP_NET_RAW) = "CAP_NET_RAW",
    ROW(CAP_IPC_LOCK) = "CAP_IPC_LOCK",
    ROW(CAP_IPC_OWNER) = "CAP_IPC_OWNER",
    ROW(CAP_SYS_MODULE) = "CAP_SYS_MODULE",
    ROW(CAP_SYS_RAWIO) = "CAP_SYS_RAWIO",
    ROW(CAP_SYS_CHROOT) = "CAP_SYS_CHROOT",
    ROW(CAP_SYS_PTRACE) = "CAP_SYS_PTRACE",
    ROW(CAP_SYS_PACCT) = "CAP_SYS_PACCT",
    ROW(CAP_SYS_ADMIN) = "CAP_SYS_ADMIN",
    ROW(CAP_SYS_BOOT) = "CAP_SYS_BOOT",
    ROW(CAP_SYS_NICE) = "CAP_SYS_NICE",
    ROW(CAP_SYS_RESOURCE) = "CAP_SYS_RESOURCE",
    ROW(CAP_SYS_TIME) = "CAP_SYS_TIME",
    ROW(CAP_SYS_TTY_CONFIG) = "CAP_SYS_TTY_CONFIG",
    ROW(CAP_MKNOD) = "CAP_MKNOD",
    ROW(CAP_LEASE) = "CAP_LEASE",
    ROW(CAP_AUDIT_WRITE) = "CAP_AUDIT_WRITE",
    ROW(CAP_AUDIT_CONTROL) = "CAP_AUDIT_CONTROL",
    ROW(CAP_SETFCAP) = "CAP_SETFCAP",
    ROW(CAP_MAC_OVERRIDE) = "CAP_MAC_OVERRIDE",
    ROW(CAP_MAC_ADMIN) = "CAP_MAC_ADMIN",
    ROW(CAP_SYSLOG) = "CAP_SYSLOG",
    ROW(CAP_WAKE_ALARM) = "CAP_WAKE_ALARM",
    ROW(CAP_BLOCK_SUSPEND) = "CAP_BLOCK_SUSPEND",
    ROW(CAP_AUDIT_READ) = "CAP_AUDIT_READ",
    ROW(CAP_PERFMON) = "CAP_PERFMON",
    ROW(CAP_BPF) = "CAP_BPF",
    ROW(CAP_CHECKPOINT_RESTORE) = "CAP_CHECKPOINT_RESTORE",
};
TABLE_COMPLETE(names);
#define NAMES (sizeof(names) / sizeof(names[0]))

const char *capability_name(unsigned number)
{
    return number < NAMES ? names[number] : NULL;
}

int capability_number(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

/* ---- of this thread ---- */

static int get(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

    return (int)syscall(SYS_capget, &head, data);
}

static uint64_t both(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

uint64_t capabilities_held(void)
{
    struct __user_cap_data_struct data[2];

    return get(data) == 0 ? both(data[0].effective, data[1].effective) : 0;
}

/* Takes what is not to be kept out of the set that a program with privileges could get. */
static int narrow(uint64_t keep)
{
    for (unsigned i = 0; i < CAPABILITIES_MAX; i++)
        if (prctl(PR_CAPBSET_READ, i) == 1 && !(keep & CAPABILITY(i)) &&
            prctl(PR_CAPBSET_DROP, i) < 0)
            return -1;
    return 0;
}

int capabilities_keep(uint64_t keep, struct berth_error *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    /* Who may not narrow that set keeps it: it is of use to a new program only. */
    if (narrow(keep) < 0 && errno != EPERM)
        return berth_error_set(err, "capabilities: %s", strerror(errno));
    if (get(data) < 0)
        return berth_error_set(err, "capabilities: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        uint32_t part = (uint32_t)(keep >> (32 * i));

        data[i].permitted &= part;
        data[i].effective &= part;
        data[i].inheritable &= part;
    }
    if (syscall(SYS_capset, &head, data) < 0)
        return berth_error_set(err, "capabilities: %s", strerror(errno));
    return 0;
}

/* ---- for people ---- */

void capabilities_format(uint64_t set, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (unsigned i = 0; i < CAPABILITIES_MAX && used < size; i++) {
        const char *name = capability_name(i);

        if (!(set & CAPABILITY(i)))
            continue;
        if (name)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "", i);
    }
}

/* Does the kernel want more of who opens events than CAP_PERFMON? Those of Debian and Ubuntu know
 * levels of kernel.perf_event_paranoid above 2, at which only CAP_SYS_ADMIN is enough. */
static bool restricts_events(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    bool restricts;
    int level;

    if (!file)
        return false;
    restricts = fscanf(file, "%d", &level) == 1 && level > 2;
    fclose(file);
    return restricts;
}

const char *capabilities_why(uint64_t needs, int why)
{
    static _Thread_local char text[320];
    uint64_t missing = needs & ~capabilities_held();
    const size_t size = sizeof(text);
    char list[256];

    if (missing && (why == EPERM || why == EACCES)) {
        capabilities_format(missing, list, sizeof(list));
        snprintf(text, size, "%s: %s %s missing", strerror(why), list,
                 missing & (missing - 1) ? "are" : "is");
    } else if (why == EACCES && needs & CAPABILITY(CAP_PERFMON) && restricts_events()) {
        snprintf(text, size, "%s: kernel.perf_event_paranoid is above 2, set it to 2",
                 strerror(why));
    } else {
        snprintf(text, size, "%s%s", strerror(why),
                 why == EPERM ? ": by a seccomp filter or the kernel's settings" : "");
    }
    return text;
}
