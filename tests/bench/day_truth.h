/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_truth - what programs truly suffer beside each other: a set of a file of measured or
 * simulated pairs, in the form of `contend_eval` or of one matrix alone. */
#ifndef BERTH_BENCH_DAY_TRUTH_H
#define BERTH_BENCH_DAY_TRUTH_H

#include <json-c/json.h>
#include <stddef.h>

#include "packer/base/error.h"
#include "lab/plan/apps.h"

struct day_truth {
    struct ctl_apps apps;
    double *slowdown; /* [n][n] what i suffers beside j: a fraction of its time alone */
    double *sibling;  /* [n][n] the same on one core's hardware threads, all that they cost each
                         other;  NULL: cores are whole (day_threads.h) */
    size_t guessed;   /* pairs that the file does not have: the mean of i times the mean of j over
                         the mean of all */
    double line_bytes, clock_ghz; /* of the machine; 64 and 2 where the file does not say */
    struct json_object *input;    /* owns the names */
};

/* Returns how many sets the file has: {"sets":[...]}, or one without that. */
size_t day_truth_sets(struct json_object *file);

/* Reads one of them. 0, or -1 and err; free with day_truth_free. */
int day_truth_read(struct day_truth *truth, struct json_object *file, size_t set,
                   struct berth_error *err);

/* Nobody disturbs anybody any more. */
void day_truth_nobody(struct day_truth *truth);

/* Who misses least disturbs the others now as who misses most did, and so on end to end: who parts
 * those that miss often does the wrong thing. 0, or -1 and err. */
int day_truth_wrong(struct day_truth *truth, struct berth_error *err);

void day_truth_free(struct day_truth *truth);

/* Returns what program `i` suffers beside `j`. */
static inline double day_truth_pair(const struct day_truth *truth, size_t i, size_t j)
{
    return truth->slowdown[i * truth->apps.n + j];
}

#endif
