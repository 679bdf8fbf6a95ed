/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_run - run a program for a moment and hear what it says; not on berthd's event loop. */
#ifndef BERTH_SYSTEM_RUN_PROGRAM_H
#define BERTH_SYSTEM_RUN_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Run argv[0] (a path) with these arguments, without a standard input, and wait for its end:
 * limit_s seconds at most, or until *stop; it is killed then. Returns its exit status; -1 when it
 * could not be started, or ended by a signal. said[size] is the last line that it wrote on stderr,
 * or why it did not run. */
int settle_program(char *const *argv, double limit_s, const atomic_bool *stop, char *said,
                   size_t size);

#endif
