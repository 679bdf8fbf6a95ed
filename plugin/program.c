/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - see program.h
 *
 * Each step of the way to a file on a network file system, even stat(2), may wait for a server that
 * is gone, and no flag of open(2) changes that. So a child looks, and is killed when it takes too
 * long. One that not even SIGKILL ends is left to whoever reaps slurmstepd's children; it has
 * closed what it inherited, so that nobody waits for a connection that it holds. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/wire/wire_env.h"

struct found {
    struct pin pin;
    char hash[WIRE_HASH_MAX]; /* before the path: all that precedes its end is sent */
    char exe[PATH_MAX];
};

/* ---- the child ---- */

/* Searches the directories of PATH as slurmstepd does: the first that has such a file. The result
 * is malloc'd, or NULL. */
static char *search_path(const char *dirs, const char *command)
{
    char path[PATH_MAX];
    struct stat st;

    while (dirs && *dirs) {
        int length = (int)strcspn(dirs, ":");
        int wrote = snprintf(path, sizeof(path), "%.*s/%s", length, dirs, command);

        if (wrote > 0 && (size_t)wrote < sizeof(path) && stat(path, &st) == 0 &&
            !S_ISDIR(st.st_mode))
            return realpath(path, NULL);
        dirs += length;
        dirs += *dirs == ':';
    }
    return NULL;
}

/* Fills in what there is to be found. 0, or -1: there is no such file. */
static int find_program(const struct wire_program *program, int argc, char *const *argv,
                        char *const *env, struct found *found)
{
    const char *command = argv[program->at];
    char *path = strchr(command, '/') ? realpath(command, NULL)
                                      : search_path(wire_env_find(env, "PATH"), command);
    char *script = program->kind == WIRE_PROGRAM_SCRIPT ? realpath(program->what, NULL) : NULL;

    if (!path || strlen(path) >= sizeof(found->exe))
        return -1;
    wire_program_identify(program, path, script, found->exe, found->hash);
    found->pin = pin_of_program(program, path, argc, argv, env);
    return 0;
}

/* Looks for the program and writes what was found to descriptor `out`; never returns. */
static void look(const struct wire_program *program, int argc, char *const *argv, char *const *env,
                 int out)
{
    static struct found found; /* a stack may be small here: Slurm's contain_spank */
    size_t length;

    if (out != STDERR_FILENO + 1)
        dup2(out, STDERR_FILENO + 1);
    (void)close_range(0, STDERR_FILENO, 0); /* before Linux 5.9 they stay open */
    (void)close_range(STDERR_FILENO + 2, ~0U, 0);
    if (find_program(program, argc, argv, env, &found) < 0)
        _exit(1);
    length = offsetof(struct found, exe) + strlen(found.exe) + 1;
    _exit(write(STDERR_FILENO + 1, &found, length) == (ssize_t)length ? 0 : 1);
}

/* ---- slurmstepd ---- */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the other end is closed. Returns the number of bytes, or -1 when that takes longer
 * than limit_ms. */
static ssize_t receive(int fd, unsigned limit_ms, struct found *found)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int64_t end_ms = now_ms() + limit_ms, left_ms;
    size_t have = 0;

    while ((left_ms = end_ms - now_ms()) > 0) {
        ssize_t n;

        if (poll(&poll_fd, 1, (int)left_ms) <= 0)
            continue;
        n = read(fd, (char *)found + have, sizeof(*found) - have);
        if (n == 0)
            return (ssize_t)have;
        if (n > 0)
            have += (size_t)n;
    }
    return -1;
}

/* Has a child look. Returns the bytes that it found, or -1. */
static ssize_t ask_child(const struct wire_program *program, int argc, char *const *argv,
                         char *const *env, unsigned limit_ms, struct found *found)
{
    ssize_t got;
    int end[2];
    pid_t pid;

    if (pipe2(end, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        look(program, argc, argv, env, end[1]);
    close(end[1]);
    got = pid < 0 ? -1 : receive(end[0], limit_ms, found);
    close(end[0]);
    if (pid > 0 && got < 0)
        kill(pid, SIGKILL);
    if (pid > 0)
        while (waitpid(pid, NULL, got < 0 ? WNOHANG : 0) < 0 && errno == EINTR)
            ;
    return got;
}

int program_find(const struct wire_program *program, int argc, char *const *argv, char *const *env,
                 unsigned limit_ms, char exe[PATH_MAX], char hash[WIRE_HASH_MAX], struct pin *pin)
{
    struct found *found = calloc(1, sizeof(*found));
    ssize_t got = found ? ask_child(program, argc, argv, env, limit_ms, found) : -1;
    bool whole = got > (ssize_t)offsetof(struct found, exe) + 1 &&
                 ((const char *)found)[got - 1] == '\0' && found->hash[WIRE_HASH_MAX - 1] == '\0' &&
                 found->pin.by[WIRE_PIN_MAX - 1] == '\0';

    strcpy(exe, whole ? found->exe : "");
    strcpy(hash, whole ? found->hash : "");
    *pin = whole ? found->pin : (struct pin){WIRE_PIN_UNREAD, ""};
    free(found);
    return whole ? 0 : -1;
}
