/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit_programs - what is told program by program: those that ran both where Slurm put them and
 * where berth did, what is predicted of the others, and those of which a profile would tell most.
 */
#ifndef BERTH_REPORT_BENEFIT_PROGRAMS_H
#define BERTH_REPORT_BENEFIT_PROGRAMS_H

#include "packer/report/benefit.h"
#include "packer/report/benefit_mean.h"
#include "packer/report/intern.h"

/* By what runs of a program are compared: the CPU time that an instruction took, which each run has
 * that was counted; or the slowdown, where its speed alone is known, too. */
enum benefit_scale { BENEFIT_BY_SPEED, BENEFIT_BY_SLOWDOWN, BENEFIT_SCALES };

/* What was measured one way, by each scale: one value of each job. What the nodes and the steps of
 * a job have measured has the same chance in it: the input, and the lot. */
struct benefit_arm {
    struct benefit_sum slowdown;            /* weighted by core time */
    struct benefit_sum log[BENEFIT_SCALES]; /* logs of the times, all of one weight */
    double core_s[BENEFIT_SCALES];          /* of the jobs in them */
    struct benefit_values {
        double *x; /* the same logs, one by one */
        size_t n, room;
    } value[BENEFIT_SCALES];
    uint32_t job;                                 /* whose records come now */
    double w[BENEFIT_SCALES], wx[BENEFIT_SCALES]; /* of these, not in the sums yet; w 0: none */
};

enum benefit_way { BENEFIT_AS_SLURM, BENEFIT_AS_BERTH, BENEFIT_WAYS };

/* The greatest steps, first those that gain or lose most; it grows up to BENEFIT_LIST. */
struct benefit_rank {
    struct benefit_step *step;
    size_t n, room;
    size_t all; /* that came */
};

/* Runs that are compared: of the same program, user, tag and number of cores. */
struct benefit_alike {
    const char *user, *program, *tag, *knowledge; /* what was known last */
    unsigned uid, cores;
    bool is_program;                        /* benefit_is_program() */
    struct benefit_arm arm[BENEFIT_WAYS];   /* all runs */
    struct benefit_arm trial[BENEFIT_WAYS]; /* those of the trial */
    struct benefit_rank winner, loser;      /* by prediction */
    size_t steps, unknown;                  /* of how many no slowdown was predicted */
    double core_s;
    int64_t last; /* the latest end */
};

struct benefit_programs {
    struct benefit_alike **alike; /* [n] */
    size_t n, room;
    void *found;                /* tsearch(3) of these */
    size_t drawn[BENEFIT_WAYS]; /* records of the trial */
};

/* Is it a program? A launcher, a shell or a batch script is none, where nobody has found what used
 * its CPUs: two runs of it have nothing in common, and it has no profile. */
bool benefit_is_program(const char *name);

void benefit_programs_clear(struct benefit_programs *programs);

/* Fills in what a record has measured by each scale: the log of the CPU time that an instruction
 * took, and the slowdown; NAN: that is not known. */
void benefit_values(const struct ledger_record *record, double value[BENEFIT_SCALES]);

/* Takes in a record of so many core-seconds; texts are kept by `words`. Returns what its step is
 * compared with; NULL with errno. */
struct benefit_alike *benefit_programs_add(struct benefit_programs *programs,
                                           struct report_intern *words,
                                           const struct ledger_record *record, double core_s);

/* Says whether a step would stand in the list; puts a copy of it there, by magnitude. 0, or -1 with
 * errno. */
bool benefit_rank_takes(const struct benefit_rank *rank, double core_s);
int benefit_rank_put(struct benefit_rank *rank, const struct benefit_step *step);

/* Fills in result->pairs, what was measured of programs, what is predicted of the steps of others,
 * and result->program. */
void benefit_programs_conclude(struct benefit_programs *programs, struct benefit_result *result);

#endif
