/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock_time - see lock_time.h
 *
 * Two maps: `process` has for each watched process three numbers, `start` has for each thread that
 * waits now when it began. The programs, small enough to be written as instructions so that no
 * compiler for them is needed, run in the thread that waits:
 *
 *   enter   is the process watched, and does the call wait? start[thread] = now; began += now;
 *           waiting += 1
 *   leave   did the thread wait? waiting -= 1; began -= its start; ended += now - its start.
 *           At the call's end, and when a thread dies in it.
 *
 * The time is then ended + waiting * now - began. Each number is added to atomically, but not all
 * three at once: where a reader sees a state in between that lasts (the program was interrupted),
 * the order of the additions makes the sum too small, which the caller ignores; one that changes
 * while it is read is read again.
 *
 * The programs are attached to perf events of the tracepoints, whose numbers are in tracefs. Where
 * tracefs is mounted nowhere, a mount of it is made that has no place in the file system and goes
 * with its descriptor. */
#include "lock_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 16384 /* watched at the same time */
#define THREADS_MAX 65536   /* that wait at the same time */
#define READ_TRIES 8

struct value {
    uint64_t ended_ns, began_ns, waiting;
};

struct hook {
    const char *tracepoint;
    bool optional; /* kernels before 5.16 and 6.7 have no such call */
    enum { ENTER_FUTEX, ENTER, LEAVE, PROGRAMS } program;
};

static const struct hook hooks[] = {
    {"syscalls/sys_enter_futex", false, ENTER_FUTEX},
    {"syscalls/sys_exit_futex", false, LEAVE},
    {"sched/sched_process_exit", false, LEAVE},
    {"syscalls/sys_enter_futex_waitv", true, ENTER},
    {"syscalls/sys_exit_futex_waitv", true, LEAVE},
    {"syscalls/sys_enter_futex_wait", true, ENTER},
    {"syscalls/sys_exit_futex_wait", true, LEAVE},
};
#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

struct lock_time {
    int process, start; /* maps */
    int program[PROGRAMS];
    int event[HOOKS];
};

/* ---- the programs ---- */

/* One instruction each, as in linux/filter.h of the kernel. */
#define INSN(c, d, s, o, i)                                                                        \
    ((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define MOV_REG(d, s) INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i) INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ALU_IMM(op, d, i) INSN(BPF_ALU64 | (op) | BPF_K, d, 0, 0, i)
#define ALU_REG(op, d, s) INSN(BPF_ALU64 | (op) | BPF_X, d, s, 0, 0)
#define LOAD(d, s, o) INSN(BPF_LDX | BPF_DW | BPF_MEM, d, s, o, 0)
#define STORE(d, o, s) INSN(BPF_STX | BPF_DW | BPF_MEM, d, s, o, 0)
#define STORE_WORD(d, o, s) INSN(BPF_STX | BPF_W | BPF_MEM, d, s, o, 0)
#define ATOMIC_ADD(d, o, s) INSN(BPF_STX | BPF_DW | BPF_XADD, d, s, o, 0)
#define JUMP_IMM(op, d, i, o) INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define CALL(f) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define EXIT() INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define MAP(d, fd) INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

#define R0 BPF_REG_0
#define R1 BPF_REG_1
#define R2 BPF_REG_2
#define R3 BPF_REG_3
#define R4 BPF_REG_4
#define R6 BPF_REG_6
#define R7 BPF_REG_7
#define STACK BPF_REG_10
#define THREAD (-8) /* on the stack: the thread's key, process number in its upper half */
#define TGID (-12)  /* the process number */
#define NOW (-24)

#define ENDED offsetof(struct value, ended_ns)
#define BEGAN offsetof(struct value, began_ns)
#define WAITING offsetof(struct value, waiting)

#define CONTEXT_ARGUMENT_2                                                                         \
    24 /* tracepoint sys_enter: 8 bytes common, 8 the number, 8 an argument */
#define LENGTH_MAX 48

struct program {
    struct bpf_insn insn[LENGTH_MAX];
    size_t length;
};

static void append(struct program *program, const struct bpf_insn *insn, size_t length)
{
    memcpy(program->insn + program->length, insn, length * sizeof(*insn));
    program->length += length;
}
#define APPEND(program, ...)                                                                       \
    append(program, (struct bpf_insn[]){__VA_ARGS__},                                              \
           sizeof((struct bpf_insn[]){__VA_ARGS__}) / sizeof(struct bpf_insn))

/* End, unless this futex call is one that waits. */
static void append_operation(struct program *program)
{
    APPEND(program, LOAD(R6, R1, CONTEXT_ARGUMENT_2),       /* r6 = futex_op */
           ALU_IMM(BPF_AND, R6, FUTEX_CMD_MASK & 0x7f),     /* without its flags */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT, 6),            /* one of these: go on */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_LOCK_PI, 5),         /* */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT_BITSET, 4),     /* */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_WAIT_REQUEUE_PI, 3), /* */
           JUMP_IMM(BPF_JEQ, R6, FUTEX_LOCK_PI2, 2),        /* */
           MOV_IMM(R0, 0),                                  /* any other: */
           EXIT());                                         /* nothing to do */
}

/* Who runs: keys of both maps on the stack. */
static void append_keys(struct program *program)
{
    APPEND(program, CALL(get_current_pid_tgid), /* r0 = tgid << 32 | pid */
           STORE(STACK, THREAD, R0),            /* key of `start` */
           ALU_IMM(BPF_RSH, R0, 32),            /* r0 = tgid */
           STORE_WORD(STACK, TGID, R0));        /* key of `process` */
}

/* r0 = the element of the map, which is not there: end. */
static void append_lookup(struct program *program, int map, int key)
{
    APPEND(program, MAP(R1, map),       /* r1 = the map */
           MOV_REG(R2, STACK),          /* r2 = the key's address */
           ALU_IMM(BPF_ADD, R2, key),   /* */
           CALL(map_lookup_elem),       /* r0 = address of the value, or 0 */
           JUMP_IMM(BPF_JNE, R0, 0, 1), /* there is one: go on */
           EXIT());                     /* none: nothing to do, and r0 is 0 */
}

static void append_enter(struct program *program, int process, int start)
{
    append_keys(program);
    append_lookup(program, process, TGID);
    APPEND(program, MOV_REG(R6, R0),     /* r6 = the process's numbers */
           CALL(ktime_get_ns),           /* r0 = now */
           MOV_REG(R7, R0),              /* r7 = now */
           STORE(STACK, NOW, R0),        /* start[thread] = now, if there is none */
           MAP(R1, start),               /* */
           MOV_REG(R2, STACK),           /* */
           ALU_IMM(BPF_ADD, R2, THREAD), /* */
           MOV_REG(R3, STACK),           /* */
           ALU_IMM(BPF_ADD, R3, NOW),    /* */
           MOV_IMM(R4, BPF_NOEXIST),     /* */
           CALL(map_update_elem),        /* r0 = 0, or it did not work */
           JUMP_IMM(BPF_JNE, R0, 0, 3),  /* not: to the end */
           ATOMIC_ADD(R6, BEGAN, R7),    /* began += now, before */
           MOV_IMM(R1, 1),               /* */
           ATOMIC_ADD(R6, WAITING, R1),  /* waiting += 1 */
           MOV_IMM(R0, 0),               /* */
           EXIT());                      /* */
}

static void append_leave(struct program *program, int process, int start)
{
    append_keys(program);
    append_lookup(program, start, THREAD);
    APPEND(program, LOAD(R6, R0, 0),     /* r6 = the thread's start */
           MAP(R1, start),               /* remove it from the map */
           MOV_REG(R2, STACK),           /* */
           ALU_IMM(BPF_ADD, R2, THREAD), /* */
           CALL(map_delete_elem));       /* */
    append_lookup(program, process, TGID);
    APPEND(program, MOV_REG(R7, R0),    /* r7 = the process's numbers */
           MOV_IMM(R1, -1),             /* */
           ATOMIC_ADD(R7, WAITING, R1), /* waiting -= 1, before */
           MOV_REG(R1, R6),             /* */
           ALU_IMM(BPF_NEG, R1, 0),     /* */
           ATOMIC_ADD(R7, BEGAN, R1),   /* began -= start */
           CALL(ktime_get_ns),          /* r0 = now */
           ALU_REG(BPF_SUB, R0, R6),    /* r0 = now - start */
           ATOMIC_ADD(R7, ENDED, R0),   /* ended += that */
           MOV_IMM(R0, 0),              /* */
           EXIT());                     /* */
}

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

static int load(const struct program *program)
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
    struct program program[PROGRAMS] = {0};

    lock->process = make_map(sizeof(uint32_t), sizeof(struct value), PROCESSES_MAX);
    lock->start =
        lock->process < 0 ? -1 : make_map(sizeof(uint64_t), sizeof(uint64_t), THREADS_MAX);
    if (lock->start < 0)
        return -1;
    append_operation(&program[ENTER_FUTEX]);
    append_enter(&program[ENTER_FUTEX], lock->process, lock->start);
    append_enter(&program[ENTER], lock->process, lock->start);
    append_leave(&program[LEAVE], lock->process, lock->start);
    for (int i = 0; i < PROGRAMS; i++) {
        lock->program[i] = load(&program[i]);
        if (lock->program[i] < 0)
            return -1;
    }
    return 0;
}

/* A mount of tracefs that is nowhere in the file system; -1 with errno. */
static int mount_tracefs(void)
{
    int mount = -1, saved, context = fsopen("tracefs", FSOPEN_CLOEXEC);

    if (context < 0)
        return -1;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mount = fsmount(context, FSMOUNT_CLOEXEC, 0);
    saved = errno;
    close(context);
    errno = saved;
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
    int saved, fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return -1;
    if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0 && ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
        return fd;
    saved = errno;
    close(fd);
    errno = saved;
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
            return berth_error_set(err, "tracepoint %s: %s", hooks[i].tracepoint, strerror(errno));
        lock->event[i] = attach(number, lock->program[hooks[i].program]);
        if (lock->event[i] < 0)
            return berth_error_set(err, "cannot attach to tracepoint %s: %s", hooks[i].tracepoint,
                                   strerror(errno));
    }
    return 0;
}

/* ---- the interface ---- */

static struct lock_time *lock_time_new(void)
{
    struct lock_time *lock = calloc(1, sizeof(*lock));

    if (!lock)
        return NULL;
    lock->process = lock->start = -1;
    for (int i = 0; i < PROGRAMS; i++)
        lock->program[i] = -1;
    for (size_t i = 0; i < HOOKS; i++)
        lock->event[i] = -1;
    return lock;
}

int lock_time_open(struct lock_time **out, const struct rootfs *root, struct berth_error *err)
{
    struct lock_time *lock = lock_time_new();
    int tracefs, rc = -1;

    if (!lock)
        return berth_error_set(err, "out of memory");
    if (load_all(lock) < 0) {
        berth_error_set(err, "eBPF: %s", strerror(errno));
        lock_time_close(lock);
        return -1;
    }
    tracefs = open_tracefs(root);
    if (tracefs < 0)
        berth_error_set(err, "tracefs: %s", strerror(errno));
    else
        rc = attach_all(lock, tracefs, err);
    if (tracefs >= 0)
        close(tracefs);
    if (rc < 0)
        lock_time_close(lock);
    else
        *out = lock;
    return rc;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void lock_time_close(struct lock_time *lock)
{
    if (!lock)
        return;
    for (size_t i = 0; i < HOOKS; i++)
        close_fd(lock->event[i]);
    for (int i = 0; i < PROGRAMS; i++)
        close_fd(lock->program[i]);
    close_fd(lock->start);
    close_fd(lock->process);
    free(lock);
}

int lock_time_watch(struct lock_time *lock, pid_t pid)
{
    uint32_t key = (uint32_t)pid;
    struct value value = {0};
    union bpf_attr attr = {.map_fd = (uint32_t)lock->process};

    attr.key = address(&key);
    attr.value = address(&value);
    attr.flags = BPF_ANY;
    return (int)bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

void lock_time_forget(struct lock_time *lock, pid_t pid)
{
    uint32_t key = (uint32_t)pid;
    union bpf_attr attr = {.map_fd = (uint32_t)lock->process};

    attr.key = address(&key);
    bpf(BPF_MAP_DELETE_ELEM, &attr, sizeof(attr));
}

static int read_value(const struct lock_time *lock, pid_t pid, struct value *value)
{
    uint32_t key = (uint32_t)pid;
    union bpf_attr attr = {.map_fd = (uint32_t)lock->process};

    attr.key = address(&key);
    attr.value = address(value);
    return (int)bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

/* The clock of bpf_ktime_get_ns. */
static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int lock_time_read(struct lock_time *lock, pid_t pid, uint64_t *ns)
{
    struct value last, value;
    int64_t lasting;

    if (read_value(lock, pid, &last) < 0)
        return -1;
    for (int i = 0; i < READ_TRIES; i++) {
        if (read_value(lock, pid, &value) < 0)
            return -1;
        if (memcmp(&last, &value, sizeof(value)) == 0)
            break;
        last = value;
        if (i == READ_TRIES - 1)
            return -1;
    }
    lasting = (int64_t)(value.waiting * now_ns() - value.began_ns);
    *ns = value.ended_ns + (lasting > 0 ? (uint64_t)lasting : 0);
    return 0;
}
