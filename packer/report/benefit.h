/* SPDX-License-Identifier: GPL-2.0-or-later */
/* benefit - does berth help? Adds up what the ledger's records say of it.
 *
 * Two things are told apart everywhere: what contend predicts (where Slurm put all, where berth put
 * or would have put them), and what was measured (a step's speed against that which it has alone).
 * A step's time would have been its own times (1 + slowdown there) / (1 + slowdown here); its
 * energy would have been its own times the same ratio, at the same power. What was measured tells
 * of one place only, so a gain is measured only where the same program (of the same user, tag and
 * number of cores) ran both where Slurm put it and where berth did; their neighbours were not the
 * same. Where a trial was on (enact/trial.h), only its jobs are compared: whom users opt in or out
 * is not by chance.
 *
 * Measured wins over predicted: the verdict is about what was measured, and so is a program that
 * ran both ways; what is predicted is called so, and tells of the others.
 *
 * Runs are compared by the log of the CPU time that an instruction took, which each counted run
 * has, or of 1 + the slowdown, where more runs have that: a ratio of times, and a run that took ten
 * times as long does not outweigh all others. A job is one measurement, whatever steps and nodes it
 * has: its records have to come one after the other. Within a program each job counts alike; the
 * interval is Welch's, by the scatter of each way by itself, for what Slurm puts anywhere may
 * scatter more.
 *
 * Records are read one by one and are not kept. A record is a step on one node; batch scripts and
 * interactive shells are left out, but those whose own processes have worked, and are known.
 * Intervals are of 95 %, of a mean weighted by core time (Student's t), over the steps: they say
 * how far steps differ, not how far the model is off. That is told by `error`. */
#ifndef BERTH_REPORT_BENEFIT_H
#define BERTH_REPORT_BENEFIT_H

#include <json-c/json.h>
#include <stdio.h>

#include "packer/ledger/ledger.h"
#include "packer/report/fields.h"

/* A mean over n steps, and half of its interval; both NAN where n is 0, half where n is 1. */
struct benefit_mean {
    size_t n;
    double mean, half;
};

/* A part of the time that was less, and its interval; NAN where n is 0. Below 0 it was more. */
struct benefit_part {
    size_t n;
    double mean, low, high;
};

/* A sum over n steps; NAN where n is 0. gained and lost: of those above and below 0. */
struct benefit_amount {
    size_t n;
    double sum, gained, lost;
};

enum benefit_kind { BENEFIT_PLACED, BENEFIT_OBSERVED, BENEFIT_KINDS };

/* Of the steps that berth placed, or only observed. */
struct benefit_group {
    size_t steps;
    double core_s;
    struct benefit_mean slurm;               /* slowdown predicted where Slurm put all; fractions */
    struct benefit_mean berth;               /* where berth put them, or would have */
    struct benefit_mean measured;            /* as they stood */
    struct benefit_amount core_time, energy; /* core-seconds, joules saved, or that could be: by
                                                prediction */
    size_t judged, slower; /* placed and measured; and slower than predicted where Slurm put them */
};

/* Programs that ran both ways: measured. The means are over the programs, by core time where berth
 * put them, and n are jobs. */
struct benefit_pairs {
    size_t programs;
    struct benefit_mean slurm, berth; /* slowdowns, of those where they are known; half NAN */
    struct benefit_part less;         /* of the time; n are programs */
    double core_s;                    /* that the placed steps took less; NAN */
    double error;                     /* standard error of the log of the time's ratio */
    /* Where there is none: how many jobs more, where Slurm puts them and where berth does, the
     * program needs that lacks least. */
    size_t lacks_slurm, lacks_berth;
    /* Records of the trial: of those that were only observed, and of those that were placed. Where
     * there is one of the first, all of this is about the trial. */
    size_t control, treated;
};

/* One of these programs. */
struct benefit_compared {
    const char *user, *program, *tag;
    unsigned uid, cores;
    struct benefit_mean slurm, berth; /* slowdowns; n are jobs */
    struct benefit_part less;         /* of the time; n are jobs where berth put them */
    double core_s;                    /* that its placed steps took less; < 0 more */
};

/* The answer in a word. */
enum benefit_word { BENEFIT_HELPS, BENEFIT_HURTS, BENEFIT_NO_GAIN, BENEFIT_UNTOLD, BENEFIT_WORDS };
extern const char *const benefit_word_text[BENEFIT_WORDS];

/* Jobs that a trial has to have left to Slurm: fewer say nothing, whatever they show. */
#define BENEFIT_LOT 10
#define BENEFIT_WORTH 0.01 /* of the time: less than that is no gain, and no loss */

struct benefit_verdict {
    enum benefit_word word;
    double gain, low, high;            /* part of the time that programs took less; NAN. Of a trial
                                          an interval that holds however often it is looked at */
    size_t programs, slurm_n, berth_n; /* jobs that were measured either way */
    size_t more;                       /* jobs that it takes to tell, about; 0 where it is told */
    bool trial;    /* it is by the trial: those where Slurm put them were left there by lot, */
    size_t needed; /* and about so many of these it takes in all; 0: where it is told, or nobody
                      knows */
};

/* What berth-steer has brought, by the hours that it left to Slurm by lot (steered.h): a row has
 * what was left, and what was steered. */
struct benefit_steering {
    bool known;      /* the ledger has hours of a trial */
    size_t hours[2]; /* in which jobs began that were measured: left to Slurm, and steered */
    struct benefit_verdict verdict; /* slurm_n and berth_n are jobs of these; `needed` are hours */
};

/* Why nothing is known of a step. */
enum benefit_why {
    BENEFIT_NOT_OPTED,
    BENEFIT_BOUND,
    BENEFIT_LATE, /* the launch failed open */
    BENEFIT_FAILED,
    BENEFIT_LEFT, /* for another reason */
    BENEFIT_UNPROFILED,
    BENEFIT_SHORT,
    BENEFIT_OLD, /* of a berth that did not say */
    BENEFIT_WHYS
};
extern const char *const benefit_why_text[BENEFIT_WHYS];

/* Words of records, kept as long as the benefit. */
struct benefit_step {
    enum benefit_kind kind;
    struct wire_step_id id;
    const char *node, *user, *program;
    unsigned uid, cores;
    double slurm, berth, measured; /* slowdowns; NAN not known */
    double core_s, energy_j;       /* gained by prediction; < 0 lost */
};

#define BENEFIT_LIST 10

/* A program that a profile would tell most of. */
struct benefit_program {
    const char *user, *program, *knowledge;
    unsigned uid;
    size_t steps, unknown; /* of how many no slowdown was predicted */
    double core_s;
};

enum benefit_varies {
    BENEFIT_VARIES_LESS,
    BENEFIT_VARIES_MORE,
    BENEFIT_VARIES_UNTOLD,
    BENEFIT_VARIES_WORDS
};

/* A program whose runs were measured often enough both ways: where Slurm put them, and where berth
 * did. */
struct benefit_varied {
    const char *user, *program, *tag;
    unsigned uid, cores;
    size_t n[2];              /* jobs */
    double cv[2];             /* coefficient of variation of their times */
    struct benefit_part less; /* of the coefficient; n are jobs where berth put them */
};

/* How much less the runs of programs vary where berth put them: variation.h. */
struct benefit_variation {
    enum benefit_varies word;
    size_t programs, jobs[2];
    bool trial;
    struct benefit_part less; /* n are programs */
    size_t listed;            /* those with most runs first */
    struct benefit_varied list[BENEFIT_LIST];
};

struct benefit_result {
    size_t records, shells, steps, nodes; /* records: all that were read */
    double core_s;
    struct benefit_group group[BENEFIT_KINDS];
    struct benefit_mean bias, error; /* predicted less measured, where they stood; its magnitude */
    struct benefit_pairs pairs;
    struct benefit_variation variation;
    struct benefit_amount freed;          /* core-seconds that sizes gave up */
    struct benefit_mean size_loss;        /* of speed, as measured of these */
    struct benefit_amount on_idle;        /* core-seconds on cores that Slurm had given to nobody */
    struct benefit_amount idle_core_time; /* core-seconds that these steps saved, as predicted */
    struct benefit_amount why[BENEFIT_WHYS]; /* sum: core-seconds */
    struct benefit_verdict verdict;
    struct benefit_steering steering;
    /* What was measured: programs that gained or lost, the greatest first, of how many. */
    size_t gained, lost, all_gained, all_lost;
    struct benefit_compared gain[BENEFIT_LIST], loss[BENEFIT_LIST];
    /* Predicted: steps of other programs. */
    size_t winners, losers, all_winners, all_losers;
    struct benefit_step winner[BENEFIT_LIST], loser[BENEFIT_LIST];
    size_t programs;
    struct benefit_program program[BENEFIT_LIST];
};

struct benefit;

/* Makes one that has read nothing; NULL: no memory. */
struct benefit *benefit_new(void);
void benefit_free(struct benefit *benefit); /* NULL is fine */

/* Has what berth-steer brings told, by these hours, which are borrowed; none: nothing of it is
 * told. Before the first record. 0, or -1 with errno. */
int benefit_hours_are(struct benefit *benefit, const struct ledger_hours *hours);

/* Reads a record. 0, or -1 with errno. */
int benefit_add(struct benefit *benefit, const struct ledger_record *record);

/* Returns what the records say together, which is the benefit's. */
const struct benefit_result *benefit_conclude(struct benefit *benefit);

/* Fills in what a step has gained by berth, or would have, by prediction: core-seconds and joules,
 * < 0 lost. Returns false, and NAN, where that is not known; joules are NAN where nobody metered.
 */
bool benefit_of(const struct ledger_record *record, enum benefit_kind *kind, double *core_s,
                double *energy_j);

/* ---- what it looks like (benefit_text.c, benefit_json.c) ---- */

struct benefit_about {
    int64_t since, until; /* Unix seconds; since 0: from the beginning on */
};

/* Writes it for a person, within 80 columns. */
void benefit_print(FILE *out, const struct benefit_result *result,
                   const struct benefit_about *about);

/* Returns it as JSON, which the caller releases; NULL: no memory. */
struct json_object *benefit_json(const struct benefit_result *result,
                                 const struct benefit_about *about);

/* Write and return in the same way how much the runs of programs vary (variation_page.c). */
void variation_print(FILE *out, const struct benefit_result *result,
                     const struct benefit_about *about);
struct json_object *variation_json(const struct benefit_result *result,
                                   const struct benefit_about *about);

/* Returns the verdict as JSON, which the caller releases; NULL: no memory. */
struct json_object *benefit_verdict_json(const struct benefit_result *result);

/* Adds a part, with its interval. */
void benefit_add_part(struct json_object *object, const char *key, const struct benefit_part *part);

/* Writes the verdict as one sentence: the word, the figure, its interval, and how it was measured.
 */
#define BENEFIT_SENTENCE_MAX 512
void benefit_sentence(const struct benefit_result *result, char text[BENEFIT_SENTENCE_MAX]);

/* Writes in the same way what berth-steer has brought. */
void benefit_steering_sentence(const struct benefit_steering *steering,
                               char text[BENEFIT_SENTENCE_MAX]);

/* Write core-seconds in hours, with a sign where it is a gain or a loss; and joules with a sign. */
void benefit_hours(double core_s, bool sign, char text[REPORT_NUMBER_MAX]);
void benefit_energy(double joules, char text[REPORT_NUMBER_MAX + 1]);

/* Writes the command that explains a step: "berthctl explain 12.0". */
#define BENEFIT_COMMAND_MAX 64
void benefit_command(const struct benefit_step *step, char text[BENEFIT_COMMAND_MAX]);

#endif
