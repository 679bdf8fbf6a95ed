/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_path_owner - folders in which a user could replace root's files. */
#include "packer/base/path_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/common/folder.h"

#define USER 65534

static char folder[64];

static char *in(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void refused(const char *name, const char *why)
{
    struct berth_error err = {""};

    if (path_owner_check(in(name), &err) == 0)
        fail_msg("%s: taken", name);
    if (!strstr(err.text, why))
        fail_msg("%s: '%s'", name, err.text);
}

static void taken(const char *name)
{
    struct berth_error err = {""};

    if (path_owner_check(in(name), &err) < 0)
        fail_msg("%s: %s", name, err.text);
}

static void make(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(in(name), 0700), 0);
    assert_int_equal(chmod(in(name), mode), 0);
}

static void test_modes(void **state)
{
    (void)state;
    make("good", 0755);
    make("good/more", 0700);
    taken("good/more/file");
    taken("good/none/at/all");
    make("open", 0777);
    refused("open/file", "any user could replace");
    taken("open"); /* the name itself is in a good folder, as far as folders go */
    make("sticky", 01777);
    taken("sticky/file");
    make("group", 0775);
    taken("group/file"); /* root's own group */
    assert_int_equal(symlink("good/more", in("link")), 0);
    taken("link/file");
    assert_int_equal(symlink("open", in("openlink")), 0);
    refused("openlink/file", "any user could replace");
    assert_int_equal(symlink("loop", in("loop")), 0);
    refused("loop/file", "too many links");
}

/* What another user owns is his to change, a link and a folder below a sticky one, too. */
static void test_owners(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make("theirs", 0755);
    assert_int_equal(chown(in("theirs"), USER, USER), 0);
    refused("theirs/file", "belongs to user 65534");
    make("shared", 01777);
    make("shared/theirs", 0755);
    assert_int_equal(chown(in("shared/theirs"), USER, USER), 0);
    refused("shared/theirs/file", "belongs to user 65534");
    make("fine", 0755);
    assert_int_equal(symlink("../fine", in("shared/link")), 0);
    taken("shared/link/file");
    assert_int_equal(lchown(in("shared/link"), USER, USER), 0);
    refused("shared/link/file", "belongs to user 65534");
    make("staff", 0775);
    assert_int_equal(chown(in("staff"), 0, USER), 0);
    refused("staff/file", "its group could replace");
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/berth-owner.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_owners),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
