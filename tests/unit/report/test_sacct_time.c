/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_sacct_time - each form that sacct takes, beside what Slurm itself makes of it where its
 * library is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packer/report/sacct_time.h"

#define NOW 1795263330 /* 2026-11-21T12:15:30 UTC, a Saturday */

static void zone(const char *name)
{
    setenv("TZ", name, 1);
    tzset();
}

static const char *text_of(int64_t at, char text[32])
{
    time_t seconds = (time_t)at;
    struct tm tm;

    strftime(text, 32, "%Y-%m-%dT%H:%M:%S", localtime_r(&seconds, &tm));
    return text;
}

static const struct {
    const char *text, *at;
} good[] = {
    {"2026-11-21", "2026-11-21T00:00:00"},
    {"2026-11-21T08:30", "2026-11-21T08:30:00"},
    {"2026-11-21T08:30:59", "2026-11-21T08:30:59"},
    {"2026-02-28-23:59:59", "2026-02-28T23:59:59"},
    {"2024-02-29 00:00", "2024-02-29T00:00:00"},
    {"08:30", "2026-11-21T08:30:00"},
    {"8:30", "2026-11-21T08:30:00"},
    {"23:30", "2026-11-21T23:30:00"}, /* sacct: today, even if it is yet to come */
    {"8:30PM", "2026-11-21T20:30:00"},
    {"8:30:01 pm", "2026-11-21T20:30:01"},
    {"12:05AM", "2026-11-21T00:05:00"},
    {"12:05PM", "2026-11-21T12:05:00"},
    {"1101", "2026-11-01T00:00:00"},
    {"110125", "2025-11-01T00:00:00"},
    {"1201", "2025-12-01T00:00:00"}, /* a month that is yet to come: last year's */
    {"11/30", "2026-11-30T00:00:00"},
    {"11/01/24", "2024-11-01T00:00:00"},
    {"11.01", "2026-11-01T00:00:00"},
    {"11.01.24", "2024-11-01T00:00:00"},
    {"1/2", "2026-01-02T00:00:00"},
    {"1101-10:20", "2026-11-01T10:20:00"},
    {"110125-10:20:30", "2025-11-01T10:20:30"},
    {"11/01/24-10:20", "2024-11-01T10:20:00"},
    {"10:20 11/01/24", "2024-11-01T10:20:00"},
    {"today", "2026-11-21T00:00:00"},
    {"tomorrow", "2026-11-22T00:00:00"},
    {"midnight", "2026-11-21T00:00:00"},
    {"noon", "2026-11-21T12:00:00"},
    {"Noon 11/01", "2026-11-01T12:00:00"},
    {"now", "2026-11-21T12:15:30"},
    {"now-30", "2026-11-21T12:15:00"},
    {"now-30seconds", "2026-11-21T12:15:00"},
    {"now+1minute", "2026-11-21T12:16:30"},
    {"now - 2 hours", "2026-11-21T10:15:30"},
    {"now-1day", "2026-11-20T12:15:30"},
    {"now-2WEEKS", "2026-11-07T12:15:30"},
    {"uts1795263330", "2026-11-21T12:15:30"},
};

static void test_good(void **state)
{
    (void)state;
    zone("UTC0");
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct berth_error err = {""};
        int64_t at = 0;
        char text[32];

        if (sacct_time_parse(good[i].text, NOW, &at, &err) < 0)
            fail_msg("%s: %s", good[i].text, err.text);
        if (strcmp(text_of(at, text), good[i].at) != 0)
            fail_msg("%s: %s expected, not %s", good[i].text, good[i].at, text);
    }
}

static const char *const bad[] = {
    "",
    "yesterday",
    "24:00",
    "12:60",
    "8",
    "8:3",
    "13:00PMx",
    "13:00pm",
    "13:00AM",
    "1301",
    "1132",
    "11/32",
    "2026-13-01",
    "2026-11-32",
    "2026-11",
    "now+",
    "now-x",
    "now-1d",
    "now-1hourx",
    "now 1",
    "uts12",
    "uts",
    "uts99x",
    "-",
    "T",
    "today x",
    "12:00:60",
    "12:00:0",
    "now-99999999999999999999",
    "uts99999999999999999999",
    "now-9223372036854775807weeks",
    "elevenses", /* Slurm has these */
    "fika",
    "teatime",
};

/* Days that no month has: Slurm takes the days after, which nobody means. */
static const char *const no_day[] = {"2026-02-30", "2025-02-29", "4/31"};

static void test_no_day(void **state)
{
    int64_t at;

    (void)state;
    for (size_t i = 0; i < sizeof(no_day) / sizeof(no_day[0]); i++)
        if (sacct_time_parse(no_day[i], NOW, &at, NULL) == 0)
            fail_msg("'%s' was taken", no_day[i]);
}

static void test_bad(void **state)
{
    (void)state;
    zone("UTC0");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct berth_error err = {""};
        int64_t at = 42;

        if (sacct_time_parse(bad[i], NOW, &at, &err) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(at, 42);
        assert_non_null(strstr(err.text, "as sacct takes it"));
    }
}

/* Slurm's hours of tea are no hours of a report. */
static void test_no_tea(void **state)
{
    static const char *const tea[] = {"elevenses", "fika", "teatime"};
    int64_t at;

    (void)state;
    for (size_t i = 0; i < sizeof(tea) / sizeof(tea[0]); i++)
        assert_int_equal(sacct_time_parse(tea[i], NOW, &at, NULL), -1);
}

/* Local time, and days of 23 and 25 hours. */
static void test_zone(void **state)
{
    struct berth_error err;
    int64_t at, before;

    (void)state;
    zone("CET-1CEST,M3.5.0,M10.5.0/3");
    assert_int_equal(sacct_time_parse("2026-10-25", NOW, &before, &err), 0);
    assert_int_equal(sacct_time_parse("2026-10-26", NOW, &at, &err), 0);
    assert_int_equal(at - before, 25 * 3600);
    assert_int_equal(sacct_time_midnight(at + 3601), at);
    assert_int_equal(sacct_time_midnight(at - 1), before);
    assert_int_equal(sacct_time_parse("2026-03-29", NOW, &before, &err), 0);
    assert_int_equal(sacct_time_parse("2026-03-30", NOW, &at, &err), 0);
    assert_int_equal(at - before, 23 * 3600);
    zone("UTC0");
}

/* On 25 October 2026 the hour from 2:00 comes twice: at 0:00 and at 1:00 UTC. */
static void test_doubled_hour(void **state)
{
    const int64_t second = 1792891800; /* 02:30 CET, 01:30 UTC */
    struct berth_error err;
    int64_t at;

    (void)state;
    zone("CET-1CEST,M3.5.0,M10.5.0/3");
    for (int64_t now = second - 7200; now <= second + 7200; now += 900) {
        assert_int_equal(sacct_time_parse("now", now, &at, &err), 0);
        assert_int_equal(at, now);
        assert_int_equal(sacct_time_parse("now-1hour", now, &at, &err), 0);
        assert_int_equal(at, now - 3600);
    }
    zone("UTC0");
}

/* ---- beside Slurm ---- */

typedef time_t slurm_parse_time(const char *text, int past);

static slurm_parse_time *slurm(void)
{
    static const char *const path[] = {"/usr/lib/x86_64-linux-gnu/slurm-wlm/libslurmfull.so",
                                       "/usr/lib/aarch64-linux-gnu/slurm-wlm/libslurmfull.so",
                                       "/usr/lib64/slurm/libslurmfull.so"};
    slurm_parse_time *function = NULL;

    for (size_t i = 0; i < sizeof(path) / sizeof(path[0]) && !function; i++) {
        void *library = dlopen(path[i], RTLD_LAZY | RTLD_LOCAL);

        if (library)
            *(void **)&function = dlsym(library, "slurm_parse_time");
    }
    return function;
}

/* Slurm asks the clock itself: both within the same second. */
static void compare(slurm_parse_time *parse, const char *text, char *differs, size_t size)
{
    struct berth_error err;
    int64_t at = -1;
    time_t now, theirs;

    do {
        now = time(NULL);
        theirs = parse(text, 1);
        if (sacct_time_parse(text, now, &at, &err) < 0)
            at = 0; /* theirs for what they do not take */
    } while (time(NULL) != now);
    if (at != theirs)
        snprintf(differs + strlen(differs), size - strlen(differs),
                 " '%s': Slurm says %lld, we say %lld;", text, (long long)theirs, (long long)at);
}

static void test_beside_slurm(void **state)
{
    slurm_parse_time *parse = slurm();
    char differs[4096] = "";
    int null, kept;

    (void)state;
    if (!parse) {
        print_message("libslurmfull.so is not here: Slurm's own parser was not compared\n");
        skip();
    }
    zone("CET-1CEST,M3.5.0,M10.5.0/3");
    fflush(stderr);
    kept = dup(STDERR_FILENO); /* it complains there */
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        compare(parse, good[i].text, differs, sizeof(differs));
    for (size_t i = 1; i < 24; i++) /* no overflows: those are Slurm's to keep */
        compare(parse, bad[i], differs, sizeof(differs));
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(null);
    zone("UTC0");
    assert_string_equal(differs, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),   cmocka_unit_test(test_bad),
        cmocka_unit_test(test_no_day), cmocka_unit_test(test_no_tea),
        cmocka_unit_test(test_zone),   cmocka_unit_test(test_doubled_hour),
        cmocka_unit_test(test_beside_slurm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
