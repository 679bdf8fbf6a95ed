/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ledger - the record of each step that has ended, for ever: in SQLite on the node, or in the
 * MariaDB of the cluster, by one SQL layer (sql.h).
 *
 * A record goes to the state folder first, which outlives the process; a thread has it on the disk
 * at once, and brings it to the database soon after: a server that is away delays records and loses
 * none. What names a record (cluster,
 * node, job, restart, step, start) is unique: one that is delivered twice is there once. */
#ifndef BERTH_LEDGER_LEDGER_H
#define BERTH_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"
#include "packer/energy/energy.h"
#include "packer/fact/fact.h"
#include "packer/wire/wire.h"
#include "packer/wire/wire_left.h"

/* A number that was not measured is NAN; text that is not known is "". */
struct ledger_record {
    /* `identity` says who says who the job is (wire_source_name). What it says is cluster, account,
     * QOS, partition, job's name, array, restarts and nodes: with "none" nothing of that is known.
     * In records of an older berth it is "environment": what they have there is what a user said,
     * and not believed. */
    char node[64];
    struct wire_step_id id;
    uint32_t array_job, array_task; /* 0 and 0 when not of an array */
    int64_t start, end;             /* unix seconds */
    int64_t start_ms, end_ms;       /* the same moments in milliseconds; 0: of an older berth */
    int exit_status;                /* wait(2) status; -1 unknown */
    char counters_source[32];
    double uj[ENERGY_DOMAINS]; /* microjoules by domain, exact to 2^53 */
    double uj_idle; /* of its packages and memory, or of the node, what that takes when idle */
/* What facts.def has for the ledger. */
#define FACT_KEPT(ID, member, type) type member;
#define FACT_WORD_KEPT(ID, member, size) char member[size];
#include "packer/fact/facts.def"
};

/* A run of a job: `restart` counts those before it. `at` is a time at which it was running, in Unix
 * seconds. */
#define LEDGER_CLOCKS_DIFFER_S 5 /* between this node and slurmdbd's, at most */

struct ledger_run {
    char cluster[64];
    uint32_t job, restart, uid;
    int64_t at;
};

/* Who the steps of a run are that began on a node between two times, ends included, and whose
 * records were added without that. */
struct ledger_identity {
    char node[64];
    int64_t from, to; /* Unix seconds */
    struct wire_identity is;
};

/* Returns for what the record's step was left alone. */
enum wire_left ledger_left_for(const struct ledger_record *record);

/* Does the record say who its job is, by Slurm's own word? */
bool ledger_is_known(const struct ledger_record *record);

/* Returns what the fact was of the step; NAN: that is not known. */
double ledger_fact(const struct ledger_record *record, enum fact_id id);
const char *ledger_word(const struct ledger_record *record, enum fact_id id); /* a text; "" */

/* Does the ledger tell of it? */
bool ledger_tells(enum fact_id id);

/* Returns the joules of the step in all (energy_counts); NAN where that was not metered. */
double ledger_energy_j(const struct ledger_record *record);

/* ---- to be written by berthd ---- */

struct ledger;
struct conf;

/* Says whether the configuration names a ledger that there can be, or off. 0, or -1 and err. */
int ledger_check(const struct conf *conf, struct berth_error *err);

/* Opens the ledger that the configuration names; *out is NULL where it is off. Returns 0, or -1 and
 * err: the folders of what waits cannot be used. A database that is away is no failure, and neither
 * is a disk that is full. */
int ledger_open(struct ledger **out, const struct conf *conf, struct berth_error *err);
void ledger_close(struct ledger *ledger); /* NULL is fine; what waits stays where it is */

/* Takes in a record, without waiting for a disk or a server. It outlives the process when this
 * returns 0, and the machine soon after. Returns -1 and err when the state folder is full, say: the
 * record is in memory then, and is brought away from there. */
int ledger_add(struct ledger *ledger, const struct ledger_record *record, struct berth_error *err);

/* Has records that were added told who their job is. As ledger_add. */
int ledger_identify(struct ledger *ledger, const struct ledger_identity *identity,
                    struct berth_error *err);

/* How busy a node's memory is, for berth-steer. */
struct ledger_pressure {
    char node[64];
    int64_t at;      /* Unix seconds */
    double pressure; /* the part of its bandwidth that is in use */
};

/* Has the database told of it soon, in place of what it was told before; without waiting for
 * anything. What is not there yet when a newer one comes, or berthd ends, is forgotten. */
void ledger_tell(struct ledger *ledger, const struct ledger_pressure *pressure);

/* How a node's berthd fares, for who looks at all nodes. */
struct ledger_node {
    char node[64], berth[32];
    int64_t at, up_at; /* Unix seconds: of this news, and since when its berthd runs */
    int64_t steps;     /* live */
    bool released;     /* root has released the node */
    bool denied;       /* berthd lacks what it needs to place steps */
    int64_t refused;   /* steps one after the other, up to the last, that could not be placed */
    int64_t missed;    /* launches that went on without berth since its start */
};

/* Has the database told of a node's news, as ledger_tell() does of its pressure. */
void ledger_tell_node(struct ledger *ledger, const struct ledger_node *node);

/* Calls fn with the last news of each node, by name, until it returns other than 0. Returns 0, also
 * where nobody has told any yet; or -1 and err. */
int ledger_nodes_read(const char *url, const char *defaults,
                      int (*fn)(const struct ledger_node *node, void *arg), void *arg,
                      struct berth_error *err);

/* Returns how many records wait for the database, and why (""). */
size_t ledger_waiting(struct ledger *ledger, char why[256]);

/* Says whether records of the run's job, or who it is, wait for the database. Those of other jobs
 * do not matter, but while the database takes nothing, which the last delivery has shown, whatever
 * waits does. May wait a second, and reads a disk; any thread may call it. Returns 1, and err says
 * what is waited for; 0; or -1 and err. */
int ledger_run_waits(struct ledger *ledger, const struct ledger_run *run, struct berth_error *err);

/* Calls fn with each run of a job that has records of this node and was not settled yet: where
 * conf_settles(). Reads a disk. Returns 0, or -1 and err. */
int ledger_each_run(struct ledger *ledger, void (*fn)(const struct ledger_run *run, void *arg),
                    void *arg, struct berth_error *err);

/* Notes that the run is settled. Writes to a disk; any thread may call it. Returns 0, or -1 and
 * err.
 */
int ledger_run_settled(struct ledger *ledger, const struct ledger_run *run,
                       struct berth_error *err);

/* Counts the records that wait, as another process than berthd sees them. Returns 0, or -1 and err:
 * who asks may not know. */
int ledger_count_waiting(const struct conf *conf, size_t *n, struct berth_error *err);

/* ---- to be read by people ---- */

/* What is asked for; empty lists and zeros mean all. The strings are borrowed. */
struct ledger_filter {
    size_t njobs, nusers, naccounts, npartitions, nnodes, nstates;
    const struct wire_step_id *job; /* step UINT32_MAX: all of the job's */
    const char *const *user;        /* names, or numbers as text */
    const char *const *account, *const *partition, *const *node, *const *state;
    int64_t since, until; /* steps that ran at some time in between; until 0: now */
    bool by_job;          /* jobs by their numbers, and the records of a job as without this */
    const uint32_t *uid;  /* this user's only, whatever else is asked for; NULL: all users' */
    size_t page;          /* so many records at most, by their ends; 0: all, by their starts */
    const struct wire_record_place *after; /* of a page: records that stand behind it; or NULL */
};

/* A ledger that is open to be read again and again, by one thread at a time. */
struct ledger_view;

/* Opens a ledger. Returns 0, or -1 and err (no such ledger, not readable, of a newer berth, ..). */
int ledger_view_open(struct ledger_view **out, const char *url, const char *defaults_file,
                     struct berth_error *err);
void ledger_view_close(struct ledger_view *view); /* NULL is fine */

/* Says whether that is still the ledger that was opened: nobody has replaced its file. */
bool ledger_view_is_current(const struct ledger_view *view);

/* Calls fn with each record, in the order of start, job, step (of a page: of end, start, job,
 * step; of by_job: of job, start, step), until it returns other than 0. Returns 0, or -1 and err.
 */
int ledger_view_read(struct ledger_view *view, const struct ledger_filter *filter,
                     int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                     struct berth_error *err);

/* An hour in which berth-steer ran, or the part of one: whether it steered then, or the lot had
 * left the choice of nodes to Slurm alone. */
struct ledger_hour {
    int64_t begins, ends; /* Unix seconds; a job that starts before `ends` is of it */
    bool steered;
};

struct ledger_hours {
    size_t n, room;
    struct ledger_hour *hour; /* [n] by their times */
};

/* Reads those that are not over before `since`; a ledger that no berth-steer has written to has
 * none. Returns 0: free hours->hour; or -1 and err. */
int ledger_hours_read(const char *url, const char *defaults_file, int64_t since,
                      struct ledger_hours *hours, struct berth_error *err);

/* Opens, reads and closes. Returns 0, or -1 and err. */
int ledger_read(const char *url, const char *defaults_file, const struct ledger_filter *filter,
                int (*fn)(const struct ledger_record *record, void *arg), void *arg,
                struct berth_error *err);

#endif
