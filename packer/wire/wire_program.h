/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_program - which program a command line runs: what wrappers such as env and numactl start,
 * and what an interpreter is given to run.
 *
 * The plugin asks for a step's command line, berthctl for that of a program to profile: both have
 * it from here, so that what one stores the other finds. Pure but for wire_program_identify(). What
 * is known of the wrappers, launchers and interpreters is a table, a row each
 * (wire_program_table.c). */
#ifndef BERTH_WIRE_PROGRAM_H
#define BERTH_WIRE_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "packer/wire/wire.h"

enum wire_program_kind {
    WIRE_PROGRAM_FILE,    /* argv[at] itself */
    WIRE_PROGRAM_SCRIPT,  /* the file `what`, which the interpreter argv[at] reads */
    WIRE_PROGRAM_MODULE,  /* the module or class called `what` */
    WIRE_PROGRAM_CODE,    /* the text `what` */
    WIRE_PROGRAM_UNKNOWN, /* argv[at] starts something, and its command line does not tell what */
};

struct wire_program {
    enum wire_program_kind kind;
    int at;             /* argv[at] is the program, or the interpreter */
    const char *option; /* of the interpreter, by which it is given `what`: "-m"; "" none */
    const char *what;   /* in argv; NULL: nothing */
    const char *where;  /* in argv: the folders in which `what` is searched for; NULL: not said */
    int args;           /* its own arguments begin at argv[args] */
    bool by_cpu;        /* whoever uses the step's CPUs is the program: the command line is that of
                           a launcher or of a shell, and tells too little */
};

/* Reads a command line, which ends before argv[argc] or before a NULL; argv[0] must be one. */
void wire_program_read(int argc, char *const *argv, struct wire_program *program);

/* Writes the shape of the program's own arguments (wire_args_shape); those of an unknown one are
 * all. */
void wire_program_shape(const struct wire_program *program, int argc, char *const *argv,
                        char shape[WIRE_SHAPE_MAX]);

/* Fills in what the program is called, and the hash of what it is. `path` is the canonical path of
 * argv[at], `script` that of a script (NULL: there is none). A program is called by its path; what
 * an interpreter runs is called "PATH SCRIPT", "PATH -m MODULE", "PATH -c". The hash is that of the
 * file; of the interpreter and the script; of the interpreter, and 16 bits of that of code. It is
 * "" where a file cannot be read, or nobody knows what runs: then the program has no profile. */
void wire_program_identify(const struct wire_program *program, const char *path, const char *script,
                           char exe[PATH_MAX], char hash[WIRE_HASH_MAX]);

/* Does a file of that path start others by what stands on its command line? Then what is stored
 * under its own path and content says nothing of them. */
bool wire_program_starts_others(const char *path);

/* Is it what starts the ranks of an MPI program, or, on each node, what mpirun has start them
 * there? A name that the kernel has cut to 15 bytes will do. */
bool wire_program_launches(const char *path);

/* Returns the last part of a path. */
const char *wire_program_name(const char *path);

/* Is it a shell? Is it an interpreter whose scripts say by their words whether they may bind? */
bool wire_program_is_shell(const char *path);
bool wire_program_is_read(const char *path);

/* Is it an interpreter, which does what it runs itself? A shell is none: what it starts works. */
bool wire_program_interprets(const char *path);

#endif
