/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confined [-w PATH].. [-r PATH].. UNIT [DROP-IN..] -- COMMAND.. - runs a command with what a unit
 * file and its drop-ins leave to a service, where no systemd runs; as root.
 *
 * Each directive is put into effect as systemd does it; one that is not known here is an error. -w
 * names a folder that stands for the unit's RuntimeDirectory or StateDirectory, -r one that is to
 * be read though it lies where the unit has a folder of its own (/tmp).
 *
 * Not as with systemd: the device cgroup of PrivateDevices= (its /dev is private all the same), and
 * MemoryMax= and TasksMax= where no cgroup can be made and LimitNOFILE= above the limit here, which
 * is said. The process stays the same
 * one, so signals reach the command; a child waits for its end and removes its cgroups. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/confined/confined.h"

/* ---- limits ---- */

static int put(const char *dir, const char *file, const char *text)
{
    char path[256];
    int fd, rc;

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    rc = fd < 0 ? -1 : (int)write(fd, text, strlen(text));
    if (fd >= 0)
        close(fd);
    return rc < 0 ? -1 : 0;
}

/* Has a child remove the cgroup when this process has ended. */
static void remove_later(const char *dir)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    struct pollfd ends = {.fd = self, .events = POLLIN};

    if (self < 0 || fork() != 0) {
        if (self >= 0)
            close(self);
        return;
    }
    if (fork() != 0)
        _exit(0);
    setsid();
    for (int i = 0; i < 3; i++)
        close(i); /* nobody waits for the end of our output */
    put("/sys/fs/cgroup/memory", "cgroup.procs", "0");
    put("/sys/fs/cgroup/pids", "cgroup.procs", "0");
    put("/sys/fs/cgroup", "cgroup.procs", "0");
    while (poll(&ends, 1, -1) < 0 && errno == EINTR)
        ;
    for (int i = 0; i < 100 && rmdir(dir) < 0; i++)
        usleep(50000);
    _exit(0);
}

/* Limits what version 1's controller counts, else version 2's. */
static void limit(const char *what, const char *controller, const char *file1, const char *file2,
                  const char *value)
{
    char dir[128];
    bool v1;

    if (!value)
        return;
    snprintf(dir, sizeof(dir), "/sys/fs/cgroup/%s", controller);
    v1 = access(dir, F_OK) == 0;
    snprintf(dir, sizeof(dir), "/sys/fs/cgroup/%s%sconfined-%d", v1 ? controller : "",
             v1 ? "/" : "", (int)getpid());
    if ((mkdir(dir, 0755) < 0 && errno != EEXIST) || put(dir, v1 ? file1 : file2, value) < 0 ||
        put(dir, "cgroup.procs", "0") < 0) {
        warnx("%s=%s is not in effect: %s: %s", what, value, dir, strerror(errno));
        rmdir(dir);
        return;
    }
    remove_later(dir);
}

/* Sets the limit, or the greatest that is allowed here. */
static void limit_files(rlim_t files)
{
    struct rlimit allowed;

    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, files}) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &allowed);
    allowed.rlim_cur = allowed.rlim_max;
    if (errno != EPERM || setrlimit(RLIMIT_NOFILE, &allowed) < 0)
        err(2, "LimitNOFILE");
    warnx("LimitNOFILE=%lu is not in effect: %lu", files, allowed.rlim_max);
}

static void limits_apply(const struct unit *unit)
{
    limit("MemoryMax", "memory", "memory.limit_in_bytes", "memory.max", unit->memory);
    limit("TasksMax", "pids", "pids.max", "pids.max", unit->tasks);
    if (unit->files)
        limit_files(strtoul(unit->files, NULL, 10));
    umask(unit->umask ? (mode_t)strtoul(unit->umask, NULL, 8) : 022);
}

/* ---- the whole ---- */

int main(int argc, char **argv)
{
    static struct unit unit;
    static struct words writable, readable;
    int option;

    while ((option = getopt(argc, argv, "+w:r:")) != -1) {
        struct words *words = option == 'w' ? &writable : &readable;

        if (option == '?' || words->n == WORDS_MAX)
            errx(2, "usage: confined [-w PATH].. [-r PATH].. UNIT [DROP-IN..] -- COMMAND..");
        words->word[words->n++] = optarg;
    }
    for (; optind < argc && strcmp(argv[optind], "--") != 0; optind++)
        unit_read(&unit, argv[optind]);
    if (optind + 1 >= argc)
        errx(2, "no command");
    limits_apply(&unit);
    mounts_apply(&unit, &writable, &readable);
    powers_apply(&unit);
    calls_apply(&unit);
    execvp(argv[optind + 1], argv + optind + 1);
    err(2, "%s", argv[optind + 1]);
}
