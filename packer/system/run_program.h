/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run_program - runs a program for a moment and hears what it says; not on berthd's event loop. */
#ifndef BERTH_SYSTEM_RUN_PROGRAM_H
#define BERTH_SYSTEM_RUN_PROGRAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum run_hear {
    RUN_FIRST_OUTPUT, /* the first line of its standard output */
    RUN_LAST_ERROR,   /* the last line of its standard error */
    RUN_OUTPUT,       /* all of its standard output, as far as it fits */
    RUN_ALL           /* the same, and after it all of its standard error */
};

/* Runs argv[0] (looked up in PATH where it has no slash) with these arguments, no standard input,
 * and the environment without what changes what Slurm's programs print (SQUEUE_*, SACCT_*,
 * SCONTROL_*, SLURM_CLUSTERS, SLURM_TIME_FORMAT and the like), and waits for its end: limit_s
 * seconds at most, or until *stop (NULL: nobody stops it); it is killed then. Returns its exit
 * status; -1 when it could not be started, or ended by a signal. said[size] is what is asked for,
 * or why it did not run to its end. */
int run_program(char *const *argv, enum run_hear hear, double limit_s, const atomic_bool *stop,
                char *said, size_t size);

#endif
