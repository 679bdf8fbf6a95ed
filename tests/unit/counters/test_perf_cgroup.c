/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_perf_cgroup - the hierarchy of perf_event and Slurm's cgroup in it are found in recorded
 * trees; berth's own cgroups hold every process of real steps, and go away. */
#include "packer/counters/perf_cgroup.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/folder.h"
#include "tests/unit/common/perf_box.h"
#include "tests/unit/common/steps.h"

/* ---- a recorded tree ---- */

struct tree {
    char folder[64];
    struct rootfs root;
};

static int setup(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));

    folder_new(tree->folder, sizeof(tree->folder), "test_perf_cgroup");
    assert_int_equal(rootfs_open(&tree->root, tree->folder, NULL), 0);
    *state = tree;
    return 0;
}

static int teardown(void **state)
{
    struct tree *tree = *state;

    rootfs_close(&tree->root);
    assert_int_equal(folder_remove(tree->folder), 0);
    free(tree);
    return 0;
}

/* ---- the hierarchy ---- */

#define V1                                                                                         \
    "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"                                                          \
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n"
#define UNIFIED "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nsdelegate 0 0\n"
#define PERF "cgroup /sys/fs/cgroup/perf_event cgroup rw,nosuid,perf_event 0 0\n"

static const struct {
    const char *what, *mounts, *cgroup, *mount, *err;
    bool unified;
} hierarchies[] = {
    {"version 2", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/x\n", "/sys/fs/cgroup", NULL,
     true},
    {"version 1", V1 PERF, "3:perf_event:/\n2:cpuset:/\n", "/sys/fs/cgroup/perf_event", NULL,
     false},
    {"hybrid, with version 1's first", V1 UNIFIED PERF, "3:perf_event:/\n0::/\n",
     "/sys/fs/cgroup/perf_event", NULL, false},
    {"hybrid, without", V1 UNIFIED, "2:cpuset:/\n0::/\n", "/sys/fs/cgroup/unified", NULL, true},
    {"a second mount of version 2", UNIFIED "x /mnt cgroup2 rw 0 0\n", "0::/\n",
     "/sys/fs/cgroup/unified", NULL, true},
    {"in version 1, which is not mounted", V1 UNIFIED, "3:perf_event:/\n0::/\n", NULL,
     "no cgroup hierarchy with perf_event is mounted", false},
    {"none", V1, "2:cpuset:/\n", NULL, "no cgroup hierarchy with perf_event is mounted", false},
    {"a word that only begins so", "cgroup /c cgroup rw,perf_events 0 0\n", "", NULL,
     "no cgroup hierarchy with perf_event is mounted", false},
    {"with cpuset", "cgroup /c cgroup rw,perf_event,cpuset 0 0\n", "", NULL,
     "/c: perf_event is mounted together with a controller that Slurm uses", false},
    {"with net_cls", "cgroup /c cgroup rw,net_cls,perf_event 0 0\n", "", "/c", NULL, false},
};

static void test_hierarchy(void **state)
{
    const struct tree *tree = *state;

    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
        struct perf_hierarchy found = {.mount = "untouched"};
        struct berth_error err = {""};
        int rc;

        folder_put(tree->folder, "/proc/self/mounts", hierarchies[i].mounts);
        folder_put(tree->folder, "/proc/self/cgroup", hierarchies[i].cgroup);
        rc = perf_hierarchy_find(&found, &tree->root, &err);
        print_message("%s: %s\n", hierarchies[i].what, rc ? err.text : found.mount);
        assert_int_equal(rc, hierarchies[i].mount ? 0 : -1);
        assert_string_equal(found.mount, hierarchies[i].mount ? hierarchies[i].mount : "untouched");
        if (rc == 0)
            assert_int_equal(found.unified, hierarchies[i].unified);
        else
            assert_memory_equal(err.text, hierarchies[i].err, strlen(hierarchies[i].err));
    }
}

static void test_no_mounts(void **state)
{
    const struct tree *tree = *state;
    struct perf_hierarchy found;
    struct berth_error err = {""};

    assert_int_equal(perf_hierarchy_find(&found, &tree->root, &err), -1);
    assert_string_equal(err.text, "/proc/self/mounts: No such file or directory");
}

static const struct {
    const char *have, *given, *left;
    bool unified, woken;
} wakes[] = {
    {"cpuset cpu io memory hugetlb pids rdma misc\n", "\n", "-misc", true, true},
    {"cpu memory pids\n", "cpu memory\n", "-pids", true, true},
    {"cpu memory pids\n", "cpu pids\n", "cpu pids\n", true, false}, /* it is awake */
    {"cpu misc2 pidses\n", "\n", "\n", true, false},
    {"\n", "\n", "\n", true, false},
    {"misc\n", "\n", "\n", false, false},
};

static void test_wake(void **state)
{
    const struct tree *tree = *state;

    for (size_t i = 0; i < sizeof(wakes) / sizeof(wakes[0]); i++) {
        struct perf_hierarchy hierarchy = {.mount = "/cg", .unified = wakes[i].unified};
        char *left;

        folder_put(tree->folder, "/cg/cgroup.controllers", wakes[i].have);
        folder_put(tree->folder, "/cg/cgroup.subtree_control", wakes[i].given);
        assert_int_equal(perf_hierarchy_wake(&hierarchy, &tree->root), wakes[i].woken);
        left = rootfs_read(&tree->root, "/cg/cgroup.subtree_control");
        assert_string_equal(left, wakes[i].left);
        free(left);
    }
}

/* ---- Slurm's cgroup ---- */

static const struct {
    const char *what, *cgroup, *dir;
    bool unified;
} places[] = {
    {"a task", "0::/system.slice/n1_slurmstepd.scope/job_4711/step_0/user/task_1\n",
     "/cg/system.slice/n1_slurmstepd.scope/job_4711/step_0/user", true},
    {"a task of Slurm 26.05", "0::/a.slice/slurmstepd.scope/s2QSM817N8H500/step_0/user/task_1\n",
     "/cg/a.slice/slurmstepd.scope/s2QSM817N8H500/step_0/user", true},
    {"a task that is not in `user` yet",
     "2:cpuset:/a\n0::/system.slice/slurmstepd.scope/job_4711/step_0/slurm\n",
     "/cg/system.slice/slurmstepd.scope/job_4711/step_0", true},
    {"version 1", "7:net_cls,perf_event:/slurm/uid_0/job_4711/step_0\n0::/job_4711/step_1\n",
     "/cg/slurm/uid_0/job_4711/step_0", false},
};

static void test_slurms(void **state)
{
    const struct tree *tree = *state;
    struct enforce enforce = {.root = &tree->root, .tree = "berth"};
    struct enforce_task task[] = {{.pid = 41}, {.pid = 42}}; /* 41 has gone */
    struct enforce_step step = {.id = {4711, 0}, .ntasks = 2, .task = task};

    folder_put(tree->folder,
               "/cg/system.slice/n1_slurmstepd.scope/job_4711/step_0/user/cgroup.procs", "");
    folder_make(tree->folder, "/cg/a.slice/slurmstepd.scope/s2QSM817N8H500/step_0/user");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct perf_hierarchy hierarchy = {.mount = "/cg", .unified = places[i].unified};
        struct perf_cgroup cgroup;
        struct berth_error err = {""};

        folder_put(tree->folder, "/proc/42/cgroup", places[i].cgroup);
        if (perf_cgroup_enter(&cgroup, &hierarchy, &enforce, &step, 0, &err) < 0)
            fail_msg("%s: %s", places[i].what, err.text);
        assert_string_equal(cgroup.dir, places[i].dir);
        assert_false(cgroup.own);
        perf_cgroup_leave(&cgroup, &hierarchy, &tree->root);
    }
    assert_true(
        rootfs_exists(&tree->root, "/cg/system.slice/n1_slurmstepd.scope/job_4711/step_0/user"));
    assert_false(rootfs_exists(&tree->root, "/cg/berth"));
}

/* ---- berth's own, for real ---- */

struct box {
    struct rootfs root;
    struct perf_hierarchy hierarchy;
    struct enforce enforce;
    struct step_processes run;
    struct enforce_task task[STEP_TASKS_MAX];
    struct enforce_step step;
    char own[512];
};

/* False: it cannot be done here. */
static bool box_open(struct box *box, size_t ntasks, enum step_kind kind)
{
    const unsigned home[STEP_TASKS_MAX] = {0};

    memset(box, 0, sizeof(*box));
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    if (!perf_box_usable(&box->root, &box->hierarchy)) {
        rootfs_close(&box->root);
        return false;
    }
    assert_int_equal(enforce_open(&box->enforce, &box->root, "/sys/fs/cgroup", "dryrun", NULL), 0);
    snprintf(box->enforce.tree, sizeof(box->enforce.tree), "berth-test-%d", (int)getpid());
    snprintf(box->own, sizeof(box->own), "%s/%s/900001.0", box->hierarchy.mount, box->enforce.tree);
    step_start(&box->run, NULL, ntasks, home, kind);
    for (size_t i = 0; i < ntasks; i++)
        box->task[i].pid = box->run.task[i];
    box->step = (struct enforce_step){.id = {900001, 0}, .ntasks = ntasks, .task = box->task};
    return true;
}

static void box_close(struct box *box)
{
    char path[512];

    step_stop(&box->run);
    snprintf(path, sizeof(path), "%s/%s", box->hierarchy.mount, box->enforce.tree);
    perf_cgroup_sweep(&box->hierarchy, &box->enforce, NULL, 0);
    for (int i = 0; i < 200 && rootfs_exists(&box->root, path);
         i++) { /* until the last is reaped */
        usleep(10000);
        perf_cgroup_sweep(&box->hierarchy, &box->enforce, NULL, 0);
    }
    assert_false(rootfs_exists(&box->root, path));
    enforce_close(&box->enforce);
    rootfs_close(&box->root);
}

static bool is_in(const struct box *box, const char *dir, pid_t pid)
{
    char path[600], *text, *at, word[16];
    bool in = false;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    snprintf(word, sizeof(word), "%d", (int)pid);
    text = at = rootfs_read(&box->root, path);
    for (char *save, *line = at ? strtok_r(at, "\n", &save) : NULL; line && !in;
         line = strtok_r(NULL, "\n", &save))
        in = strcmp(line, word) == 0;
    free(text);
    return in;
}

static void enter(struct box *box, struct perf_cgroup *cgroup)
{
    struct berth_error err = {""};

    if (perf_cgroup_enter(cgroup, &box->hierarchy, &box->enforce, &box->step, 0, &err) < 0)
        fail_msg("%s", err.text);
}

static void test_enter_and_leave(void **state)
{
    struct perf_cgroup cgroup;
    struct box box;

    (void)state;
    if (!box_open(&box, 2, STEP_QUIET))
        skip();
    enter(&box, &cgroup);
    assert_true(cgroup.own);
    assert_string_equal(cgroup.dir, box.own);
    for (size_t i = 0; i < 2; i++) {
        assert_true(is_in(&box, cgroup.dir, box.run.task[i]));
        assert_true(is_in(&box, cgroup.dir, box.run.child[i]));
    }
    assert_false(is_in(&box, cgroup.dir, box.run.stepd));
    perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root);
    assert_false(rootfs_exists(&box.root, box.own));
    assert_true(is_in(&box, cgroup.origin, box.run.task[0]));
    box_close(&box);
}

/* A berthd that was killed has left the cgroup: the next one takes it on, and ends it. */
static void test_adopt(void **state)
{
    struct perf_cgroup cgroup;
    struct box box;

    (void)state;
    if (!box_open(&box, 1, STEP_QUIET))
        skip();
    enter(&box, &cgroup);
    enter(&box, &cgroup);
    assert_string_equal(cgroup.dir, box.own);
    assert_string_equal(cgroup.origin, box.hierarchy.mount);
    perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root);
    assert_false(rootfs_exists(&box.root, box.own));
    box_close(&box);
}

/* A step that is known to have too many processes is not listed to find that out, and nothing is
 * made for it. */
static void test_too_many(void **state)
{
    struct perf_cgroup cgroup;
    struct berth_error err = {""};
    struct enforce_way way;
    struct box box;

    (void)state;
    if (!box_open(&box, 1, STEP_QUIET))
        skip();
    way = *box.enforce.way;
    way.pids = NULL;
    box.enforce.way = &way;
    assert_int_equal(
        perf_cgroup_enter(&cgroup, &box.hierarchy, &box.enforce, &box.step, 2000, &err), -1);
    assert_non_null(strstr(err.text, "2000 processes are too many"));
    assert_false(rootfs_exists(&box.root, box.own));
    box_close(&box);
}

/* Nobody is left outside while the tasks keep forking. */
static void test_forking(void **state)
{
    struct perf_cgroup cgroup;
    struct enforce_pids list = {0};
    struct box box;

    (void)state;
    if (!box_open(&box, 2, STEP_FORKING))
        skip();
    enter(&box, &cgroup);
    for (int i = 0; i < 20; i++) {
        list.n = 0;
        assert_int_equal(enforce_pids_descend(&box.enforce, &box.step, &list), 0);
        for (size_t k = 0; k < list.n; k++)
            if (!is_in(&box, cgroup.dir, list.pid[k]) && !enforce_exiting(&box.root, list.pid[k]))
                fail_msg("process %d is elsewhere", (int)list.pid[k]);
    }
    free(list.pid);
    step_end_tasks(&box.run);
    perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root);
    box_close(&box);
}

static void test_vanished(void **state)
{
    struct perf_cgroup cgroup;
    struct box box;

    (void)state;
    if (!box_open(&box, 2, STEP_QUIET))
        skip();
    step_end_tasks(&box.run);
    enter(&box, &cgroup); /* a step without processes is none to count, and no error */
    assert_true(perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root));
    assert_true(perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root)); /* and none to leave */
    assert_true(perf_cgroup_remove(&box.hierarchy, &box.enforce, box.step.id));
    assert_false(rootfs_exists(&box.root, box.own));
    box_close(&box);
}

/* Something in it is not berth's to remove: the cgroup stays, and goes when that has gone. */
static void test_busy(void **state)
{
    struct perf_cgroup cgroup;
    struct box box;
    char inner[PERF_CGROUP_MAX + 8];

    (void)state;
    if (!box_open(&box, 1, STEP_QUIET))
        skip();
    enter(&box, &cgroup);
    snprintf(inner, sizeof(inner), "%s/inner", cgroup.dir);
    assert_int_equal(mkdir(inner, 0755), 0);
    assert_false(perf_cgroup_leave(&cgroup, &box.hierarchy, &box.root));
    assert_false(perf_cgroup_remove(&box.hierarchy, &box.enforce, box.step.id));
    assert_int_equal(rmdir(inner), 0);
    assert_true(perf_cgroup_remove(&box.hierarchy, &box.enforce, box.step.id));
    assert_false(rootfs_exists(&box.root, box.own));
    box_close(&box);
}

static void test_sweep(void **state)
{
    const struct wire_step_id known[] = {{900001, 0}, {900002, 0}};
    struct perf_cgroup cgroup;
    struct box box;

    (void)state;
    if (!box_open(&box, 1, STEP_QUIET))
        skip();
    enter(&box, &cgroup);
    perf_cgroup_sweep(&box.hierarchy, &box.enforce, known, 2);
    assert_true(is_in(&box, box.own, box.run.task[0]));
    perf_cgroup_sweep(&box.hierarchy, &box.enforce, known + 1, 1);
    assert_false(rootfs_exists(&box.root, box.own));
    assert_true(is_in(&box, box.hierarchy.mount, box.run.task[0]));
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_hierarchy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_mounts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wake, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slurms, setup, teardown),
        cmocka_unit_test(test_enter_and_leave),
        cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_forking),
        cmocka_unit_test(test_vanished),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_sweep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
