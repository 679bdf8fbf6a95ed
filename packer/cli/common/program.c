/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - see program.h */
#include "packer/cli/common/program.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool executable(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int ctl_program_find(const char *command, char path[PATH_MAX], struct berth_error *err)
{
    const char *list = getenv("PATH"), *folder = list ? list : "/usr/bin:/bin";
    size_t length;

    if (strchr(command, '/')) {
        if (snprintf(path, PATH_MAX, "%s", command) < PATH_MAX && executable(path))
            return 0;
        if (access(path, F_OK) != 0)
            return berth_error_set(err, "%s: %s", command, strerror(errno));
        return berth_error_set(err, "%s: not a program that may be executed", command);
    }
    for (;; folder += length + 1) {
        length = strcspn(folder, ":");
        if (snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1, length ? folder : ".",
                     command) < PATH_MAX &&
            executable(path))
            return 0;
        if (folder[length] == '\0')
            return berth_error_set(err, "%s: command not found", command);
    }
}

/* Says why a command line has no key. Returns -1. */
static int unknown(const struct wire_program *read, char *const *command, const char *path,
                   struct berth_error *err)
{
    if (read->kind == WIRE_PROGRAM_UNKNOWN)
        return berth_error_set(err,
                               "%s: its command line does not tell which program it runs: give it "
                               "a name (--tag NAME), and steps the same (tag=NAME)",
                               command[read->at]);
    if (read->kind == WIRE_PROGRAM_SCRIPT && access(read->what, R_OK) < 0)
        return berth_error_set(err, "%s: %s", read->what, strerror(errno));
    return berth_error_set(err, "%s: cannot be read", path);
}

/* What the command line runs is called so, and is what the hash tells. */
static int identify(const struct wire_program *read, char *const *command, const char *path,
                    struct ctl_program *program, char hash[WIRE_HASH_MAX], struct berth_error *err)
{
    char found[PATH_MAX], canonical[PATH_MAX], script[PATH_MAX];
    bool has_script;

    if (read->at > 0) {
        if (ctl_program_find(command[read->at], found, err) < 0)
            return -1;
        path = found;
    }
    if (!realpath(path, canonical))
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    has_script = read->kind == WIRE_PROGRAM_SCRIPT && realpath(read->what, script);
    wire_program_identify(read, canonical, has_script ? script : NULL, program->exe, hash);
    return 0;
}

int ctl_program_identify(struct ctl_program *program, const char *tag, char *const *command,
                         const char *path, struct berth_error *err)
{
    char hash[WIRE_HASH_MAX];
    struct wire_program read;

    wire_program_read(INT_MAX, command, &read);
    wire_program_shape(&read, INT_MAX, command, program->shape);
    if (identify(&read, command, path, program, hash, err) < 0)
        return -1;
    if (!tag && !hash[0])
        return unknown(&read, command, path, err);
    if (tag)
        profile_key_tag(program->key, tag);
    else
        profile_key_exe(program->key, program->exe, hash);
    return 0;
}
