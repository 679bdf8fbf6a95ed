/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_log - one event is one line, whatever its text holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/log.h"

/* stderr goes to a pipe while a test runs. */
static int kept = -1, from = -1;

static int capture(void **state)
{
    int ends[2];

    (void)state;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -1;
    kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    from = ends[0];
    return 0;
}

static int release(void **state)
{
    (void)state;
    dup2(kept, STDERR_FILENO);
    close(kept);
    return close(from);
}

/* What was logged since the last look; "" when nothing was. */
static const char *logged(void)
{
    static char text[8192];
    ssize_t length = read(from, text, sizeof(text) - 1);

    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void assert_matches(const char *text, const char *pattern)
{
    regex_t regex;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    if (regexec(&regex, text, 0, NULL, 0) != 0)
        fail_msg("'%s' does not match %s", text, pattern);
    regfree(&regex);
}

static void test_line(void **state)
{
    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    log_info("step %d.%d placed", 4711, 0);
    assert_matches(logged(), "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}"
                             "[+-][0-9]{4} info  step 4711\\.0 placed\n$");
}

static void test_levels(void **state)
{
    static const char *const name[] = {" error ", " warn  ", " info  ", " debug "};

    (void)state;
    for (int least = LOG_LEVEL_ERROR; least <= LOG_LEVEL_DEBUG; least++) {
        log_open(LOG_TARGET_STDERR, (enum log_level)least);
        for (int level = LOG_LEVEL_ERROR; level <= LOG_LEVEL_DEBUG; level++) {
            log_line((enum log_level)level, "x");
            if (level <= least)
                assert_non_null(strstr(logged(), name[level]));
            else
                assert_string_equal(logged(), "");
        }
    }
}

static void test_forgery(void **state)
{
    const char *text;

    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    log_info("tag %s", "a\n2026-01-01 error forged\r\t\x1b[2J\x7f");
    text = logged();
    assert_non_null(strstr(text, "tag a?2026-01-01 error forged???[2J?\n"));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    log_info("%s", "gr\xc3\xbc\xc3\x9f \xc2\x9b"
                   "2J");
    assert_non_null(strstr(logged(), "gr\xc3\xbc\xc3\x9f ??2J\n"));
    log_info("%s", "cut \xc2"); /* a character cut at the text's end */
    assert_non_null(strstr(logged(), "cut ?\n"));
}

static void test_long_text_is_cut(void **state)
{
    char text[4000];

    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    log_info("%s", text);
    assert_in_range(strlen(logged()), 2000, 2200);
    log_info("short");
    assert_non_null(strstr(logged(), " info  short\n"));
}

/* One line at once; when its time has come again, the next one tells of those between. */
static void test_limited(void **state)
{
    struct log_limit limit = {0}, other = {0};

    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    for (int i = 0; i < 1000; i++)
        log_limited(&limit, LOG_LEVEL_WARN, "uid %d was turned away", i);
    assert_matches(logged(), "^[^\n]* warn  uid 0 was turned away\n$");
    limit.next_s = 0;
    log_limited(&limit, LOG_LEVEL_WARN, "again");
    assert_matches(logged(), " again \\(999 more of these\\)\n$");
    log_limited(&other, LOG_LEVEL_WARN, "of another kind");
    assert_matches(logged(), " of another kind\n$");
}

static void test_errno_is_kept(void **state)
{
    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    errno = ENOSPC;
    log_error("full");
    assert_int_equal(errno, ENOSPC);
    logged();
}

static void test_syslog_leaves_stderr_alone(void **state)
{
    (void)state;
    log_open(LOG_TARGET_SYSLOG, LOG_LEVEL_ERROR);
    log_info("not urgent enough for syslog either");
    assert_string_equal(logged(), "");
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_INFO);
    log_info("back");
    assert_non_null(strstr(logged(), "back"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_line, capture, release),
        cmocka_unit_test_setup_teardown(test_levels, capture, release),
        cmocka_unit_test_setup_teardown(test_forgery, capture, release),
        cmocka_unit_test_setup_teardown(test_long_text_is_cut, capture, release),
        cmocka_unit_test_setup_teardown(test_limited, capture, release),
        cmocka_unit_test_setup_teardown(test_errno_is_kept, capture, release),
        cmocka_unit_test_setup_teardown(test_syslog_leaves_stderr_alone, capture, release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
