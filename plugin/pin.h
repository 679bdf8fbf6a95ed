/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pin - what says that a step has to stay on the CPUs that Slurm gave it.
 *
 * A program that is moved or narrowed while it runs bears that as long as it never says or asks
 * where its threads shall run. One that remembers its CPUs and binds a thread to one of them later
 * fails: the kernel refuses a CPU that is not in the step's cpuset. Three things tell who may do
 * that: variables that have a run-time bind threads, what an executable imports, and the text of a
 * script. What cannot be told is taken to bind. */
#ifndef BERTH_PIN_H
#define BERTH_PIN_H

#include "packer/wire/wire_program.h"

struct pin {
    enum wire_pin pin;
    char by[WIRE_PIN_MAX]; /* "" where pin is WIRE_PIN_NONE */
};

/* Which of two counts: the first one, unless the other outweighs it (wire_calls.h). */
struct pin pin_stronger(struct pin first, struct pin then);

/* What the step's environment says: env ends with NULL, or is NULL. */
struct pin pin_of_environment(char *const *env);

/* Does what the environment says of threads hold wherever the program begins? Its variables have a
 * run-time divide the CPUs that the process has then; none of them names a CPU by its number, and
 * none says anything of memory, devices or ranks. False where it says nothing. */
bool pin_is_within(char *const *env);

/* What a command line says, which wire_program_read() has read: its wrappers, what the environment
 * has preloaded, and the program, whose file is `path`. That is read, and of an interpreter its
 * script, so call it where a file system may hang. */
struct pin pin_of_program(const struct wire_program *program, const char *path, int argc,
                          char *const *argv, char *const *env);

#endif
