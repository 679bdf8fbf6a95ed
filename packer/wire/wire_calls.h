/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_calls - what an executable says of itself: whether it may bind its threads.
 *
 * An executable names the functions that it imports, and the libraries that it needs, in one table
 * of strings (DT_STRTAB). The plugin asks it of the program that Slurm starts, and of the libraries
 * that this needs; berthd of what a launcher starts in a step. A library that is loaded later is
 * not looked at: who can do that is taken for one that binds. */
#ifndef BERTH_WIRE_CALLS_H
#define BERTH_WIRE_CALLS_H

#include <stdbool.h>

#include "packer/wire/wire.h"

/* Whose executable it is: a program that Slurm starts binds itself where it needs libmpi; a rank
 * that its launcher has bound does not bind itself again. But its environment is not known: a
 * library by which variables bind threads is reason enough. */
enum wire_caller { WIRE_CALLER_PROGRAM, WIRE_CALLER_RANK };

struct wire_calls {
    enum wire_pin pin;
    char by[WIRE_PIN_MAX]; /* the function or library; "": none, or nobody can tell */
};

/* Reads an open file, which is no script. One that is no executable of this machine, or linked
 * statically, is WIRE_PIN_UNREAD. */
struct wire_calls wire_calls_read(int fd, enum wire_caller caller);

/* The same of a program that Slurm starts in that environment, with the libraries that it needs:
 * those that are not known are found as ld.so(8) finds them, and read. A program of Go has a table
 * of its own functions that is read, too. `path` is canonical. */
struct wire_calls wire_calls_of_program(int fd, const char *path, char *const *env);

/* What it says that a function or a library of that name is imported. env is NULL where it is not
 * known. */
struct wire_calls wire_calls_of_name(const char *name, enum wire_caller caller, char *const *env);

/* Which reason to stay counts, of those that are found one after the other: the first one, but that
 * a program has a device counts least (berthd knows where that is, and may then know a place for
 * the step), and that it looks where it runs next to least (it may begin elsewhere: kept.h). So, does a reason yield to another, and does one count more than the one before? */
bool wire_calls_yields(enum wire_pin pin);
bool wire_calls_outweighs(enum wire_pin pin, enum wire_pin before);

/* Is it the name that the word has, or begins with where the word ends with '*'? */
bool wire_calls_is(const char *name, const char *word);

/* Opens a plain file; -1: there is none that can be read. */
int wire_calls_open(const char *path);

#endif
