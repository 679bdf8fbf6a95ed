/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles_db - the SQLite file under the profile store: what the parts of profiles share.
 *
 * All users may read it, so it has a rollback journal (sql.h): a reader waits for the few
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
    bool writable;
    struct sql *sql; /* NULL: no file yet (reader) */
    bool ready;      /* a schema that is known here was seen in it */
    int version;     /* of that schema */

    /* The statements of profiles_get, kept, because each launch asks: the rows' classes and rowids,
     * the best first; the row of each kind by its rowid; and that of profiles_get_distances. */
    struct sql_statement *best, *profile, *sample, *distances;
};

/* Runs body inside one transaction, of a file that was created and brought to the present schema
 * where it was not. Returns 0 when body returned 0 or more and all is on disk; else -1 and err, and
 * nothing has changed. */
int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err);

/* Says whether the file has the tables of pairs, which a reader of an older one does without:
 * returns as profiles_readable. */
int profiles_have_pairs(struct profiles *store, struct berth_error *err);

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

/* Binds a query: ?1 key, ?2 shape, ?3 geometry, ?4 machine, ?5 llc_bytes, ?6 the oldest time. */
void profiles_bind_query(struct sql_statement *statement, const struct profile_query *query);

/* Each takes in a row unless the store has a newer one (always with `replace`). Returns 1 taken, 0
 * kept, -1 and err. Inside profiles_write. */
int profiles_import_profile(struct profiles *store, const struct profile *profile, bool replace,
                            struct berth_error *err);
int profiles_import_sample(struct profiles *store, const struct profile_sample *sample,
                           bool replace, struct berth_error *err);
int profiles_import_pair(struct profiles *store, const struct profile_pair *pair, bool replace,
                         struct berth_error *err);
int profiles_import_demand(struct profiles *store, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err);

/* A part of a pair's row: a program of the table pair_program, and its cores. */
struct pair_row_part {
    int64_t id;
    uint32_t cores;
};

/* Reads the column `beside`, "3*1,17*2". Returns how many parts, or -1. */
int pair_parse_beside(const char *text, struct pair_row_part part[PROFILE_BESIDE_MAX]);

/* Forgets the pairs that the key (NULL: any key) has a part in, in whatever role; those measured
 * before `oldest`, and the oldest beyond PROFILE_PAIRS_MAX. Each returns the number forgotten, or
 * -1 and err. Inside profiles_write. */
int profiles_forget_pairs(struct profiles *store, const char *key, struct berth_error *err);
int profiles_age_pairs(struct profiles *store, int64_t oldest, struct berth_error *err);

#endif
