/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire_program_table - what is known of programs that run others: a row each. */
#ifndef BERTH_WIRE_PROGRAM_TABLE_H
#define BERTH_WIRE_PROGRAM_TABLE_H

#include <stddef.h>

enum starter_kind {
    STARTER_WRAPPER,     /* becomes, or waits for, the command behind its options */
    STARTER_LAUNCHER,    /* starts it many times and on many nodes */
    STARTER_INTERPRETER, /* runs a script, a module or code */
    STARTER_CLOSED,      /* runs what its command line does not tell: who uses the CPUs is it */
    STARTER_OTHER,       /* is STARTER_CLOSED, and its own processes hide the program */
};

/* How its command line is to be read. */
enum starter_flag {
    STARTER_ASSIGNS = 1,  /* NAME=VALUE may stand before the command */
    STARTER_WORDS = 2,    /* an option is a whole word: "-np 4"; one dash is as good as two */
    STARTER_LAX = 4,      /* an option that is not listed takes no other word */
    STARTER_PLUS = 8,     /* "+x" is an option, too */
    STARTER_CODE = 16,    /* the first operand is code */
    STARTER_CLASS = 32,   /* it is a class, or a .java file */
    STARTER_MANY = 64,    /* a word ":" parts several commands */
    STARTER_BY_CPU = 128, /* a shell: what code starts, and not it, uses the CPUs */
    STARTER_READ = 256,   /* the words of a script say whether it may bind (plugin/pin_program.c) */
};

struct starter {
    const char *names; /* parted by blanks; digits and dots may follow each: python3.11 */
    enum starter_kind kind;
    unsigned flags;
    unsigned operands; /* that stand before the command: 10s of timeout */
    /* Options, parted by blanks; what follows a name says what it takes:
     *   (nothing)  nothing
     *   :   a value: the rest of the word, what follows its '=', or else the next word
     *   ::  the two next words
     *   *   the rest of the word, which may be empty
     *   +   a value as with ':', the folders in which its class is searched for
     *   !   code    @  a module    /  a script: what it runs
     *   &   the first operand is code then
     *   ^   something after which nobody knows what runs
     * An option "--name=value" that is not listed takes no other word. */
    const char *options;
};

extern const struct starter starters[];
extern const size_t nstarters;

#endif
