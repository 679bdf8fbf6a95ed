/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "packer/system/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"

#define LOOK_MS 100 /* how often *stop is looked at */

/* ---- its environment ---- */

/* By these a user tells Slurm's programs which jobs and columns he likes to see, how times look to
 * him, and which cluster he means. What they print here is read by a program. */
static const char *const tastes[] = {"SQUEUE_",           "SACCT_",         "SCONTROL_",
                                     "SLURM_CLUSTERS=",   "SLURM_JSON=",    "SLURM_YAML=",
                                     "SLURM_BITSTR_LEN=", "SLURM_LABELIO=", "SLURM_TIME_FORMAT="};

static bool is_taste(const char *variable)
{
    for (size_t i = 0; i < sizeof(tastes) / sizeof(tastes[0]); i++)
        if (strncmp(variable, tastes[i], strlen(tastes[i])) == 0)
            return true;
    return false;
}

/* Returns this process's environment without its user's taste, a list for the caller to free; NULL:
 * no memory. */
static char **plain_environment(void)
{
    char **plain;
    size_t n = 0;

    while (environ[n])
        n++;
    plain = calloc(n + 1, sizeof(*plain));
    if (!plain)
        return NULL;
    n = 0;
    for (char **variable = environ; *variable; variable++)
        if (!is_taste(*variable))
            plain[n++] = *variable;
    return plain;
}

/* ---- its start ---- */

/* Lets the program have all signals: the threads here block them, and the daemon ignores SIGPIPE.
 */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, fallback;

    sigemptyset(&none);
    sigemptyset(&fallback);
    sigaddset(&fallback, SIGPIPE);
    if (posix_spawnattr_setsigmask(attributes, &none) ||
        posix_spawnattr_setsigdefault(attributes, &fallback))
        return ENOMEM;
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* fd is for what is heard; errors for all of its standard error, -1: that is not wanted. */
static int spawn(char *const *argv, enum run_hear hear, int fd, int errors, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char **environment = plain_environment();
    int heard = hear == RUN_LAST_ERROR ? STDERR_FILENO : STDOUT_FILENO, rc;
    int other = hear == RUN_LAST_ERROR ? STDOUT_FILENO : STDERR_FILENO;

    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    rc = environment ? set_signals(&attributes) : ENOMEM;
    if (!rc)
        rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!rc)
        rc = errors >= 0
                 ? posix_spawn_file_actions_adddup2(&files, errors, other)
                 : posix_spawn_file_actions_addopen(&files, other, "/dev/null", O_WRONLY, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, fd, heard);
    if (!rc)
        rc = posix_spawnp(pid, argv[0], &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return rc;
}

/* ---- what it says ---- */

struct saying {
    char *said;
    size_t size, length;
    bool first; /* only the first line is kept, not the last one */
    bool all;   /* each line is kept */
    bool over;  /* the line has ended: the next letter begins another */
};

static void hear(struct saying *saying, const char *text, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] == '\n' && !saying->all) {
            saying->over = true;
            continue;
        }
        if (saying->over && saying->first)
            return;
        if (saying->over)
            saying->length = 0;
        saying->over = false;
        if (saying->length + 1 < saying->size)
            saying->said[saying->length++] = text[i];
        saying->said[saying->length] = '\0';
    }
}

/* Listens until the other end is closed. Returns false when that takes too long, or *stop is set.
 */
static bool listen_to(int fd, double limit_s, const atomic_bool *stop, struct saying *saying)
{
    double end_s = clock_s() + limit_s;
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    char text[512];
    ssize_t n;

    while (!(stop && atomic_load(stop)) && clock_s() < end_s) {
        if (poll(&poll_fd, 1, LOOK_MS) <= 0)
            continue;
        n = read(fd, text, sizeof(text));
        if (n == 0)
            return true;
        if (n > 0)
            hear(saying, text, n);
    }
    return false;
}

/* ---- its end ---- */

static int exit_status(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Appends what was written into the file of errors, after the end of a line. */
static void add_errors(struct saying *saying, int errors)
{
    char *to = saying->said + saying->length;
    size_t room = saying->size - saying->length - 1;
    ssize_t n;

    if (saying->length > 0 && to[-1] != '\n' && room > 0) {
        *to++ = '\n';
        room--;
    }
    n = pread(errors, to, room, 0);
    to[n > 0 ? n : 0] = '\0';
}

/* As run_program(), with a pipe for what is heard and a file for errors (-1: not wanted). */
static int run_with(char *const *argv, enum run_hear hear, double limit_s, const atomic_bool *stop,
                    struct saying *saying, const int end[2], int errors)
{
    pid_t pid;
    int rc = spawn(argv, hear, end[1], errors, &pid);

    close(end[1]);
    if (rc) {
        snprintf(saying->said, saying->size, "%s: %s", argv[0], strerror(rc));
        return -1;
    }
    if (!listen_to(end[0], limit_s, stop, saying)) {
        kill(pid, SIGKILL);
        snprintf(saying->said, saying->size, "%s: took too long", argv[0]);
        return exit_status(pid);
    }
    rc = exit_status(pid);
    if (errors >= 0)
        add_errors(saying, errors);
    return rc;
}

int run_program(char *const *argv, enum run_hear hear, double limit_s, const atomic_bool *stop,
                char *said, size_t size)
{
    struct saying saying = {.said = said,
                            .size = size,
                            .first = hear == RUN_FIRST_OUTPUT,
                            .all = hear == RUN_OUTPUT || hear == RUN_ALL};
    int errors = hear == RUN_ALL ? memfd_create("errors", MFD_CLOEXEC) : -1, end[2], rc = -1;

    said[0] = '\0';
    if ((hear == RUN_ALL && errors < 0) || pipe2(end, O_CLOEXEC) < 0) {
        snprintf(said, size, "%s", strerror(errno));
    } else {
        rc = run_with(argv, hear, limit_s, stop, &saying, end, errors);
        close(end[0]);
    }
    if (errors >= 0)
        close(errors);
    return rc;
}
