/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_conf - values of slurm.conf and of the files that it includes. */
#include "packer/slurm/slurm_conf.h"

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

/* What is said last counts, wherever it stands. */
static void test_values(void **state)
{
    static const struct {
        const char *text, *value; /* of PrologFlags; NULL: a file cannot be read */
    } row[] = {
        {"", "as before"},
        {"PrologFlags=Alloc\n", "Alloc"},
        {"\tprologflags = Alloc,Contain # so\n", "Alloc,Contain"},
        {"PrologFlags=\"Alloc\"\n", "Alloc"},
        {"PrologFlags=\n", ""},
        {"#PrologFlags=Alloc\n", "as before"},
        {"PrologFlagsX=Alloc\nX PrologFlags=Alloc\n", "as before"},
        {"PrologFlags=Alloc\nPrologFlags=X11\n", "X11"},
        {"PrologFlags=\\\nAlloc\n", "Alloc"},
        {"Include more.conf\n", "RunInJob"},
        {"include ./more.conf\nPrologFlags=Alloc\n", "Alloc"},
        {"PrologFlags=Alloc\nInclude\tmore.conf\n", "RunInJob"},
        {"Include twice.conf\n", "RunInJob"},
        {"ClusterName=blue\nInclude of-%c.conf\n", "Blue"},
        {"Include of-%c.conf\nClusterName=blue\n", NULL}, /* as with Slurm */
        {"Include none.conf\nPrologFlags=Alloc\n", NULL},
        {"Include self.conf\n", NULL},
    };
    char path[PATH_MAX], value[32];
    struct berth_error err;

    (void)state;
    folder_put_at(folder, "more.conf", "PrologFlags=RunInJob\n", path);
    folder_put_at(folder, "twice.conf", "Include more.conf\n", path);
    folder_put_at(folder, "of-blue.conf", "PrologFlags=Blue\n", path);
    folder_put_at(folder, "self.conf", "Include self.conf\n", path);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        int rc;

        folder_put_at(folder, "slurm.conf", row[i].text, path);
        strcpy(value, "as before");
        rc = slurm_conf_value(path, "PrologFlags", value, sizeof(value), &err);
        if (rc != (row[i].value ? 0 : -1) || (row[i].value && strcmp(value, row[i].value) != 0))
            fail_msg("'%s': '%s', not '%s'", row[i].text, value, row[i].value ? row[i].value : "");
    }
}

/* A key of NodeName's, say, in one of its lines. */
static void test_anywhere(void **state)
{
    static const struct {
        const char *text, *value;
    } row[] = {
        {"NodeName=a CoreSpecCount=2 CPUs=8\n", "2"},
        {"NodeName=a corespeccount=2\nNodeName=b CoreSpecCount=3\n", "3"},
        {"CoreSpecCount=1\n", "1"},
        {"NodeName=a CoreSpecCount=0 CPUs=8\nNodeName=b CoreSpecCount=0\n", ""},
        {"NodeName=a XCoreSpecCount=1 CoreSpecCountX=1\n", ""},
        {"NodeName=a # CoreSpecCount=1\n#CoreSpecCount=1\n", ""},
        {"", ""},
    };
    char path[PATH_MAX], value[32];
    struct berth_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        folder_put_at(folder, "slurm.conf", row[i].text, path);
        value[0] = '\0';
        assert_int_equal(slurm_conf_anywhere(path, "CoreSpecCount", value, sizeof(value), &err), 0);
        assert_string_equal(value, row[i].value);
    }
}

/* berth.conf goes before the environment. */
static void test_path(void **state)
{
    struct conf conf;

    (void)state;
    conf_init(&conf);
    setenv("SLURM_CONF", "/of/the/environment", 1);
    assert_string_equal(slurm_conf_path(&conf), "/of/the/environment");
    strcpy(conf.slurm_conf, "/of/berth.conf");
    assert_string_equal(slurm_conf_path(&conf), "/of/berth.conf");
}

static int make_folder(void **state)
{
    (void)state;
    folder_new(folder, sizeof(folder), "berth-slurm");
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
        cmocka_unit_test(test_anywhere),
        cmocka_unit_test(test_path),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
