/* SPDX-License-Identifier: GPL-2.0-or-later */
/* statstack - from sampled reuse distances to stack distances, and so to what a cache would hit and
 * miss.
 *
 * The reuse distance d of a reference is the number of references made before its line is
 * referenced again, neither of the two counted; the stack distance the number of different lines
 * among them. A reuse of distance d is expected to have the stack distance
 *
 *     s(d) = sum over k = 0 .. d-1 of P(D > k),
 *
 * because the reference k places before its end adds a line only if that line is not used again
 * within these k places (Eklov and Hagersten, StatStack, ISPASS 2010, eq. 2 and 3). A fully
 * associative LRU cache of c lines misses where s >= c. Of a cache with sets, each of the s lines
 * falls into the set with probability 1/sets: the position is binomially distributed (Smith 1978;
 * Hill and Smith 1989), which suits hashed sets; of plain ones it blurs the edges of regular
 * patterns.
 *
 * P(D > k) is the Kaplan-Meier estimate (1958): a watch that ended before its line was used again
 * says that d is at least so long, which is more than to drop it (that would leave out the long
 * ones) or to call it a cold miss (StatCache, Berg and Hagersten, ISPASS 2004, calls it so).
 *
 * The error is that of sampling: within it lie 95 % of 99 Bayesian bootstraps (Rubin 1981; Lo 1993
 * for censored samples), and it is never below the rule of three (Hanley and Lippman-Hand 1983): of
 * r samples that could have shown a thing and did not, up to 3/r might. Where no sample reaches as
 * far as the question, the error is as large as the value. It does not hold the model's own error:
 * the same distribution of reuse is assumed everywhere, so samples of one phase only should come
 * together, and the profiles of phases be added.
 *
 * Pure arithmetic: no I/O, no clock, no globals; the bootstrap draws the same numbers each time. */
#ifndef BERTH_MODELS_ONLINE_STATSTACK_H
#define BERTH_MODELS_ONLINE_STATSTACK_H

#include <stdbool.h>
#include <stddef.h>

/* One sampled reference. */
struct statstack_reuse {
    double references; /* its reuse distance, >= 0; censored: it is at least that */
    bool censored;     /* it was watched no longer */
};

/* A cache that the references come to by way of inner ones. */
struct statstack_cache {
    size_t sets, ways;
    double inner_lines; /* lines of the inner caches: reuse of a smaller stack distance does not get
                           here. They are taken to be fully associative, and lines that only they
                           see to count here, so that distances are too long by that at most. */
};

struct statstack_value {
    double value;
    double error; /* half its 95 % confidence interval, of the sampling alone */
};

/* Fills in the miss ratio curve: out[i] is the share of references that a fully associative LRU
 * cache of lines[i] lines misses, i < count; lines ascend. Returns 0, or -1: no samples, or out of
 * memory. */
int statstack_curve(const struct statstack_reuse *sample, size_t n, const double *lines,
                    size_t count, struct statstack_value *out);

/* Fills in the stack-distance profile: out[i], i < ways, is the share of references that hit at LRU
 * position i (0 the most recently used), out[ways] of those that miss; what is left to 1 hits in
 * inner caches. Returns 0, or -1: no samples, or out of memory. */
int statstack_profile(const struct statstack_reuse *sample, size_t n,
                      const struct statstack_cache *cache, struct statstack_value *out);

#endif
