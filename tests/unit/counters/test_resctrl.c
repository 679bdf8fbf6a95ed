/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_counters_resctrl - the resctrl backend on trees of plain files that look like /proc and
 * /sys/fs/resctrl. A plain folder is not a resctrl group: what the kernel puts into a new group is
 * there before the step comes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/counters/counters.h"
#include "tests/unit/common/folder.h"

#define R "sys/fs/resctrl/"
#define G R "mon_groups/berth-7.0/"

struct tree {
    char path[64];
    struct rootfs root;
    struct enforce enforce;
    struct counters_node node;
    struct enforce_task task;
    struct enforce_step body;
    struct counters_target target;
};

/* ---- building a tree ---- */

static bool tree_has(const struct tree *tree, const char *name)
{
    return rootfs_exists(&tree->root, name);
}

/* Remove a folder of the tree and all in it. */
static void tree_drop(const struct tree *tree, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", tree->path, name);
    folder_remove(path);
}

/* The processes of a step: its tasks, no more. */
static int task_pids(struct enforce *enforce, const struct enforce_step *step,
                     struct enforce_pids *list)
{
    (void)enforce;
    for (size_t i = 0; i < step->ntasks; i++)
        if (enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    return 0;
}

static int no_pids(struct enforce *enforce, const struct enforce_step *step,
                   struct enforce_pids *list)
{
    (void)enforce, (void)step, (void)list;
    return 0;
}

static const struct enforce_way way_of_others = {.name = "test", .pids = no_pids};
static const struct enforce_way way = {.name = "test", .pids = task_pids};

/* A node with two caches and one step, 7.0, whose process 100 has the threads 100 and 101. */
static int set_up(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    folder_new(tree->path, sizeof(tree->path), "berth-resctrl");
    assert_int_equal(rootfs_open(&tree->root, tree->path, NULL), 0);
    folder_put(tree->path, R "info/L3_MON/mon_features",
               "llc_occupancy\nmbm_total_bytes\nmbm_total_bytes_config\nmbm_local_bytes\n");
    folder_put(tree->path, R "info/L3_MON/num_rmids", "256\n");
    folder_make(tree->path, R "mon_groups");
    folder_put(tree->path, R "tasks", "1\n100\n101\n");
    folder_make(tree->path, "proc/100/task/100");
    folder_make(tree->path, "proc/100/task/101");
    tree->enforce = (struct enforce){.way = &way, .root = &tree->root, .tree = "berth"};
    tree->node = (struct counters_node){.root = &tree->root, .enforce = &tree->enforce};
    tree->task.pid = 100;
    tree->body = (struct enforce_step){.id = {7, 0}, .ntasks = 1, .task = &tree->task};
    tree->target = (struct counters_target){.body = &tree->body, .name = "x"};
    *state = tree;
    return 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;

    rootfs_close(&tree->root);
    tree_drop(tree, "");
    free(tree);
    return 0;
}

static void set_domain(const struct tree *tree, const char *group, const char *domain,
                       const char *occupancy, const char *total, const char *local)
{
    char path[256];

    snprintf(path, sizeof(path), "%smon_data/%s/llc_occupancy", group, domain);
    folder_put(tree->path, path, occupancy);
    snprintf(path, sizeof(path), "%smon_data/%s/mbm_total_bytes", group, domain);
    folder_put(tree->path, path, total);
    snprintf(path, sizeof(path), "%smon_data/%s/mbm_local_bytes", group, domain);
    folder_put(tree->path, path, local);
}

/* What the kernel makes in a new group. */
static void new_group(const struct tree *tree, const char *group)
{
    char path[256];

    snprintf(path, sizeof(path), "%stasks", group);
    folder_put(tree->path, path, "");
    set_domain(tree, group, "mon_L3_00", "0\n", "0\n", "0\n");
    set_domain(tree, group, "mon_L3_01", "0\n", "0\n", "0\n");
}

static void *open_backend(const struct tree *tree)
{
    char say[COUNTERS_SAY];
    struct berth_error err;
    uint32_t can;
    void *state;

    assert_int_equal(counters_resctrl.open(&tree->node, &state, &can, say, &err), 0);
    return state;
}

/* Attach the step at 0 s. */
static void *attach(struct tree *tree, void *backend)
{
    struct berth_error err = {""};
    void *step = NULL;

    tree->target.elapsed_s = 0;
    if (counters_resctrl.attach(backend, &tree->target, &step, &err) < 0)
        fail_msg("%s", err.text);
    return step;
}

static int read_at(struct tree *tree, void *backend, void *step, double at_s,
                   struct counters_sample *sample, struct berth_error *err)
{
    static struct by_node by;

    by = (struct by_node){.nodes = 0};
    *sample = (struct counters_sample){.by_node = &by};
    tree->target.elapsed_s = at_s;
    return counters_resctrl.read(backend, step, &tree->target, sample, err);
}

/* The kernel removes what is in a group; here the test does. */
static void detach(struct tree *tree, void *backend, void *step, const char *group)
{
    tree_drop(tree, group);
    folder_make(tree->path, group);
    counters_resctrl.detach(backend, step);
    assert_false(tree_has(tree, group));
}

/* ---- the tests ---- */

static void test_says_what_it_counts(void **state)
{
    struct tree *tree = *state;
    char say[COUNTERS_SAY];
    uint32_t can;
    void *backend;

    assert_int_equal(counters_resctrl.open(&tree->node, &backend, &can, say, NULL), 0);
    assert_int_equal(can, 1u << COUNTER_BYTES | 1u << COUNTER_BYTES_LOCAL |
                              1u << COUNTER_OCCUPANCY_BYTES);
    assert_non_null(strstr(say, "256 groups"));
    counters_resctrl.close(backend);

    folder_put(tree->path, R "info/L3_MON/mon_features", "mbm_total_bytes_config\nllc_occupancy\n");
    assert_int_equal(counters_resctrl.open(&tree->node, &backend, &can, say, NULL), 0);
    assert_int_equal(can, 1u << COUNTER_OCCUPANCY_BYTES);
    counters_resctrl.close(backend);

    folder_put(tree->path, R "info/L3_MON/mon_features", "mbm_total_bytes_config\n");
    assert_int_equal(counters_resctrl.open(&tree->node, &backend, &can, say, NULL), -1);
}

static void test_says_why_not(void **state)
{
    static const struct {
        const char *file, *text, *why;
    } cases[] = {{"proc/cpuinfo", "flags : fpu\n", "neither"},
                 {"proc/cpuinfo", "flags : fpu cqm_llc\n", "no resctrl"},
                 {"proc/filesystems", "nodev\tresctrl\n", "mount -t resctrl"},
                 {R "info/last_cmd_status", "ok\n", "monitors no cache"}};
    struct tree *tree = *state;
    char say[COUNTERS_SAY];
    uint32_t can;
    void *backend;

    tree_drop(tree, "sys");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct berth_error err = {""};

        folder_put(tree->path, cases[i].file, cases[i].text);
        assert_int_equal(counters_resctrl.open(&tree->node, &backend, &can, say, &err), -1);
        if (!strstr(err.text, cases[i].why))
            fail_msg("case %zu: %s", i, err.text);
    }
}

static void test_sums_over_the_caches(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;

    new_group(tree, G);
    set_domain(tree, G, "mon_L3_01", "500\n", "1000\n", "100\n"); /* before it began */
    step = attach(tree, backend);
    set_domain(tree, G, "mon_L3_00", "4096\n", "300\n", "200\n");
    set_domain(tree, G, "mon_L3_01", "1024\n", "1050\n", "107\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
    assert_true(sample.value[COUNTER_OCCUPANCY_BYTES] == 5120);
    assert_true(sample.value[COUNTER_BYTES] == 350);
    assert_true(sample.value[COUNTER_BYTES_LOCAL] == 207);
    set_domain(tree, G, "mon_L3_00", "0\n", "301\n", "200\n");
    assert_int_equal(read_at(tree, backend, step, 2, &sample, NULL), 0);
    assert_true(sample.value[COUNTER_OCCUPANCY_BYTES] == 1024);
    assert_true(sample.value[COUNTER_BYTES] == 351);
    assert_true(sample.value[COUNTER_BYTES_LOCAL] == 207);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

/* Two packages of one node and one cache each, whose ids are 3 and 1. */
static void test_by_node(void **state)
{
    struct tree *tree = *state;
    struct counters_sample sample;
    struct topo *topo;
    void *backend, *step;

    assert_int_equal(topo_read(&topo, "package:2 numa:1 l3:1 core:2 pu:1", NULL), 0);
    tree->node.topo = topo;
    folder_put(tree->path, "sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    folder_put(tree->path, "sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    folder_put(tree->path, "sys/devices/system/cpu/cpu0/cache/index3/id", "3\n");
    folder_put(tree->path, "sys/devices/system/cpu/cpu2/cache/index3/level", "3\n");
    folder_put(tree->path, "sys/devices/system/cpu/cpu2/cache/index3/id", "1\n");
    backend = open_backend(tree);
    folder_put(tree->path, G "tasks", "");
    set_domain(tree, G, "mon_L3_01", "500\n", "1000\n", "100\n");
    set_domain(tree, G, "mon_L3_03", "1\n", "10\n", "0\n");
    step = attach(tree, backend);
    set_domain(tree, G, "mon_L3_01", "1024\n", "1050\n", "107\n");
    set_domain(tree, G, "mon_L3_03", "4096\n", "310\n", "200\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
    assert_true(sample.value[COUNTER_BYTES] == 350);
    assert_int_equal(sample.by_node->nodes, 2);
    assert_true(by_node_values(sample.by_node, BY_NODE_BYTES)[0] == 300);
    assert_true(by_node_values(sample.by_node, BY_NODE_BYTES)[1] == 50);
    assert_true(by_node_values(sample.by_node, BY_NODE_BYTES_LOCAL)[0] == 200);
    assert_true(by_node_values(sample.by_node, BY_NODE_BYTES_LOCAL)[1] == 7);
    set_domain(tree, G, "mon_L3_01", "1024\n", "Unavailable\n", "107\n");
    assert_int_equal(read_at(tree, backend, step, 2, &sample, NULL), 0);
    assert_int_equal(sample.by_node->known, 1u << BY_NODE_BYTES_LOCAL);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
    topo_free(topo);
}

/* A cache that nobody knows the node of (its CPUs are of two: sub-NUMA clusters). */
static void test_by_no_node(void **state)
{
    struct tree *tree = *state;
    struct counters_sample sample;
    struct topo *topo;
    void *backend, *step;

    assert_int_equal(topo_read(&topo, "package:1 l3:1 numa:2 core:2 pu:1", NULL), 0);
    tree->node.topo = topo;
    folder_put(tree->path, "sys/devices/system/cpu/cpu0/cache/index3/level", "3\n");
    folder_put(tree->path, "sys/devices/system/cpu/cpu0/cache/index3/id", "0\n");
    backend = open_backend(tree);
    new_group(tree, G);
    step = attach(tree, backend);
    assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
    assert_true(counters_know(&sample, COUNTER_BYTES));
    assert_int_equal(sample.by_node->known, 0);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
    topo_free(topo);
}

/* A named pipe in the place of the list keeps everything that is written. */
static void test_moves_each_thread(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    char path[PATH_MAX], written[64] = "";
    int fd;

    new_group(tree, G);
    snprintf(path, sizeof(path), "%s/" G "tasks", tree->path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    step = attach(tree, backend);
    assert_int_equal(read(fd, written, sizeof(written) - 1), 6);
    if (strcmp(written, "100101") != 0)
        assert_string_equal(written, "101100");
    close(fd);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

static void test_silent_domain_makes_sum_absent(void **state)
{
    static const char *const text[] = {"Unavailable\n", "Error\n", "Unassigned\n", "", "-1\n"};
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;

    new_group(tree, G);
    step = attach(tree, backend);
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        char total[32];

        set_domain(tree, G, "mon_L3_00", "8\n", "900\n", "9\n");
        set_domain(tree, G, "mon_L3_01", text[i], text[i], "1\n");
        assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
        assert_int_equal(sample.known, 1u << COUNTER_BYTES_LOCAL);
        snprintf(total, sizeof(total), "%zu\n", 100 + i);
        set_domain(tree, G, "mon_L3_01", "2\n", total, "1\n");
        assert_int_equal(read_at(tree, backend, step, 2, &sample, NULL), 0);
        assert_true(sample.value[COUNTER_OCCUPANCY_BYTES] == 10);
        assert_true(sample.value[COUNTER_BYTES] == 1000. + (double)i);
    }
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

static void test_counter_that_begins_anew(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;

    new_group(tree, G);
    step = attach(tree, backend);
    set_domain(tree, G, "mon_L3_00", "0\n", "700\n", "0\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
    set_domain(tree, G, "mon_L3_00", "0\n", "20\n", "0\n");
    assert_int_equal(read_at(tree, backend, step, 2, &sample, NULL), 0);
    assert_false(counters_know(&sample, COUNTER_BYTES));
    assert_true(counters_know(&sample, COUNTER_BYTES_LOCAL));
    set_domain(tree, G, "mon_L3_00", "0\n", "25\n", "0\n");
    assert_int_equal(read_at(tree, backend, step, 3, &sample, NULL), 0);
    assert_true(sample.value[COUNTER_BYTES] == 705);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

static void test_wraps_at_64_bits(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;

    new_group(tree, G);
    set_domain(tree, G, "mon_L3_00", "0\n", "18446744073709551606\n", "0\n"); /* 2^64 - 10 */
    step = attach(tree, backend);
    set_domain(tree, G, "mon_L3_00", "0\n", "90\n", "0\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, NULL), 0);
    assert_true(sample.value[COUNTER_BYTES] == 100);
    set_domain(tree, G, "mon_L3_00", "0\n", "99000000000000\n", "0\n"); /* 99 TB in a second */
    assert_int_equal(read_at(tree, backend, step, 2, &sample, NULL), 0);
    assert_false(counters_know(&sample, COUNTER_BYTES));
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

/* A task in a control group is monitored there; older kernels say it by the group's list only. */
static void test_goes_into_the_control_group(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;

    folder_put(tree->path, R "site/tasks", "99\n100\n1000\n");
    new_group(tree, R "site/mon_groups/berth-7.0/");
    step = attach(tree, backend);
    detach(tree, backend, step, R "site/mon_groups/berth-7.0");

    folder_put(tree->path, R "site/tasks", "99\n1000\n");
    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:other\nmon:\n");
    new_group(tree, R "other/mon_groups/berth-7.0/");
    step = attach(tree, backend);
    detach(tree, backend, step, R "other/mon_groups/berth-7.0");

    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:/\nmon:berth-7.0\n"); /* adopted */
    new_group(tree, G);
    step = attach(tree, backend);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

static void test_leaves_others_monitoring_alone(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;
    struct berth_error err = {""};

    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:/\nmon:theirs\n");
    assert_int_equal(counters_resctrl.attach(backend, &tree->target, &step, &err), -1);
    assert_non_null(strstr(err.text, "'theirs'"));
    assert_false(tree_has(tree, G));

    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:/\nmon:\n");
    new_group(tree, G);
    step = attach(tree, backend);
    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:p0\nmon:\n"); /* taken away */
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), -1);
    assert_int_equal(sample.known, 0);
    assert_non_null(strstr(err.text, "moved away"));
    tree->enforce.way = &way_of_others; /* the task's number is somebody else's by now */
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), 0);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

/* Once the group has been removed its tasks are in none, and its files are dead. */
static void test_group_that_vanished(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;
    struct berth_error err = {""};

    new_group(tree, G);
    step = attach(tree, backend);
    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:/\nmon:berth-7.0\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), 0);
    folder_put(tree->path, "proc/100/cpu_resctrl_groups", "res:/\nmon:\n");
    tree_drop(tree, G);
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), -1);
    assert_int_equal(sample.known, 0);
    counters_resctrl.detach(backend, step);
    counters_resctrl.close(backend);
}

static void test_nothing_can_be_read(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct counters_sample sample;
    struct berth_error err = {""};

    new_group(tree, G);
    step = attach(tree, backend);
    set_domain(tree, G, "mon_L3_01", "Error\n", "Error\n", "Error\n");
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), -1);
    assert_int_equal(sample.known, 0);
    assert_non_null(strstr(err.text, "mon_L3_01: 'Error'"));
    detach(tree, backend, step, G);

    new_group(tree, G);
    tree_drop(tree, G "mon_data/mon_L3_00/mbm_total_bytes");
    step = attach(tree, backend);
    assert_int_equal(read_at(tree, backend, step, 1, &sample, &err), 0);
    assert_int_equal(sample.known, 1u << COUNTER_BYTES_LOCAL | 1u << COUNTER_OCCUPANCY_BYTES);
    detach(tree, backend, step, G);
    counters_resctrl.close(backend);
}

/* What could not be done leaves no group. */
static void test_failure_leaves_nothing(void **state)
{
    struct tree *tree = *state;
    void *backend = open_backend(tree), *step;
    struct berth_error err = {""};

    assert_int_equal(counters_resctrl.attach(backend, &tree->target, &step, &err), -1);
    assert_non_null(strstr(err.text, "no domain"));
    assert_false(tree_has(tree, G));
    tree->body.ntasks = 0;
    assert_int_equal(counters_resctrl.attach(backend, &tree->target, &step, &err), -1);
    counters_resctrl.close(backend);
}

/* A tmpfs with too few inodes says ENOSPC, as resctrl does when no RMID is free. */
static void test_no_rmid_is_free(void **state)
{
    struct tree *tree = *state;
    char path[PATH_MAX];
    struct berth_error err = {""};
    void *backend, *step;

    snprintf(path, sizeof(path), "%s/" R "mon_groups", tree->path);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", path, "tmpfs", 0, "nr_inodes=2") < 0) {
        print_message("no private mount here: %s\n", strerror(errno));
        skip();
    }
    rootfs_close(&tree->root); /* it was opened in the other mount namespace */
    assert_int_equal(rootfs_open(&tree->root, tree->path, NULL), 0);
    folder_make(tree->path, R "mon_groups/full");
    backend = open_backend(tree);
    assert_int_equal(counters_resctrl.attach(backend, &tree->target, &step, &err), -1);
    assert_string_equal(err.text, "not counted: all 256 monitoring groups (RMIDs) are in use");
    counters_resctrl.close(backend);
    umount(path);
}

static void test_sweeps_its_own_only(void **state)
{
    static const struct {
        const char *name;
        bool stays;
    } cases[] = {{R "mon_groups/berth-7.0", true},   {R "mon_groups/berth-7.1", false},
                 {R "mon_groups/berth-8.0", false},  {R "mon_groups/berth", true},
                 {R "mon_groups/berth-x", true},     {R "mon_groups/berth2-7.1", true},
                 {R "mon_groups/theirs", true},      {R "p0/mon_groups/berth-7.1", false},
                 {R "p0/mon_groups/berth-7.0", true}};
    const struct wire_step_id known = {7, 0};
    struct tree *tree = *state;
    void *backend = open_backend(tree);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        folder_make(tree->path, cases[i].name);
    counters_resctrl.sweep(backend, &known, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (tree_has(tree, cases[i].name) != cases[i].stays)
            fail_msg("%s", cases[i].name);
    counters_resctrl.close(backend);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_says_what_it_counts),
                                       TEST(test_says_why_not),
                                       TEST(test_sums_over_the_caches),
                                       TEST(test_by_node),
                                       TEST(test_by_no_node),
                                       TEST(test_moves_each_thread),
                                       TEST(test_silent_domain_makes_sum_absent),
                                       TEST(test_counter_that_begins_anew),
                                       TEST(test_wraps_at_64_bits),
                                       TEST(test_goes_into_the_control_group),
                                       TEST(test_leaves_others_monitoring_alone),
                                       TEST(test_group_that_vanished),
                                       TEST(test_nothing_can_be_read),
                                       TEST(test_failure_leaves_nothing),
                                       TEST(test_no_rmid_is_free),
                                       TEST(test_sweeps_its_own_only)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
