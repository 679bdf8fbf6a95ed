/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seek - finds the program of a step whose command line does not tell it: a batch script, a shell,
 * a launcher such as orted. It is the executable that has used the most CPU time in the step.
 *
 * A thread looks, at the ends of the step's windows: it asks how long the step's processes have
 * run, and reads the link /proc/PID/exe of those that have worked most, and of the first of these
 * the content, for the key that berthctl profile and srun have, too. A file system that hangs holds
 * the thread: that one is given up after SEEK_LIMIT_S, and the step is not looked at any more;
 * others are (base/hands.h). /proc/PID/cmdline, which a process can hold for as long as it wants,
 * is not read at all. So of a script that python runs nothing is known but python: it has no key.
 *
 * What was found twice in a row is the program. When it is another one later, nothing that was
 * counted is one program's: the step is called by the new one, and has no key any more.
 *
 * /proc/PID/exe of other users' processes takes CAP_SYS_PTRACE. Without it a program is called by
 * /proc/PID/comm, and has no key. */
#ifndef BERTH_OBSERVE_SEEK_H
#define BERTH_OBSERVE_SEEK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/base/hands.h"
#include "packer/wire/wire.h"

struct windows;

#define SEEK_PROCESSES 256 /* of a step that are read */
#define SEEK_RANKS_OF 4096 /* the same, where ranks are looked for */
#define SEEK_WAITING 64    /* steps that wait for the thread: others are asked for later; */
#define SEEK_WAITING_USER (SEEK_WAITING / 2) /* of one user */
#define SEEK_LIMIT_S 30.                     /* an executable is read whole */

struct packer;
struct ranks_found;
struct rootfs;
struct seeker;
struct step;

/* A step as it is asked for. */
struct seek_step {
    uint64_t serial;
    uint32_t user;
};

struct seek_answer {
    uint64_t serial;          /* the step's */
    enum hands_state state;   /* HANDS_HUNG, HANDS_REFUSED: nobody could look */
    char exe[PATH_MAX];       /* the executable, or its name where only that can be read; "" none */
    char hash[WIRE_HASH_MAX]; /* of its content; "" not known, or it is an interpreter */
};

/* Makes the seeker, whose thread starts with the first question and is given up after limit_s; root
 * must stay. NULL: no memory. */
struct seeker *seek_open(const struct rootfs *root, double limit_s);

/* Stops it. One that hangs is left alone. NULL is fine. */
void seek_close(struct seeker *seeker);

/* Asks for the program of a step that has these processes. False: too many wait, or there is no
 * memory. */
bool seek_ask(struct seeker *seeker, struct seek_step step, const pid_t *pid, size_t n);

/* Asks who its ranks are (ranks_look.h). False: as above. */
bool seek_ask_ranks(struct seeker *seeker, struct seek_step step, const pid_t *pid, size_t n);

/* Takes an answer that has come: of programs, and of ranks, which the caller frees (NULL: nobody
 * could look, or there was no memory for them). False: there is none. */
bool seek_take(struct seeker *seeker, struct seek_answer *answer);
bool seek_take_ranks(struct seeker *seeker, struct seek_answer *answer, struct ranks_found **found);

struct seek_step seek_step(const struct step *step);

/* Notes how a look at the step has ended, and says it if it hung. */
void seek_said(struct step *step, enum hands_state *looked, enum hands_state state,
               const char *what);

#endif
