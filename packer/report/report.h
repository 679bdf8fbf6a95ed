/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - adds up what steps cost: the ledger's records (ledger.h), gathered into rows of steps,
 * of jobs and of whatever else is added up.
 *
 * A step has a record for each of its nodes. Records are merged into steps, these into jobs, and
 * jobs into totals; merge[] in report/merge.c says for each figure how. What is not known of a part
 * is not known of the whole, with one exception: energy is the sum of what was metered, and
 * `metered` of `records` tells how much of it that is. Energy stays exact to the microjoule.
 *
 * The CPU time that a job was given is that of its batch script, or of its interactive step, which
 * hold all that it has on their node, and of its other steps on other nodes. */
#ifndef BERTH_REPORT_REPORT_H
#define BERTH_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/energy/energy.h"
#include "packer/ledger/ledger.h"
#include "packer/report/terms.h"

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
    REPORT_CPU_TIME_S,  /* elapsed time * cores given */
    REPORT_ALLOCATED_S, /* the same, 0 of a step whose cores are another's record, too */
    REPORT_WAITED_S,    /* of what was given and not used: while a thread waited for a CPU */
    REPORT_UNUSED_S,    /* and the rest of that */
    REPORT_COST,        /* of the energy, in the site's currency */
    REPORT_CO2,         /* that it stands for, in g */
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

/* What jobs are added up by. */
enum report_by {
    REPORT_BY_NOTHING, /* one total */
    REPORT_BY_USER,
    REPORT_BY_ACCOUNT,
    REPORT_BY_PARTITION,
    REPORT_BY_NODE,
    REPORT_BY_DAY,   /* on which a step ended, in local time: "2026-11-21" */
    REPORT_BY_MONTH, /* "2026-11" */
    REPORT_BYS
};
extern const char *const report_by_name[REPORT_BYS];

/* By several at once: NOTHING stands behind the last. */
#define REPORT_KEYS_MOST 3
struct report_keys {
    enum report_by by[REPORT_KEYS_MOST];
};

size_t report_keys_count(const struct report_keys *keys);
bool report_keys_have(const struct report_keys *keys, enum report_by by);

/* Says whether a job may have parts in several of these groups. */
bool report_keys_divide(const struct report_keys *keys);

struct report_row {
    enum report_kind kind;
    struct wire_step_id id;         /* of a total: nothing */
    uint32_t array_job, array_task; /* 0 and 0: of no array */
    uint32_t records;
    int exit_status;          /* wait(2) status of the worst part; -1 not known */
    int64_t start, end;       /* unix seconds */
    int64_t start_ms, end_ms; /* the same in milliseconds, as far as they are known so well */
    bool said;                /* Slurm has said whose it is */
    const char *group[REPORT_KEYS_MOST]; /* of a total: whose; else NULL */
    const char *text[REPORT_TEXTS];      /* "" not known, or not one */
    double number[REPORT_NUMBERS];       /* NAN not known */
    double weight_s[REPORT_MEANS];       /* CPU time behind the means */
    struct report_energy energy[REPORT_ENERGIES];
};

/* How records become rows. */
struct report_how {
    struct report_terms terms;
    bool divide;          /* a step that ran over a limit is divided there, by its time */
    int64_t since, until; /* the limits, Unix seconds: what lies outside is left out; */
    enum report_by at;    /* and each midnight (DAY), or each first of a month (MONTH) */
};

struct report;

/* Makes an empty report; NULL: no memory. */
struct report *report_new(void);
void report_free(struct report *report); /* NULL is fine */

/* Says how the records that are added from now on become rows: borrowed, NULL as at first. */
void report_set(struct report *report, const struct report_how *how);

/* Forgets all records, and frees what rows and totals of them have pointed to. */
void report_clear(struct report *report);

/* Adds a record. 0, or -1 with errno. */
int report_add(struct report *report, const struct ledger_record *record);
size_t report_records(const struct report *report);

/* Returns the i-th record, or part of one that was divided, as a row, in no certain order. The row
 * stays where it is until the next report_add(). */
const struct report_row *report_record(const struct report *report, size_t i);

/* Who walks through a report; each function may be NULL, and returns other than 0 to stop. */
struct report_visitor {
    /* A job (of this group), with its steps in Slurm's order: batch, then 0, 1, .. The rows are the
     * visitor's for the time of the call. */
    int (*job)(const struct report_row *job, const struct report_row *steps, size_t n, void *arg);
    int (*total)(const struct report_row *total, void *arg); /* after the jobs of its group */
    void *arg;
};

/* Visits groups in the order of their names, jobs in that of their numbers; keys may be NULL: all
 * are one group. With per_node, a step is a row for each of its nodes. *grand, where it is not
 * NULL, becomes the total of all. 0; what the visitor returned; or -1 with errno. */
int report_walk(struct report *report, const struct report_keys *keys, bool per_node,
                const struct report_visitor *visitor, struct report_row *grand);

/* Adds up totals of several reports, which may be gone by then: begins a sum, adds a total to it,
 * whose texts `words` keeps, and concludes it. 0, or -1 with errno. */
struct report_intern;
void report_sum_begin(struct report_row *sum);
int report_sum(struct report_intern *words, struct report_row *sum, const struct report_row *total);
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

/* Takes of a row of a record that part which ran from one time to another, in Unix milliseconds,
 * both within its own: what adds up is divided by time, whole figures into whole ones, and the
 * parts of a row add up to it exactly. The part with its end is the step that is counted. */
void report_divide(const struct report_row *row, int64_t from_ms, int64_t to_ms,
                   struct report_row *part);

/* Computes, after the last part, average power, both EDPs, and what was given and not used of what
 * was merged. Those of a total but its power are the sums of its jobs', and were merged. */
void report_derive(struct report_row *row);

void report_energy_add(struct report_energy *sum, const struct report_energy *part);
double report_energy_j(const struct report_energy *energy); /* NAN: not known */

#endif
