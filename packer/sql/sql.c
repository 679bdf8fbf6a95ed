/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql - see sql.h: URLs, values and migrations, which are the same for both databases. */
#include "packer/sql/sql.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/sql/sql_way.h"

static const struct sql_way *const ways[] = {&sql_sqlite, &sql_mariadb};

/* ---- URLs ---- */

/* text[length] into a field. False: it does not fit. */
static bool keep(char *field, size_t size, const char *text, size_t length)
{
    if (length >= size)
        return false;
    memcpy(field, text, length);
    field[length] = '\0';
    return true;
}

/* HOST, HOST:PORT, [ADDRESS] or [ADDRESS]:PORT */
static bool parse_host(const char *text, size_t length, struct sql_url *url)
{
    const char *end = text + length, *host = text, *stop = memchr(text, ':', length);
    char *port_end;
    unsigned long port;

    if (length && text[0] == '[') {
        host++;
        stop = memchr(text, ']', length);
        if (!stop)
            return false;
    }
    if (!stop)
        stop = end;
    if (!keep(url->host, sizeof(url->host), host, (size_t)(stop - host)))
        return false;
    stop += host > text;
    if (stop == end)
        return true;
    if (*stop != ':' || !isdigit((unsigned char)stop[1]))
        return false;
    port = strtoul(stop + 1, &port_end, 10);
    url->port = (unsigned)port;
    return port_end == end && port > 0 && port < 65536;
}

/* What follows "mariadb://". */
static bool parse_server(const char *text, struct sql_url *url)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$-";
    const char *slash = strchr(text, '/'), *at, *query;
    size_t name;

    if (!slash)
        return false;
    at = memchr(text, '@', (size_t)(slash - text));
    if (at && (memchr(text, ':', (size_t)(at - text)) ||
               !keep(url->user, sizeof(url->user), text, (size_t)(at - text))))
        return false;
    text = at ? at + 1 : text;
    name = strspn(slash + 1, letters);
    query = slash + 1 + name;
    if (name == 0 || !keep(url->name, sizeof(url->name), slash + 1, name) ||
        !parse_host(text, (size_t)(slash - text), url))
        return false;
    if (*query == '\0')
        return true;
    return strncmp(query, "?socket=/", 9) == 0 &&
           keep(url->path, sizeof(url->path), query + 8, strlen(query + 8));
}

static const struct sql_way *parse_url(const char *text, struct sql_url *url,
                                       struct berth_error *err)
{
    memset(url, 0, sizeof(*url));
    if (strncmp(text, "sqlite:", 7) == 0) {
        if (text[7] == '/' && keep(url->path, sizeof(url->path), text + 7, strlen(text + 7)))
            return ways[0];
        berth_error_set(err, "'%.200s': sqlite: and an absolute path expected", text);
        return NULL;
    }
    if (strncmp(text, "mariadb://", 10) == 0) {
        if (parse_server(text + 10, url))
            return ways[1];
        berth_error_set(err,
                        "'%.200s': mariadb://[USER@]HOST[:PORT]/DATABASE or "
                        "mariadb://[USER@]/DATABASE?socket=PATH expected (a password stands in an "
                        "option file)",
                        text);
        return NULL;
    }
    berth_error_set(err, "'%.200s': sqlite:PATH or mariadb://.. expected", text);
    return NULL;
}

int sql_check_url(const char *text, struct berth_error *err)
{
    struct sql_url url;
    const struct sql_way *way = parse_url(text, &url, err);

    if (way && !way->open)
        return berth_error_set(err, "'%.200s': this berth was built without %s", text, way->name);
    return way ? 0 : -1;
}

/* ---- connections ---- */

static int connect_to(struct sql **out, const struct sql_way *way, const struct sql_url *url,
                      const struct sql_options *options, struct berth_error *err)
{
    struct sql *sql = calloc(1, sizeof(*sql));

    if (!sql)
        return berth_no_memory(err);
    sql->way = way;
    if (way->open(sql, url, options, err) < 0) {
        free(sql);
        return -1;
    }
    *out = sql;
    return 0;
}

int sql_open(struct sql **out, const char *text, const struct sql_options *options,
             struct berth_error *err)
{
    struct sql_url url;

    if (sql_check_url(text, err) < 0)
        return -1;
    return connect_to(out, parse_url(text, &url, err), &url, options, err);
}

int sql_open_file(struct sql **out, const char *path, const struct sql_options *options,
                  struct berth_error *err)
{
    struct sql_url url = {.path = ""};

    if (path[0] == '\0' || !keep(url.path, sizeof(url.path), path, strlen(path)))
        return berth_error_set(err, "'%.64s' is no path", path);
    return connect_to(out, &sql_sqlite, &url, options, err);
}

void sql_close(struct sql *sql)
{
    if (!sql)
        return;
    sql->way->close(sql);
    free(sql);
}

bool sql_is_current(const struct sql *sql)
{
    return !sql->way->is_current || sql->way->is_current(sql);
}

bool sql_refused(const struct sql *sql)
{
    return sql->failure == SQL_REFUSED;
}

bool sql_no_table(const struct sql *sql)
{
    return sql->failure == SQL_NO_TABLE;
}

bool sql_no_column(const struct sql *sql)
{
    return sql->failure == SQL_NO_COLUMN;
}

const struct sql_words *sql_words(const struct sql *sql)
{
    return &sql->way->words;
}

int sql_run(struct sql *sql, const char *text, struct berth_error *err)
{
    return sql->way->run(sql, text, err);
}

int sql_begin(struct sql *sql, struct berth_error *err)
{
    return sql_run(sql, sql->way->words.begin, err);
}

int sql_commit(struct sql *sql, struct berth_error *err)
{
    return sql_run(sql, "COMMIT", err);
}

void sql_rollback(struct sql *sql)
{
    enum sql_failure why = sql->failure;

    sql_run(sql, "ROLLBACK", NULL);
    sql->failure = why;
}

/* ---- statements ---- */

int sql_prepare(struct sql *sql, const char *text, struct sql_statement **out,
                struct berth_error *err)
{
    struct sql_statement *statement = calloc(1, sizeof(*statement));

    if (!statement)
        return berth_no_memory(err);
    statement->sql = sql;
    if (sql->way->prepare(statement, text, err) < 0) {
        free(statement);
        return -1;
    }
    statement->param = calloc(statement->params + 1, sizeof(*statement->param));
    statement->column = calloc(statement->columns + 1, sizeof(*statement->column));
    if (!statement->param || !statement->column) {
        sql_finish(statement);
        return berth_no_memory(err);
    }
    *out = statement;
    return 0;
}

void sql_finish(struct sql_statement *statement)
{
    if (!statement)
        return;
    statement->sql->way->finish(statement);
    free(statement->param);
    free(statement->column);
    free(statement);
}

static void bind(struct sql_statement *statement, size_t i, struct sql_value value)
{
    if (i < statement->params)
        statement->param[i] = value;
}

void sql_bind_int(struct sql_statement *statement, size_t i, int64_t value)
{
    bind(statement, i, (struct sql_value){.type = SQL_INT, .integer = value});
}

void sql_bind_double(struct sql_statement *statement, size_t i, double value)
{
    bind(statement, i,
         (struct sql_value){.type = isfinite(value) ? SQL_DOUBLE : SQL_NULL, .number = value});
}

void sql_bind_text(struct sql_statement *statement, size_t i, const char *value)
{
    bind(statement, i, (struct sql_value){.type = value ? SQL_TEXT : SQL_NULL, .text = value});
}

void sql_bind_null(struct sql_statement *statement, size_t i)
{
    bind(statement, i, (struct sql_value){.type = SQL_NULL});
}

int sql_step(struct sql_statement *statement, struct berth_error *err)
{
    int rc = statement->sql->way->step(statement, err);

    statement->running = rc == 1;
    return rc;
}

int64_t sql_changed(const struct sql_statement *statement)
{
    return statement->sql->way->changed(statement);
}

void sql_reset(struct sql_statement *statement)
{
    statement->sql->way->reset(statement);
    statement->running = false;
}

/* The present row's i-th column; null where there is none. */
static const struct sql_value *column(const struct sql_statement *statement, size_t i)
{
    static const struct sql_value null = {.type = SQL_NULL};

    return statement->running && i < statement->columns ? &statement->column[i] : &null;
}

bool sql_is_null(const struct sql_statement *statement, size_t i)
{
    return column(statement, i)->type == SQL_NULL;
}

int64_t sql_int(const struct sql_statement *statement, size_t i)
{
    return sql_value_int(column(statement, i));
}

double sql_double(const struct sql_statement *statement, size_t i)
{
    return sql_value_double(column(statement, i));
}

const char *sql_text(const struct sql_statement *statement, size_t i)
{
    const struct sql_value *value = column(statement, i);

    return value->type == SQL_TEXT ? value->text : "";
}

void sql_copy(const struct sql_statement *statement, size_t i, char *out, size_t size)
{
    sql_value_copy(column(statement, i), out, size);
}

/* ---- the schema ---- */

/* What the table says: a damaged file may say anything. */
static int take_version(const struct sql_statement *statement, const char *name,
                        struct berth_error *err)
{
    int64_t version = sql_int(statement, 0);

    if (version >= 0 && version <= INT_MAX)
        return (int)version;
    return berth_error_set(err, "%s_schema is damaged: its version is %" PRId64, name, version);
}

int sql_version(struct sql *sql, const char *name, struct berth_error *err)
{
    struct sql_statement *statement;
    char text[128];
    int rc;

    snprintf(text, sizeof(text), "SELECT max(version) FROM %s_schema", name);
    if (sql_prepare(sql, text, &statement, err) < 0)
        return sql_no_table(sql) ? 0 : -1;
    rc = sql_step(statement, err);
    rc = rc >= 0 ? take_version(statement, name, err) : sql_no_table(sql) ? 0 : -1;
    sql_finish(statement);
    return rc;
}

/* Run a statement of a migration, with its %s replaced. */
static int run_format(struct sql *sql, const char *format, struct berth_error *err)
{
    const struct sql_words *words = &sql->way->words;
    const char *hole = strstr(format, "%s"), *options = strncmp(format, "ALTER", 5) == 0
                                                            ? words->if_missing
                                                            : words->table_options;
    size_t size = strlen(format) + strlen(options) + 1;
    char *text = malloc(size);
    int rc;

    if (!text)
        return berth_no_memory(err);
    if (hole)
        snprintf(text, size, "%.*s%s%s", (int)(hole - format), format, options, hole + 2);
    else
        snprintf(text, size, "%s", format);
    rc = sql_run(sql, text, err);
    free(text);
    return rc;
}

/* From version i to i + 1. */
static int migrate_once(struct sql *sql, const char *name, const sql_migration *migration, int i,
                        struct berth_error *err)
{
    char text[128];

    for (size_t s = 0; migration[i][s]; s++)
        if (run_format(sql, migration[i][s], err) < 0)
            return -1;
    snprintf(text, sizeof(text), "INSERT INTO %s_schema VALUES (%d)", name, i + 1);
    return sql_run(sql, text, err);
}

/* With the lock held: another process may have done it meanwhile. */
static int migrate_locked(struct sql *sql, const char *name, const sql_migration *migration, int n,
                          struct berth_error *err)
{
    int version = sql_version(sql, name, err);
    char text[128];

    if (version < 0)
        return -1;
    if (version > n)
        return berth_error_set(err, "its schema %d is of a newer berth: this one knows %d", version,
                               n);
    snprintf(text, sizeof(text),
             "CREATE TABLE IF NOT EXISTS %s_schema (version BIGINT NOT NULL PRIMARY KEY)%%s", name);
    if (version == 0 && run_format(sql, text, err) < 0)
        return -1;
    for (; version < n; version++)
        if (migrate_once(sql, name, migration, version, err) < 0)
            return -1;
    return 0;
}

int sql_migrate(struct sql *sql, const char *name, const sql_migration *migration, int n,
                struct berth_error *err)
{
    int version = sql_version(sql, name, err);

    if (version < 0 || version == n)
        return version < 0 ? -1 : 0;
    if (sql->way->lock(sql, name, err) < 0)
        return -1;
    if (migrate_locked(sql, name, migration, n, err) == 0)
        return sql->way->unlock(sql, name, true, err);
    sql->way->unlock(sql, name, false, NULL);
    return -1;
}
