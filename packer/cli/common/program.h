/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - which program a command line names, and under which key berthd will look it up. */
#ifndef BERTH_CLI_COMMON_PROGRAM_H
#define BERTH_CLI_COMMON_PROGRAM_H

#include <limits.h>

#include "packer/base/error.h"
#include "packer/profiles/profiles.h"

/* Finds a command as execvp(3) does. 0 and its path, or -1 and err. */
int ctl_program_find(const char *command, char path[PATH_MAX], struct berth_error *err);

/* Makes the key under which berthd will look: the tag (NULL: none), else canonical path and
 * content, as the plugin sends them. 0, or -1 and err. */
int ctl_program_key(const char *tag, const char *path, char key[PROFILE_KEY_MAX],
                    struct berth_error *err);

#endif
