/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql - as much of a database as berth needs, the same for SQLite and for MariaDB.
 *
 *   sqlite:PATH                          a file
 *   mariadb://[USER@]HOST[:PORT]/NAME    a server; [ADDRESS] for IPv6
 *   mariadb://[USER@]/NAME?socket=PATH   a server on this machine
 *
 * SQL is written once: identifiers in "double quotes", parameters as ? (?2, too, where only SQLite
 * is asked), text compared byte by byte (a blank at the end counts, too). What the two cannot say
 * alike is in sql_words. Passwords and TLS are in a MariaDB option file, never in the URL.
 * Everything here may wait for a disk or for a network: never on berthd's event loop. One thread at
 * a time uses a connection. */
#ifndef BERTH_SQL_SQL_H
#define BERTH_SQL_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "packer/base/error.h"

struct sql;
struct sql_statement;

struct sql_options {
    const char *defaults; /* MariaDB option file, its groups [client] and [berth]; "" none */
    bool writable;        /* SQLite: the file is made where it is missing; else it is only read */
    const char *group;    /* SQLite: a group that may read the file; "" none */
    const char *what; /* SQLite: what the file is, for errors: "profile store"; NULL: a database */
    unsigned wait_ms; /* SQLite: how long a lock of somebody else is waited for; 0: 5000 */
    bool rollback;    /* SQLite: the file has a rollback journal, so that who may read it can, in a
                         folder that he may not write: readers wait for writers, and whoever may
                         write the file mends what an interrupted write has left. */
};

/* Connects. Returns 0; or -1 and err: nobody is there, it is not allowed, this berth was built
 * without it, or the URL is none. */
int sql_open(struct sql **out, const char *url, const struct sql_options *options,
             struct berth_error *err);

/* Does as sql_open of sqlite:PATH, where the path may be relative, too. */
int sql_open_file(struct sql **out, const char *path, const struct sql_options *options,
                  struct berth_error *err);

void sql_close(struct sql *sql); /* NULL is fine; what is not committed is rolled back */

/* Says whether the URL still names the file that is open: whether nobody has removed or replaced
 * it. */
bool sql_is_current(const struct sql *sql);

/* Checks that this berth can open such a URL, without connecting. Returns 0, or -1 and err. */
int sql_check_url(const char *url, struct berth_error *err);

/* Says whether the last call that failed did so for the values it was given (too long, a
 * constraint), so that it would fail again. Else it is the database that cannot be used now. */
bool sql_refused(const struct sql *sql);

/* Says whether the last call that failed did so for want of the table; of a column. */
bool sql_no_table(const struct sql *sql);
bool sql_no_column(const struct sql *sql);

/* What the two databases cannot say alike. */
struct sql_words {
    const char *begin;         /* a transaction that writes */
    const char *table_options; /* after CREATE TABLE (..) */
    const char *if_missing;    /* after ALTER TABLE .. ADD COLUMN: not one that is there */
    const char *or_ignore;     /* after UPDATE: rows that would be there twice stay as they are */
    const char *or_nothing;    /* after INSERT .. VALUES (..): a row that is there stays; its %s is
                                  the name of any column */
};
const struct sql_words *sql_words(const struct sql *sql);

/* ---- statements ---- */

/* Prepares one statement. Returns 0, or -1 and err. */
int sql_prepare(struct sql *sql, const char *text, struct sql_statement **out,
                struct berth_error *err);
void sql_finish(struct sql_statement *statement); /* NULL is fine */

/* Each sets parameter i, from 0. Text is borrowed until the next sql_reset. */
void sql_bind_int(struct sql_statement *statement, size_t i, int64_t value);
void sql_bind_double(struct sql_statement *statement, size_t i, double value); /* NAN: null */
void sql_bind_text(struct sql_statement *statement, size_t i, const char *value);
void sql_bind_null(struct sql_statement *statement, size_t i);

/* Runs the statement, or goes on to its next row. Returns 1 a row, 0 done, -1 and err. */
int sql_step(struct sql_statement *statement, struct berth_error *err);

/* Returns how many rows the statement, which is done, has written or deleted. */
int64_t sql_changed(const struct sql_statement *statement);

/* Makes the statement ready to be bound and run again; ends its rows. */
void sql_reset(struct sql_statement *statement);

/* Each returns column i of the present row, from 0. */
bool sql_is_null(const struct sql_statement *statement, size_t i);
int64_t sql_int(const struct sql_statement *statement, size_t i);      /* null: 0 */
double sql_double(const struct sql_statement *statement, size_t i);    /* null: NAN */
const char *sql_text(const struct sql_statement *statement, size_t i); /* null: ""; borrowed
                                                                           until the next step */

/* Copies the column's text into out[size], cut to fit; "" where it is null. */
void sql_copy(const struct sql_statement *statement, size_t i, char *out, size_t size);

/* ---- all in one ---- */

/* Runs one statement without parameters and rows. Returns 0, or -1 and err. */
int sql_run(struct sql *sql, const char *text, struct berth_error *err);

/* Each begins or ends a transaction that writes. Returns 0, or -1 and err. */
int sql_begin(struct sql *sql, struct berth_error *err);
int sql_commit(struct sql *sql, struct berth_error *err);
void sql_rollback(struct sql *sql);

/* ---- the schema ---- */

/* Statements that bring a schema from one version to the next, ended by NULL. Each may have a %s
 * for sql_words' table_options, those that begin with ALTER one for if_missing. MariaDB commits
 * each by itself: one that was done before an interruption must do no harm when it is done again
 * (IF NOT EXISTS). */
typedef const char *const sql_migration[16];

/* Brings the schema `name` (its version is in the table NAME_schema) to version n. Returns 0; or -1
 * and err, also when its version is greater than n. Only one process does so at a time. */
int sql_migrate(struct sql *sql, const char *name, const sql_migration *migration, int n,
                struct berth_error *err);

/* Returns the version of that schema; 0 where there is none; -1 and err. */
int sql_version(struct sql *sql, const char *name, struct berth_error *err);

#endif
