/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_step_cgroup - a step's cgroups by /proc/PID/cgroup, of Slurm 22.05 and 24.11, v1 and v2. */
#include "packer/slurm/step_cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define STEP "/slurm_n1/uid_1000/job_47/step_0"
#define SCOPE "/system.slice/n1_slurmstepd.scope/job_47/step_0"
#define SLUID "/system.slice/n1_slurmstepd.scope/s2QSM817N8H500/step_0" /* Slurm 26.05 */
#define SLICE "/hpc.slice/hpc-jobs.slice/slurmstepd.scope/s2QSM817N8H500/step_0"

static void test_path(void **state)
{
    static const struct {
        const char *text, *controller;
        uint32_t job, step;
        const char *path; /* NULL: none */
    } cases[] = {
        {"9:memory:/x\n4:cpu,cpuacct:" STEP "/task_0\n0::/\n", "cpuacct", 47, 0, STEP},
        {"4:cpuacct:" STEP "\n", "cpuacct", 47, 0, STEP},
        {"4:cpuacct,cpu:" STEP, "cpuacct", 47, 0, STEP},
        {"4:cpuacct:/slurm/uid_0/job_47/step_batch/task_0\n", "cpuacct", 47, 0xfffffffb,
         "/slurm/uid_0/job_47/step_batch"},
        {"4:cpuacct:/slurm/uid_0/job_47/step_3+1/task_0\n", "cpuacct", 47, 0x81000003,
         "/slurm/uid_0/job_47/step_3+1"},
        {"4:cpuacct:/slurm/uid_0/job_47/step_3+10\n", "cpuacct", 47, 0x81000003, NULL},
        {"4:cpuacct:/slurm/uid_0/job_47/step_3+1\n", "cpuacct", 47, 3, NULL},
        {"4:cpuacct:/slurm/uid_0/job_47/step_extern\n", "cpuacct", 47, 0, NULL},
        {"4:cpuacct:/slurm/uid_0/job_47/step_01\n", "cpuacct", 47, 0, NULL},
        {"4:cpuacct:/slurm/uid_0/job_147/step_0\n", "cpuacct", 47, 0, NULL},
        {"4:cpuacct:/\n", "cpuacct", 47, 0, NULL},
        {"4:cpu:" STEP "\n", "cpuacct", 47, 0, NULL},
        {"4:cpuacct2:" STEP "\n", "cpuacct", 47, 0, NULL},
        /* a line's path is not looked for in the next one */
        {"4:cpuacct:/\n3:memory:" STEP "\n", "cpuacct", 47, 0, NULL},
        {"0::" SCOPE "/user/task_0\n", NULL, 47, 0, SCOPE "/user"},
        {"0::" SCOPE "/user\n", NULL, 47, 0, SCOPE "/user"},
        {"0::" SCOPE "/userfoo\n", NULL, 47, 0, SCOPE},
        {"0::" SCOPE "/slurm\n", NULL, 47, 0, SCOPE},
        {"3:memory:" STEP "\n0::/\n", NULL, 47, 0, NULL},
        {"10::" STEP "\n", NULL, 47, 0, NULL},
        {"0::" SLUID "/user/task_0\n", NULL, 47, 0, SLUID "/user"},
        {"0::" SLUID "/slurm", NULL, 47, 0, SLUID},
        {"0::" SLUID "/user\n", NULL, 47, 1, NULL},
        {"0::" SLICE "/user/task_4294967293\n", NULL, 47, 0, SLICE "/user"},
        {"0::/docker.scope/slurmstepd.scope/job_47/step_batch/user\n", NULL, 47, 0xfffffffb,
         "/docker.scope/slurmstepd.scope/job_47/step_batch/user"},
        /* no SLUIDs: a digit less, one more, and one that base 32 has not */
        {"0::/slurmstepd.scope/s2QSM817N8H50/step_0/user\n", NULL, 47, 0, NULL},
        {"0::/slurmstepd.scope/s2QSM817N8H5000/step_0/user\n", NULL, 47, 0, NULL},
        {"0::/slurmstepd.scope/s2QSM817N8H5O0/step_0/user\n", NULL, 47, 0, NULL},
        {"0::/s2QSM817N8H500\n1:x:/step_0\n", NULL, 47, 0, NULL},
        {"", "cpuacct", 47, 0, NULL},
        {"nonsense\n::\n", "cpuacct", 47, 0, NULL},
    };
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_step_id id = {cases[i].job, cases[i].step};
        int rc = step_cgroup_path(cases[i].text, cases[i].controller, id, path, sizeof(path));

        if (rc != (cases[i].path ? 0 : -1))
            fail_msg("case %zu: %d", i, rc);
        if (cases[i].path)
            assert_string_equal(path, cases[i].path);
    }
    assert_int_equal(step_cgroup_path("4:cpuacct:" STEP "\n", "cpuacct",
                                      (struct wire_step_id){47, 0}, path, sizeof(STEP) - 1),
                     -1);
}

/* ---- trees ---- */

struct fixture {
    char folder[64];
    struct rootfs root;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    folder_new(f->folder, sizeof(f->folder), "test_step_cgroup");
    assert_int_equal(rootfs_open(&f->root, f->folder, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(folder_remove(f->folder), 0);
    rootfs_close(&f->root);
    free(f);
    return 0;
}

static int open_step(struct fixture *f, struct step_cgroup *cgroup)
{
    static const pid_t pids[] = {99, 100}; /* the first one is gone */

    return step_cgroup_open(cgroup, &f->root, "/cg", (struct wire_step_id){47, 0}, pids, 2);
}

static void test_v1(void **state)
{
    struct fixture *f = *state;
    struct step_cgroup_cpu cpu;
    struct step_cgroup cgroup;
    double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);

    folder_put(f->folder, "proc/100/cgroup",
               "9:memory:" STEP "\n4:cpu,cpuacct:" STEP "/task_0\n0::" SCOPE "\n");
    folder_put(f->folder, "cg/cpuacct" STEP "/cpuacct.usage", "5000000123\n");
    folder_put(f->folder, "cg/cpuacct" STEP "/cpuacct.stat", "user 400\nsystem 100\n");
    folder_put(f->folder, "cg/memory" STEP "/memory.numa_stat", "");
    assert_int_equal(open_step(f, &cgroup), 0);
    assert_string_equal(cgroup.memory, "/cg/memory" STEP);
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), 0);
    assert_true(cpu.cpu_ns == 5000000123 && cpu.user_ns == 400 * tick &&
                cpu.system_ns == 100 * tick);
    folder_put(f->folder, "cg/cpuacct" STEP "/cpuacct.usage",
               "6000000000\n"); /* read again, not remembered */
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), 0);
    assert_true(cpu.cpu_ns == 6e9);
    folder_put(f->folder, "cg/cpuacct" STEP "/cpuacct.stat", "user\n");
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), -1);
    step_cgroup_close(&cgroup);
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), -1);
}

static void test_v2(void **state)
{
    struct fixture *f = *state;
    struct step_cgroup_cpu cpu;
    struct step_cgroup cgroup;

    folder_put(f->folder, "proc/100/cgroup", "0::" SCOPE "/user/task_0\n");
    folder_put(
        f->folder, "cg" SCOPE "/user/cpu.stat",
        "usage_usec 5000001\nuser_usec 4000000\nsystem_usec 1000001\ncore_sched.force_idle_usec 0\n"
        "nr_periods 0\n");
    assert_int_equal(open_step(f, &cgroup), 0);
    assert_null(cgroup.memory);
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), 0);
    assert_true(cpu.cpu_ns == 5000001e3 && cpu.user_ns == 4e9 && cpu.system_ns == 1000001e3);
    step_cgroup_close(&cgroup);
    folder_put(f->folder, "cg" SCOPE "/user/memory.numa_stat", "anon N0=1\n");
    assert_int_equal(open_step(f, &cgroup), 0);
    assert_string_equal(cgroup.memory, "/cg" SCOPE "/user");
    step_cgroup_close(&cgroup);
}

static void test_memory(void **state)
{
    struct fixture *f = *state;
    struct step_cgroup_memory memory;
    struct step_cgroup cgroup;

    folder_put(f->folder, "proc/100/cgroup", "9:memory:" STEP "\n4:cpuacct:" STEP "\n");
    folder_put(f->folder, "cg/memory" STEP "/memory.numa_stat", "");
    folder_put(f->folder, "cg/memory" STEP "/memory.stat",
               "rss 1\nmapped_file 1\npgfault 1\npgmajfault 2\ntotal_rss 5000\n"
               "total_mapped_file 300\ntotal_pgfault 77\n");
    open_step(f, &cgroup);
    assert_int_equal(step_cgroup_read_memory(&cgroup, &memory), 0);
    assert_true(memory.faults == 77 && memory.rss_bytes == 5300);
    assert_int_equal(step_cgroup_threads(&cgroup), -1);
    step_cgroup_close(&cgroup);
    assert_int_equal(step_cgroup_read_memory(&cgroup, &memory), -1);
    folder_put(f->folder, "proc/100/cgroup", "0::" SCOPE "/user/task_0\n");
    folder_put(f->folder, "cg" SCOPE "/user/cpu.stat", "");
    folder_put(f->folder, "cg" SCOPE "/user/memory.numa_stat", "");
    folder_put(f->folder, "cg" SCOPE "/user/memory.stat",
               "anon 6000\nfile 9\nanon_thp 4\nfile_mapped 200\npgmajfault 1\npgfault 88\n");
    folder_put(f->folder, "cg" SCOPE "/user/pids.current", "65\n");
    assert_int_equal(open_step(f, &cgroup), 0);
    assert_int_equal(step_cgroup_read_memory(&cgroup, &memory), 0);
    assert_true(memory.faults == 88 && memory.rss_bytes == 6200);
    assert_int_equal(step_cgroup_threads(&cgroup), 65);
    folder_put(f->folder, "cg" SCOPE "/user/memory.stat", "anon 1\npgfault 88\n");
    assert_int_equal(step_cgroup_read_memory(&cgroup, &memory), -1);
    step_cgroup_close(&cgroup);
}

/* Only memory is constrained; nothing is; the process is gone. */
static void test_partly(void **state)
{
    struct fixture *f = *state;
    struct step_cgroup_cpu cpu;
    struct step_cgroup cgroup;

    assert_int_equal(open_step(f, &cgroup), -1);
    assert_null(cgroup.memory);
    folder_put(f->folder, "proc/100/cgroup", "9:memory:" STEP "\n4:cpu,cpuacct:/\n0::/\n");
    folder_put(f->folder, "cg/memory" STEP "/memory.numa_stat", "");
    assert_int_equal(open_step(f, &cgroup), -1);
    assert_string_equal(cgroup.memory, "/cg/memory" STEP);
    assert_int_equal(step_cgroup_read(&cgroup, &cpu), -1);
    step_cgroup_close(&cgroup);
    folder_put(f->folder, "proc/100/cgroup", "4:cpu,cpuacct:" STEP "\n");
    folder_put(f->folder, "cg/cpuacct" STEP "/cpuacct.usage", "1\n"); /* and no cpuacct.stat */
    assert_int_equal(open_step(f, &cgroup), -1);
    assert_int_equal(cgroup.usage, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path),
        cmocka_unit_test_setup_teardown(test_v1, setup, teardown),
        cmocka_unit_test_setup_teardown(test_v2, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_partly, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
