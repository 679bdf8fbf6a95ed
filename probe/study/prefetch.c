/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prefetch - see prefetch.h */
#include "probe/study/prefetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "packer/system/prefetchers.h"

int study_prefetch_find(struct study_prefetch *prefetch, const struct rootfs *root,
                        const struct topo *topo, const struct cpus *cpus, struct berth_error *err)
{
    uint64_t mask;

    prefetch->n = 0;
    prefetch->alive = prefetch->done = -1;
    if (prefetchers_find(root, &mask, err) < 0)
        return -1;
    for (size_t i = 0; i < topo->cores; i++) {
        size_t cpu = cpus_next(&topo->core[i].cpus, 0);
        uint64_t was;

        if (!cpus_intersect(&topo->core[i].cpus, cpus))
            continue;
        if (prefetchers_get(root, cpu, &was, err) < 0)
            return -1;
        prefetch->core[prefetch->n].cpu = cpu;
        prefetch->core[prefetch->n].was = was;
        prefetch->core[prefetch->n++].off = was | mask;
    }
    return 0;
}

/* Writes what each held before, where it holds what was written. Returns how many could not be. */
static size_t write_back(const struct study_prefetch *prefetch, const struct rootfs *root,
                         struct berth_error *err)
{
    size_t failed = 0;
    uint64_t now;

    for (size_t i = 0; i < prefetch->n; i++)
        if (prefetchers_get(root, prefetch->core[i].cpu, &now, err) < 0 ||
            (now == prefetch->core[i].off &&
             prefetchers_put(root, prefetch->core[i].cpu, prefetch->core[i].was, err) < 0))
            failed++;
    return failed;
}

static void await_end(int fd)
{
    ssize_t n;
    char byte;

    do
        n = read(fd, &byte, 1);
    while (n > 0 || (n < 0 && errno == EINTR));
}

/* The guardian: it has no terminal, no group of ours and no signal. */
static void guard(const struct study_prefetch *prefetch, const struct rootfs *root, int alive)
{
    struct berth_error err;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    await_end(alive);
    _exit(write_back(prefetch, root, &err) > 0);
}

/* Its parent ends at once, so that it is nobody's child of ours, whom the end of a run would stop
 * with all others. Returns 0, or -1 with errno. */
static int start_guard(const struct study_prefetch *prefetch, const struct rootfs *root, int alive,
                       int told)
{
    pid_t pid = fork();

    if (pid == 0) {
        pid_t inner = fork();

        file_close(told);
        if (inner == 0)
            guard(prefetch, root, alive);
        _exit(inner < 0);
    }
    if (pid < 0)
        return -1;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

int study_prefetch_off(struct study_prefetch *prefetch, const struct rootfs *root,
                       struct berth_error *err)
{
    int alive[2], done[2], rc;

    if (pipe2(alive, O_CLOEXEC) < 0)
        return berth_error_set(err, "pipe: %s", strerror(errno));
    if (pipe2(done, O_CLOEXEC) < 0) {
        berth_error_set(err, "pipe: %s", strerror(errno));
        file_close(alive[0]);
        file_close(alive[1]);
        return -1;
    }
    prefetch->alive = alive[1];
    prefetch->done = done[0];
    rc = start_guard(prefetch, root, alive[0], alive[1]);
    if (rc < 0)
        berth_error_set(err, "fork: %s", strerror(errno));
    file_close(alive[0]);
    file_close(done[1]);
    if (rc < 0) {
        file_close(alive[1]);
        file_close(done[0]);
        prefetch->alive = prefetch->done = -1;
        return -1;
    }
    for (size_t i = 0; i < prefetch->n; i++)
        if (prefetchers_put(root, prefetch->core[i].cpu, prefetch->core[i].off, err) < 0) {
            struct berth_error back;

            study_prefetch_back(prefetch, root, &back);
            return -1;
        }
    return 0;
}

int study_prefetch_back(struct study_prefetch *prefetch, const struct rootfs *root,
                        struct berth_error *err)
{
    if (prefetch->alive < 0)
        return 0;
    file_close(prefetch->alive);
    await_end(prefetch->done);
    file_close(prefetch->done);
    prefetch->alive = prefetch->done = -1;
    return write_back(prefetch, root, err) > 0 ? -1 : 0;
}
