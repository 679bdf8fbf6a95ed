/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles_db - the SQLite file under the profile store: what the parts of profiles share.
 *
 * It has a rollback journal (sql.h), so that who may only read it can: a reader waits for the few
 * milliseconds of a commit, and at most 10: a step that comes just then is placed as unprofiled.
 *
 * The file may appear, be replaced or be removed while berthd runs: each use looks whether its path
 * names the same file still. */
#ifndef BERTH_PROFILES_DB_H
#define BERTH_PROFILES_DB_H

#include <limits.h>

#include "packer/profiles/profiles.h"
#include "packer/sql/sql.h"

#define PROFILE_LATEST 253402300799 /* the last second of the year 9999 */

struct profiles {
    char path[PATH_MAX];
    char group[64]; /* who may read the file, beside its owner; "" as it is */
    bool writable;
    struct sql *sql; /* NULL: no file yet (reader) */
    bool ready;      /* a schema that is known here was seen in it */
    bool writes;     /* it is inside profiles_write */

    /* The statements of profiles_get, kept, because each launch asks: the rows' classes and rowids,
     * the best first; the row of each kind by its rowid; those of profiles_get_distances and of
     * profiles_get_demand. */
    struct sql_statement *best, *profile, *sample, *distances, *demand;
};

/* Averages a newer estimate into a known one with weight w: independent errors add, and are widened
 * to what the two differ by where that is more. */
void profiles_merge(struct profile_estimate *known, const struct profile_estimate *newer, double w);

/* Prepares a statement and binds its ?1 to the key (NULL: to null). Returns NULL and err. */
struct sql_statement *profiles_prepare(struct profiles *store, const char *sql, const char *key,
                                       struct berth_error *err);

/* Returns 0 where the text is a key, else -1 and err; NULL is none. */
int profile_key_check(const char *key, struct berth_error *err);

/* Runs a statement that has no rows, and finishes it. Returns the number of rows that it changed,
 * or -1 and err. */
int profiles_run(struct sql_statement *statement, struct berth_error *err);

/* Binds a query: ?1 key, ?2 shape, ?3 geometry, ?4 machine, ?5 llc_bytes, ?6 the oldest time,
 * ?7 the asker. */
void profiles_bind_query(struct sql_statement *statement, const struct profile_query *query);

/* Of the table of demands: was it measured, not told? */
#define PROFILE_DEMAND_MEASURED "instr(demand.body, '\"matrix\":') > 0"

/* Each takes in a row unless the store has a newer one (always with `replace`). Returns 1 taken, 0
 * kept, -1 and err. Inside profiles_write. */
int profiles_import_profile(struct profiles *store, const struct profile *profile, bool replace,
                            struct berth_error *err);
int profiles_import_sample(struct profiles *store, const struct profile_sample *sample,
                           bool replace, struct berth_error *err);
int profiles_import_pair(struct profiles *store, const struct profile_pair *pair, bool replace,
                         struct berth_error *err);
int profiles_import_demand(struct profiles *store, uint32_t uid, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err);

int profiles_import_threads(struct profiles *store, const struct profile_threads *threads,
                            bool replace, struct berth_error *err);

int profiles_import_binding(struct profiles *store, const struct profile_binding *binding,
                            bool replace, struct berth_error *err);

/* A window of a table's rows: of the key (NULL: all), of the user (NULL: all), `most` of them (< 0:
 * all) behind the first `skip`. */
struct profile_rows {
    const char *key;
    const uint32_t *uid;
    int64_t most, skip;
};

/* Each calls visit for the rows of a window, as profiles_each does. */
int profiles_each_row(struct profiles *store, const struct profile_rows *rows,
                      int (*visit)(const struct profile *, void *), void *arg,
                      struct berth_error *err);
int profiles_each_sample_row(struct profiles *store, const struct profile_rows *rows,
                             int (*visit)(const struct profile_sample *, void *), void *arg,
                             struct berth_error *err);
int profiles_each_demand_row(struct profiles *store, const struct profile_rows *rows,
                             int (*visit)(uint32_t uid, const char *key,
                                          const struct profile_demand *, void *),
                             void *arg, struct berth_error *err);

int profiles_each_threads_row(struct profiles *store, const struct profile_rows *rows,
                              int (*visit)(const struct profile_threads *, void *), void *arg,
                              struct berth_error *err);

int profiles_each_binding_row(struct profiles *store, const struct profile_rows *rows,
                              int (*visit)(const struct profile_binding *, void *), void *arg,
                              struct berth_error *err);

/* Prepares "SELECT columns FROM table" of a window, in this order, with the parameters bound.
 * Returns NULL and err. */
struct sql_statement *profiles_prepare_rows(struct profiles *store, const char *select,
                                            const char *order, const struct profile_rows *rows,
                                            struct berth_error *err);

/* The median user as a sample of nobody's; returns as profiles_get_median. */
int profiles_median_sample(struct profiles *store, const struct profile_query *query,
                           struct profile_sample *sample, struct berth_error *err);

/* Each writes a row as a line; out is a FILE. Returns 0, or -1: stop. */
int profiles_export_sample(const struct profile_sample *sample, void *out);
int profiles_export_one_pair(const struct profile_pair *pair, void *out);
int profiles_export_demand(uint32_t uid, const char *key, const struct profile_demand *demand,
                           void *out);

/* A part of a pair's row: a program of the table pair_program, and its cores. */
struct pair_row_part {
    int64_t id;
    uint32_t cores;
};

/* Reads the column `beside`, "3*1,17*2". Returns how many parts, or -1. */
int pair_parse_beside(const char *text, struct pair_row_part part[PROFILE_BESIDE_MAX]);

/* Which pairs are meant: those in which the key (?1; null: any) has a part, of the user (?2; null:
 * any). */
#define PROFILE_PAIRS_MEANT                                                                        \
    "(?2 IS NULL OR program IN (SELECT id FROM pair_program WHERE uid = ?2)) AND (?1 IS NULL OR"   \
    " EXISTS (SELECT 1 FROM pair_program AS p WHERE p.key = ?1 AND (p.id = pair.program"           \
    " OR instr(',' || pair.beside, ',' || p.id || '*') > 0)))"

/* Binds ?2 to the user, to null where there is none. */
void profiles_bind_owner(struct sql_statement *statement, const uint32_t *uid);

/* Forgets the pairs that the key (NULL: any key) has a part in, in whatever role, of a user only
 * those of his runs; those measured
 * before `oldest`, and the oldest beyond PROFILE_PAIRS_MAX. Each returns the number forgotten, or
 * -1 and err. Inside profiles_write. */
int profiles_forget_pairs(struct profiles *store, const uint32_t *uid, const char *key,
                          struct berth_error *err);
int profiles_age_pairs(struct profiles *store, int64_t oldest, struct berth_error *err);

#endif
