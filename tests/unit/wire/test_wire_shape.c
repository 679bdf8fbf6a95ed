/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_shape - command lines of one kind have one shape, those of different kinds have not. */
#include "packer/wire/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The shape of a command line whose words are parted by blanks. */
static void shape_of(const char *line, char shape[WIRE_SHAPE_MAX])
{
    char *words = strdup(line), *argv[64], *save = NULL;
    int argc = 0;

    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    argv[argc] = NULL;
    wire_args_shape(argc, argv, shape);
    free(words);
}

static void test_shapes(void **state)
{
    static const char *const cases[][2] = {
        {"prog", "()"},
        {"/any/prog -n 100 --in=/data/a.mtx", "-n # --in=/.mtx"},
        {"prog -n 7 --in=../b.mtx", "-n # --in=/.mtx"},
        {"prog -O3 -j16", "-O# -j#"},
        {"prog 1 -1 +2 1.5 1e9 2.5E-3 -1.5e+10 .5 1. 3-4", "# # # # # # # .# #. #-#"},
        {"prog 4M 0x10 1e 5ex", "~7162 ~4b9a ~58ed ~c0f1"},
        {"prog big.in run.sh 10.0.0.1 a.b.tar.gz", "/.in /.sh #.# /.gz"},
        {"prog /tmp/x /tmp/ /tmp/.hidden ./a.1 ./a.longextension", "/ / / / /~eed4"},
        {"prog .bashrc file. a.h5 a.p4p", "~4a8f ~b4ee /.h# /.p#p"},
        {"prog --solver=cg --solver=mg2", "--solver=~66b7 --solver=~4747"},
        {"prog X=1 /a=b/c.dat -Dk=v=/x.y", "~0537=# /.dat -D/.y"},
        {"prog \303\244\001\177 \033[2J", "~c6a3 ~64e9"},
        {"prog - -- --a", "- -- --a"},
        {"prog fast2 fast3", "~0f56 ~0f56"},
    };
    char shape[WIRE_SHAPE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        shape_of(cases[i][0], shape);
        if (strcmp(shape, cases[i][1]) != 0)
            fail_msg("'%s': '%s', not '%s'", cases[i][0], shape, cases[i][1]);
    }
}

/* A password, a token or a name stands in no shape, wherever the command line has it; two of them
 * are told apart. */
static void test_no_secrets(void **state)
{
    static const char *const lines[] = {
        "prog %s",          "prog -p %s",
        "prog -p%s",        "prog --api-token=%s",
        "prog --user %s",   "prog PASSWORD=%s",
        "prog %s=",         "prog %s==",
        "prog host:%s",     "prog --token:%s",
        "prog --p@%s=x",    "prog x.%s",
        "prog --in=x.%s",   "prog /home/%s/x.dat",
        "prog %s@host.org", "prog http://u:%s@host/x.gz",
        "prog -c exec:%s",  "prog +%s",
        "prog .%s",         "prog /tmp/%s",
        "prog --in=/x.%s",  "prog 1%s",
        "prog [%s]",        "prog -Dpassword=%s",
    };
    char line[128], shape[2][WIRE_SHAPE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(line, sizeof(line), lines[i], "sesameOpen");
        shape_of(line, shape[0]);
        for (const char *part = "sesameOpen"; strlen(part) >= 4; part++)
            for (size_t n = 4; n <= strlen(part); n++) {
                char cut[16];

                snprintf(cut, sizeof(cut), "%.*s", (int)n, part);
                if (strstr(shape[0], cut))
                    fail_msg("'%s': '%s' has '%s'", line, shape[0], cut);
            }
        snprintf(line, sizeof(line), lines[i], "anotherWord");
        shape_of(line, shape[1]);
        if (strcmp(shape[0], shape[1]) == 0 && !strchr(lines[i], '/') && !strchr(lines[i], '@'))
            fail_msg("'%s': '%s' for two", lines[i], shape[0]);
    }
}

static bool is_hash(const char *shape)
{
    return strlen(shape) == 16 && strspn(shape, "0123456789abcdef") == 16;
}

/* Long ones are hashed, by what they are and not by their values. */
static void test_long(void **state)
{
    char line[4096] = "prog", other[4096] = "prog", shape[3][WIRE_SHAPE_MAX];

    (void)state;
    for (int i = 0; i < 20; i++) {
        snprintf(line + strlen(line), sizeof(line) - strlen(line), " --option%c=%d", 'a' + i, i);
        snprintf(other + strlen(other), sizeof(other) - strlen(other), " --option%c=%d", 'a' + i,
                 i * 100);
    }
    shape_of(line, shape[0]);
    shape_of(other, shape[1]);
    strcat(other, " --more");
    shape_of(other, shape[2]);
    assert_true(is_hash(shape[0]));
    assert_string_equal(shape[0], shape[1]);
    assert_string_not_equal(shape[0], shape[2]);
}

static void test_bound_between(void **state)
{
    char word[WIRE_SHAPE_MAX + 8], shape[WIRE_SHAPE_MAX];
    char *argv[] = {word, word, NULL};

    (void)state;
    for (size_t length = WIRE_SHAPE_MAX - 2; length <= WIRE_SHAPE_MAX + 1; length++) {
        memset(word, 'x', length);
        memcpy(word, "--", 2);
        word[length] = '\0';
        wire_args_shape(2, argv, shape);
        assert_true(length < WIRE_SHAPE_MAX ? strcmp(shape, word) == 0 : is_hash(shape));
    }
}

/* However long the words are, and whatever argc says. */
static void test_odd_argv(void **state)
{
    char *huge = malloc(1 << 20), shape[WIRE_SHAPE_MAX], again[WIRE_SHAPE_MAX];
    char *argv[] = {huge, huge, huge, NULL}, *none[] = {NULL, NULL};

    (void)state;
    assert_non_null(huge);
    for (const char *c = "x1/.=\377"; *c; c++) {
        memset(huge, *c, (1 << 20) - 1);
        huge[(1 << 20) - 1] = '\0';
        wire_args_shape(3, argv, shape);
        assert_true(strlen(shape) < WIRE_SHAPE_MAX);
        wire_args_shape(INT_MAX, argv, again);
        assert_string_equal(again, shape);
    }
    free(huge);
    wire_args_shape(1, argv, shape);
    assert_string_equal(shape, "()");
    wire_args_shape(2, none, shape);
    assert_string_equal(shape, "()");
    wire_args_shape(0, none, shape);
    assert_string_equal(shape, "()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_no_secrets),
        cmocka_unit_test(test_long),     cmocka_unit_test(test_bound_between),
        cmocka_unit_test(test_odd_argv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
