/* SPDX-License-Identifier: GPL-2.0-or-later */
/* course - the stage that keeps, for people, how fast a step was over its life, and who came beside
 * it, left, and when it was moved (berthctl job --plot).
 *
 * A point is as many windows as make up its least length; when all points are used, two make one
 * and the least length doubles. So a step of a minute and one of a month take the same room. It
 * reads nothing: it looks at windows that have ended anyway, and so knows comings and goings to a
 * window's length. */
#ifndef BERTH_OBSERVE_COURSE_H
#define BERTH_OBSERVE_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "packer/wire/wire.h"

#define COURSE_POINTS 96
#define COURSE_EVENTS 24
#define COURSE_BESIDE 16 /* others beside it that are told apart */
#define COURSE_PROGRAM_MAX 24
#define COURSE_CPUS_MAX 32

/* What was counted from one time to another, both in seconds of the step's life. */
struct course_point {
    float from_s, to_s;   /* a month is exact to a quarter of a second */
    float instructions_s; /* of wall time; NAN: not counted */
    float cpu;            /* cores that it used; NAN: not known */
};

enum course_kind { COURSE_CAME, COURSE_WENT, COURSE_MOVED, COURSE_KINDS };
extern const char *const course_kind_name[COURSE_KINDS]; /* "came", "went", "moved" */

struct course_other {
    struct wire_step_id id;
    uid_t uid;
    char program[COURSE_PROGRAM_MAX]; /* base name; "": not known */
};

struct course_event {
    float at_s; /* of the step's life: the end of the window in which that was */
    enum course_kind kind;
    union {
        struct course_other other;  /* who came or went */
        char cpus[COURSE_CPUS_MAX]; /* where it was moved to; cut, with ".." at the end */
    };
};

struct course {
    struct course_other self; /* as the others' courses name it */
    double every_s;           /* a point is that long at least; 0: one window */
    size_t n;
    struct course_point point[COURSE_POINTS];
    uint64_t events;                          /* that there were: the last COURSE_EVENTS are kept */
    struct course_event event[COURSE_EVENTS]; /* a ring: the i-th is at i % COURSE_EVENTS */
    size_t nbeside;                           /* as of the last window */
    struct course_other beside[COURSE_BESIDE];
    uint64_t moves;    /* of the step, then */
    uint64_t standing; /* where all steps stood then, as one number */
    bool begun;        /* one window has ended */
};

/* Adds what was counted in a window, which begins where the last one ended or later. */
void course_add(struct course *course, const struct course_point *window);

/* Adds an event; the oldest gives way. */
void course_happened(struct course *course, const struct course_event *event);

/* Returns the i-th event that is kept, the oldest first; NULL: there are no more. */
const struct course_event *course_event(const struct course *course, size_t i);

/* Compares who is beside the step now with who was, adds who came and who went at `at_s`, and keeps
 * those who are. With the first look nobody has come. */
void course_look(struct course *course, double at_s, const struct course_other *now, size_t n);

#endif
