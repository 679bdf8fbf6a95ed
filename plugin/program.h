/* SPDX-License-Identifier: GPL-2.0-or-later */
/* program - finds what a step runs: what it is called, by its path, the hash of its
 * content, and whether it may bind itself. */
#ifndef BERTH_PROGRAM_H
#define BERTH_PROGRAM_H

#include <limits.h>

#include "packer/wire/wire_program.h"
#include "pin.h"

/* Finds what a command line runs, which wire_program_read() has read: the file that argv names, by
 * PATH of the step's environment (NULL: there is none) where it has no slash, and an interpreter's
 * script.
 * Fills exe[PATH_MAX] with what it is called, hash with what it is (wire_program_identify), and pin
 * with what pin_of_program() says. Returns 0; or -1, two empty texts and WIRE_PIN_UNREAD: there is
 * no such file, or it was not found within limit_ms, because its file system hangs, say. Call it
 * with the user's rights and working directory. */
int program_find(const struct wire_program *program, int argc, char *const *argv, char *const *env,
                 unsigned limit_ms, char exe[PATH_MAX], char hash[WIRE_HASH_MAX], struct pin *pin);

#endif
