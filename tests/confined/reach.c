/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reach - tries what berthd never does to another process, to a child of its own: prints each call
 * that the kernel did, or looked at the arguments of. The unit file has to refuse all of them
 * (EPERM): exits with 0 then, else with 1. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char byte; /* at the same address in the child */
static int failed;

static void is_refused(const char *call, long rc)
{
    if (rc < 0 && errno == EPERM)
        return;
    printf("%s: %s\n", call, rc < 0 ? strerror(errno) : "done");
    failed = 1;
}

static void try_all(pid_t child)
{
    struct iovec here = {&byte, 1}, there = {&byte, 1};

    is_refused("process_vm_writev", process_vm_writev(child, &here, 1, &there, 1, 0));
    is_refused("process_vm_readv", process_vm_readv(child, &here, 1, &there, 1, 0));
    is_refused("ptrace", ptrace(PTRACE_SEIZE, child, NULL, NULL));
    is_refused("process_madvise", syscall(SYS_process_madvise, -1, NULL, 0, 0, 0));
    is_refused("pidfd_getfd", syscall(SYS_pidfd_getfd, -1, 0, 0));
    is_refused("kcmp", syscall(SYS_kcmp, child, child, 0, 0, 0));
    is_refused("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC));
    is_refused("io_setup", syscall(SYS_io_setup, 0, NULL));
    is_refused("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
}

int main(void)
{
    pid_t child = fork();

    if (child < 0)
        return 2;
    if (child == 0)
        for (;;)
            pause();
    try_all(child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return failed;
}
