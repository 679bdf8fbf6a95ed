/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_run_program - a program that is run for a moment: how it ended, what it said last, and its
 * end when it takes too long or is not wanted any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "packer/system/run_program.h"

static atomic_bool stop;

static int run(const char *script, double limit_s, char *said, size_t size)
{
    char *argv[] = {(char *)"/bin/sh", (char *)"-c",  (char *)script,
                    (char *)"sh",      (char *)"arg", NULL};

    return run_program(argv, RUN_LAST_ERROR, limit_s, &stop, said, size);
}

static const struct {
    const char *script;
    int status;
    const char *said;
} cases[] = {
    {"exit 0", 0, ""},
    {"exit 75", 75, ""},
    {"echo out; echo err >&2; exit 3", 3, "err"},
    {"echo first >&2; echo second >&2", 0, "second"},
    {"printf 'no newline' >&2", 0, "no newline"},
    {"printf '%s' $1 >&2", 0, "arg"},
    {"cat; echo read >&2", 0, "read"},
    {"kill -9 $$", -1, ""},
    {"exec sed -n 's/^SigBlk:\\t//p' /proc/$$/status >&2", 0, "0000000000000000"},
};

static void its_end_and_last_words(void **state)
{
    char said[64];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(run(cases[i].script, 20, said, sizeof(said)), cases[i].status);
        assert_string_equal(said, cases[i].said);
    }
}

/* A warning in the middle of a line stands in no row: all of its standard output, and after it,
 * where that is asked for, of its standard error, as far as both fit. */
static void all_its_words(void **state)
{
    char script[] = "printf on; echo two >&2; echo e; printf three; exit 4";
    char shell[] = "sh", option[] = "-c", *argv[] = {shell, option, script, NULL}, said[64];
    static const struct {
        enum run_hear hear;
        size_t size;
        const char *said;
    } asked[] = {{RUN_OUTPUT, 64, "one\nthree"}, {RUN_ALL, 64, "one\nthree\ntwo\n"},
                 {RUN_OUTPUT, 6, "one\nt"},      {RUN_ALL, 6, "one\nt"},
                 {RUN_ALL, 10, "one\nthree"},    {RUN_ALL, 11, "one\nthree\n"},
                 {RUN_ALL, 13, "one\nthree\ntw"}};

    (void)state;
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        assert_int_equal(run_program(argv, asked[i].hear, 20, NULL, said, asked[i].size), 4);
        assert_string_equal(said, asked[i].said);
    }
}

/* A program of PATH, what it says first, and that all it says is taken off its hands. */
static void its_first_words(void **state)
{
    char said[64], *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};

    (void)state;
    argv[2] = (char *)"echo err >&2; echo first; seq 100000; exit 3";
    assert_int_equal(run_program(argv, RUN_FIRST_OUTPUT, 20, NULL, said, sizeof(said)), 3);
    assert_string_equal(said, "first");
    argv[2] = (char *)"printf half";
    assert_int_equal(run_program(argv, RUN_FIRST_OUTPUT, 20, NULL, said, sizeof(said)), 0);
    assert_string_equal(said, "half");
    argv[2] = (char *)"exec sleep 100";
    assert_int_equal(run_program(argv, RUN_FIRST_OUTPUT, 0.2, NULL, said, sizeof(said)), -1);
}

/* What squeue, sacct and scontrol print for a user's eyes is not what is read here. */
static void not_to_the_users_taste(void **state)
{
    static const char *const taste[] = {"SQUEUE_STATES",    "SQUEUE_FORMAT",  "SACCT_FORMAT",
                                        "SCONTROL_ALL",     "SLURM_CLUSTERS", "SLURM_TIME_FORMAT",
                                        "SLURM_BITSTR_LEN", "SLURM_LABELIO"};
    static const char *const kept[] = {"SLURM_CONF", "SLURM_JOB_ID", "XSQUEUE_STATES", "EDITOR"};
    char said[64], *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};

    (void)state;
    argv[2] = (char *)"env | grep -c '=taste$'; env | grep -c '=kept$'";
    for (size_t i = 0; i < sizeof(taste) / sizeof(taste[0]); i++)
        setenv(taste[i], "taste", 1);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        setenv(kept[i], "kept", 1);
    assert_int_equal(run_program(argv, RUN_OUTPUT, 20, NULL, said, sizeof(said)), 0);
    assert_string_equal(said, "0\n4\n");
    for (size_t i = 0; i < sizeof(taste) / sizeof(taste[0]); i++)
        assert_string_equal(getenv(taste[i]), "taste"); /* of this process nothing changes */
}

static void long_words_are_cut(void **state)
{
    char said[8];

    (void)state;
    assert_int_equal(run("echo 123456789 >&2", 20, said, sizeof(said)), 0);
    assert_string_equal(said, "1234567");
}

static void a_program_that_is_not_there(void **state)
{
    char said[128], *argv[] = {(char *)"/not/there", NULL};

    (void)state;
    assert_int_equal(run_program(argv, RUN_LAST_ERROR, 20, &stop, said, sizeof(said)), -1);
    assert_string_equal(said, "/not/there: No such file or directory");
}

/* Waits are `exec`ed: what is killed is all there is. */
static void one_that_hangs_is_ended(void **state)
{
    char said[128];

    (void)state;
    assert_int_equal(run("exec sleep 100", 0.2, said, sizeof(said)), -1);
    assert_non_null(strstr(said, "too long"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie is left */
}

static void *set_stop(void *arg)
{
    (void)arg;
    usleep(100000);
    atomic_store(&stop, true);
    return NULL;
}

static void it_is_ended_when_it_is_not_wanted(void **state)
{
    pthread_t thread;
    char said[128];

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, set_stop, NULL), 0);
    assert_int_equal(run("exec sleep 100", 90, said, sizeof(said)), -1);
    pthread_join(thread, NULL);
    atomic_store(&stop, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_end_and_last_words),
        cmocka_unit_test(its_first_words),
        cmocka_unit_test(all_its_words),
        cmocka_unit_test(not_to_the_users_taste),
        cmocka_unit_test(long_words_are_cut),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(one_that_hangs_is_ended),
        cmocka_unit_test(it_is_ended_when_it_is_not_wanted),
    };
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL); /* as in berthd's threads */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
