/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preload: what LD_PRELOAD becomes, and that a task whose library is not there, or whose
 * environment cannot be changed, has no page. (That it has both where they are: tests/spank.) */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin/preload.h"

/* ---- Slurm, with these two variables ---- */

static char page[PATH_MAX], preload[16384], asan[16384];

static char *find(const char *name, size_t *size)
{
    bool is_page = strcmp(name, "BERTH_RT_PAGE") == 0;

    *size = is_page ? sizeof(page) : sizeof(preload);
    return is_page ? page : strcmp(name, "LD_PRELOAD") == 0 ? preload : asan;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *text, int size)
{
    size_t length;
    const char *value = find(name, &length);

    (void)spank;
    if (!value[0])
        return ESPANK_ENV_NOEXIST;
    return snprintf(text, (size_t)size, "%s", value) < size ? ESPANK_SUCCESS : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    size_t size;
    char *variable = find(name, &size);

    (void)spank;
    if (variable[0] && !overwrite)
        return ESPANK_ENV_EXISTS;
    snprintf(variable, size, "%s", value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    size_t size;

    (void)spank;
    find(name, &size)[0] = '\0';
    return ESPANK_SUCCESS;
}

/* ---- */

#define OURS "/usr/lib/berth/libberth_rt.so"

static void test_list(void **state)
{
    static const struct {
        const char *inherited, *library, *list;
    } table[] = {
        {"", OURS, OURS},
        {"", NULL, ""},
        {"/a.so", OURS, "/a.so:" OURS},
        {"/a.so:b.so /c.so", OURS, "/a.so:b.so:/c.so:" OURS},
        {OURS, OURS, OURS},
        {OURS, NULL, ""},
        {"/a.so:" OURS, OURS, "/a.so:" OURS},
        {"/elsewhere/libberth_rt.so:/a.so", OURS, "/a.so:" OURS},
        {"libberth_rt.so /a.so::/b.so: ", NULL, "/a.so:/b.so"},
        {"/a/libberth_rt.so.1:/not-libberth_rt.so", NULL,
         "/a/libberth_rt.so.1:/not-libberth_rt.so"},
    };
    char out[256];

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_int_equal(preload_list(table[i].inherited, table[i].library, out, sizeof(out)), 0);
        assert_string_equal(out, table[i].list);
    }
}

static void test_too_long(void **state)
{
    char out[8] = "kept", *many = malloc(20000);

    (void)state;
    assert_non_null(many);
    assert_int_equal(preload_list("/a.so", "/b.so", out, sizeof(out)), -1);
    assert_int_equal(preload_list("/123456", NULL, out, sizeof(out)), 0);
    assert_string_equal(out, "/123456");
    assert_int_equal(preload_list("/1234567", NULL, out, sizeof(out)), -1);
    memset(many, 'x', 19999);
    many[19999] = '\0';
    assert_int_equal(preload_list(many, NULL, many, 20000), -1);
    assert_string_equal(out, "/123456");
    free(many);
}

/* This program has no library beside it. */
static void test_no_library(void **state)
{
    struct berth_error err;

    (void)state;
    strcpy(page, "/run/berth/steps/outer");
    strcpy(preload, "/a.so:" OURS);
    assert_int_equal(preload_task(NULL, "/run/berth/steps/inner", &err), -1);
    assert_non_null(strstr(err.text, "libberth_rt.so cannot be read: No such file"));
    assert_string_equal(page, "");
    assert_string_equal(preload, "/a.so");
}

static void test_taken_away(void **state)
{
    (void)state;
    strcpy(page, "/run/berth/steps/outer");
    strcpy(preload, OURS);
    assert_int_equal(preload_task(NULL, NULL, NULL), 0);
    assert_string_equal(page, "");
    assert_string_equal(preload, "");
    strcpy(preload, OURS); /* without a page of ours it is the user's own */
    assert_int_equal(preload_task(NULL, NULL, NULL), 0);
    assert_string_equal(preload, OURS);
    strcpy(page, "/run/berth/steps/outer");
    memset(preload, 'x', sizeof(preload) - 1); /* is left as it is, and does nothing */
    assert_int_equal(preload_task(NULL, NULL, NULL), 0);
    assert_string_equal(page, "");
    assert_int_equal(strlen(preload), sizeof(preload) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_taken_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
