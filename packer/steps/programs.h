/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs - the programs that berthd knows of, by a small number each.
 *
 * A program is what has a key in the profile store, and the user who runs it: two users' runs are
 * two programs, so that what one does says nothing of the other. The models' tables go by its
 * number, which several steps may share. Programs that no step runs stay as long as there is room:
 * what was seen of them says how their neighbours fare. Then the number of the one that was asked
 * for longest ago goes to another program, and `born` tells them apart. */
#ifndef BERTH_STEPS_PROGRAMS_H
#define BERTH_STEPS_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRAMS_MAX 1024
#define PROGRAM_NONE SIZE_MAX /* the number of a program that has no key */

/* How its threads get on when a task's cores are divided over caches (place/threads.h). */
struct program_threads {
    double shared;        /* part of its hits that are on lines of other threads */
    double precision;     /* of that, 1 / variance; 0: it is not known */
    unsigned regrets;     /* times that it was slower for it */
    double whole_until_s; /* CLOCK_MONOTONIC: until then it stays whole, if regrets > 0 */
};

/* How its speed changes by itself, of all its runs: sums of squares of differences of logarithms.
 */
struct program_scatter {
    double near, nears; /* of a window and the next, and how many such differences */
    double far, fars;   /* of the means of some windows and of the next as many (observe/spell.h) */
};

/* What a program is by its counters (observe/figures.h): per million instructions, and instructions
 * a cycle. */
enum figure { FIGURE_MISSES, FIGURE_ACCESSES, FIGURE_IPC, FIGURE_CLOCK, FIGURES };

/* One of these over its runs that have ended: the sum of their logarithms, each by its weight. */
struct program_figure {
    double sum, weight;
};

struct program {
    char *key;       /* "tag:NAME" or "exe:PATH#HASH" */
    uint32_t uid;    /* of the user who runs it; PROFILE_EVERYBODY: it stands for all users' */
    size_t steps;    /* live ones that run it */
    uint64_t born;   /* no two programs that have had this number have the same, from 1 */
    uint64_t used;   /* when it was asked for last: counts the calls */
    double windows;  /* in which it was measured beside others, in all */
    bool asked;      /* the profile store, for its pairs */
    bool asked_root; /* and for root's pairs of its key */
    struct program_threads threads;
    struct program_scatter scatter;
    struct program_figure figure[FIGURES];
};

struct programs { /* all zero: none */
    size_t n, room;
    struct program *program; /* [n] by number */
    uint64_t calls;
};

/* Returns the number of the user's program with this key, which becomes known if it was not;
 * PROGRAM_NONE where the key is "", there is no memory, or PROGRAMS_MAX programs have live steps.
 */
size_t programs_number(struct programs *programs, uint32_t uid, const char *key);

/* Returns the number of a program with this key that a live step runs, of whatever user;
 * PROGRAM_NONE where there is none. */
size_t programs_find_live(const struct programs *programs, const char *key);

/* A live step runs the program from now on; not any more. PROGRAM_NONE is fine. */
void programs_use(struct programs *programs, size_t number);
void programs_leave(struct programs *programs, size_t number);

void programs_free(struct programs *programs);

#endif
