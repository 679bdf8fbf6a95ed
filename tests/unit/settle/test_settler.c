/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_settle - from the ledger's records to the program that tells slurmdbd: what it is told, how
 * often, and what becomes of it when it says "later", "never", or nothing. The program is a script
 * here that writes its arguments down; a real one is in tests/accounting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/ledger/ledger.h"
#include "packer/ledger/schema.h"
#include "packer/settle/settler.h"
#include "packer/sql/sql.h"
#include "tests/unit/common/folder.h"

#define PATIENCE_MS 20000
#define LIVE_JOB 8 /* has a step that an earlier berthd has left */

struct bench {
    char dir[64];
    struct conf conf;
    struct ledger *ledger;
    struct settler *settler;
};

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- files of the bench ---- */

static const char *path_of(const struct bench *bench, const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", bench->dir, name);
    return path;
}

/* The file's text; "" where there is none. */
static const char *text_of(const struct bench *bench, const char *name)
{
    static char text[4096];
    FILE *file = fopen(path_of(bench, name), "r");

    text[0] = '\0';
    if (!file)
        return text;
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static size_t lines_of(const struct bench *bench, const char *name)
{
    size_t n = 0;

    for (const char *at = text_of(bench, name); (at = strchr(at, '\n')); at++)
        n++;
    return n;
}

static void wait_for_lines(const struct bench *bench, const char *name, size_t n)
{
    for (int i = 0; i < PATIENCE_MS / 20; i++) {
        if (lines_of(bench, name) == n)
            return;
        sleep_ms(20);
    }
    fail_msg("%s has %zu lines, not %zu", name, lines_of(bench, name), n);
}

/* Waits until so many runs are to be told, as a restart would find them. */
static void wait_for_runs(const struct bench *bench, int64_t n)
{
    char url[160];
    int64_t runs = -1;

    snprintf(url, sizeof(url), "sqlite:%s", path_of(bench, "queue/outbox.db"));
    for (int i = 0; runs != n && i < PATIENCE_MS / 20; i++) {
        const struct sql_options options = {.writable = false};
        struct sql_statement *row = NULL;
        struct sql *sql = NULL;

        if (sql_open(&sql, url, &options, NULL) == 0 &&
            sql_prepare(sql, "SELECT count(*) FROM ledger_run", &row, NULL) == 0 &&
            sql_step(row, NULL) == 1)
            runs = sql_int(row, 0);
        sql_finish(row);
        sql_close(sql);
        if (runs != n)
            sleep_ms(20);
    }
    assert_int_equal(runs, n);
}

/* The program ends with this status from now on. */
static void answer(const struct bench *bench, const char *status)
{
    FILE *file = fopen(path_of(bench, "answer"), "w");

    assert_non_null(file);
    fprintf(file, "%s\n", status);
    fclose(file);
}

static void write_program(const struct bench *bench)
{
    FILE *file = fopen(path_of(bench, "program"), "w");

    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\nif [ \"$1\" = -q ]; then echo asked >>%s/asked; status=$(cat %s/may); fi\n"
            "[ -n \"$status\" ] || { read -r status <%s/answer; echo \"$@\" >>%s/told; }\n"
            "echo so it is >&2\nexit $status\n",
            bench->dir, bench->dir, bench->dir, bench->dir);
    fclose(file);
    assert_int_equal(chmod(path_of(bench, "program"), 0755), 0);
}

/* ---- berthd's part ---- */

static bool has_steps(uint32_t job, const void *arg)
{
    (void)arg;
    return job == LIVE_JOB;
}

static void start(struct bench *bench)
{
    struct berth_error err = {""};

    if (ledger_open(&bench->ledger, &bench->conf, &err) < 0 ||
        settler_open(&bench->settler, &bench->conf, bench->ledger, &err) < 0)
        fail_msg("%s", err.text);
    settler_resume(bench->settler, has_steps, NULL);
}

static void halt(struct bench *bench)
{
    settler_close(bench->settler);
    ledger_close(bench->ledger);
    bench->settler = NULL;
    bench->ledger = NULL;
}

static double energy_uj = NAN; /* of the records to come */

static void record(struct bench *bench, uint32_t job, uint32_t restart, uint32_t step)
{
    struct berth_error err = {""};
    struct ledger_record r;

    ledger_record_init(&r);
    snprintf(r.identity, sizeof(r.identity), "slurmctld");
    snprintf(r.cluster, sizeof(r.cluster), "c");
    r.uid = 1001;
    snprintf(r.node, sizeof(r.node), "n");
    r.id = (struct wire_step_id){job, step};
    r.restart = restart;
    r.start = 1000;
    r.end = 1010;
    r.moves = 1;
    r.uj[ENERGY_PACKAGE] = energy_uj;
    strcpy(r.energy_source, isnan(energy_uj) ? "" : "rapl-powercap");
    if (ledger_add(bench->ledger, &r, &err) < 0)
        fail_msg("%s", err.text);
}

static void over(struct bench *bench, uint32_t job, uint32_t restart)
{
    struct ledger_run run = {"c", job, restart, 1001, time(NULL)};

    settler_put(bench->settler, &run);
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    struct conf *conf = &bench->conf;

    folder_new(bench->dir, sizeof(bench->dir), "test_settle");
    conf_init(conf);
    conf->admin_comment = CONF_ON;
    snprintf(conf->ledger, sizeof(conf->ledger), "sqlite:%s/ledger.db", bench->dir);
    snprintf(conf->state_dir, sizeof(conf->state_dir), "%s", bench->dir);
    snprintf(conf->ledger_queue, sizeof(conf->ledger_queue), "%s/queue", bench->dir);
    snprintf(conf->comment_program, sizeof(conf->comment_program), "%s/program", bench->dir);
    write_program(bench);
    answer(bench, "0");
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    start(bench);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    char command[128];
    int rc;

    halt(bench);
    snprintf(command, sizeof(command), "rm -rf %s", bench->dir);
    rc = system(command);
    free(bench);
    return rc;
}

/* ---- tests ---- */

static void a_runs_figures_are_told_once(void **state)
{
    struct bench *bench = *state;
    const char *told;

    record(bench, 7, 1, 0);
    record(bench, 7, 1, 1);
    record(bench, 7, 0, 0);
    record(bench, 8, 1, 0);
    over(bench, 7, 1);
    wait_for_lines(bench, "told", 1);
    wait_for_runs(bench, 2);
    told = text_of(bench, "told");
    assert_ptr_equal(strstr(told, "-u 1001 -j 7 -t "), told);
    assert_non_null(strstr(told, " -n 1 {\"version\":1,\"nodes\":1,\"steps\":2,\"moves\":2}\n"));
    sleep_ms(1500);
    assert_int_equal(lines_of(bench, "told"), 1);
}

static void who_says_later_is_asked_again(void **state)
{
    struct bench *bench = *state;

    answer(bench, "75");
    record(bench, 7, 0, 0);
    over(bench, 7, 0);
    wait_for_lines(bench, "told", 2);
    wait_for_runs(bench, 1);
    answer(bench, "0");
    settler_job_end(bench->settler, 7);
    wait_for_lines(bench, "told", 3);
    wait_for_runs(bench, 0);
}

static void who_says_never_is_not(void **state)
{
    struct bench *bench = *state;

    answer(bench, "3");
    record(bench, 7, 0, 0);
    over(bench, 7, 0);
    over(bench, 9, 0); /* of which there is no record */
    wait_for_runs(bench, 1);
    wait_for_runs(bench, 0);
    assert_int_equal(lines_of(bench, "told"), 1);
}

static void a_restart_goes_on(void **state)
{
    struct bench *bench = *state;

    answer(bench, "75");
    record(bench, 7, 0, 0);
    record(bench, LIVE_JOB, 0, 0);
    over(bench, 7, 0);
    halt(bench);
    wait_for_runs(bench, 2);
    answer(bench, "0");
    start(bench);
    wait_for_runs(bench, 1);
    assert_int_equal(lines_of(bench, "told"), 1);
}

/* There is always a record that waits: they come faster than they are brought away. */
static void other_jobs_records_are_not_waited_for(void **state)
{
    struct bench *bench = *state;
    uint32_t step = 0;

    record(bench, 7, 0, 0);
    over(bench, 7, 0);
    for (int i = 0; lines_of(bench, "told") == 0; i++) {
        if (i == PATIENCE_MS / 2)
            fail_msg("job 7 waits for the records of job 70, which has %u by now", step);
        record(bench, 70, 0, step++);
        sleep_ms(2);
    }
    wait_for_runs(bench, 1);
}

/* Starts anew, with both keys or one, and a program that says to -q what this status means. */
static void start_with_energy(struct bench *bench, enum conf_switch comments, const char *may)
{
    FILE *file = fopen(path_of(bench, "may"), "w");

    assert_non_null(file);
    fprintf(file, "%s\n", may);
    fclose(file);
    halt(bench);
    bench->conf.admin_comment = comments;
    bench->conf.tres_energy = CONF_ON;
    start(bench);
    energy_uj = 1600000;
}

static void a_runs_energy_is_told(void **state)
{
    struct bench *bench = *state;
    char why[256];

    start_with_energy(bench, CONF_OFF, "0");
    record(bench, 7, 0, 0);
    energy_uj = NAN;
    record(bench, 9, 0, 0); /* which was not metered: there is nothing to tell */
    over(bench, 7, 0);
    over(bench, 9, 0);
    wait_for_lines(bench, "told", 1);
    wait_for_runs(bench, 0);
    assert_int_equal(lines_of(bench, "told"), 1);
    assert_non_null(strstr(text_of(bench, "told"), " -n 1 -e 2\n"));
    assert_int_equal(lines_of(bench, "asked"), 1);
    assert_true(settler_may_tell_energy(bench->settler, why));
}

static void energy_that_slurm_refuses_is_not_told(void **state)
{
    struct bench *bench = *state;
    char why[256];

    start_with_energy(bench, CONF_ON, "4");
    record(bench, 7, 0, 0);
    over(bench, 7, 0);
    wait_for_lines(bench, "told", 1);
    assert_null(strstr(text_of(bench, "told"), " -e "));
    assert_non_null(strstr(text_of(bench, "told"), "\"energy_j\":1.6"));
    assert_int_equal(lines_of(bench, "asked"), 1);
    assert_false(settler_may_tell_energy(bench->settler, why));
    assert_string_equal(why, "so it is");
    energy_uj = NAN;
}

static void nobody_waits_for_one_that_hangs(void **state)
{
    struct bench *bench = *state;
    time_t began;

    assert_int_equal(unlink(path_of(bench, "answer")), 0);
    assert_int_equal(mkfifo(path_of(bench, "answer"), 0600), 0);
    record(bench, 7, 0, 0);
    over(bench, 7, 0);
    sleep_ms(3000); /* it reads from a pipe that nobody writes into */
    began = time(NULL);
    settler_close(bench->settler);
    bench->settler = NULL;
    assert_true(time(NULL) - began < PATIENCE_MS / 1000);
    wait_for_runs(bench, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_runs_figures_are_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(who_says_later_is_asked_again, setup, teardown),
        cmocka_unit_test_setup_teardown(who_says_never_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(a_restart_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(other_jobs_records_are_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_runs_energy_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(energy_that_slurm_refuses_is_not_told, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_waits_for_one_that_hangs, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
