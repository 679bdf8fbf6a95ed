/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind: whose binding a step's environment has, and to which CPUs all of its tasks may go. */
#include "plugin/bind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "packer/wire/wire.h"

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* In srun: Slurm leaves four that say the same, a user sets fewer, or others. */
static void test_left(void **state)
{
    static const struct {
        const char *all, *verbose, *type, *list, *left;
    } row[] = {
        {NULL, NULL, NULL, NULL, NULL},
        {"quiet,mask_cpu:0x1,0x2", "quiet", "mask_cpu:", "0x1,0x2", "0x1,0x2"},
        {"verbose,mask_cpu:0x1", "verbose", "mask_cpu:", "0x1", "0x1"},
        {"mask_cpu:0x1", NULL, NULL, NULL, NULL},
        {"mask_cpu:0x2", "quiet", "mask_cpu:", "0x1", NULL},
        {"quiet,mask_cpu:0x2", "quiet", "mask_cpu:", "0x1", NULL},
        {"quiet,map_cpu:0", "quiet", "mask_cpu:", "0x1", NULL},
        {"quiet,map_cpu:1", "quiet", "map_cpu:", "1", NULL},
        {"quiet,none", "quiet", "none", "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        const char *left;

        set("SLURM_CPU_BIND", row[i].all);
        set("SLURM_CPU_BIND_VERBOSE", row[i].verbose);
        set("SLURM_CPU_BIND_TYPE", row[i].type);
        set("SLURM_CPU_BIND_LIST", row[i].list);
        set(BIND_LEFT, "of an outer one");
        bind_note_left();
        left = getenv(BIND_LEFT);
        if (!left != !row[i].left || (left && strcmp(left, row[i].left) != 0))
            fail_msg("%s: %s", row[i].all, left ? left : "none");
    }
}

/* In slurmstepd. */
static void test_by_hand(void **state)
{
    static const struct {
        const char *type, *list, *left;
        bool by_hand;
    } row[] = {
        {NULL, NULL, NULL, false},
        {"none", "", NULL, false},
        {"cores", "", NULL, false},
        {"mask_cpu:", "0x1", NULL, true},
        {"mask_cpu:", "0x1", "0x1", false},
        {"mask_cpu:", "0x00000001,0xF0", "1,f0", false},
        {"mask_cpu:", "1,2", "0x1,0x2,0x4", true},
        {"mask_cpu:", "1,2,4", "0x1,0x2", true},
        {"mask_cpu:", "0x2", "0x1", true},
        {"mask_cpu:", "0x10", "0x1", true},
        {"mask_cpu:", NULL, "0x1", true},
        {"mask_ldom:", "0x1", "0x1", true},
        {"map_cpu:", "1", "0x1", true},
        {"map_cpu:", "1", "1", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (bind_by_hand(row[i].type, row[i].list, row[i].left) != row[i].by_hand)
            fail_msg("%s%s, left %s", row[i].type, row[i].list, row[i].left);
}

static void test_common(void **state)
{
    static const struct {
        const char *type, *list, *cpus;
    } row[] = {
        {"mask_cpu:", "0x3", "0-1"},
        {"mask_cpu:", "F0", "4-7"},
        {"mask_cpu:", "0x3,0x6", "1"},
        {"mask_cpu:", "0x1,0x2", ""},
        {"mask_cpu:", "0x10000000000000000", "64"},
        {"mask_cpu:", "0x0", ""},
        {"mask_cpu:", "", ""},
        {"mask_cpu:", "0x3,", ""},
        {"mask_cpu:", "0x3,zz", ""},
        {"mask_cpu:", "-1", ""},
        {"map_cpu:", "3", ""},
        {"mask_cpu:", NULL, ""},
        {NULL, "0x3", ""},
    };
    char cpus[WIRE_CORES_MAX], endless[CPUS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        bind_common(row[i].type, row[i].list, cpus, sizeof(cpus));
        assert_string_equal(cpus, row[i].cpus);
    }
    memset(endless, 'f', sizeof(endless));
    endless[sizeof(endless) - 1] = '\0';
    bind_common("mask_cpu:", endless, cpus, sizeof(cpus));
    assert_string_equal(cpus, "");
    endless[CPUS_MAX / 4] = '\0';
    bind_common("mask_cpu:", endless, cpus, sizeof(cpus));
    assert_string_equal(cpus, "0-2047");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_common),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
