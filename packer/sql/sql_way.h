/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_way - one database behind sql.h: what each of them brings (sql/sqlite.c, sql/mariadb.c). */
#ifndef BERTH_SQL_SQL_WAY_H
#define BERTH_SQL_SQL_WAY_H

#include <limits.h>
#include <math.h>
#include <string.h>

#include "packer/sql/sql.h"

enum sql_failure { SQL_FAILED, SQL_REFUSED, SQL_NO_TABLE, SQL_NO_COLUMN };

enum sql_type { SQL_NULL, SQL_INT, SQL_DOUBLE, SQL_TEXT };

struct sql_value {
    enum sql_type type;
    int64_t integer;
    double number;
    const char *text; /* borrowed */
};

/* Return a value as a number: 0 or NAN where it is none. */
static inline int64_t sql_value_int(const struct sql_value *value)
{
    return value->type == SQL_INT      ? value->integer
           : value->type == SQL_DOUBLE ? (int64_t)value->number
                                       : 0;
}

static inline double sql_value_double(const struct sql_value *value)
{
    return value->type == SQL_DOUBLE ? value->number
           : value->type == SQL_INT  ? (double)value->integer
                                     : NAN;
}

/* Copies a value's text, cut to size - 1 bytes; "" where it is none. Without printf: a report has a
 * million of these. */
static inline void sql_value_copy(const struct sql_value *value, char *out, size_t size)
{
    const char *text = value->type == SQL_TEXT ? value->text : "";
    size_t length = strnlen(text, size - 1);

    memcpy(out, text, length);
    out[length] = '\0';
}

/* A URL in its parts; "" and 0 are not given. */
struct sql_url {
    char path[PATH_MAX]; /* of the file, or of the server's socket */
    char user[81], host[256], name[65];
    unsigned port;
};

struct sql {
    const struct sql_way *way;
    void *state; /* the way's own */
    enum sql_failure failure;
};

/* A statement; the way's own is behind it. */
struct sql_statement {
    struct sql *sql;
    void *state;
    size_t params, columns;
    struct sql_value *param, *column;
    bool running;
};

struct sql_way {
    const char *name; /* of the URL's scheme */
    struct sql_words words;

    /* Each: 0 (step: 1 a row, 0 done), or -1, with err and sql->failure. */
    int (*open)(struct sql *sql, const struct sql_url *url, const struct sql_options *options,
                struct berth_error *err);
    int (*run)(struct sql *sql, const char *text, struct berth_error *err);
    int (*prepare)(struct sql_statement *statement, const char *text, struct berth_error *err);
    int (*step)(struct sql_statement *statement, struct berth_error *err);
    int64_t (*changed)(const struct sql_statement *statement);
    void (*reset)(struct sql_statement *statement);
    void (*finish)(struct sql_statement *statement);
    void (*close)(struct sql *sql);
    bool (*is_current)(const struct sql *sql); /* NULL: always */

    /* Only one process at a time is between these two; all that was done there holds with `keep`
     * (MariaDB: in any case). */
    int (*lock)(struct sql *sql, const char *name, struct berth_error *err);
    int (*unlock)(struct sql *sql, const char *name, bool keep, struct berth_error *err);
};

extern const struct sql_way sql_sqlite, sql_mariadb;

#endif
