/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_private_data - what slurm.conf says of PrivateData, and what is not known is private. */
#include "packer/slurm/private_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/folder.h"

static char folder[128];

static void test_values(void **state)
{
    static const struct {
        const char *text;
        int hides;
    } row[] = {
        {"", 0},
        {"ClusterName=x\n", 0},
        {"PrivateData=jobs\n", 1},
        {"privatedata = accounts,Jobs,users\n", 1},
        {"  PrivateData=usage # so\n", 1},
        {"PrivateData=nodes", 1},
        {"PrivateData=accounts,events,reservations,users\n", 0},
        {"#PrivateData=jobs\n", 0},
        {"PrivateDataX=jobs\n", 0},
        {"PrivateData=jobs\nPrivateData=users\n", 0},
        {"PrivateData=users,\\\njobs\n", 0}, /* a blank ends the value */
        {"PrivateData=\\\njobs\n", 1},
        {"Include more.conf\nClusterName=x\n", 1},
        {"include ./more.conf\n", 1},
        {"Include none.conf\nPrivateData=users\n", -1},
        {"Include self.conf\n", -1},
    };
    char path[PATH_MAX];
    struct berth_error err;

    (void)state;
    folder_put_at(folder, "more.conf", "PrivateData=jobs\n", path);
    folder_put_at(folder, "self.conf", "Include self.conf\n", path);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        folder_put_at(folder, "slurm.conf", row[i].text, path);
        if (private_data_of(path, &err) != row[i].hides)
            fail_msg("'%s': not %d", row[i].text, row[i].hides);
    }
}

/* What berth.conf says goes first; a slurm.conf that cannot be read hides. */
static void test_hides(void **state)
{
    char path[PATH_MAX];
    struct conf conf;

    (void)state;
    conf_init(&conf);
    folder_put_at(folder, "slurm.conf", "PrivateData=jobs\n", conf.slurm_conf);
    assert_true(private_data_hides(&conf));
    conf.private_data = CONF_PRIVATE_OFF;
    assert_false(private_data_hides(&conf));
    conf.private_data = CONF_PRIVATE_SLURM;
    folder_put_at(folder, "slurm.conf", "PrivateData=users\n", path);
    assert_false(private_data_hides(&conf));
    conf.private_data = CONF_PRIVATE_ON;
    assert_true(private_data_hides(&conf));
    conf.private_data = CONF_PRIVATE_SLURM;
    snprintf(conf.slurm_conf, sizeof(conf.slurm_conf), "%.120s/none", folder);
    assert_true(private_data_hides(&conf));
}

static int make_folder(void **state)
{
    (void)state;
    folder_new(folder, sizeof(folder), "berth-private");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_hides),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
