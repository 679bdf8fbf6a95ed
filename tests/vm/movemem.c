/* SPDX-License-Identifier: GPL-2.0-or-later */
/* movemem - what unit tests cannot show on a machine of one NUMA node: processes that work on
 * memory of node 0 while berth moves it to node 1, on the kernel that this runs on.
 *
 * usage: movemem [MIB]: as root; MIB (64) of each process. A line for each case, with what the
 * mover says and what numa_maps says. Exit status 0: all as it must be, 1 not, 77 there are no two
 * nodes. movemem MIB COMMAND..: holds so much memory while the command runs; ends with its status.
 */
#include <errno.h>
#include <linux/mempolicy.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "packer/memory/mover.h"
#include "packer/system/memory_nodes.h"
#include "enum_table.h"
#include "tests/unit/common/handed.h"

#define MIB (1 << 20)
#define BALANCING "/proc/sys/kernel/numa_balancing"

enum kind { PRIVATE, HUGE, SHARED, FORKED, BOUND, INTERLEAVED, ENDING, KINDS };

static const struct {
    const char *name;
    double rate; /* bytes per second */
    bool stays;
} TABLE(about, KINDS) = {
    ROW(PRIVATE) = {"private pages", 1e9, false},
    ROW(HUGE) = {"transparent huge pages", 1e9, false},
    ROW(SHARED) = {"memory that two processes share", 1e9, false},
    ROW(FORKED) = {"pages from before a fork", 1e9, false},
    ROW(BOUND) = {"memory bound to node 0", 1e9, true},
    ROW(INTERLEAVED) = {"interleaved memory", 1e9, true},
    ROW(ENDING) = {"a process that is killed meanwhile", 64e6, false},
};
TABLE_COMPLETE(about);

/* The process runs on the CPUs of a node. */
static int run_on(const struct rootfs *root, size_t node)
{
    char path[64];
    struct cpus cpus;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%zu/cpulist", node);
    if (rootfs_read_cpus(root, path, &cpus, NULL) < 0 || cpus_empty(&cpus))
        return -1;
    return sched_setaffinity(0, sizeof(cpus.word), (const cpu_set_t *)cpus.word);
}

static char *take_memory(enum kind kind, size_t size)
{
    unsigned long nodes = kind == INTERLEAVED ? 3 : 1;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        (kind == SHARED ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(2);
    if (kind == HUGE)
        madvise(memory, size, MADV_HUGEPAGE);
    if ((kind == BOUND || kind == INTERLEAVED) &&
        syscall(SYS_set_mempolicy, kind == BOUND ? MPOL_BIND : MPOL_INTERLEAVE, &nodes, 3UL) < 0)
        _exit(2);
    memset(memory, 1, size);
    return memory;
}

/* A process with its memory, which it goes on writing to; with `more`, it has a child that does the
 * same. Returns when the memory is there. */
static pid_t start(const struct rootfs *root, enum kind kind, size_t size, bool more)
{
    int ready[2];
    char word, *memory;
    pid_t pid;

    if (pipe(ready) < 0 || (pid = fork()) < 0)
        exit(2);
    if (pid > 0) {
        close(ready[1]);
        if (read(ready[0], &word, 1) != 1)
            exit(2);
        close(ready[0]);
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (run_on(root, 0) < 0)
        _exit(2);
    memory = take_memory(kind, size);
    if (more && fork() == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (run_on(root, 1) < 0 || write(ready[1], "x", 1) != 1)
        _exit(2);
    for (size_t i = 0;; i = (i + 4096) % size) { /* an emulated CPU has to rest now and then */
        if (i % (64 * 4096) == 0)
            usleep(1000);
        if (kind != FORKED)
            (*(volatile char *)(memory + i))++;
    }
}

static double now_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void put(struct memory_mover *mover, pid_t pid)
{
    struct memory_job job = {.id = {1, 0},
                             .n = 1,
                             .process = calloc(1, sizeof(*job.process)),
                             .queued_s = now_s(CLOCK_BOOTTIME)};

    cpus_add(&job.from, 0);
    cpus_add(&job.to, 1);
    job.process[0] = (struct memory_process){.pid = pid, .nodes = job.to};
    if (memory_mover_put(mover, &job, NULL) < 0)
        exit(2);
}

/* Is it as it must be? */
static bool judge(enum kind kind, size_t size, const struct memory_progress *progress,
                  const struct memory_nodes *before, const struct memory_nodes *after)
{
    double moved = after->bytes[1] - before->bytes[1];

    if (kind == ENDING) /* part of it, and no mishap */
        return progress->moved > 0 && progress->moved < (double)size && !progress->why[0];
    if (about[kind].stays)
        return moved < 1 * MIB && progress->moved < 1 * MIB;
    /* single pages of its libraries may be in use by others */
    return moved >= (double)size && progress->failed < 1 * MIB;
}

static bool try(const struct rootfs *root, enum kind kind, size_t size)
{
    struct enforce enforce;
    struct memory_system system;
    struct memory_mover *mover;
    struct memory_nodes before = {0}, after = {0};
    struct memory_progress progress = {0};
    pid_t pid = start(root, kind, size, kind == SHARED || kind == FORKED);
    double began;
    bool running = true, good;

    handed_open(&enforce, root, 1, &pid);
    system = memory_system(root, enforce.hand);
    mover = memory_mover_open(&system, about[kind].rate);
    began = now_s(CLOCK_MONOTONIC);
    memory_nodes_of_process(&before, root, pid);
    put(mover, pid);
    while (running && memory_mover_look(mover, (struct wire_step_id){1, 0}, &progress, &running)) {
        if (kind == ENDING && progress.moved > 0)
            kill(pid, SIGKILL);
        usleep(1000);
    }
    began = now_s(CLOCK_MONOTONIC) - began;
    memory_nodes_of_process(&after, root, pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    memory_mover_close(mover);
    enforce_close(&enforce);
    good = judge(kind, size, &progress, &before, &after);
    printf("%s - %s: %.1f MiB moved, %.1f not, in %.2f s; on node 1 %.1f, before %.1f%s%s\n",
           good ? "ok" : "not ok", about[kind].name, progress.moved / MIB, progress.failed / MIB,
           began, after.bytes[1] / MIB, before.bytes[1] / MIB, progress.why[0] ? ": " : "",
           progress.why);
    return good;
}

static int hold(size_t size, char **command)
{
    pid_t pid;
    int status;

    take_memory(PRIVATE, size);
    pid = fork();
    if (pid == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                           : 1;
}

int main(int argc, char **argv)
{
    size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 64) * MIB;
    struct rootfs root;
    char *balancing;
    bool good = true;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2)
        return hold(size, argv + 2);
    if (rootfs_open(&root, "/", NULL) < 0)
        return 2;
    if (!rootfs_exists(&root, "/sys/devices/system/node/node1") || geteuid() != 0) {
        puts("movemem: skipped: it needs two NUMA nodes, and root");
        return 77;
    }
    balancing = rootfs_read(&root, BALANCING); /* it moves pages, too, and hides others */
    if (balancing)
        rootfs_write(&root, BALANCING, "0", NULL);
    for (enum kind kind = 0; kind < KINDS; kind++)
        good = try(&root, kind, size) && good;
    if (balancing)
        rootfs_write(&root, BALANCING, balancing, NULL);
    free(balancing);
    rootfs_close(&root);
    return good ? 0 : 1;
}
