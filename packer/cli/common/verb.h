/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verb - a command line whose first word is a verb, as a table of verbs.
 *
 * Some of berthctl's verbs are of a part of it: a program of its own (berth-lab, berth-probe), in a
 * package of the same name, which berthctl executes with the verb as the first word, as git does
 * with its commands. So berthctl is small, and a node has what is needed there. The parts are
 * beside berthctl in the build folder, else in PKGLIBEXECDIR. */
#ifndef BERTH_CLI_COMMON_VERB_H
#define BERTH_CLI_COMMON_VERB_H

#include <limits.h>
#include <stddef.h>

#include "packer/base/error.h"

/* A row of a table that ends at one without a name. A verb is run with argv[0] the verb, and
 * returns berthctl's exit status: 0 done, 1 not, 2 usage. */
struct ctl_verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;              /* NULL: what verbs there are does not show it */
    const char *part;              /* who runs it, as "berth-lab"; NULL: this program */
    const char *(*word)(size_t i); /* its i-th word of its own, NULL: no more; or NULL: none */
    int (*run_word)(int argc, char **argv); /* one of these words has options of its own */
};

/* Returns the verb of that name, or NULL. */
const struct ctl_verb *ctl_verb_find(const struct ctl_verb *verbs, const char *name);

/* Runs a verb, or executes the part that has it with argv; then it returns only where that part is
 * not there, after saying so. Returns the exit status. */
int ctl_verb_run(const struct ctl_verb *verb, int argc, char **argv);

/* Finds a part. 0, or -1 and err, which names the package that it is in. */
int ctl_part_find(const char *part, char path[PATH_MAX], struct berth_error *err);

/* Prints what the last of the words behind `complete` may be, for a shell (complete.c). */
int ctl_complete(const struct ctl_verb *verbs, int argc, char **argv);

/* The last thing that a main program does (part.c): returns the status, or 1 after saying so where stdout
 * cannot be written. */
int ctl_end(int status);

/* What the main program of a part does. Returns the exit status. */
int ctl_part(const char *part, const struct ctl_verb *verbs, int argc, char **argv);

#endif
