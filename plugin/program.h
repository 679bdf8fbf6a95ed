/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - finds what a step runs: its path, the hash of its content, and whether it may bind. */
#ifndef BERTH_PROGRAM_H
#define BERTH_PROGRAM_H

#include <limits.h>

#include "packer/wire/wire.h"
#include "pin.h"

/* Finds the file that argv[0] names, by the folders of `dirs` (as PATH; NULL: none) where it has no
 * slash, and looks at it. Fills exe[PATH_MAX] with the canonical path, hash with
 * wire_program_hash() ("" where the file cannot be read), and pin with what pin_of_program() says.
 * Returns 0; or -1, two empty texts and WIRE_PIN_UNREAD: there is no such file, or it was not found
 * within limit_ms, because its file system hangs, say. Call it with the user's rights and working
 * directory. */
int program_find(int argc, char *const *argv, const char *dirs, unsigned limit_ms,
                 char exe[PATH_MAX], char hash[WIRE_HASH_MAX], struct pin *pin);

#endif
