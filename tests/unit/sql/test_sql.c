/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sql - both databases do the same: values, transactions, uniqueness, order, migrations; and
 * the URLs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/sql/sql.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/mariadb_box.h"

/* One database, empty before each test. */
struct place {
    char folder[64], url[128], why[256]; /* url "": there is none, because.. */
};

static struct place file;
static struct place server;
static struct mariadb_box box;

static int setup_all(void **state)
{
    (void)state;
    if (mariadb_box_open(&box, server.why))
        strcpy(server.url, box.url);
    return 0;
}

static int teardown_all(void **state)
{
    (void)state;
    if (server.url[0])
        mariadb_box_close(&box);
    return 0;
}

static int setup_file(void **state)
{
    folder_new(file.folder, sizeof(file.folder), "berth-sql");
    snprintf(file.url, sizeof(file.url), "sqlite:%s/in/a.db", file.folder);
    *state = &file;
    return 0;
}

static int teardown_file(void **state)
{
    (void)state;
    return folder_remove(file.folder);
}

static struct sql *open_as(const struct place *place, bool writable)
{
    struct sql_options options = {.defaults = "", .writable = writable, .group = ""};
    struct berth_error err;
    struct sql *sql;

    if (sql_open(&sql, place->url, &options, &err) < 0)
        fail_msg("%s", err.text);
    return sql;
}

static void run(struct sql *sql, const char *text)
{
    struct berth_error err;

    if (sql_run(sql, text, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static int setup_server(void **state)
{
    struct sql *sql;

    *state = &server;
    if (!server.url[0])
        return 0;
    sql = open_as(&server, true);
    run(sql, "DROP DATABASE berth");
    run(sql, "CREATE DATABASE berth");
    sql_close(sql);
    return 0;
}

static struct place *place_of(void **state)
{
    struct place *place = *state;

    if (!place->url[0]) {
        print_message("skipped: %s\n", place->why);
        skip();
    }
    return place;
}

static struct sql_statement *prepare(struct sql *sql, const char *text)
{
    struct sql_statement *statement;
    struct berth_error err;

    if (sql_prepare(sql, text, &statement, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return statement;
}

/* The one number that a query gives. */
static int64_t ask(struct sql *sql, const char *text)
{
    struct sql_statement *statement = prepare(sql, text);
    struct berth_error err;
    int64_t answer;

    assert_int_equal(sql_step(statement, &err), 1);
    answer = sql_int(statement, 0);
    assert_int_equal(sql_step(statement, &err), 0);
    sql_finish(statement);
    return answer;
}

static void make_table(struct sql *sql)
{
    char text[512];

    snprintf(text, sizeof(text),
             "CREATE TABLE t (name VARCHAR(8) NOT NULL, \"end\" BIGINT, x DOUBLE,"
             " PRIMARY KEY (name))%s",
             sql_words(sql)->table_options);
    run(sql, text);
}

/* ---- what both do ---- */

static void test_values(void **state)
{
    static const struct {
        const char *name;
        int64_t end;
        double x;
    } row[] = {{"", 0, 0},
               {"a", INT64_MAX, 1.0 / 3},
               {"a ", INT64_MIN, -1e300},
               {"A", -1, 5e-324},
               {"\xc3\xa4'\"\\?%", 1, NAN}};
    struct sql *sql = open_as(place_of(state), true);
    struct sql_statement *put, *get;
    struct berth_error err;

    make_table(sql);
    put = prepare(sql, "INSERT INTO t VALUES (?, ?, ?)");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        sql_bind_text(put, 0, row[i].name);
        sql_bind_int(put, 1, row[i].end);
        sql_bind_double(put, 2, row[i].x);
        if (sql_step(put, &err) != 0)
            fail_msg("%zu: %s", i, err.text);
        sql_reset(put);
    }
    sql_finish(put);
    get = prepare(sql, "SELECT name, \"end\", x FROM t WHERE name = ?");
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        sql_bind_text(get, 0, row[i].name);
        assert_int_equal(sql_step(get, &err), 1);
        assert_string_equal(sql_text(get, 0), row[i].name);
        assert_true(sql_int(get, 1) == row[i].end);
        assert_true(isnan(row[i].x) ? isnan(sql_double(get, 2)) : sql_double(get, 2) == row[i].x);
        assert_int_equal(sql_is_null(get, 2), isnan(row[i].x));
        assert_int_equal(sql_step(get, &err), 0);
        assert_string_equal(sql_text(get, 0), ""); /* there is no row any more */
        sql_reset(get);
    }
    sql_finish(get);
    sql_close(sql);
}

/* Byte by byte, not by a language's rules. */
static void test_order(void **state)
{
    static const char *const want[] = {"", "A", "B", "a", "a ", "b", "\xc3\xa4"};
    struct sql *sql = open_as(place_of(state), true);
    struct sql_statement *get;
    struct berth_error err;

    make_table(sql);
    run(sql, "INSERT INTO t (name) VALUES ('b'), ('\xc3\xa4'), ('B'), ('a '), ('A'), (''), ('a')");
    get = prepare(sql, "SELECT name FROM t ORDER BY name");
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(sql_step(get, &err), 1);
        assert_string_equal(sql_text(get, 0), want[i]);
    }
    assert_int_equal(sql_step(get, &err), 0);
    sql_finish(get);
    sql_close(sql);
}

static void test_unique(void **state)
{
    struct sql *sql = open_as(place_of(state), true);
    struct berth_error err;
    char rest[64], text[128];

    make_table(sql);
    run(sql, "INSERT INTO t (name, x) VALUES ('a', 1)");
    assert_int_equal(sql_run(sql, "INSERT INTO t (name, x) VALUES ('a', 2)", &err), -1);
    assert_true(sql_refused(sql));
    snprintf(rest, sizeof(rest), sql_words(sql)->or_nothing, "name");
    snprintf(text, sizeof(text), "INSERT INTO t (name, x) VALUES ('a', 3)%s", rest);
    run(sql, text);
    assert_int_equal(ask(sql, "SELECT x FROM t"), 1);
    assert_int_equal(sql_run(sql, "INSERT INTO t (name) VALUES (NULL)", &err), -1);
    assert_true(sql_refused(sql));
    sql_close(sql);
}

static void test_transaction(void **state)
{
    struct place *place = place_of(state);
    struct sql *sql = open_as(place, true);
    struct berth_error err;

    make_table(sql);
    assert_int_equal(sql_begin(sql, &err), 0);
    run(sql, "INSERT INTO t (name) VALUES ('a')");
    sql_rollback(sql);
    assert_int_equal(ask(sql, "SELECT count(*) FROM t"), 0);
    assert_int_equal(sql_begin(sql, &err), 0);
    run(sql, "INSERT INTO t (name) VALUES ('b')");
    assert_int_equal(sql_commit(sql, &err), 0);
    assert_int_equal(sql_begin(sql, &err), 0);
    run(sql, "INSERT INTO t (name) VALUES ('c')");
    sql_close(sql); /* not committed */
    sql = open_as(place, true);
    assert_int_equal(ask(sql, "SELECT count(*) FROM t"), 1);
    sql_close(sql);
}

/* How many rows a statement has written or deleted. */
static void test_changed(void **state)
{
    struct sql *sql = open_as(place_of(state), true);
    struct sql_statement *remove;
    struct berth_error err;

    make_table(sql);
    run(sql, "INSERT INTO t (name) VALUES ('a'), ('b'), ('c')");
    remove = prepare(sql, "DELETE FROM t WHERE name >= ?");
    sql_bind_text(remove, 0, "b");
    for (int left = 2; left >= 0; left -= 2) {
        assert_int_equal(sql_step(remove, &err), 0);
        assert_int_equal(sql_changed(remove), left);
    }
    sql_finish(remove);
    sql_close(sql);
}

/* What is no row's fault. */
static void test_errors(void **state)
{
    struct sql *sql = open_as(place_of(state), true);
    struct sql_statement *statement;
    struct berth_error err;

    assert_int_equal(sql_prepare(sql, "SELECT 1 FROM nowhere", &statement, &err), -1);
    assert_true(sql_no_table(sql));
    assert_false(sql_refused(sql));
    assert_int_equal(sql_prepare(sql, "SELECT FROM", &statement, &err), -1);
    assert_false(sql_no_table(sql));
    make_table(sql);
    assert_false(sql_no_column(sql));
    assert_int_equal(sql_prepare(sql, "SELECT \"nothing\" FROM t", &statement, &err), -1);
    assert_true(sql_no_column(sql));
    assert_false(sql_no_table(sql));
    sql_close(sql);
}

static const sql_migration versions[] = {
    {"CREATE TABLE IF NOT EXISTS u (a BIGINT NOT NULL)%s", "INSERT INTO u VALUES (1)"},
    {"CREATE INDEX IF NOT EXISTS u_a ON u (a)"},
    {"UPDATE u SET a = a + 10"},
};
static const sql_migration broken[] = {
    {"CREATE TABLE IF NOT EXISTS v (a BIGINT NOT NULL)%s"},
    {"INSERT INTO v VALUES (7)", "INSERT INTO nowhere VALUES (1)"},
};

static void test_migrate(void **state)
{
    struct sql *sql = open_as(place_of(state), true);
    struct berth_error err;

    assert_int_equal(sql_version(sql, "u", &err), 0);
    assert_int_equal(sql_migrate(sql, "u", versions, 1, &err), 0);
    assert_int_equal(sql_version(sql, "u", &err), 1);
    assert_int_equal(sql_migrate(sql, "u", versions, 3, &err), 0);
    assert_int_equal(sql_migrate(sql, "u", versions, 3, &err), 0);
    assert_int_equal(sql_version(sql, "u", &err), 3);
    assert_int_equal(ask(sql, "SELECT a FROM u"), 11);
    assert_int_equal(sql_migrate(sql, "u", versions, 2, &err), -1); /* an older berth */
    assert_non_null(strstr(err.text, "newer berth"));
    assert_int_equal(sql_migrate(sql, "v", broken, 2, &err), -1);
    assert_true(sql_version(sql, "v", &err) < 2);
    assert_int_equal(sql_version(sql, "u", &err), 3);
    sql_close(sql);
}

/* A version that no berth has written is a failure that says so, and no schema to build upon. */
static void test_damaged_version(void **state)
{
    static const char *const version[] = {"-1", "4294967297", "-9223372036854775807"};
    struct sql *sql = open_as(place_of(state), true);
    struct berth_error err;
    char text[96];

    assert_int_equal(sql_migrate(sql, "u", versions, 1, &err), 0);
    for (size_t i = 0; i < sizeof(version) / sizeof(version[0]); i++) {
        snprintf(text, sizeof(text), "UPDATE u_schema SET version = %s", version[i]);
        assert_int_equal(sql_run(sql, text, &err), 0);
        err.text[0] = '\0';
        assert_int_equal(sql_migrate(sql, "u", versions, 3, &err), -1);
        assert_non_null(strstr(err.text, "damaged"));
        assert_non_null(strstr(err.text, version[i]));
    }
    sql_close(sql);
}

/* Many nodes begin the cluster's ledger at the same time: one does it. */
static void test_migrate_at_once(void **state)
{
    struct place *place = place_of(state);
    struct sql *sql;
    int status;

    for (int i = 0; i < 6; i++)
        if (fork() == 0) {
            struct sql_options options = {.defaults = "", .writable = true, .group = ""};

            _exit(sql_open(&sql, place->url, &options, NULL) < 0 ||
                  sql_migrate(sql, "u", versions, 3, NULL) < 0);
        }
    for (int i = 0; i < 6; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    sql = open_as(place, true);
    assert_int_equal(ask(sql, "SELECT count(*) FROM u"), 1);
    assert_int_equal(ask(sql, "SELECT a FROM u"), 11);
    sql_close(sql);
}

/* ---- files ---- */

/* Returns the path of a file beside the database's, until the next call. */
static const char *beside(const struct place *place, const char *suffix)
{
    static char path[192];

    snprintf(path, sizeof(path), "%s%s", place->url + strlen("sqlite:"), suffix);
    return path;
}

static void test_file_modes(void **state)
{
    struct place *place = place_of(state);
    struct sql_options options = {.defaults = "", .writable = true, .group = "daemon"};
    struct berth_error err;
    struct stat st;
    struct sql *sql;

    assert_int_equal(sql_open(&sql, place->url, &options, &err), 0);
    make_table(sql);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stat(beside(place, i ? "-wal" : ""), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        if (geteuid() == 0)
            assert_int_equal(st.st_gid, 1);
    }
    sql_close(sql);
    assert_int_equal(stat(beside(place, "-wal"), &st),
                     0); /* the log stays for those who only read */
}

/* Somebody who may read the file and may write nothing, while nobody has it open for writing, and
 * while somebody has. */
static void test_file_reader(void **state)
{
    struct place *place = place_of(state);
    struct sql *writer = open_as(place, true);
    int status;

    if (geteuid() != 0)
        skip();
    make_table(writer);
    run(writer, "INSERT INTO t (name) VALUES ('a')");
    assert_int_equal(chmod(file.folder, 0755), 0);
    for (int i = 0; i < 2; i++) {
        pid_t pid;

        assert_int_equal(chmod(beside(place, ""), 0644), 0);
        assert_int_equal(chmod(beside(place, "-wal"), 0644), 0);
        assert_int_equal(chmod(beside(place, "-shm"), 0644), 0);
        if ((pid = fork()) == 0) {
            struct sql_options options = {.defaults = "", .group = ""};
            struct sql *sql;

            if (setgid(65534) || setuid(65534) || sql_open(&sql, place->url, &options, NULL) < 0)
                _exit(1);
            if (ask(sql, "SELECT count(*) FROM t") != 1)
                _exit(2);
            _exit(sql_run(sql, "DELETE FROM t", NULL) == 0 ? 3 : 0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        if (i == 0)
            sql_close(writer);
    }
}

/* A file with a rollback journal: no log beside it, and whoever waits for its lock waits as long as
 * he said.
 */
static void test_file_with_rollback_journal(void **state)
{
    struct place *place = place_of(state);
    struct sql_options options = {
        .writable = true, .rollback = true, .what = "list", .wait_ms = 20};
    const char *path = place->url + 7;
    struct sql *sql, *second;
    struct berth_error err;
    struct stat st;

    assert_int_equal(sql_open_file(&sql, path, &options, &err), 0);
    make_table(sql);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(stat(beside(place, "-wal"), &st), -1);
    assert_int_equal(sql_open_file(&second, path, &options, &err), 0);
    assert_int_equal(sql_begin(sql, &err), 0);
    assert_int_equal(sql_begin(second, &err), -1);
    assert_non_null(strstr(err.text, "busy"));
    sql_rollback(sql);
    assert_int_equal(sql_begin(second, &err), 0);
    sql_close(second);
    assert_true(sql_is_current(sql));
    assert_int_equal(unlink(path), 0);
    assert_false(sql_is_current(sql));
    assert_int_equal(sql_open_file(&second, path, &options, &err), 0);
    assert_true(sql_is_current(second));
    assert_false(sql_is_current(sql)); /* it is another file of that name */
    sql_close(second);
    sql_close(sql);
    assert_int_equal(sql_open_file(&sql, "", &options, &err), -1);
}

static void test_file_damaged(void **state)
{
    struct place *place = place_of(state);
    struct sql_options options = {.defaults = "", .writable = true, .group = ""};
    struct berth_error err;
    struct sql *sql;
    FILE *out;

    options.writable = false;
    assert_int_equal(sql_open(&sql, place->url, &options, &err), -1); /* not there: not made */
    sql_close(open_as(place, true));
    out = fopen(place->url + 7, "w");
    for (int i = 0; i < 1000; i++)
        fputs("no database at all\n", out);
    fclose(out);
    options.writable = true;
    assert_int_equal(sql_open(&sql, place->url, &options, &err), -1);
    assert_non_null(strstr(err.text, "no SQLite database"));
}

/* ---- servers ---- */

static void test_server_away(void **state)
{
    struct place *place = place_of(state);
    struct sql_options options = {.defaults = "", .group = ""};
    struct sql *sql = open_as(place, true), *second;
    struct sql_statement *put;
    struct berth_error err;

    make_table(sql);
    put = prepare(sql, "INSERT INTO t (name) VALUES ('a')");
    mariadb_box_stop(&box, true);
    assert_int_equal(sql_step(put, &err), -1);
    assert_false(sql_refused(sql));
    assert_int_equal(sql_open(&second, place->url, &options, &err), -1);
    sql_finish(put);
    sql_close(sql);
    assert_true(mariadb_box_start(&box, place->why));
    sql = open_as(place, true);
    assert_int_equal(ask(sql, "SELECT count(*) FROM t"), 0);
    sql_close(sql);
}

static void write_file(const char *path, mode_t mode, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fputs(text, out);
    fclose(out);
    assert_int_equal(chmod(path, mode), 0);
}

/* Name and password come from the option file's group. */
static void test_server_defaults(void **state)
{
    struct place *place = place_of(state);
    struct sql_options options = {.group = ""};
    struct sql *sql = open_as(place, true);
    char path[128], url[256];
    struct berth_error err;

    run(sql, "CREATE OR REPLACE USER ledger@localhost IDENTIFIED BY 'a secret'");
    run(sql, "GRANT ALL ON berth.* TO ledger@localhost");
    sql_close(sql);
    snprintf(path, sizeof(path), "%s/my.cnf", box.folder);
    snprintf(url, sizeof(url), "mariadb:///berth?socket=%s/sock", box.folder);
    options.defaults = path;
    assert_int_equal(sql_open(&sql, url, &options, &err), -1); /* no such file */
    assert_non_null(strstr(err.text, "my.cnf"));
    write_file(path, 0622, "[berth]\nuser=ledger\npassword=a secret\n");
    assert_int_equal(sql_open(&sql, url, &options, &err), -1); /* anybody may write it */
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(sql_open(&sql, url, &options, &err), -1); /* others may read the password */
    assert_non_null(strstr(err.text, "my.cnf: mode 640"));
    assert_non_null(strstr(err.text, "0600 expected"));
    assert_int_equal(chmod(path, 0600), 0);
    if (sql_open(&sql, url, &options, &err) < 0)
        fail_msg("%s", err.text);
    sql_close(sql);
    write_file(path, 0600, "[berth]\nuser=ledger\npassword=another\n");
    assert_int_equal(sql_open(&sql, url, &options, &err), -1);
    assert_null(strstr(err.text, "another"));
}

/* A text that is too long is refused, not cut. */
static void test_server_strict(void **state)
{
    struct sql *sql = open_as(place_of(state), true);
    struct berth_error err;

    make_table(sql);
    assert_int_equal(sql_run(sql, "INSERT INTO t (name) VALUES ('123456789')", &err), -1);
    assert_true(sql_refused(sql));
    assert_int_equal(sql_run(sql, "INSERT INTO t (name) VALUES ('\xff')", &err), -1);
    assert_true(sql_refused(sql));
    sql_close(sql);
}

static void test_urls(void **state)
{
    static const char *const good[] = {"sqlite:/var/lib/berth/ledger.db"};
    static const char *const server_urls[] = {
        "mariadb://db.example/berth",
        "mariadb://u@db:3307/slurm_acct-1",
        "mariadb://[::1]:3306/b",
        "mariadb:///b?socket=/run/mysqld/mysqld.sock",
        "mariadb://u@/b",
    };
    static const char *const bad[] = {
        "",
        "off",
        "sqlite:",
        "sqlite:relative.db",
        "mysql://h/d",
        "mariadb://h",
        "mariadb://h/",
        "mariadb://u:secret@h/d",
        "mariadb://h:0/d",
        "mariadb://h:65536/d",
        "mariadb://h:/d",
        "mariadb://[::1/d",
        "mariadb://[::1]x/d",
        "mariadb://h/d?other=1",
        "mariadb://h/d?socket=relative",
        "mariadb://h/d;drop",
    };
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(sql_check_url(good[i], &err), 0);
    for (size_t i = 0; i < sizeof(server_urls) / sizeof(server_urls[0]); i++)
        if (sql_check_url(server_urls[i], &err) < 0 && !strstr(err.text, "built without MariaDB"))
            fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (sql_check_url(bad[i], &err) == 0)
            fail_msg("taken: %s", bad[i]);
}

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, setup_file, teardown_file)
#define SERVER_TEST(test) cmocka_unit_test_setup(test, setup_server)
#define BOTH(test) FILE_TEST(test), SERVER_TEST(test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        BOTH(test_values),
        BOTH(test_order),
        BOTH(test_unique),
        BOTH(test_transaction),
        BOTH(test_changed),
        BOTH(test_errors),
        BOTH(test_migrate),
        BOTH(test_damaged_version),
        BOTH(test_migrate_at_once),
        FILE_TEST(test_file_modes),
        FILE_TEST(test_file_reader),
        FILE_TEST(test_file_with_rollback_journal),
        FILE_TEST(test_file_damaged),
        SERVER_TEST(test_server_away),
        SERVER_TEST(test_server_defaults),
        SERVER_TEST(test_server_strict),
    };

    return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
