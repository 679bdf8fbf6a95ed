/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_doctor_movers - what `berthctl doctor` says of those who move things beside berth: made
 * trees of /sys, /proc and /etc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packer/cli/doctor/doctor.h"
#include "tests/unit/common/folder.h"

struct scene {
    const char *row;
    const char *file[6]; /* path and text, in turns */
    enum doctor_state state;
    const char *says; /* what was found begins so */
    const char *so;   /* and what berth does about it has this; NULL: nothing is to be done */
};

#define LLC "sys/kernel/debug/sched/llc_balancing/enabled"
#define SCX "sys/kernel/sched_ext/"
#define CPU "sys/devices/system/cpu/"
#define FREQ CPU "cpufreq/"
#define ROOTS "Name:\tx\nUid:\t0\t0\t0\t0\n"
#define USERS "Name:\tx\nUid:\t1000\t1000\t1000\t1000\n"
#define DAEMON(name)                                                                               \
    {                                                                                              \
        "proc/7/comm", name "\n", "proc/7/status", ROOTS                                           \
    }

static const struct scene scenes[] = {
    {"cache-aware scheduling", {0}, DOCTOR_OK, "not known: debugfs is not mounted", NULL},
    {"cache-aware scheduling",
     {"sys/kernel/debug/sched/features", "\n"},
     DOCTOR_OK,
     "not in this kernel",
     NULL},
    {"cache-aware scheduling", {LLC, "1\n"}, DOCTOR_OK, "on: ", "in one of the caches"},
    {"cache-aware scheduling", {LLC, "0\n"}, DOCTOR_OK, "off", NULL},
    {"cache-aware scheduling", {LLC, "[always] advise never\n"}, DOCTOR_OK, "on: ", "gathers"},
    {"cache-aware scheduling", {LLC, "always advise [never]\n"}, DOCTOR_OK, "off", NULL},
    {"sched_ext", {0}, DOCTOR_OK, "not in this kernel", NULL},
    {"sched_ext", {SCX "state", "disabled\n"}, DOCTOR_OK, "none is loaded", NULL},
    {"sched_ext",
     {SCX "state", "enabled\n", SCX "root/ops", "mitosis_1.0\n"},
     DOCTOR_WARN,
     "mitosis_1.0",
     "berth's cpusets and masks hold"},
    {"sched_ext", {SCX "state", "enabling\n"}, DOCTOR_WARN, "enabling", "cpusets"},
    {"numa balancing", {0}, DOCTOR_OK, "not in this kernel", NULL},
    {"numa balancing", {"proc/sys/kernel/numa_balancing", "0\n"}, DOCTOR_OK, "off", NULL},
    {"numa balancing", {"proc/sys/kernel/numa_balancing", "2\n"}, DOCTOR_OK, "on: ", "both"},
    {"numad", {0}, DOCTOR_OK, "does not run", NULL},
    {"numad", DAEMON("numad"), DOCTOR_WARN, "runs", "Stop it"},
    {"numad", {"proc/7/comm", "numad\n", "proc/7/status", USERS}, DOCTOR_OK, "does not run", NULL},
    {"numad", DAEMON("numadx"), DOCTOR_OK, "does not run", NULL},
    {"tuned", {"etc/tuned/active_profile", "hpc-compute\n"}, DOCTOR_OK, "does not run", NULL},
    {"tuned", DAEMON("tuned"), DOCTOR_OK, "runs: ", "isolates cores"},
    {"tuned",
     {"proc/7/comm", "tuned\n", "proc/7/status", ROOTS, "etc/tuned/active_profile",
      "hpc-compute\n"},
     DOCTOR_OK,
     "runs with the profile hpc-compute: ",
     "isolates cores"},
    {"irqbalance", DAEMON("irqbalance"), DOCTOR_OK, "runs: ", "interrupts"},
    {"isolcpus", {CPU "isolated", "\n"}, DOCTOR_OK, "none", NULL},
    {"isolcpus", {CPU "isolated", "2-3\n"}, DOCTOR_OK, "CPUs 2-3: ", "idle cores"},
    {"nohz_full", {CPU "nohz_full", "  (null)\n"}, DOCTOR_OK, "none", NULL},
    {"nohz_full", {CPU "nohz_full", "1,4-7\n"}, DOCTOR_OK, "CPUs 1,4-7: ", "no tick"},
    {"governor", {0}, DOCTOR_OK, "none: the clock", NULL},
    {"governor",
     {FREQ "policy0/scaling_governor", "performance\n"},
     DOCTOR_OK,
     "performance: ",
     "berth sets no clock"},
    {"governor",
     {FREQ "policy0/scaling_governor", "powersave\n", FREQ "policy1/scaling_governor",
      "performance\n", FREQ "policy2/scaling_governor", "powersave\n"},
     DOCTOR_OK,
     "powersave, performance: ",
     "berth sets no clock"},
    {"turbo", {0}, DOCTOR_OK, "the kernel tells of none", NULL},
    {"turbo", {CPU "intel_pstate/no_turbo", "0\n"}, DOCTOR_OK, "on: ", "clocks fall"},
    {"turbo", {CPU "intel_pstate/no_turbo", "1\n"}, DOCTOR_OK, "off", NULL},
    {"turbo", {FREQ "boost", "1\n"}, DOCTOR_OK, "on: ", "berth leaves it"},
    {"turbo", {FREQ "boost", "0\n"}, DOCTOR_OK, "off", NULL},
    {"nmi watchdog", {0}, DOCTOR_OK, "not in this kernel", NULL},
    {"nmi watchdog", {"proc/sys/kernel/nmi_watchdog", "0\n"}, DOCTOR_OK, "off", NULL},
    {"nmi watchdog",
     {"proc/sys/kernel/nmi_watchdog", "1\n"},
     DOCTOR_WARN,
     "on",
     "one hardware counter of each core"},
};

static const struct doctor_row *find_row(const struct doctor *doctor, const char *name)
{
    for (size_t i = 0; i < doctor->n; i++)
        if (strcmp(doctor->row[i].name, name) == 0)
            return &doctor->row[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void check(const struct scene *scene, const struct doctor_row *row, size_t number)
{
    const char *so = row->state == DOCTOR_OK ? row->found : row->without;

    if (row->state != scene->state || row->essential ||
        strncmp(row->found, scene->says, strlen(scene->says)) != 0)
        fail_msg("scene %zu: %s: state %d: %s", number, row->name, row->state, row->found);
    if (scene->so ? !strstr(so, scene->so) : strstr(row->found, ": berth") != NULL)
        fail_msg("scene %zu: %s: %s", number, row->name, so);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        const char *const *file = scenes[i].file;
        struct doctor doctor = {0};
        char dir[128];

        folder_new(dir, sizeof(dir), "movers");
        folder_make(dir, "proc/self");
        for (size_t f = 0; f + 1 < 6 && file[f]; f += 2)
            folder_put(dir, file[f], file[f + 1]);
        assert_int_equal(rootfs_open(&doctor.root, dir, NULL), 0);
        doctor_movers(&doctor);
        check(&scenes[i], find_row(&doctor, scenes[i].row), i);
        rootfs_close(&doctor.root);
        folder_remove(dir);
    }
}

/* All of them have a row, and nothing that is said is cut off. */
static void test_all_at_once(void **state)
{
    struct doctor doctor = {0};
    char dir[128];

    (void)state;
    folder_new(dir, sizeof(dir), "movers");
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
        for (size_t f = 0; f + 1 < 6 && scenes[i].so && scenes[i].file[f]; f += 2)
            if (strncmp(scenes[i].file[f], "proc/7", 6) != 0)
                folder_put(dir, scenes[i].file[f], scenes[i].file[f + 1]);
    assert_int_equal(rootfs_open(&doctor.root, dir, NULL), 0);
    doctor_movers(&doctor);
    assert_int_equal(doctor.n, 11);
    for (size_t i = 0; i < doctor.n; i++)
        assert_in_range(strlen(doctor.row[i].found), 1, sizeof(doctor.row[i].found) - 2);
    rootfs_close(&doctor.root);
    folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_all_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
