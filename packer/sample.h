/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample - the stage that counts what steps do: window after window, running averages by phase, and
 * what a run alone on its cache and one beside others say about the program.
 *
 * A step starts up (conf.startup: counted by nobody), has its first window (conf.first_window: the
 * class of a program that had no profile), and then windows of conf.window, which end on whole
 * multiples of it, so that all steps are read in one go. Nothing of this is on the way of a launch:
 * counting begins after the answer. */
#ifndef BERTH_SAMPLE_H
#define BERTH_SAMPLE_H

#include "packer.h"
#include "rates.h"

/* What is counted of one step. */
struct step_counts {
    struct counters_step *counters; /* NULL until the start-up is over */
    struct reuse_step *reuse;       /* reuse.h; NULL: not sampled */
    double due_s;                   /* when it is read next */
    struct counters_sample last;    /* the reading that the present window began with */
    double foreign_s;   /* busy time of the CPUs beside its own on its caches, at that time */
    bool foreign_known; /* and it has not moved since */
    struct phase phase; /* running averages of the present phase */
    struct rate alone[RATES], beside[RATES]; /* of the whole run: windows in which nobody else
                                                 worked on its caches, and the others */
    double instructions[2], seconds[2];      /* counted in them, [0] alone, [1] beside */
    uint64_t ended[2];                       /* windows of these two kinds */
    uint64_t windows;                        /* all, also those that are neither */
    double scaling[RATES]; /* relative standard error for multiplexing, in the last window */
};

/* Above this share of one core, others work on a step's caches. */
#define SAMPLE_FOREIGN 0.05

/* Counting of a live step begins, when its start-up is over. */
void sample_attach(struct packer *packer, struct step *step);

/* Its CPUs have just changed. */
void sample_follow(struct packer *packer, struct step *step);

/* It was moved for its neighbours' sake: the averages begin anew, with the new place's first whole
 * window. */
void sample_moved(struct step *step);

/* The step is over: what was learned goes to the store, nothing is counted any more. The averages
 * stay in step->counts for explain. */
void sample_end(struct packer *packer, struct step *step);

/* Nothing is counted of the step any more, and nothing is learned. */
void sample_drop(struct packer *packer, struct step *step);

/* Read each step whose window is over. Seconds until the next one is, or < 0: none. */
double sample_due(struct packer *packer);

/* Read a live step now, beside its windows. 0, or -1: nothing is counted of it yet. */
int sample_read(struct packer *packer, struct step *step, struct counters_sample *sample);

/* What its program is called: the tag, else the executable's base name, else "". */
const char *sample_name(const struct step *step);

/* The running average of the present phase, with half its 95 % interval (multiplexing included; NAN
 * where that is not known): false where the rate is not known. */
bool sample_rate(const struct step *step, enum rate_id id, double *mean, double *error);

#endif
