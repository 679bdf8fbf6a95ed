/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_asker - who jobs are is asked of a program, which is a script here that writes down what it
 * was asked; a real one is in tests/accounting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/log.h"
#include "packer/identity/asker.h"
#include "tests/unit/common/folder.h"

#define PATIENCE_MS 20000

struct bench {
    char dir[64];
    struct conf conf;
    struct asker *asker;
};

static const char *path_of(const struct bench *bench, const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", bench->dir, name);
    return path;
}

/* The program says this from now on, and ends with that status. */
static void says(const struct bench *bench, const char *line, int status)
{
    FILE *file = fopen(path_of(bench, "next"), "w");

    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho \"$@\" >>%s/asked\necho '%s'\nexit %d\n", bench->dir, line,
            status);
    fclose(file);
    assert_int_equal(chmod(path_of(bench, "next"), 0755), 0);
    {
        char from[128];

        snprintf(from, sizeof(from), "%s", path_of(bench, "next"));
        assert_int_equal(rename(from, path_of(bench, "program")), 0);
    }
}

static const char *asked(const struct bench *bench)
{
    static char text[4096];
    FILE *file = fopen(path_of(bench, "asked"), "r");

    text[0] = '\0';
    if (file) {
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
    }
    return text;
}

static void ask(struct bench *bench, uint32_t job)
{
    struct asker_run run = {job, 1001, 500};

    assert_true(asker_ask(bench->asker, &run, 1, true));
}

static struct asker_answer take(struct bench *bench)
{
    struct pollfd ready = {.fd = asker_fd(bench->asker), .events = POLLIN};
    struct asker_answer answer;

    for (int i = 0; i < 100; i++) {
        if (asker_take(bench->asker, &answer))
            return answer;
        poll(&ready, 1, PATIENCE_MS / 100);
    }
    fail_msg("no answer");
    return answer;
}

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    struct berth_error err = {""};

    folder_new(bench->dir, sizeof(bench->dir), "test_asker");
    conf_init(&bench->conf);
    snprintf(bench->conf.job_program, sizeof(bench->conf.job_program), "%s/program", bench->dir);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    says(bench, "", 0);
    if (asker_open(&bench->asker, &bench->conf, &err) < 0)
        fail_msg("%s", err.text);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    char command[128];
    int rc;

    asker_close(bench->asker);
    snprintf(command, sizeof(command), "rm -rf %s", bench->dir);
    rc = system(command);
    free(bench);
    return rc;
}

#define JOB(number, uid, more)                                                                     \
    "{\"source\":\"slurmctld\",\"job\":" number ",\"uid\":" uid ",\"cluster\":\"north\"" more "}"

/* Jobs that are due together are one call, and a job that was asked for is not asked for twice. */
static void test_together(void **state)
{
    struct bench *bench = *state;
    struct asker_answer first, second;

    says(bench,
         "{\"jobs\":[" JOB("7", "1001", ",\"account\":\"a\"") "," JOB("8", "1001",
                                                                      ",\"restart\":2") "]}",
         0);
    ask(bench, 7);
    ask(bench, 8);
    ask(bench, 7);
    first = take(bench);
    second = take(bench);
    assert_int_equal(first.said.is.job, 7);
    assert_string_equal(first.said.is.account, "a");
    assert_string_equal(first.said.is.cluster, "north");
    assert_int_equal(second.said.is.restart, 2);
    assert_string_equal(asked(bench), "7@500 8@500\n");
    assert_false(asker_take(bench->asker, &first));
}

/* Who stops has what was put off until later asked now, and waits; where nobody knows it, until it
 * was asked once, and where the program hangs, not for ever. */
static void test_hurry(void **state)
{
    struct bench *bench = *state;
    struct asker_run run = {.job = 9, .uid = 1001, .at = 500};
    struct asker_answer answer;
    struct asker_state now;

    says(bench, "{\"jobs\":[" JOB("9", "1001", "") "]}", 0);
    assert_true(asker_ask(bench->asker, &run, 100000, false)); /* a minute, for so wide a job */
    asker_hurry(bench->asker, 60);
    assert_true(asker_take(bench->asker, &answer));
    assert_int_equal(answer.said.is.job, 9);
    says(bench, "", 1);
    run.job = 10;
    assert_true(asker_ask(bench->asker, &run, 1, false));
    asker_hurry(bench->asker, 0.01);
    assert_false(asker_take(bench->asker, &answer));
    asker_hurry(bench->asker, 3600);
    assert_false(asker_take(bench->asker, &answer));
    asker_state(bench->asker, &now);
    assert_int_not_equal(now.failed, 0);
    asker_hurry(NULL, 1);
}

/* Names that are none are not known; another user's job is not the one. */
static void test_believes_little(void **state)
{
    struct bench *bench = *state;
    struct asker_state now;
    struct asker_answer answer;

    says(bench,
         "{\"jobs\":[" JOB("7", "1002", "") "," JOB("8", "1001", ",\"account\":\"x;y\"") "]}", 0);
    ask(bench, 7);
    ask(bench, 8);
    answer = take(bench);
    assert_int_equal(answer.said.is.job, 8);
    assert_string_equal(answer.said.is.account, "");
    asker_state(bench->asker, &now);
    assert_int_equal(now.asked, 2);
    assert_int_equal(now.answered, 1);
    says(bench, "{\"jobs\":[" JOB("7", "1001", "") "]}", 0);
    answer = take(bench); /* asked again */
    assert_int_equal(answer.said.is.uid, 1001);
}

/* What cannot be understood is told, and asked again. */
static void test_garbage(void **state)
{
    static const char *const lines[] = {"", "slurm_load_job: no", "{\"jobs\":7}", "{\"jobs\":[7]}",
                                        "{\"jobs\":[{\"uid\":1}]}"};
    struct said_job said[SAID_JOBS_MAX];
    struct bench *bench = *state;
    struct asker_state now = {.failed = 0};
    struct berth_error err;

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(said_read(lines[i], said, &err), -1);
    says(bench, "no", 75);
    ask(bench, 7);
    for (int i = 0; now.failed == 0 && i < PATIENCE_MS / 20; i++) {
        usleep(20000);
        asker_state(bench->asker, &now);
    }
    assert_string_equal(now.why, "no");
    says(bench, "{\"jobs\":[" JOB("7", "1001", "") "]}", 0);
    assert_int_equal(take(bench).said.is.source, WIRE_SOURCE_SLURMCTLD);
    asker_state(bench->asker, &now);
    assert_string_equal(now.why, "");
}

static void test_off(void **state)
{
    struct conf conf = {.job_program = "off"};
    struct asker_run run = {1, 1, 1};
    struct asker_answer answer;
    struct berth_error err;
    struct asker *asker;

    (void)state;
    assert_int_equal(asker_open(&asker, &conf, &err), 0);
    assert_null(asker);
    assert_false(asker_ask(asker, &run, 1, true));
    assert_false(asker_take(asker, &answer));
    asker_close(asker);
    strcpy(conf.job_program, "/nowhere/berth-job");
    assert_int_equal(asker_open(&asker, &conf, &err), -1);
    assert_non_null(strstr(err.text, "/nowhere/berth-job"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hurry, setup, teardown),
        cmocka_unit_test_setup_teardown(test_believes_little, setup, teardown),
        cmocka_unit_test_setup_teardown(test_garbage, setup, teardown),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
