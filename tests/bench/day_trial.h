/* SPDX-License-Identifier: GPL-2.0-or-later */
/* day_trial - when a standing trial knows (berth-guide(7), THE TRIAL): the records of a run's jobs
 * are read as `berthctl report --benefit` reads them, one more after the other, in the order in
 * which they ended. */
#ifndef BERTH_BENCH_DAY_TRIAL_H
#define BERTH_BENCH_DAY_TRIAL_H

#include "packer/report/benefit.h"

/* When something came to be so. */
struct day_moment {
    size_t jobs, lot; /* so many had ended, of which so many the lot had left to Slurm; 0: never */
};

struct day_trial {
    enum benefit_word truth; /* what is right */
    size_t jobs, lot;        /* in all */
    struct day_moment sign;  /* the gain's sign is right, and stays so */
    struct day_moment told;  /* the right word is said for the first time */
    size_t misled;           /* after so many of the jobs a wrong word was said */
    enum benefit_word word;  /* at the end */
    char sentence[BENEFIT_SENTENCE_MAX];
};

/* Reads the ledger of a run that is over, which is in its folder. `gain` is the part of the time
 * that jobs took less by berth than with Slurm alone: what is right. 0, or -1 and err. */
int day_trial_read(struct day_trial *trial, const char *folder, double gain,
                   struct berth_error *err);

/* Prints it, with what the trial costs: how many times as long as alone a job took without the
 * trial, and with it. */
void day_trial_print(const struct day_trial *trial, double without, double with);

/* Returns the same as JSON, which the caller releases. */
struct json_object *day_trial_json(const struct day_trial *trial, double without, double with);

#endif
