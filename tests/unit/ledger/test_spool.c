/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_spool - the files of lines, as somebody else leaves them: what is taken is whole lines that
 * are really there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/ledger/spool.h"
#include "tests/unit/common/folder.h"

static char folder[64];

static int setup(void **state)
{
    (void)state;
    folder_new(folder, sizeof(folder), "berth-spool");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return folder_remove(folder);
}

static void cut(unsigned file, off_t length)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/%u.jsonl", folder, file);
    assert_int_equal(truncate(path, length), 0);
}

static void expect(struct spool *spool, const char *wanted, size_t lines)
{
    struct spool_text out;
    struct berth_error err = {""};

    assert_int_equal(spool_read(spool, &out, &err), 0);
    assert_string_equal(out.text, wanted);
    assert_int_equal(out.length, strlen(wanted));
    assert_int_equal(out.lines, lines);
    free(out.text);
}

/* A file that is shorter than what was written to it: on a disk that was restored, or emptied. */
static void test_cut(void **state)
{
    struct berth_error err = {""};
    struct spool spool;
    size_t file;

    (void)state;
    assert_int_equal(spool_open(&spool, folder, &err), 0);
    file = spool.at;
    for (int i = 0; i < 100; i++)
        assert_int_equal(spool_append(&spool, i % 2 ? "odd\n" : "even\n", &err), 0);
    assert_true(spool_turn(&spool));
    cut((unsigned)file, 11);
    expect(&spool, "even\nodd\n", 2);
    cut((unsigned)file, 3);
    expect(&spool, "", 0);
    cut((unsigned)file, 0);
    expect(&spool, "", 0);
    assert_int_equal(spool_clear(&spool, &err), 0);
    assert_int_equal(spool_lines(&spool), 0);
    assert_int_equal(spool_append(&spool, "new\n", &err), 0);
    assert_true(spool_turn(&spool));
    expect(&spool, "new\n", 1);
    spool_close(&spool);
}

/* What another process adds behind it is not taken: it may be half of a line. */
static void test_longer(void **state)
{
    struct berth_error err = {""};
    struct spool spool;
    char path[96];
    FILE *out;

    (void)state;
    assert_int_equal(spool_open(&spool, folder, &err), 0);
    snprintf(path, sizeof(path), "%s/%zu.jsonl", folder, spool.at);
    assert_int_equal(spool_append(&spool, "one\n", &err), 0);
    out = fopen(path, "a");
    assert_non_null(out);
    fputs("two\nthr", out);
    fclose(out);
    assert_true(spool_turn(&spool));
    expect(&spool, "one\n", 1);
    spool_close(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(test_longer, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
