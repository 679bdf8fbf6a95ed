/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slurm_cores - whether jobs share cores by slurm.conf, and what berth.conf makes of it. */
#include "packer/slurm/slurm_cores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packer/base/log.h"
#include "tests/unit/common/folder.h"

static const struct {
    const char *text; /* NULL: no file */
    enum slurm_cores cores;
} row[] = {
    {"SelectTypeParameters=CR_CPU\nNodeName=n[1-4] CPUs=8\n", SLURM_CORES_SHARED},
    {"selecttypeparameters = CR_ONE_TASK_PER_CORE,cr_cpu_memory\nNodeName=n CPUs=8 RealMemory=1\n",
     SLURM_CORES_SHARED},
    {"SelectTypeParameters=CR_CPU\nNodeName=n ThreadsPerCore=1 CPUs=8\n", SLURM_CORES_SHARED},
    {"SelectTypeParameters=CR_CPU\nNodeName=n CPUs=8 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2\n",
     SLURM_CORES_WHOLE},
    {"SelectTypeParameters=CR_CPU\nNodeName=DEFAULT ThreadsPerCore=2\nNodeName=n CPUs=8\n",
     SLURM_CORES_WHOLE},
    {"SelectTypeParameters=CR_CPU\nNodeName=n CPUs=4\n", SLURM_CORES_WHOLE},
    {"SelectTypeParameters=CR_CPU\nNodeName=n\n", SLURM_CORES_WHOLE},
    {"SelectTypeParameters=CR_CPU\nNodeName=n CPUs=8 # ThreadsPerCore=2\n", SLURM_CORES_SHARED},
    {"SelectTypeParameters=CR_Core_Memory\nNodeName=n CPUs=8\n", SLURM_CORES_WHOLE},
    {"NodeName=n CPUs=8\n", SLURM_CORES_WHOLE},
    {NULL, SLURM_CORES_UNKNOWN},
};

static void test_places(void **state)
{
    static char folder[128];
    struct conf conf;

    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    folder_new(folder, sizeof(folder), "berth-cores");
    conf_init(&conf);
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct berth_error err;

        if (row[i].text)
            folder_put_at(folder, "slurm.conf", row[i].text, conf.slurm_conf);
        else
            snprintf(conf.slurm_conf, sizeof(conf.slurm_conf), "%.120s/none", folder);
        if (slurm_cores_read(conf.slurm_conf, 8, &err) != row[i].cores)
            fail_msg("%s", row[i].text ? row[i].text : "no file");
        conf.places = CONF_PLACES_CORES;
        assert_false(slurm_cores_are_split(&conf, 8));
        conf.places = CONF_PLACES_AUTO;
        assert_int_equal(slurm_cores_are_split(&conf, 8), row[i].cores == SLURM_CORES_SHARED);
        conf.places = CONF_PLACES_THREADS;
        assert_int_equal(slurm_cores_are_split(&conf, 8), row[i].cores != SLURM_CORES_WHOLE);
    }
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
