/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapt - whether programs that share cores all use all of them, or each has a set of its own
 * (ADAPT, Pusukuri 2012, chapter 6).
 *
 * Two linear models predict a program's user time, in percent of the elapsed time of its threads,
 * from what it does alone (its RSV): PAAP (eq. 6.1) beside another program on all cores, PACC (eq.
 * 6.3) in a set of cores of its own. Of the configurations the one with the best mean is chosen,
 * and it is left only when one of three rules asks for it (adapt_interval). The second term of
 * eq. 6.1 is the partner's latency, as Table 6.2 and the text have it, not its lock time, as it is
 * printed; mpa is a ratio, 0 to 1. All else is in percent, 0 to 100.
 *
 * What the text leaves open is decided here like this:
 *   - Of several partners the mean of PAAP is taken.
 *   - A program has no use for more cores than threads, so in a set its cores count up to these: by
 *     the bare equation the program with the fewest threads would get the largest set, which is not
 *     what the paper reports (16 of 64 cores for apsi's 16 threads). Predictions are held to 0 to
 *     100.
 *   - "Fell in the last two intervals": both are below the one before them by more than BETA.
 *   - After a change the intervals before it say nothing any more.
 *   - What was left is not tried again because of what it promises (the third rule): where less
 *     comes than is predicted of any of them, there would be no end of changes.
 *
 * Pure arithmetic: no I/O, no clock, no globals. */
#ifndef BERTH_MODELS_INSIDE_ADAPT_H
#define BERTH_MODELS_INSIDE_ADAPT_H

#include <stdbool.h>
#include <stddef.h>

#define ADAPT_PROGRAMS_MAX 16
#define ADAPT_CONFIGURATIONS_MAX 16
#define ADAPT_CANDIDATES_MAX 6 /* that adapt_candidates makes */
#define ADAPT_ALPHA 6.0        /* points between the use of two sets */
#define ADAPT_BETA 4.0         /* points that a program's user time falls by */
#define ADAPT_GAMMA 8.0        /* points that another configuration must be better by */
#define ADAPT_READINGS 10
#define ADAPT_READING_MS 200

#define ADAPT_PAAP 6 /* 1, lock_a, lat_b, mpa_a, sys_a, ct_b */
#define ADAPT_PACC 3 /* 1, lock_a, rct_a */

struct adapt_coefficients {
    double paap[ADAPT_PAAP], pacc[ADAPT_PACC];
};
extern const struct adapt_coefficients adapt_pusukuri; /* those of eq. 6.1 and 6.3 */

/* What a program does alone on all cores. */
struct adapt_program {
    unsigned threads;           /* >= 1 */
    double usr, sys, lat, lock; /* percent of the elapsed time, mean of the threads */
    double mpa;                 /* misses per access of the last cache, 0 .. 1 */
};

/* Return eq. 6.1: a beside b, both on all the cores; and eq. 6.3: a on so many of them. */
double adapt_paap(const struct adapt_coefficients *coefficients, const struct adapt_program *a,
                  const struct adapt_program *b, unsigned cores);
double adapt_pacc(const struct adapt_coefficients *coefficients, const struct adapt_program *a,
                  double cores);

/* ---- the cores allocator ---- */

struct adapt_question {
    const struct adapt_coefficients *coefficients;
    unsigned cores;
    size_t n;                            /* programs, 1 .. ADAPT_PROGRAMS_MAX */
    const struct adapt_program *program; /* [n] */
    size_t configurations;               /* 1 .. ADAPT_CONFIGURATIONS_MAX */
    const unsigned *configuration;       /* [configurations * n]: cores of each program; all of them
                                            `cores`: that is the configuration of all cores */
};

/* Makes the candidates: all cores, and sets of 1/4, 3/8, 1/2, 5/8 and 3/4 of them for the first of
 * two programs; of more programs one candidate of sets, in which each program in turn has its equal
 * part of what is left, or the one of these sizes that promises more. A program has at least least[i] cores in a set (NULL: one).
 * out: [ADAPT_CANDIDATES_MAX * n]. Returns how many there are, at least 1. */
size_t adapt_candidates(const struct adapt_coefficients *coefficients, unsigned cores, size_t n,
                        const struct adapt_program *program, const unsigned *least, unsigned *out);

/* Returns whether a configuration is that of all cores. */
bool adapt_is_all(const struct adapt_question *question, size_t configuration);

/* Predicts the user time of each program, into usr[n], and returns their mean. */
double adapt_predict(const struct adapt_question *question, size_t configuration, double *usr);

/* Returns the configuration with the best mean. Of those that are equal but for rounding it is the
 * one whose largest part has the fewest cores more than its smallest, and of these the first. */
size_t adapt_best(const struct adapt_question *question);

/* Who is CPU-intensive and hardly waits for locks; the paper prints no limits. */
struct adapt_limits {
    double mpa, lock; /* at most */
};

bool adapt_is_light(const struct adapt_limits *limits, const struct adapt_program *program);

/* Returns the configuration when the program `newcomer` of the question has just come: that of all
 * cores where it is light (if there is one), else the best. */
size_t adapt_enter(const struct adapt_question *question, const struct adapt_limits *limits,
                   size_t newcomer);

/* The program `gone`, with cores[gone] of its own, has ended: a light one's cores stay free, those
 * of another go to the others in equal parts, the first ones first. cores: [n], changed; that of
 * the one that is gone becomes 0. */
void adapt_leave(size_t n, unsigned *cores, size_t gone, bool light);

enum adapt_why {
    ADAPT_NO_REASON,
    ADAPT_UNEVEN,   /* a set is used less than another one by ALPHA */
    ADAPT_FELL,     /* a program's user time has fallen by BETA */
    ADAPT_PROMISED, /* another configuration promises GAMMA more than there is */
    ADAPT_WHYS
};
extern const char *const adapt_why_name[ADAPT_WHYS]; /* NULL, "uneven", "fell", "promised" */

/* What was measured in an interval of 2 s. */
struct adapt_measured {
    const double *usr;  /* [n]; NAN: not known */
    const double *used; /* [n]: of the program's set, in percent; NULL or NAN: not known */
};

struct adapt {                         /* all zero but for `present`: nothing was seen */
    size_t present;                    /* the configuration */
    enum adapt_why why;                /* of the last interval */
    unsigned changes;                  /* so far */
    unsigned tried;                    /* bits of the configurations that were left */
    unsigned seen;                     /* intervals since the last one, up to 3 */
    bool promised;                     /* in the last interval */
    double usr[3][ADAPT_PROGRAMS_MAX]; /* the last one first */
};

/* Takes in an interval; the question may have other RSVs in another phase, but the same programs
 * and configurations. Where one of the rules (alpha, beta, gamma) asks for a change the
 * configuration with the best prediction becomes the present one; by the third rule, which has
 * found that there is less than was predicted, the best one of the others. Returns whether it was
 * another one. adapt->why: the rule that has asked in this interval. */
bool adapt_interval(struct adapt *adapt, const struct adapt_question *question,
                    const struct adapt_measured *measured);

/* ---- the policy allocator ---- */

struct adapt_policy {
    bool interleave; /* over the nodes of its cores; else local memory */
    bool faithful;   /* its quanta; else the default class */
};

/* Says what each program of the question gets in a configuration: light ones nothing, others both.
 * In sets each program is looked at by itself, as the last sentence of section 6.2.2 has it. On all
 * cores the class is one for all programs: with one that is not light all get quanta. policy: [n],
 * out. */
void adapt_policies(const struct adapt_question *question, const struct adapt_limits *limits,
                    size_t configuration, struct adapt_policy *policy);

/* ---- coefficients of one's own ---- */

#define ADAPT_PAIRS_MIN 30 /* fewer say nothing about six coefficients */
#define ADAPT_FOLDS 12

enum adapt_fit_status { ADAPT_FITTED, ADAPT_TOO_FEW, ADAPT_DEPENDENT };

struct adapt_fit {
    double coefficient[ADAPT_PAAP]; /* the constant first */
    double r2;                      /* adjusted */
    double smape;                   /* eq. 6.2, percent */
    double unseen_smape; /* the same of runs that are not fitted to, ADAPT_FOLDS-fold: 100 less it
                            is the paper's accuracy (Tables 6.3, 6.5). NAN: the others do not say */
};

/* Fit by least squares: y[i] = c[0] + sum of c[j] * x[i * k + j - 1], n rows of k <= 5 predictors.
 * ADAPT_TOO_FEW: n < ADAPT_PAIRS_MIN. ADAPT_DEPENDENT: a predictor does not vary, or is made of the
 * others. *fit is only changed by ADAPT_FITTED. */
enum adapt_fit_status adapt_fit(size_t n, size_t k, const double *x, const double *y,
                                struct adapt_fit *fit);

/* The predictors of both models: x[5], x[2]. */
void adapt_paap_row(const struct adapt_program *a, const struct adapt_program *b, unsigned cores,
                    double *x);
void adapt_pacc_row(const struct adapt_program *a, double cores, double *x);

#endif
