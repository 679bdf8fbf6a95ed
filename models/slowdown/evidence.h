/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence - what was measured of programs beside each other corrects what a model predicts.
 *
 * Measured co-run matrices are nearly of rank one: two numbers a program, by how much it suffers
 * more than predicted (its sensitivity a), and by how much others suffer more beside it (its
 * pressure b). On top of them each set of neighbours that was measured has a residual e:
 *
 *     log(slowdown + offset) = p + h (p - level) + a[i] + log(sum_j w[j] exp(b[j])) + e
 *     p = log(predicted + offset)
 *
 * for program i beside the set of j, where w[j] is j's part of what is predicted for i. Sensitivity
 * and pressure are normal about a mean that all programs have in common; their standard deviation
 * (`doubt`) is how far the prediction may be out, by what is known of the program. The stretch h,
 * one for all, says whether predictions differ more (h < 0) or less than what happens. Measurements
 * are of the slowdown itself, so one near zero says little about its logarithm. The residual has
 * the tails of Student's t: most sets of neighbours are as their programs are, a few are
 * exceptions. The most probable values follow by Newton's steps, one program at a time, and only
 * where something changed.
 *
 * Pure arithmetic: no I/O, no clock, no globals. What is observed later is taken to be newer. */
#ifndef BERTH_MODELS_SLOWDOWN_EVIDENCE_H
#define BERTH_MODELS_SLOWDOWN_EVIDENCE_H

#include <stddef.h>

#define EVIDENCE_BESIDE_MAX 256 /* neighbours of one program */
#define EVIDENCE_PROGRAMS_MAX 65536
#define EVIDENCE_REVIEWED_MAX 128

/* How a prediction was come by, from the least to the most that is known of a program. */
enum evidence_rung {
    EVIDENCE_AVERAGE,   /* nothing: it is taken for the average of the others */
    EVIDENCE_PROBE,     /* a probe's view of its cache */
    EVIDENCE_MISSRATE,  /* misses or memory traffic */
    EVIDENCE_COUNTERS,  /* those, accesses and speed */
    EVIDENCE_DISTANCES, /* its stack distances */
    EVIDENCE_RUNGS
};

/* All are greater than 0; common is less than 1. */
struct evidence_constants {
    double doubt[EVIDENCE_RUNGS]; /* standard deviation of a and of b */
    double common;   /* of the mean that all a (all b) have in common, in parts of the doubt */
    double stretch;  /* standard deviation of h, in parts of the doubt */
    double level;    /* slowdown that the stretch leaves as it is, a fraction */
    double residual; /* scale of e, */
    double points;   /* and of what there is besides, a slowdown as a fraction; both have */
    double tail;     /* degrees of freedom, more than 2: the fewer, the more exceptions */
    double offset;   /* slowdown below which differences matter no more, a fraction */
    double error;    /* of a measurement whose own is not known, a fraction of the time */
    double least;    /* error that no number of measurements goes below, a fraction of the time */
    double contradiction; /* standard deviations from which newer evidence contradicts older */
};

/* Those that evidence_new takes where it is given none. */
extern const struct evidence_constants evidence_constants;

/* A program seen beside others for a while. */
struct evidence_seen {
    size_t program, n;
    const size_t *beside; /* [n] in any order; one that is there twice counts twice */
    const double *part;   /* [n] what each is predicted to contribute, in any unit; NULL: alike */
    double predicted;     /* slowdown of program beside all of them, a fraction >= 0 */
    double slowdown;      /* measured, a fraction; noise may bring it below 0 */
    double error;         /* its standard deviation; NAN or 0: not known */
    double weight;        /* 1, or less for one that has aged: its variance is divided by it */
};

struct evidence;

/* Returns an empty one (constants NULL: evidence_constants); NULL with ENOMEM. */
struct evidence *evidence_new(const struct evidence_constants *constants);
void evidence_free(struct evidence *evidence);

/* Says how far the predictions for and about a program may be out: `doubt` is the standard
 * deviation of their logarithm (evidence_constants.doubt has one for each rung). May be said anew
 * at any time. A program that nothing is said of has the doubt of EVIDENCE_COUNTERS. 0, or -1 with
 * errno EINVAL (number or doubt out of range) or ENOMEM. */
int evidence_program(struct evidence *evidence, size_t program, double doubt);

/* Takes one measurement in; it counts from the next evidence_solve on. One that contradicts what
 * was measured of the same neighbours makes the older lose weight, and when that happens twice to a
 * program, all that was measured with it. 0, or -1 with errno EINVAL (no neighbour or too many, a
 * figure out of range) or ENOMEM. */
int evidence_observe(struct evidence *evidence, const struct evidence_seen *seen);

/* Multiplies the weight of all that was measured with that program, at either side, by `keep`, 0 to
 * 1. Returns how many sets of neighbours that concerned. */
size_t evidence_forget(struct evidence *evidence, size_t program, double keep);

/* Gives a new prediction and new parts of program beside those n; see evidence_seen. */
typedef void evidence_predict(void *context, size_t program, size_t n, const size_t *beside,
                              double *predicted, double *part);

/* Asks for predictions anew that were made with that program: after what is known of it changed.
 * (Corrections are relative to predictions.) At each side EVIDENCE_REVIEWED_MAX sets of neighbours
 * are, the newest; the others are forgotten. */
void evidence_review(struct evidence *evidence, size_t program, evidence_predict *predict,
                     void *context);

/* Brings sensitivities and pressures up to date, with bounded work: beginning with the programs
 * that something new is known of. Returns 0; 1 when there is more to be done by another call. */
int evidence_solve(struct evidence *evidence);

/* Returns the corrected slowdown of program beside those n, a fraction >= 0; arguments as in
 * evidence_seen. *error (may be NULL) is its standard deviation. Numbers that nothing was said of
 * are allowed. */
double evidence_correct(const struct evidence *evidence, size_t program, size_t n,
                        const size_t *beside, const double *part, double predicted, double *error);

/* Returns how much of the doubt about a program measurements have taken away: 0 nothing is
 * measured, 1 its sensitivity and pressure are known exactly. */
double evidence_known(const struct evidence *evidence, size_t program);

#endif
