/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_subuids - files as useradd(8) and admins write them, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "packer/system/subuids.h"
#include "tests/unit/common/folder.h"

static void parse(struct subuids *subuids, const char *text)
{
    char *copy = strdup(text);

    subuids_parse(subuids, copy);
    free(copy);
}

static void test_owners(void **state)
{
    static const struct {
        uid_t uid, owner;
    } is[] = {
        {0, 0},           {1001, 1001},     {99999, 99999},           {100000, 100000},
        {165535, 100000}, {165536, 165536}, {231071, 165536},         {231072, 231072},
        {300000, 100000}, {300009, 100000}, {300010, 300010},         {400000, 1003},
        {465535, 1003},   {465536, 465536}, {UINT32_MAX, UINT32_MAX},
    };
    struct subuids subuids = {.n = 0};

    (void)state;
    parse(&subuids, "alice:100000:65536\nbob:165536:65536\nalice:300000:10\n1003:400000:65536\n");
    for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
        if (subuids_owner(&subuids, is[i].uid) != is[i].owner)
            fail_msg("%u is given to %u", is[i].uid, subuids_owner(&subuids, is[i].uid));
    subuids_free(&subuids);
}

static void test_no_lines(void **state)
{
    static const char *const none[] = {
        "",
        "\n\n",
        "# alice:1:2",
        "alice",
        "alice:100000",
        "alice:x:5",
        "a:1:-",
        "a:-1:10",
        "a:1:4294967295",
        "a:100000:4294900000",
        "a:1:99999999999999999999",
        "a:100000:0\n",
        "a:1:2:3",
    };
    struct subuids subuids = {.n = 0};

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        parse(&subuids, none[i]);
        for (uid_t uid = 0; uid < 3; uid++)
            if (subuids_owner(&subuids, uid) != uid)
                fail_msg("'%s' says something of %u", none[i], uid);
        assert_int_equal(subuids_owner(&subuids, 100000), 100000);
    }
    subuids_free(&subuids);
}

/* Who is added is known with the next question, and a file that is gone says nothing. */
static void test_file(void **state)
{
    struct subuids subuids = {.n = 0};
    struct rootfs root;
    char path[64];

    (void)state;
    folder_new(path, sizeof(path), "berth-subuids");
    assert_int_equal(rootfs_open(&root, path, NULL), 0);
    subuids_read(&subuids, &root);
    assert_int_equal(subuids_owner(&subuids, 100007), 100007);
    folder_put(path, "etc/subuid", "alice:100000:65536\n");
    subuids_read(&subuids, &root);
    assert_int_equal(subuids_owner(&subuids, 100007), 100000);
    folder_put(path, "etc/subuid", "bob:100007:1\n");
    subuids_read(&subuids, &root);
    assert_int_equal(subuids_owner(&subuids, 100007), 100007);
    assert_int_equal(subuids_owner(&subuids, 100008), 100008);
    folder_remove(path);
    subuids_read(&subuids, &root);
    assert_int_equal(subuids.n, 0);
    rootfs_close(&root);
    subuids_free(&subuids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
