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

int ctl_program_key(const char *tag, const char *path, char key[PROFILE_KEY_MAX],
                    struct berth_error *err)
{
    char canonical[PATH_MAX], hash[WIRE_HASH_MAX];

    if (tag) {
        profile_key_tag(key, tag);
        return 0;
    }
    if (!realpath(path, canonical) || wire_program_hash(canonical, hash) < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    profile_key_exe(key, canonical, hash);
    return 0;
}
