/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - finds what a step runs: its path and the hash of its content. */
#ifndef BERTH_PROGRAM_H
#define BERTH_PROGRAM_H

#include <limits.h>

#include "packer/wire/wire.h"

/* Finds the file that `command` names, by the folders of `dirs` (as PATH; NULL: none) where it has
 * no slash, and hashes it. Fills exe[PATH_MAX] with the canonical path and hash with
 * wire_program_hash() ("" where the file cannot be read). Returns 0; or -1 and two empty texts:
 * there is no such file, or it was not found within limit_ms, because its file system hangs, say.
 * Call it with the user's rights and working directory. */
int program_find(const char *command, const char *dirs, unsigned limit_ms, char exe[PATH_MAX],
                 char hash[WIRE_HASH_MAX]);

#endif
