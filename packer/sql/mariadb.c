/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_mariadb - a server, by libmariadb. Only compiled where that was found; sql/nomariadb.c stands
 * in its place else.
 *
 * Rows are read as they come, not gathered: another statement can run when these are all read, or
 * after sql_reset. The server may be of another cluster and on another continent: each wait is
 * bounded. */
#include <errno.h>
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/library.h"
#include "packer/sql/sql_way.h"

#define CONNECT_WAIT_S 5
#define ANSWER_WAIT_S 30 /* for one packet */
#define TEXT_MAX 65536   /* bytes of a column */

#define NO_SUCH_TABLE 1146
#define NO_SUCH_COLUMN 1054

/* What each connection begins with. Text that does not fit is refused, not cut. */
#define SESSION                                                                                    \
    "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"               \
    " innodb_lock_wait_timeout = 5"

/* libmariadb is loaded by the first URL of a server: it brings OpenSSL along, which a berthd whose
 * ledger is a file need not have. */
#define SONAME "libmariadb.so.3"
/* clang-format off */
#define FUNCTIONS(X)                                                                              \
    X(mysql_close) X(mysql_errno) X(mysql_error) X(mysql_fetch_field_direct) X(mysql_fetch_row)   \
    X(mysql_free_result) X(mysql_init) X(mysql_options) X(mysql_real_connect)                     \
    X(mysql_real_query) X(mysql_sqlstate) X(mysql_stmt_affected_rows) X(mysql_stmt_bind_param)    \
    X(mysql_stmt_bind_result) X(mysql_stmt_close) X(mysql_stmt_errno) X(mysql_stmt_error)         \
    X(mysql_stmt_execute) X(mysql_stmt_fetch) X(mysql_stmt_field_count)                           \
    X(mysql_stmt_free_result) X(mysql_stmt_init) X(mysql_stmt_param_count) X(mysql_stmt_prepare)  \
    X(mysql_stmt_result_metadata) X(mysql_stmt_sqlstate) X(mysql_store_result)                    \
    X(mysql_use_result)
#define MEMBER(name) __typeof__(name) *name;
#define ENTRY(name) {#name, offsetof(struct library, name)},

struct library {
    FUNCTIONS(MEMBER)
};

static const struct library_function functions[] = {
    FUNCTIONS(ENTRY)
};
/* clang-format on */

static struct library maria;
static void *loaded; /* NULL: load_error says why */
static struct berth_error load_error;
static pthread_once_t load_once = PTHREAD_ONCE_INIT;

static void load(void)
{
    loaded = library_open(SONAME, functions, sizeof(functions) / sizeof(functions[0]), &maria,
                          &load_error);
}

/* A statement and where its values lie. */
struct bound {
    MYSQL_STMT *stmt;
    MYSQL_BIND *param, *result;
    unsigned long *length; /* [columns] of the present row's texts */
    my_bool *null;         /* [columns] */
    char **text;           /* [columns] buffer of a text column, else NULL */
};

static MYSQL *connection(const struct sql *sql)
{
    return sql->state;
}

static struct bound *bound_of(const struct sql_statement *statement)
{
    return statement->state;
}

/* Note and tell why. SQLSTATE 22 is wrong data, 23 a constraint. */
static int fail(struct sql *sql, unsigned number, const char *state, const char *why,
                struct berth_error *err)
{
    sql->failure = SQL_FAILED;
    if (strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0)
        sql->failure = SQL_REFUSED;
    else if (number == NO_SUCH_TABLE)
        sql->failure = SQL_NO_TABLE;
    else if (number == NO_SUCH_COLUMN)
        sql->failure = SQL_NO_COLUMN;
    return berth_error_set(err, "MariaDB: %.400s (%u)", why, number);
}

static int fail_connection(struct sql *sql, struct berth_error *err)
{
    MYSQL *mysql = connection(sql);

    return fail(sql, maria.mysql_errno(mysql), maria.mysql_sqlstate(mysql),
                maria.mysql_error(mysql), err);
}

static int fail_statement(struct sql_statement *statement, struct berth_error *err)
{
    MYSQL_STMT *stmt = bound_of(statement)->stmt;

    return fail(statement->sql, maria.mysql_stmt_errno(stmt), maria.mysql_stmt_sqlstate(stmt),
                maria.mysql_stmt_error(stmt), err);
}

/* ---- the connection ---- */

/* libmariadb goes on silently without a file that it cannot read. */
static int check_defaults(const char *path, struct berth_error *err)
{
    struct stat st;

    if (!path || !path[0])
        return 0;
    if (stat(path, &st) < 0 || access(path, R_OK) < 0)
        return berth_error_set(err, "%.400s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
        (st.st_mode & (S_IWGRP | S_IWOTH)))
        return berth_error_set(err,
                               "%.300s: a file expected that is owned by root or by you, and that "
                               "nobody else may write",
                               path);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return berth_error_set(err,
                               "%.300s: mode %03o: it may have a password in it, and others may "
                               "read it: 0600 expected",
                               path, (unsigned)st.st_mode & 0777);
    return 0;
}

static void set_options(MYSQL *mysql, const struct sql_url *url, const char *defaults)
{
    unsigned connect = CONNECT_WAIT_S, wait = ANSWER_WAIT_S, no = 0;

    maria.mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
    maria.mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &wait);
    maria.mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &wait);
    maria.mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &no);
    maria.mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    maria.mysql_options(mysql, MYSQL_INIT_COMMAND, SESSION);
    if (url->port) {
        unsigned tcp = MYSQL_PROTOCOL_TCP;

        maria.mysql_options(mysql, MYSQL_OPT_PROTOCOL, &tcp);
    }
    if (defaults && defaults[0]) {
        maria.mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, defaults);
        maria.mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "berth");
    }
}

static const char *given(const char *text)
{
    return text[0] ? text : NULL;
}

static int open_mariadb(struct sql *sql, const struct sql_url *url,
                        const struct sql_options *options, struct berth_error *err)
{
    MYSQL *mysql;

    if (check_defaults(options->defaults, err) < 0)
        return -1;
    pthread_once(&load_once, load);
    if (!loaded)
        return berth_error_set(err, "MariaDB: %.400s", load_error.text);
    mysql = maria.mysql_init(NULL);
    if (!mysql)
        return berth_no_memory(err);
    sql->state = mysql;
    set_options(mysql, url, options->defaults);
    if (!maria.mysql_real_connect(mysql, given(url->host), given(url->user), NULL, url->name,
                                  url->port, given(url->path), 0)) {
        fail_connection(sql, err);
        maria.mysql_close(mysql);
        return -1;
    }
    return 0;
}

static void close_mariadb(struct sql *sql)
{
    maria.mysql_close(connection(sql));
}

static int run_statement(struct sql *sql, const char *text, struct berth_error *err)
{
    MYSQL *mysql = connection(sql);

    if (maria.mysql_real_query(mysql, text, strlen(text)) != 0)
        return fail_connection(sql, err);
    maria.mysql_free_result(
        maria.mysql_use_result(mysql)); /* of GET_LOCK, which nobody reads here */
    return 0;
}

/* ---- statements ---- */

/* Where the i-th column of each row goes. */
static int bind_column(struct bound *bound, size_t i, const MYSQL_FIELD *field,
                       struct sql_value *value)
{
    MYSQL_BIND *bind = &bound->result[i];

    bind->is_null = &bound->null[i];
    bind->length = &bound->length[i];
    switch (field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &value->integer;
        value->type = SQL_INT;
        return 0;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
        bind->buffer_type = MYSQL_TYPE_DOUBLE;
        bind->buffer = &value->number;
        value->type = SQL_DOUBLE;
        return 0;
    default:
        bind->buffer_type = MYSQL_TYPE_STRING;
        bind->buffer_length = field->length < TEXT_MAX ? field->length + 1 : TEXT_MAX;
        bind->buffer = bound->text[i] = malloc(bind->buffer_length);
        value->type = SQL_TEXT;
        value->text = bound->text[i];
        return bound->text[i] ? 0 : -1;
    }
}

static void bound_free(struct bound *bound, size_t columns)
{
    if (!bound)
        return;
    if (bound->stmt)
        maria.mysql_stmt_close(bound->stmt);
    for (size_t i = 0; bound->text && i < columns; i++)
        free(bound->text[i]);
    free(bound->param);
    free(bound->result);
    free(bound->length);
    free(bound->null);
    free(bound->text);
    free(bound);
}

static struct bound *bound_new(MYSQL_STMT *stmt, size_t params, size_t columns)
{
    struct bound *bound = calloc(1, sizeof(*bound));

    if (!bound)
        return NULL;
    bound->param = calloc(params + 1, sizeof(*bound->param));
    bound->result = calloc(columns + 1, sizeof(*bound->result));
    bound->length = calloc(columns + 1, sizeof(*bound->length));
    bound->null = calloc(columns + 1, sizeof(*bound->null));
    bound->text = calloc(columns + 1, sizeof(*bound->text));
    if (bound->param && bound->result && bound->length && bound->null && bound->text) {
        bound->stmt = stmt;
        return bound;
    }
    bound_free(bound, 0);
    return NULL;
}

static int prepare(struct sql_statement *statement, const char *text, struct berth_error *err)
{
    MYSQL_STMT *stmt = maria.mysql_stmt_init(connection(statement->sql));
    struct bound *bound;

    if (!stmt)
        return berth_no_memory(err);
    if (maria.mysql_stmt_prepare(stmt, text, strlen(text)) != 0) {
        fail(statement->sql, maria.mysql_stmt_errno(stmt), maria.mysql_stmt_sqlstate(stmt),
             maria.mysql_stmt_error(stmt), err);
        maria.mysql_stmt_close(stmt);
        return -1;
    }
    statement->params = maria.mysql_stmt_param_count(stmt);
    statement->columns = maria.mysql_stmt_field_count(stmt);
    bound = bound_new(stmt, statement->params, statement->columns);
    if (!bound) {
        maria.mysql_stmt_close(stmt);
        return berth_no_memory(err);
    }
    statement->state = bound;
    return 0;
}

static void bind_param(MYSQL_BIND *bind, struct sql_value *value)
{
    memset(bind, 0, sizeof(*bind));
    switch (value->type) {
    case SQL_INT:
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &value->integer;
        break;
    case SQL_DOUBLE:
        bind->buffer_type = MYSQL_TYPE_DOUBLE;
        bind->buffer = &value->number;
        break;
    case SQL_TEXT:
        bind->buffer_type = MYSQL_TYPE_STRING;
        bind->buffer = (char *)value->text;
        bind->buffer_length = strlen(value->text);
        break;
    default:
        bind->buffer_type = MYSQL_TYPE_NULL;
    }
}

/* Have the columns bound, before the first row. */
static int bind_columns(struct sql_statement *statement, struct berth_error *err)
{
    struct bound *bound = bound_of(statement);
    MYSQL_RES *fields;
    int rc = 0;

    if (statement->columns == 0 || bound->result[0].buffer)
        return 0;
    fields = maria.mysql_stmt_result_metadata(bound->stmt);
    for (size_t i = 0; fields && i < statement->columns && rc == 0; i++)
        rc = bind_column(bound, i, maria.mysql_fetch_field_direct(fields, (unsigned)i),
                         &statement->column[i]);
    maria.mysql_free_result(fields);
    if (!fields || rc < 0)
        return berth_no_memory(err);
    return maria.mysql_stmt_bind_result(bound->stmt, bound->result) ? fail_statement(statement, err)
                                                                    : 0;
}

static int start(struct sql_statement *statement, struct berth_error *err)
{
    struct bound *bound = bound_of(statement);

    for (size_t i = 0; i < statement->params; i++)
        bind_param(&bound->param[i], &statement->param[i]);
    if ((statement->params && maria.mysql_stmt_bind_param(bound->stmt, bound->param)) ||
        maria.mysql_stmt_execute(bound->stmt))
        return fail_statement(statement, err);
    return bind_columns(statement, err);
}

/* A row was fetched into the buffers: mark what is null, end the texts. */
static int take_row(struct sql_statement *statement, struct berth_error *err)
{
    struct bound *bound = bound_of(statement);

    for (size_t i = 0; i < statement->columns; i++) {
        enum sql_type type = bound->text[i]                                      ? SQL_TEXT
                             : bound->result[i].buffer_type == MYSQL_TYPE_DOUBLE ? SQL_DOUBLE
                                                                                 : SQL_INT;

        statement->column[i].type = bound->null[i] ? SQL_NULL : type;
        if (type != SQL_TEXT || bound->null[i])
            continue;
        if (bound->length[i] >= bound->result[i].buffer_length)
            return berth_error_set(err, "MariaDB: a text of %lu bytes", bound->length[i]);
        bound->text[i][bound->length[i]] = '\0';
    }
    return 1;
}

static int step(struct sql_statement *statement, struct berth_error *err)
{
    struct bound *bound = bound_of(statement);
    int rc;

    if (!statement->running && start(statement, err) < 0)
        return -1;
    if (statement->columns == 0)
        return 0;
    rc = maria.mysql_stmt_fetch(bound->stmt);
    if (rc == 0 || rc == MYSQL_DATA_TRUNCATED)
        return take_row(statement, err);
    if (rc == 1)
        fail_statement(statement, err);
    maria.mysql_stmt_free_result(bound->stmt);
    return rc == MYSQL_NO_DATA ? 0 : -1;
}

static int64_t changed(const struct sql_statement *statement)
{
    return (int64_t)maria.mysql_stmt_affected_rows(bound_of(statement)->stmt);
}

static void reset(struct sql_statement *statement)
{
    maria.mysql_stmt_free_result(bound_of(statement)->stmt);
}

static void finish(struct sql_statement *statement)
{
    bound_free(bound_of(statement), statement->columns);
}

/* ---- migrations ---- */

/* A named lock of the server, which goes with the connection. A schema's name has no quotes. */
static int lock(struct sql *sql, const char *name, struct berth_error *err)
{
    MYSQL *mysql = connection(sql);
    MYSQL_RES *answer = NULL;
    MYSQL_ROW row = NULL;
    char text[160];
    bool got;

    snprintf(text, sizeof(text), "SELECT GET_LOCK(concat(database(), '.berth.%.64s'), 20)", name);
    if (maria.mysql_real_query(mysql, text, strlen(text)) != 0 ||
        !(answer = maria.mysql_store_result(mysql)))
        return fail_connection(sql, err);
    row = maria.mysql_fetch_row(answer);
    got = row && row[0] && strcmp(row[0], "1") == 0;
    maria.mysql_free_result(answer);
    if (!got)
        return berth_error_set(err,
                               "MariaDB: another process has been changing the schema for long");
    return 0;
}

static int unlock(struct sql *sql, const char *name, bool keep, struct berth_error *err)
{
    (void)name, (void)keep;
    return run_statement(sql, "DO RELEASE_ALL_LOCKS()", err);
}

const struct sql_way sql_mariadb = {
    .name = "MariaDB",
    .words = {"START TRANSACTION",
              " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
              " IF NOT EXISTS", " IGNORE", " ON DUPLICATE KEY UPDATE %1$s = %1$s"},
    .open = open_mariadb,
    .run = run_statement,
    .prepare = prepare,
    .step = step,
    .changed = changed,
    .reset = reset,
    .finish = finish,
    .close = close_mariadb,
    .lock = lock,
    .unlock = unlock,
};
