/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eval - the parts of contend_eval: slowdowns of pairs that were measured, models' opinions of
 * them, and how good these are. */
#ifndef BERTH_BENCH_EVAL_H
#define BERTH_BENCH_EVAL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/slowdown/contend.h"
#include "lab/plan/apps.h"

/* Programs of one machine. truth[i * n + j] is what i suffers beside j (NAN: not measured);
 * sibling: on hardware threads of one core. */
struct eval_set {
    struct ctl_apps apps;
    double *truth;
    bool sibling;
};

/* Reads a set (contend_eval.c says in which words), but for the program of that name (NULL: all),
 * which the object loses, too. 0, or -1 and err. Free with eval_set_free; it borrows from the
 * object. */
int eval_set_read(struct eval_set *set, struct json_object *object, const char *without,
                  struct berth_error *err);
void eval_set_free(struct eval_set *set);

/* Fills in what a model says of each pair, [n][n]. Returns 0; -1 where it cannot say. */
int eval_contend(const struct eval_set *set, const struct contend_constants *constants,
                 double *matrix);
int eval_missrate(const struct eval_set *set, double *matrix);
int eval_pain(const struct eval_set *set, double *matrix);

/* Fills in the least-squares fit of sensitivity[i] * pressure[j] to what of `seen` ([n][n]) is not
 * NAN. */
int eval_rank_one(size_t n, const double *seen, double *matrix);

/* ---- the clock (eval_clock.c) ---- */

/* Gives the machine the clock of the setting in which the set was measured, where the set does not
 * tell its own: `word` is one of eval_clock_words, or any text in which one stands (NULL: nothing).
 */
void eval_clock_set(struct eval_set *set, const char *word);

/* Returns the words, as a usage prints them. */
const char *eval_clock_words(void);

/* Fills in what a clock would add to each prediction that falls by so little that it does not
 * matter else, divided by its fall: the part of the time in which a program's core works, [n]. 0,
 * or -1 without memory. */
int eval_clock_works(const struct eval_set *set, const struct contend_constants *constants,
                     double *works);

/* Adds to the predictions what the clock makes (matrix[n][n]): two figures, by how much it falls
 * from one busy core to half of them, and from there to all, that explain best what of `seen`
 * ([n][n]) is not NAN and more than predicted. */
void eval_clock_fit(const struct eval_set *set, const double *works, const double *predicted,
                    const double *seen, double *matrix);

/* ---- observing (eval_observed.c) ---- */

/* What has 5 % of noise: the time, the slowdown, or neither: the slowdown has 5 points of it. */
enum eval_noise { EVAL_NOISE_TIME, EVAL_NOISE_SLOWDOWN, EVAL_NOISE_POINTS };

struct eval_observing {
    unsigned seed, draws;
    enum eval_noise noise;
    bool directions;     /* i beside j may be observed without j beside i */
    const char *setting; /* of the clock; NULL: as the set says */
    const char *without; /* the program that is left out; NULL: none */
};

/* Observes the truth: each pair with the probability `part`; what is not observed is NAN. The same
 * seed and number of the draw, the same draw. */
void eval_observe(const struct eval_set *set, const struct eval_observing *how, double part,
                  unsigned draw, double *seen);

/* Fills in what evidence makes of the predictions and of what was seen. Returns 0; -1 without
 * memory. */
int eval_evidence(const struct eval_set *set, enum eval_noise noise, const double *predicted,
                  const double *seen, double *matrix);

/* ---- measures ---- */

/* Returns the rank correlation (Spearman); NAN of fewer than two. */
double eval_spearman(size_t n, const double *a, const double *b);
double eval_median(size_t n, double *values); /* sorts them */

/* Returns how far above the best pairing the one is that the matrix likes best, in points of
 * slowdown per program, mean over all workloads of that many programs (even, at most 8); with
 * matrix NULL, one drawn by lot. Workloads whose truth is not all known do not count; NAN where
 * none is left. */
double eval_gap(const struct eval_set *set, const double *matrix, size_t programs);

/* ---- n copies of a program in one memory domain ---- */

struct eval_domain {
    size_t cores, ways;
    double dram_gbps, clock_ghz, llc_bytes;
    bool calibrated, each; /* dram_gbps is a measured one; print each count */
};

/* Evaluates a table of runs (contend_eval.c says of what columns). 0, or -1 and err. */
int eval_copies(char *text, const struct eval_domain *domain,
                const struct contend_constants *constants, struct berth_error *err);

#endif
