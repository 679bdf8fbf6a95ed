/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_calls - what an executable says of itself: whether it may bind its threads.
 *
 * An executable names the functions that it imports, and the libraries that it needs, in one table
 * of strings (DT_STRTAB); that is all that is looked at. A library that it loads by itself is not:
 * who can do that is taken for one that binds. The plugin asks it of the program that Slurm starts,
 * berthd of what a launcher starts in a step. */
#ifndef BERTH_WIRE_CALLS_H
#define BERTH_WIRE_CALLS_H

#include <stddef.h>

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

/* Reads up to `most` bytes of a file from an offset, with a NUL behind them. The caller frees it;
 * NULL: it cannot be read. */
char *wire_calls_read_at(int fd, long offset, size_t most, size_t *got);

#endif
