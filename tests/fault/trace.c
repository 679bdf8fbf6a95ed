/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace - see trace.h */
#include "tests/fault/trace.h"
#include "enum_table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *const TABLE(trace_kind_name, TRACE_KINDS) = {
    ROW(TRACE_WRITE_CGROUP) = "write to a cgroup",
    ROW(TRACE_WRITE_FILE) = "write to a file",
    ROW(TRACE_AFFINITY) = "sched_setaffinity",
    ROW(TRACE_CLASS) = "sched_setattr",
    ROW(TRACE_MKDIR) = "mkdir",
    ROW(TRACE_REMOVE) = "unlink or rmdir",
    ROW(TRACE_RENAME) = "rename",
    ROW(TRACE_TRUNCATE) = "truncate",
};
TABLE_COMPLETE(trace_kind_name);

#define SYSCALL_STOP (SIGTRAP | 0x80)

/* ---- the answer to a call ---- */

#ifdef __x86_64__
bool trace_can_fail(void)
{
    return true;
}

/* At its entry: it does not happen. */
static void skip_call(pid_t pid)
{
    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
}

/* At its exit: it has failed. */
static void answer(pid_t pid, int error)
{
    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), (long)-error);
}
#else
bool trace_can_fail(void)
{
    return false;
}

static void skip_call(pid_t pid)
{
    (void)pid;
}

static void answer(pid_t pid, int error)
{
    (void)pid, (void)error;
}
#endif

/* ---- which call ---- */

static bool is_cgroup_fd(pid_t pid, uint64_t fd, bool *file)
{
    char path[64], target[512];
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, (int)fd);
    length = readlink(path, target, sizeof(target) - 1);
    target[length > 0 ? length : 0] = '\0';
    *file = target[0] == '/' && strncmp(target, "/dev/", 5) != 0;
    return strncmp(target, "/sys/fs/cgroup/", 15) == 0;
}

static bool read_memory(pid_t pid, uint64_t at, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)(uintptr_t)at, size};

    return process_vm_readv(pid, &local, 1, &remote, 1, 0) > 0;
}

/* openat2(fd, path, how, size) of a cgroup's file, for writing */
static bool opens_cgroup(pid_t pid, const uint64_t *args)
{
    char path[64] = "";
    uint64_t flags = 0;

    read_memory(pid, args[1], path, sizeof(path) - 1);
    read_memory(pid, args[2], &flags, sizeof(flags));
    return strncmp(path, "sys/fs/cgroup/", 14) == 0 && (flags & O_ACCMODE) == O_WRONLY;
}

static bool is_kind(pid_t pid, const struct __ptrace_syscall_info *info, enum trace_kind kind)
{
    const uint64_t *args = (const uint64_t *)info->entry.args;
    long nr = (long)info->entry.nr;
    bool file = false, cgroup;

    switch (kind) {
    case TRACE_WRITE_CGROUP:
        return (nr == SYS_write && is_cgroup_fd(pid, args[0], &file)) ||
               (nr == SYS_openat2 && opens_cgroup(pid, args));
    case TRACE_WRITE_FILE:
        if ((nr != SYS_write && nr != SYS_pwrite64) || args[0] <= STDERR_FILENO)
            return false;
        cgroup = is_cgroup_fd(pid, args[0], &file);
        return file && !cgroup;
    case TRACE_AFFINITY:
        return nr == SYS_sched_setaffinity;
    case TRACE_CLASS:
        return nr == SYS_sched_setattr;
    case TRACE_MKDIR:
#ifdef SYS_mkdir
        if (nr == SYS_mkdir)
            return true;
#endif
        return nr == SYS_mkdirat;
    case TRACE_REMOVE:
#ifdef SYS_unlink
        if (nr == SYS_unlink || nr == SYS_rmdir)
            return true;
#endif
        return nr == SYS_unlinkat;
    case TRACE_RENAME:
#ifdef SYS_rename
        if (nr == SYS_rename)
            return true;
#endif
        return nr == SYS_renameat || nr == SYS_renameat2;
    default:
        return nr == SYS_ftruncate;
    }
}

/* Does it wait for events that are not there yet? One that has more to do only looks: its time-out
 * is 0. */
static bool waits(pid_t pid, const struct __ptrace_syscall_info *info)
{
    long nr = (long)info->entry.nr;
    struct timespec wait = {.tv_sec = 1};

#ifdef SYS_epoll_wait
    if (nr == SYS_epoll_wait)
        return (int)info->entry.args[3] != 0;
#endif
    if (nr == SYS_epoll_pwait)
        return (int)info->entry.args[3] != 0;
    if (nr != SYS_epoll_pwait2)
        return false;
    read_memory(pid, info->entry.args[3], &wait, sizeof(wait));
    return wait.tv_sec != 0 || wait.tv_nsec != 0;
}

/* ---- watching ---- */

int trace_attach(pid_t pid)
{
    int status;

    if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0 ||
        ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
        return -1;
    return waitpid(pid, &status, __WALL) == pid ? 0 : -1;
}

int trace_me(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0 ? -1 : 0;
}

static void kill_it(pid_t pid, struct trace_result *result)
{
    kill(pid, SIGKILL);
    waitpid(pid, &result->status, __WALL);
    result->killed = true;
}

/* A call begins. Returns whether the watching is over. */
static bool on_entry(pid_t pid, const struct trace_plan *plan, struct trace_result *result,
                     const struct __ptrace_syscall_info *info, long *of_kind, void *arg)
{
    bool its_turn;

    result->calls++;
    if (plan->meddle_at == result->calls) {
        plan->meddle(arg);
        result->meddled = true;
    }
    its_turn = plan->fail_at && is_kind(pid, info, plan->fail_kind) && ++*of_kind == plan->fail_at;
    if (plan->kill_at == result->calls || (its_turn && !plan->fail_errno)) {
        kill_it(pid, result);
    } else if (its_turn) {
        skip_call(pid);
        result->failed = true;
    }
    return result->killed;
}

struct trace_result trace_run(pid_t pid, const struct trace_plan *plan, trace_done *done, void *arg)
{
    struct trace_result result = {0};
    long of_kind = 0, signal = 0;
    bool answered = false;

    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (;;) {
        struct __ptrace_syscall_info info = {0};

        ptrace(PTRACE_SYSCALL, pid, NULL, signal);
        signal = 0;
        if (waitpid(pid, &result.status, __WALL) != pid || !WIFSTOPPED(result.status)) {
            result.ended = true;
            return result;
        }
        if (WSTOPSIG(result.status) != SYSCALL_STOP) {
            if (result.status >> 16 == 0 && WSTOPSIG(result.status) != SIGTRAP)
                signal = WSTOPSIG(result.status);
            continue;
        }
        ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info);
        if (info.op == PTRACE_SYSCALL_INFO_EXIT && result.failed && !answered) {
            answer(pid, plan->fail_errno);
            answered = true;
        } else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (waits(pid, &info) && done(arg, &result)) {
                ptrace(PTRACE_DETACH, pid, NULL, NULL);
                return result;
            }
            if (on_entry(pid, plan, &result, &info, &of_kind, arg))
                return result;
        }
    }
}
