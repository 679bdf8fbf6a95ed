/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - adds up what steps cost: the ledger's records (ledger.h), gathered into rows of steps,
 * of jobs and of whatever else is added up.
 *
 * A step has a record for each of its nodes. Records are merged into steps, these into jobs, and
 * jobs into totals; merge[] in report/merge.c says for each figure how. What is not known of a part
 * is not known of the whole, with one exception: energy is the sum of what was metered, and
 * `metered` of `records` tells how much of it that is. Energy stays exact to the microjoule. */
#ifndef BERTH_REPORT_REPORT_H
#define BERTH_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/energy/energy.h"
#include "packer/ledger/ledger.h"

enum report_kind { REPORT_STEP, REPORT_JOB, REPORT_TOTAL };

enum report_text {
    REPORT_NODES, /* a list as Slurm writes it */
    REPORT_COUNTERS_SOURCE,
#define FACT_WORD_COLUMN(ID, ...) REPORT_##ID,
#include "packer/fact/facts.def"
    REPORT_TEXTS
};

enum report_number {
    REPORT_NNODES,
    REPORT_CPU_TIME_S, /* elapsed time * cores given */
    REPORT_JOBS,
    REPORT_STEPS,
#define FACT_COLUMN(ID, name, width, key, form, parts) REPORT_##ID,
#include "packer/fact/facts.def"
    REPORT_NUMBERS
};

/* Of these, those that are means. */
enum report_mean {
#define FACT_MEAN(ID, ...) REPORT_MEAN_##ID,
#include "packer/fact/facts.def"
    REPORT_MEANS
};

/* A sum of energies: microjoules do not fit 64 bits for a cluster's year. */
struct report_energy {
    uint64_t j;
    uint32_t uj;      /* and microjoules, below a million */
    uint32_t metered; /* records that know theirs; 0: nothing is known */
};

#define REPORT_ENERGY ENERGY_DOMAINS /* in all: packages and DRAM, else the whole node's meter */
#define REPORT_IDLE (ENERGY_DOMAINS + 1) /* of that, what the node takes when idle */
#define REPORT_ENERGIES (ENERGY_DOMAINS + 2)

struct report_row {
    enum report_kind kind;
    struct wire_step_id id;         /* of a total: nothing */
    uint32_t array_job, array_task; /* 0 and 0: of no array */
    uint32_t records;
    int exit_status;                /* wait(2) status of the worst part; -1 not known */
    int64_t start, end;             /* unix seconds */
    int64_t start_ms, end_ms;       /* the same in milliseconds, as far as they are known so well */
    bool said;                      /* Slurm has said whose it is */
    const char *group;              /* of a total: whose; else NULL */
    const char *text[REPORT_TEXTS]; /* "" not known, or not one */
    double number[REPORT_NUMBERS];  /* NAN not known */
    double weight_s[REPORT_MEANS];  /* CPU time behind the means */
    struct report_energy energy[REPORT_ENERGIES];
};

/* What jobs are added up by. */
enum report_by {
    REPORT_BY_NOTHING, /* one total */
    REPORT_BY_USER,
    REPORT_BY_ACCOUNT,
    REPORT_BY_PARTITION,
    REPORT_BY_NODE,
    REPORT_BY_DAY, /* on which a step ended, in local time: "2026-11-21" */
    REPORT_BYS
};
extern const char *const report_by_name[REPORT_BYS];

struct report;

/* Makes an empty report; NULL: no memory. */
struct report *report_new(void);
void report_free(struct report *report); /* NULL is fine */

/* Adds a record. 0, or -1 with errno. */
int report_add(struct report *report, const struct ledger_record *record);
size_t report_records(const struct report *report);

/* Returns the i-th record as a row, in no certain order. The row stays where it is until the next
 * report_add(). */
const struct report_row *report_record(const struct report *report, size_t i);

/* Who walks through a report; each function may be NULL, and returns other than 0 to stop. */
struct report_visitor {
    /* A job (of this group), with its steps in Slurm's order: batch, then 0, 1, .. The rows are the
     * visitor's for the time of the call. */
    int (*job)(const struct report_row *job, const struct report_row *steps, size_t n, void *arg);
    int (*total)(const struct report_row *total, void *arg); /* after the jobs of its group */
    void *arg;
};

/* Visits groups in the order of their names, jobs in that of their numbers. With per_node, a step
 * is a row for each of its nodes. *grand, where it is not NULL, becomes the total of all. 0; what
 * the visitor returned; or -1 with errno. */
int report_walk(struct report *report, enum report_by by, bool per_node,
                const struct report_visitor *visitor, struct report_row *grand);

/* Adds up totals of several reports, which may be gone by then: begins a sum, adds a total to it,
 * whose texts `keeper` keeps, and concludes it. 0, or -1 with errno. */
void report_sum_begin(struct report_row *sum);
int report_sum(struct report *keeper, struct report_row *sum, const struct report_row *total);
void report_sum_end(struct report_row *sum);

/* ---- merging (report/merge.c) ---- */

/* Makes of a record a row of a step on one node; its texts are borrowed from the record, the group
 * is NULL. */
void report_row_of(const struct ledger_record *record, struct report_row *row);

/* Merges `part` into `whole`, which was a copy of the first part: nodes of one step, steps of one
 * job, or jobs. Texts that differ become "", sources a list, which `intern` keeps; the list of
 * nodes is left to the caller. 0, or -1 with errno. */
enum report_merge { REPORT_MERGE_NODES, REPORT_MERGE_STEPS, REPORT_MERGE_JOBS };
int report_merge(struct report_row *whole, const struct report_row *part, enum report_merge what,
                 const char *(*intern)(void *arg, const char *text), void *arg);

/* Computes, after the last part, average power and both EDPs of what was merged. EDP of a total is
 * the sum of its jobs', and was merged. */
void report_derive(struct report_row *row);

void report_energy_add(struct report_energy *sum, const struct report_energy *part);
double report_energy_j(const struct report_energy *energy); /* NAN: not known */

#endif
