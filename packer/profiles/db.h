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

struct profiles {
    char path[PATH_MAX];
    bool writable;
    struct sql *sql; /* NULL: no file yet (reader) */
    bool ready;      /* the present schema was seen in it */

    /* The statements of profiles_get, kept, because each launch asks: the best row's class and
     * rowid; the row of each kind by its rowid. */
    struct sql_statement *best, *profile, *sample;
};

/* Runs body inside one transaction, of a file that was created and brought to the present schema
 * where it was not. Returns 0 when body returned 0 or more and all is on disk; else -1 and err, and
 * nothing has changed. */
int profiles_write(struct profiles *store,
                   int (*body)(struct profiles *store, void *arg, struct berth_error *err),
                   void *arg, struct berth_error *err);

/* Prepares a statement and binds its ?1 to the key (NULL: to null). Returns NULL and err. */
struct sql_statement *profiles_prepare(struct profiles *store, const char *sql, const char *key,
                                       struct berth_error *err);

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
int profiles_import_demand(struct profiles *store, const char *key,
                           const struct profile_demand *demand, bool replace,
                           struct berth_error *err);

#endif
