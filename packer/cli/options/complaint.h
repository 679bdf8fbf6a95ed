/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complaint - what a program says on stderr when it cannot do what it was asked, and its exit
 * status. */
#ifndef BERTH_CLI_OPTIONS_COMPLAINT_H
#define BERTH_CLI_OPTIONS_COMPLAINT_H

/* Names the program that complains, "berthctl" unless told. name: kept, not copied. */
void ctl_program(const char *name);
const char *ctl_program_name(void);

/* Prints "PROGRAM: WHAT: WHY" on stderr. Returns 1. */
int ctl_fail(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "PROGRAM: VERB: WHY (try 'PROGRAM VERB --help')" on stderr. verb "": the program has none.
 * Returns 2. */
int ctl_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
