/* SPDX-License-Identifier: GPL-2.0-or-later */
/* played - see played.h */
#include "tests/bench/played.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/file.h"
#include "tests/bench/day_clock.h"
#include "tests/bench/known.h"
#include "tests/unit/common/folder.h"

const struct played played_none = {.clock = -1};

/* The build folder is two above this program's. */
void played_path(const char *build, const char *name, char *path, size_t size)
{
    char self[PATH_MAX] = "";

    if (!build && readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        snprintf(self, sizeof(self), "./tests/bench/day");
    snprintf(path, size, "%.2000s/%s", build ? build : dirname(dirname(dirname(self))), name);
}

/* Where the clock is that berthd is given. */
static void clock_path(char *path, size_t size)
{
    played_path(NULL, "tests/bench/.libs/day_clock.so", path, size);
}

static void berthd_exec(const char *build, const char *folder, int clock)
{
    char path[PATH_MAX], conf[PATH_MAX], text[PATH_MAX];
    const char *option;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    played_path(build, "berthd", path, sizeof(path));
    option = known_option(path); /* before its clock is put into the environment */
    snprintf(text, sizeof(text), "%d", clock);
    setenv(DAY_CLOCK_FD, text, 1);
    snprintf(text, sizeof(text), "%s/stat", folder);
    setenv(DAY_CLOCK_STAT, text, 1);
    snprintf(text, sizeof(text), "%s/nodes", folder);
    setenv(DAY_CLOCK_NODES, text, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 0);
    clock_path(path, sizeof(path));
    setenv("LD_PRELOAD", path, 1);
    snprintf(text, sizeof(text), "%s/log", folder);
    if (!freopen(text, "w", stderr))
        _exit(127);
    played_path(build, "berthd", path, sizeof(path));
    snprintf(conf, sizeof(conf), "%s/berth.conf", folder);
    execl(path, "berthd", "-c", conf, option, NULL);
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

int played_start(struct played *played, const char *build, const char *folder,
                 struct berth_error *err)
{
    char path[PATH_MAX];
    int pair[2];

    *played = played_none;
    played->folder = folder;
    clock_path(path, sizeof(path));
    if (access(path, R_OK) < 0) /* the loader would start berthd without, and nobody would tick */
        return berth_error_set(err, "%.300s: %s", path, strerror(errno));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return berth_error_set(err, "%s", strerror(errno));
    played->pid = fork();
    if (played->pid == 0) {
        close(pair[0]);
        berthd_exec(build, folder, pair[1]);
    }
    close(pair[1]);
    played->clock = pair[0];
    return played->pid < 0 ? berth_error_set(err, "%s", strerror(errno)) : 0;
}

static int died(const struct played *played, struct berth_error *err)
{
    char path[PATH_MAX], line[256];

    snprintf(path, sizeof(path), "%s/log", played->folder);
    file_line(path, line, sizeof(line));
    return berth_error_set(err, "berthd is gone%s%s", line[0] ? ": " : "", line);
}

int played_tick(const struct played *played, int64_t now, int64_t *idle_until,
                struct berth_error *err)
{
    if (send(played->clock, &now, sizeof(now), MSG_NOSIGNAL) != sizeof(now) ||
        recv(played->clock, idle_until, sizeof(*idle_until), 0) != sizeof(*idle_until))
        return died(played, err);
    return 0;
}

void played_stop(struct played *played)
{
    if (played->pid > 0) {
        kill(played->pid, SIGTERM);
        waitpid(played->pid, NULL, 0);
    }
    file_close(played->clock);
    *played = played_none;
}
