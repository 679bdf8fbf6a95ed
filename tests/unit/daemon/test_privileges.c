/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_privileges - each key of berth.conf costs the capabilities that it needs, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/file.h"
#include "packer/daemon/privileges.h"
#include "tests/unit/common/folder.h"

struct box {
    char dir[64];
    struct rootfs root;
    struct conf conf;
};

static void put(const struct box *box, const char *name, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", box->dir, name);
    for (char *slash = strchr(path + strlen(box->dir) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        assert_int_equal(file_folder(path, 0755), 0);
        *slash = '/';
    }
    assert_int_equal(file_replace(path, 0644, 0, text, strlen(text)), 0);
}

/* A machine with one NUMA node, on which nothing is counted and no meter read. */
static int setup(void **state)
{
    struct box *box = calloc(1, sizeof(*box));

    folder_new(box->dir, sizeof(box->dir), "test_privileges");
    put(box, "sys/devices/system/node/has_memory", "0\n");
    put(box, "proc/self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n");
    put(box, "sys/kernel/tracing/events/x", "");
    assert_int_equal(rootfs_open(&box->root, box->dir, NULL), 0);
    conf_init(&box->conf);
    strcpy(box->conf.counters, "");
    strcpy(box->conf.energy, "");
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    struct box *box = *state;

    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->dir), 0);
    free(box);
    return 0;
}

/* Proves that the configuration takes `more` besides what placing takes. */
static void takes(struct box *box, uint64_t more)
{
    assert_int_equal(privileges_needed(&box->conf, &box->root), PRIVILEGES_PLACE | more);
}

static void test_placing_alone(void **state)
{
    takes(*state, 0);
}

static void test_memory(void **state)
{
    struct box *box = *state;

    put(box, "sys/devices/system/node/has_memory", "0-1\n");
    takes(box, CAPABILITY(CAP_SYS_PTRACE));
    box->conf.memory_rate = 0; /* may be raised while berthd runs */
    takes(box, CAPABILITY(CAP_SYS_PTRACE));
}

static void test_hidden_processes(void **state)
{
    struct box *box = *state;

    put(box, "proc/self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw,hidepid=invisible\n");
    takes(box, CAPABILITY(CAP_SYS_PTRACE));
}

static void test_counters(void **state)
{
    struct box *box = *state;

    strcpy(box->conf.counters, "perf,resctrl");
    takes(box, CAPABILITY(CAP_PERFMON));
    strcpy(box->conf.counters, "resctrl");
    takes(box, 0);
    strcpy(box->conf.counters, "software");
    takes(box, CAPABILITY(CAP_NET_ADMIN));
    strcpy(box->conf.counters, "");
    strcpy(box->conf.energy, "powercap,perf");
    takes(box, CAPABILITY(CAP_PERFMON));
}

static void test_lock_time(void **state)
{
    const uint64_t all = CAPABILITY(CAP_NET_ADMIN) | CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON);
    struct box *box = *state;
    char path[PATH_MAX];

    box->conf.lock_time = CONF_ON;
    takes(box, 0); /* software counters are off */
    strcpy(box->conf.counters, "software");
    takes(box, all);
    snprintf(path, sizeof(path), "%s/sys/kernel/tracing", box->dir);
    assert_int_equal(folder_remove(path), 0);
    takes(box, all | CAPABILITY(CAP_SYS_ADMIN)); /* berthd mounts tracefs itself */
}

static void test_reuse(void **state)
{
    struct box *box = *state;

    box->conf.reuse_sampling = CONF_ON;
    takes(box, CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_IPC_LOCK));
}

static void test_groups(void **state)
{
    struct box *box = *state;

    strcpy(box->conf.metrics_group, "*");
    takes(box, 0);
    strcpy(box->conf.metrics_group, "prometheus");
    takes(box, CAPABILITY(CAP_CHOWN));
    strcpy(box->conf.metrics_group, "");
    strcpy(box->conf.ledger_group, "staff");
    takes(box, CAPABILITY(CAP_CHOWN));
    strcpy(box->conf.ledger_group, "");
    strcpy(box->conf.profile_group, "staff");
    takes(box, CAPABILITY(CAP_CHOWN));
}

static void test_user(void **state)
{
    struct box *box = *state;

    strcpy(box->conf.user, "berth");
    takes(box, CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_KILL) | CAPABILITY(CAP_SETGID) |
                   CAPABILITY(CAP_SETUID));
}

/* The word, or what a berthd before this one has not given back. */
static void test_prefetch(void **state)
{
    struct box *box = *state;

    snprintf(box->conf.state_dir, sizeof(box->conf.state_dir), "%s", box->dir);
    strcpy(box->conf.allow, "auto,prefetch");
    takes(box, CAPABILITY(CAP_SYS_RAWIO));
    strcpy(box->conf.allow, "auto");
    put(box, "journal", "{\"op\":\"manage\"}\n");
    takes(box, 0);
    put(box, "journal", "{\"op\":\"manage\"}\n{\"op\":\"registers\",\"registers\":[[0,0,15]]}\n");
    takes(box, CAPABILITY(CAP_SYS_RAWIO));
    put(box, "journal",
        "{\"op\":\"registers\",\"registers\":[[0,0,15]]}\n{ \"op\": \"registers\", "
        "\"registers\": [[1,0,15]]}\n{\"op\":\"registers\",\"registers\":[[2,0,15");
    takes(box, CAPABILITY(CAP_SYS_RAWIO)); /* the last line is torn */
    put(box, "journal",
        "{\"op\":\"registers\",\"registers\":[[0,0,15]]}\nwhat is this?\n"
        "{\"op\":\"registers\",\"registers\":[]}\n");
    takes(box, CAPABILITY(CAP_SYS_RAWIO)); /* it is read no further */
    put(box, "journal",
        "{\"op\":\"registers\",\"registers\":[[0,0,15]]}\n"
        "{\"op\":\"registers\",\"registers\":[]}\n");
    takes(box, 0); /* given back */
}

/* ---- the unit file ---- */

/* Adds the capabilities that a unit file or drop-in of the source folder lists. */
static uint64_t listed_by(const char *name)
{
    static const char key[] = "CapabilityBoundingSet=";
    const char *srcdir = getenv("srcdir");
    char path[PATH_MAX], *text, *line, *save, *word;
    uint64_t set = 0;

    snprintf(path, sizeof(path), "%s/etc/%s", srcdir ? srcdir : ".", name);
    text = file_read(path, 1 << 16, NULL, NULL);
    assert_non_null(text);
    line = strstr(text, key);
    if (line) {
        line[strcspn(line, "\n")] = '\0';
        for (word = strtok_r(line + strlen(key), " ", &save); word;
             word = strtok_r(NULL, " ", &save)) {
            int number = capability_number(word);

            assert_true(number >= 0);
            set |= CAPABILITY(number);
        }
    }
    free(text);
    return set;
}

/* The unit leaves what the defaults need, on a machine of several NUMA nodes, and a drop-in what
 * its keys need besides: no less, and no more. */
static void test_the_unit_and_its_drop_ins(void **state)
{
    struct box *box = *state;
    uint64_t defaults;

    put(box, "sys/devices/system/node/has_memory", "0-1\n");
    conf_init(&box->conf);
    defaults = privileges_needed(&box->conf, &box->root);
    assert_int_equal(listed_by("berthd.service.in"), defaults);
    assert_int_equal(listed_by("berthd.service.d/10-network.conf"), 0);
    assert_int_equal(listed_by("berthd.service.d/30-mariadb.conf"), 0);
    assert_int_equal(listed_by("berthd.service.d/40-metrics.conf"), 0);

    box->conf.lock_time = CONF_ON;
    assert_int_equal(listed_by("berthd.service.d/20-lock-time.conf"),
                     privileges_needed(&box->conf, &box->root) & ~defaults);
    conf_init(&box->conf);
    box->conf.reuse_sampling = CONF_ON;
    assert_int_equal(listed_by("berthd.service.d/60-reuse-sampling.conf"),
                     privileges_needed(&box->conf, &box->root) & ~defaults);
    conf_init(&box->conf);
    strcpy(box->conf.allow, "auto,prefetch");
    assert_int_equal(listed_by("berthd.service.d/70-prefetch.conf"),
                     privileges_needed(&box->conf, &box->root) & ~defaults);
    conf_init(&box->conf);
    strcpy(box->conf.ledger_group, "staff");
    assert_int_equal(listed_by("berthd.service.d/50-groups.conf"),
                     privileges_needed(&box->conf, &box->root) & ~defaults);
    conf_init(&box->conf);
    strcpy(box->conf.user, "berth");
    assert_int_equal(listed_by("berthd.service.d/90-user.conf"),
                     privileges_needed(&box->conf, &box->root) & ~defaults);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_placing_alone),    TEST(test_memory),
        TEST(test_hidden_processes), TEST(test_counters),
        TEST(test_lock_time),        TEST(test_reuse),
        TEST(test_groups),           TEST(test_user),
        TEST(test_prefetch),         TEST(test_the_unit_and_its_drop_ins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
