/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - which program a command line names, and under which key berthd will look it up. */
#ifndef BERTH_CLI_COMMON_PROGRAM_H
#define BERTH_CLI_COMMON_PROGRAM_H

#include <limits.h>

#include "packer/base/error.h"
#include "packer/profiles/profiles.h"
#include "packer/wire/wire_program.h"

/* Finds a command as execvp(3) does. 0 and its path, or -1 and err. */
int ctl_program_find(const char *command, char path[PATH_MAX], struct berth_error *err);

/* Which program a command line runs, for the profile store. */
struct ctl_program {
    char key[PROFILE_KEY_MAX], shape[WIRE_SHAPE_MAX];
    char exe[PATH_MAX]; /* what it is called */
};

/* Finds out under which key berthd will look: the tag (NULL: none), else what the command, which is
 * at `path`, runs, as the plugin tells it. 0, or -1 and err. */
int ctl_program_identify(struct ctl_program *program, const char *tag, char *const *command,
                         const char *path, struct berth_error *err);

#endif
