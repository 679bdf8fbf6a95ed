/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock_time - see lock_time.h; what the kernel runs is in lock_program.h
 *
 * The programs are attached to perf events of the tracepoints, whose numbers are in tracefs. Where
 * tracefs is mounted nowhere, a mount of it is made that has no place in the file system and goes
 * with its descriptor. */
#include "packer/counters/lock_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/counters/lock_program.h"
#include "packer/system/capabilities.h"
#include "packer/system/perf_open.h"

#define PROCESSES_MAX 16384 /* watched at the same time */
#define THREADS_MAX 65536   /* that wait at the same time, and that are watched */
#define READ_TRIES 8
#define LOCK_NEEDS (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))

struct hook {
    const char *tracepoint;
    bool optional; /* kernels before 5.16 and 6.7 have no such call */
    enum lock_hook program;
};

static const struct hook hooks[] = {
    {"syscalls/sys_enter_futex", false, LOCK_ENTER_FUTEX},
    {"syscalls/sys_exit_futex", false, LOCK_LEAVE},
    {"sched/sched_process_exit", false, LOCK_LEAVE},
    {"syscalls/sys_enter_futex_waitv", true, LOCK_ENTER},
    {"syscalls/sys_exit_futex_waitv", true, LOCK_LEAVE},
    {"syscalls/sys_enter_futex_wait", true, LOCK_ENTER},
    {"syscalls/sys_exit_futex_wait", true, LOCK_LEAVE},
};
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

struct lock_time {
    struct lock_maps maps;
    int program[LOCK_HOOKS];
    int event[HOOKS];
};

/* ---- the kernel's side ---- */

static long bpf(enum bpf_cmd command, union bpf_attr *attr, size_t size)
{
    return syscall(SYS_bpf, command, attr, size);
}

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

static int make_map(unsigned key, unsigned value, unsigned entries)
{
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_HASH};

    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = entries;
    return (int)bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int load(const struct lock_program *program)
{
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_TRACEPOINT};

    attr.insns = address(program->insn);
    attr.insn_cnt = (uint32_t)program->length;
    attr.license = address("GPL");
    return (int)bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* Maps and programs. 0, or -1 with errno. */
static int load_all(struct lock_time *lock)
{
    struct lock_program program;

    lock->maps.process = make_map(sizeof(uint32_t), sizeof(struct lock_numbers), PROCESSES_MAX);
    if (lock->maps.process < 0)
        return -1;
    lock->maps.start = make_map(sizeof(uint64_t), sizeof(uint64_t), THREADS_MAX);
    if (lock->maps.start < 0)
        return -1;
    lock->maps.thread = make_map(sizeof(uint64_t), sizeof(uint64_t), THREADS_MAX);
    if (lock->maps.thread < 0)
        return -1;
    for (int i = 0; i < LOCK_HOOKS; i++) {
        lock_program_write(&program, (enum lock_hook)i, &lock->maps);
        lock->program[i] = load(&program);
        if (lock->program[i] < 0)
            return -1;
    }
    return 0;
}

/* A mount of tracefs that is nowhere in the file system; -1 with errno. */
static int mount_tracefs(void)
{
    int mount = -1, context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

    if (context < 0)
        return -1;
    if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
    file_close(context);
    return mount;
}

/* The folder of tracefs, where it is mounted, else a mount of our own; -1 with errno. */
static int open_tracefs(const struct rootfs *root)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    char path[64];

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/events", places[i]);
        if (rootfs_exists(root, path))
            return rootfs_openat(root, places[i], O_PATH | O_DIRECTORY);
    }
    return mount_tracefs();
}

/* The number of a tracepoint; -1 with errno. */
static long tracepoint_number(int tracefs, const char *name)
{
    char path[128], text[32];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "events/%s/id", name);
    fd = openat(tracefs, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    return strtol(text, NULL, 10);
}

/* An event of the tracepoint that runs the program, on whichever CPU it occurs. -1 with errno. */
static int attach(long number, int program)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
                                   .size = sizeof(attr),
                                   .config = (uint64_t)number,
                                   .sample_period = 1,
                                   .wakeup_events = 1};
    int fd = perf_open(&attr, -1, 0, -1, 0);

    if (fd < 0)
        return -1;
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        return fd;
    file_close(fd);
    return -1;
}

/* 0, or -1 and err. */
static int attach_all(struct lock_time *lock, int tracefs, struct berth_error *err)
{
    for (size_t i = 0; i < HOOKS; i++) {
        long number = tracepoint_number(tracefs, hooks[i].tracepoint);

        if (number < 0 && hooks[i].optional)
            continue;
        if (number < 0)
            return berth_error_set(err, "tracepoint %s: %s", hooks[i].tracepoint,
                                   capabilities_why(LOCK_NEEDS, errno));
        lock->event[i] = attach(number, lock->program[hooks[i].program]);
        if (lock->event[i] < 0)
            return berth_error_set(err, "cannot attach to tracepoint %s: %s", hooks[i].tracepoint,
                                   capabilities_why(LOCK_NEEDS, errno));
    }
    return 0;
}

/* Says whether the numbers of processes are the kernel's own ones, which eBPF tells.
 * (PROC_PID_INIT_INO of include/linux/proc_ns.h.) */
#define NAMESPACE "in a PID namespace the kernel counts by other numbers of processes"

static bool in_first_pid_namespace(void)
{
    struct stat namespace;

    return stat("/proc/self/ns/pid", &namespace) < 0 || namespace.st_ino == 0xEFFFFFFCU;
}

/* ---- the interface ---- */

int lock_time_open(struct lock_time **out, const struct rootfs *root, struct berth_error *err)
{
    struct lock_time *lock = malloc(sizeof(*lock));
    int tracefs, rc = -1;

    if (!lock)
        return berth_no_memory(err);
    memset(lock, -1, sizeof(*lock)); /* nothing is open */
    if (load_all(lock) < 0) {
        berth_error_set(err, "eBPF: %s", capabilities_why(LOCK_NEEDS, errno));
        lock_time_close(lock);
        return -1;
    }
    tracefs = open_tracefs(root);
    if (tracefs < 0)
        berth_error_set(err, "tracefs: %s",
                        capabilities_why(CAPABILITY(CAP_SYS_ADMIN), errno)); /* to mount it */
    else
        rc = attach_all(lock, tracefs, err);
    if (rc == 0 && !in_first_pid_namespace()) /* the last reason: what is denied is told before */
        rc = berth_error_set(err, NAMESPACE);
    file_close(tracefs);
    if (rc < 0)
        lock_time_close(lock);
    else
        *out = lock;
    return rc;
}

void lock_time_close(struct lock_time *lock)
{
    if (!lock)
        return;
    for (size_t i = 0; i < HOOKS; i++)
        file_close(lock->event[i]);
    for (int i = 0; i < LOCK_HOOKS; i++)
        file_close(lock->program[i]);
    file_close(lock->maps.thread);
    file_close(lock->maps.start);
    file_close(lock->maps.process);
    free(lock);
}

/* Has the kernel run a command on an element of a map; value may be NULL. 0, or -1 with errno. */
static int on_element(int map, enum bpf_cmd command, const void *key, void *value)
{
    union bpf_attr attr = {.map_fd = (uint32_t)map};

    attr.key = address(key);
    attr.value = address(value);
    return (int)bpf(command, &attr, sizeof(attr));
}

/* Runs a command on the numbers that are kept of a process. */
static int on_process(const struct lock_time *lock, enum bpf_cmd command, pid_t pid,
                      struct lock_numbers *value)
{
    uint32_t key = (uint32_t)pid;

    return on_element(lock->maps.process, command, &key, value);
}

/* Runs a command on the nanoseconds that are kept of a thread, in the map `start` or `thread`. */
static int on_thread(int map, enum bpf_cmd command, pid_t pid, pid_t tid, uint64_t *value)
{
    uint64_t key = (uint64_t)pid << 32 | (uint32_t)tid;

    return on_element(map, command, &key, value);
}

int lock_time_watch(struct lock_time *lock, pid_t pid)
{
    struct lock_numbers none = {0};

    return on_process(lock, BPF_MAP_UPDATE_ELEM, pid, &none);
}

void lock_time_forget(struct lock_time *lock, pid_t pid)
{
    on_process(lock, BPF_MAP_DELETE_ELEM, pid, NULL);
}

int lock_time_read(struct lock_time *lock, pid_t pid, uint64_t *ns)
{
    struct lock_numbers last, value;
    int64_t lasting;

    if (on_process(lock, BPF_MAP_LOOKUP_ELEM, pid, &last) < 0)
        return -1;
    for (int i = 0; i < READ_TRIES; i++) {
        if (on_process(lock, BPF_MAP_LOOKUP_ELEM, pid, &value) < 0)
            return -1;
        if (memcmp(&last, &value, sizeof(value)) == 0)
            break;
        last = value;
        if (i == READ_TRIES - 1)
            return -1;
    }
    /* the clock of bpf_ktime_get_ns */
    lasting = (int64_t)(value.waiting * clock_ns(CLOCK_MONOTONIC) - value.began_ns);
    *ns = value.ended_ns + (lasting > 0 ? (uint64_t)lasting : 0);
    return 0;
}

int lock_time_watch_thread(struct lock_time *lock, pid_t pid, pid_t tid)
{
    uint64_t none = 0;

    return on_thread(lock->maps.thread, BPF_MAP_UPDATE_ELEM, pid, tid, &none);
}

void lock_time_forget_thread(struct lock_time *lock, pid_t pid, pid_t tid)
{
    on_thread(lock->maps.thread, BPF_MAP_DELETE_ELEM, pid, tid, NULL);
}

/* When the wait began that the thread is in; 0: it does not wait. */
static uint64_t read_start(const struct lock_time *lock, pid_t pid, pid_t tid)
{
    uint64_t ns;

    return on_thread(lock->maps.start, BPF_MAP_LOOKUP_ELEM, pid, tid, &ns) < 0 ? 0 : ns;
}

int lock_time_read_thread(struct lock_time *lock, pid_t pid, pid_t tid, uint64_t *ns)
{
    uint64_t began, now;

    for (int i = 0; i < READ_TRIES; i++) {
        began = read_start(lock, pid, tid);
        now = clock_ns(CLOCK_MONOTONIC);
        if (on_thread(lock->maps.thread, BPF_MAP_LOOKUP_ELEM, pid, tid, ns) < 0)
            return -1;
        if (read_start(lock, pid, tid) != began)
            continue; /* a wait has begun or ended between them */
        *ns += began && now > began ? now - began : 0;
        return 0;
    }
    return 0; /* its waits are shorter than a look: none lasts */
}
