/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_rows - the rows of the list, and what they tell of programs. See doctor.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/cli/doctor.h"

#define RUN_S 3.0

extern char **environ;

void doctor_add(struct doctor *doctor, const char *name, enum doctor_state state,
                const char *without, const char *format, ...)
{
    struct doctor_row *row = &doctor->row[doctor->n];
    va_list args;

    if (doctor->n == sizeof(doctor->row) / sizeof(doctor->row[0]))
        return;
    *row = (struct doctor_row){.state = state, .without = without};
    snprintf(row->name, sizeof(row->name), "%s", name);
    va_start(args, format);
    vsnprintf(row->found, sizeof(row->found), format, args);
    va_end(args);
    doctor->n++;
}

void doctor_essential(struct doctor *doctor)
{
    doctor->row[doctor->n - 1].essential = true;
}

/* ---- running a program ---- */

/* Read until the end, the deadline or a full buffer. Did the end come? */
static bool read_output(int fd, char *text, size_t size)
{
    double deadline_s = clock_s() + RUN_S, left_s;
    size_t used = 0;

    while (used + 1 < size && (left_s = deadline_s - clock_s()) > 0) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        ssize_t got;

        if (poll(&poll_fd, 1, (int)(left_s * 1e3) + 1) <= 0)
            break;
        got = read(fd, text + used, size - used - 1);
        text[used += got > 0 ? (size_t)got : 0] = '\0';
        if (got <= 0)
            return got == 0;
    }
    return false;
}

static int spawn(const char *const *argv, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    int rc;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    rc = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return rc == 0 ? 0 : -1;
}

int doctor_run(const char *const *argv, char *text, size_t size)
{
    int ends[2], status = -1;
    bool ended;
    pid_t pid;

    text[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    if (spawn(argv, ends[1], &pid) < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    close(ends[1]);
    ended = read_output(ends[0], text, size);
    close(ends[0]);
    if (!ended)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    text[strcspn(text, "\n")] = '\0';
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 && text[0] ? 0 : -1;
}
