/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_screen - lines that fit their terminal, in colour or not; a line of progress never wraps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "packer/cli/common/ctl.h"
#include "packer/cli/common/screen.h"

static char *written;
static size_t length;

static struct screen open_screen(size_t columns, size_t rows)
{
    return (struct screen){
        .out = open_memstream(&written, &length), .columns = columns, .rows = rows};
}

static void assert_written(struct screen *screen, const char *wanted)
{
    fclose(screen->out);
    assert_string_equal(written, wanted);
    free(written);
}

/* Pieces are cut at the edge, and blanks at a line's end are not written. */
static void test_cut(void **state)
{
    struct screen screen = open_screen(10, 2);

    (void)state;
    screen_put(&screen, SCREEN_BAD, "%s", "abc");
    screen_tab(&screen, 6);
    screen_put(&screen, SCREEN_PLAIN,
               "\xc3\xbc"
               "fghijk");
    screen_end(&screen);
    screen_line(&screen, SCREEN_PLAIN, "x   ");
    assert_true(screen_full(&screen, 0));
    screen_line(&screen, SCREEN_PLAIN, "beyond the last row");
    assert_written(&screen, "abc   \xc3\xbc"
                            "fgh\nx\n");
}

/* Colour stands around the text, takes no column, and lets nobody else's through. */
static void test_colour(void **state)
{
    struct screen screen = open_screen(4, 0);

    (void)state;
    screen.colour = true;
    screen_put(&screen, SCREEN_BAD, "ab\033");
    screen_put(&screen, SCREEN_PLAIN, "cd");
    screen_end(&screen);
    assert_written(&screen, "\033[31mab?\033[0mc\n");
}

static void test_ascii(void **state)
{
    struct screen screen = open_screen(0, 0);

    (void)state;
    screen.ascii = true;
    screen_line(&screen, SCREEN_PLAIN,
                "gr\xc3\xbc\xc3\x9f"
                "e");
    assert_written(&screen, "gr??e\n");
}

/* A number stays beside its percent. */
static void test_wrap(void **state)
{
    struct screen screen = open_screen(12, 0);

    (void)state;
    screen_wrap(&screen, SCREEN_PLAIN, 2, "one two (33 %) threeandthirty");
    assert_written(&screen, "one two\n  (33 %)\n  threeandth\n");
}

static void test_bar(void **state)
{
    struct screen screen = {0};
    char text[256], percent[32];

    (void)state;
    assert_string_equal(screen_bar(&screen, 1, 4, 10, text), "[##......]");
    assert_string_equal(screen_bar(&screen, 0, 0, 4, text), "[..]");
    screen.utf8 = true;
    assert_string_equal(screen_bar(&screen, 1, 2, 4, text), "[\xe2\x96\x88\xe2\x96\x91]");
    assert_string_equal(screen_percent(0.5, percent), "50 %");
    assert_string_equal(screen_percent(0.0312, percent), "3.1 %");
    assert_string_equal(screen_percent(0.0996, percent), "10 %");
    assert_string_equal(screen_percent(0, percent), "0 %");
    assert_string_equal(screen_percent(NAN, percent), "-");
}

/* Reads until the end of a line of progress: a terminal may give it in pieces. */
static void read_line_of(int terminal, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got = 1;

    text[0] = '\0';
    while (got > 0 && !strstr(text, "\033[K")) {
        got = read(terminal, text + n, size - 1 - n);
        n += got > 0 ? (size_t)got : 0;
        text[n] = '\0';
    }
}

/* A line of progress on a terminal of 30 columns has 29 characters at most. */
static void test_progress(void **state)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), other, saved = dup(STDERR_FILENO);
    struct winsize size = {.ws_row = 10, .ws_col = 30};
    char text[256];

    (void)state;
    if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
        skip();
    other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(other >= 0);
    assert_int_equal(ioctl(other, TIOCSWINSZ, &size), 0);
    dup2(other, STDERR_FILENO);
    ctl_put_progress("%s", "123456789 123456789 123456789 123456789");
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    read_line_of(terminal, text, sizeof(text));
    assert_string_equal(text, "\r123456789 123456789 123456789\033[K");
    close(other);
    close(saved);
    close(terminal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),   cmocka_unit_test(test_colour),
        cmocka_unit_test(test_ascii), cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_bar),   cmocka_unit_test(test_progress)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
