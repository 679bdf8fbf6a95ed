/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_counters_perf - the perf backend on real steps (root; skipped elsewhere): every process is
 * counted, nothing is left behind, and what cannot be counted is said in words. */
#include "packer/counters/counters.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/perf_box.h"

struct box {
    struct rootfs root;
    struct topo *topo;
    struct enforce enforce;
    struct conf conf;
    struct counters_node node;
    struct perf_hierarchy hierarchy;
    void *state;
    uint32_t can;
    char say[COUNTERS_SAY];
    char tree[512];
    pid_t pid;
    struct enforce_task task;
    struct enforce_step step;
    struct counters_target target;
};

/* On a topology, "" this machine's. False: it cannot be done here. */
static bool box_open_on(struct box *box, const char *topology, const char *table)
{
    const char *srcdir = getenv("srcdir");
    struct berth_error err = {""};

    memset(box, 0, sizeof(*box));
    assert_int_equal(rootfs_open(&box->root, "/", NULL), 0);
    if (!perf_box_usable(&box->root, &box->hierarchy)) {
        rootfs_close(&box->root);
        return false;
    }
    conf_init(&box->conf);
    snprintf(box->conf.event_table, sizeof(box->conf.event_table), "%s/%s", srcdir ? srcdir : ".",
             table);
    assert_int_equal(topo_read(&box->topo, topology, &err), 0);
    assert_int_equal(enforce_open(&box->enforce, &box->root, "/sys/fs/cgroup", "dryrun", &err), 0);
    snprintf(box->enforce.tree, sizeof(box->enforce.tree), "berth-test-%d", (int)getpid());
    snprintf(box->tree, sizeof(box->tree), "%s/%s", box->hierarchy.mount, box->enforce.tree);
    box->node = (struct counters_node){
        .root = &box->root, .topo = box->topo, .enforce = &box->enforce, .conf = &box->conf};
    if (counters_perf.open(&box->node, &box->state, &box->can, box->say, &err) < 0)
        fail_msg("%s", err.text);
    return true;
}

static bool box_open(struct box *box, const char *table)
{
    return box_open_on(box, "", table);
}

static void box_close(struct box *box)
{
    counters_perf.sweep(box->state, NULL, 0);
    for (int i = 0; i < 200 && rootfs_exists(&box->root, box->tree); i++) {
        usleep(10000);
        counters_perf.sweep(box->state, NULL, 0);
    }
    assert_false(rootfs_exists(&box->root, box->tree));
    counters_perf.close(box->state);
    topo_free(box->topo);
    enforce_close(&box->enforce);
    rootfs_close(&box->root);
}

static void start(struct box *box, bool busy, bool with_child)
{
    box->pid = perf_box_start(0, busy, with_child);
    box->task = (struct enforce_task){.pid = box->pid};
    box->step = (struct enforce_step){.id = {900001, 0}, .ntasks = 1, .task = &box->task};
    box->target = (struct counters_target){.body = &box->step, .name = "test"};
    assert_int_equal(cpus_parse(&box->target.cpus, "0"), 0);
}

static void *attach(struct box *box)
{
    struct berth_error err = {""};
    void *step = NULL;

    if (counters_perf.attach(box->state, &box->target, &step, &err) < 0)
        fail_msg("%s", err.text);
    return step;
}

static void read_once(struct box *box, void *step, struct counters_sample *sample)
{
    struct berth_error err = {""};
    static struct by_node by;

    by = (struct by_node){.nodes = 0};
    *sample = (struct counters_sample){.by_node = &by};
    if (counters_perf.read(box->state, step, &box->target, sample, &err) < 0)
        fail_msg("%s", err.text);
}

static void read_until(struct box *box, void *step, enum counter counter, double above)
{
    struct counters_sample sample;

    for (int i = 0; i < 1000; i++) {
        read_once(box, step, &sample);
        assert_true(counters_know(&sample, counter));
        if (sample.value[counter] > above)
            return;
        usleep(10000);
    }
    fail_msg("%s stays at %.0f", counter_info[counter].name, sample.value[counter]);
}

#define SOFTWARE                                                                                   \
    (1u << COUNTER_CPU_NS | 1u << COUNTER_SWITCHES | 1u << COUNTER_MIGRATIONS |                    \
     1u << COUNTER_FAULTS)

static void test_step(void **state)
{
    struct counters_sample sample;
    struct box box;
    void *step;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    print_message("%s\n", box.say);
    assert_int_equal(box.can & SOFTWARE, SOFTWARE);
    assert_non_null(strstr(box.say, "software events by cgroup; "));
    start(&box, true, true); /* two processes on one CPU: they take turns */
    step = attach(&box);
    read_until(&box, step, COUNTER_CPU_NS, 50e6);
    read_until(&box, step, COUNTER_SWITCHES, 0);
    read_once(&box, step, &sample);
    assert_int_equal(sample.known & ~box.can, 0);
    assert_true(sample.error[COUNTER_CPU_NS] == 0);
    perf_box_stop(box.pid);
    counters_perf.detach(box.state, step);
    box_close(&box);
}

/* Of a machine with several NUMA nodes it is known whose cores worked. */
static void test_by_node(void **state)
{
    struct counters_sample sample;
    struct box box;
    void *step;

    (void)state;
    if (!box_open_on(&box, "package:2 numa:1 core:2 pu:1", "etc/events.conf"))
        skip();
    start(&box, true, false);
    step = attach(&box);
    read_until(&box, step, COUNTER_CPU_NS, 10e6);
    read_once(&box, step, &sample);
    assert_int_equal(sample.by_node->nodes, 2);
    assert_true(by_node_values(sample.by_node, BY_NODE_CPU_NS)[0] == sample.value[COUNTER_CPU_NS]);
    assert_true(by_node_values(sample.by_node, BY_NODE_CPU_NS)[1] == 0);
    assert_int_equal(by_node_knows(sample.by_node, BY_NODE_READS_LOCAL),
                     counters_know(&sample, COUNTER_READS_LOCAL));
    perf_box_stop(box.pid);
    counters_perf.detach(box.state, step);
    box_close(&box);
}

/* What another backend has said stays. */
static void test_first_wins(void **state)
{
    struct counters_sample sample = {0};
    struct berth_error err = {""};
    struct box box;
    void *step;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    start(&box, true, false);
    step = attach(&box);
    counters_set(&sample, COUNTER_CPU_NS, 4711);
    assert_int_equal(counters_perf.read(box.state, step, &box.target, &sample, &err), 0);
    assert_true(sample.value[COUNTER_CPU_NS] == 4711);
    perf_box_stop(box.pid);
    counters_perf.detach(box.state, step);
    box_close(&box);
}

static void test_follow(void **state)
{
    struct counters_sample before, after;
    struct box box;
    void *step;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    start(&box, true, false);
    step = attach(&box);
    read_until(&box, step, COUNTER_CPU_NS, 10e6);
    read_once(&box, step, &before);
    cpus_zero(&box.target.cpus); /* not known: everywhere */
    counters_perf.follow(box.state, step, &box.target);
    read_until(&box, step, COUNTER_CPU_NS, before.value[COUNTER_CPU_NS]);
    read_once(&box, step, &before);
    if (cpus_has(&box.topo->cpus, 1)) { /* it stays on CPU 0: what is counted stays, too */
        assert_int_equal(cpus_parse(&box.target.cpus, "1"), 0);
        counters_perf.follow(box.state, step, &box.target);
        read_once(&box, step, &before);
        usleep(20000);
        read_once(&box, step, &after);
        assert_true(after.value[COUNTER_CPU_NS] == before.value[COUNTER_CPU_NS]);
    }
    perf_box_stop(box.pid);
    counters_perf.detach(box.state, step);
    box_close(&box);
}

/* A step that nobody attached again, and one whose processes went on their own. */
static void test_left_behind(void **state)
{
    const struct wire_step_id known = {900001, 0};
    char own[600];
    struct box box;
    void *step;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    snprintf(own, sizeof(own), "%s/900001.0", box.tree);
    start(&box, false, true);
    step = attach(&box);
    counters_perf.sweep(box.state, &known, 1);
    assert_true(rootfs_exists(&box.root, own));
    counters_perf.sweep(box.state, NULL, 0);
    assert_false(rootfs_exists(&box.root, own));
    counters_perf.detach(box.state, step); /* its cgroup has gone before */
    perf_box_stop(box.pid);
    box_close(&box);
}

/* A cgroup that is busy when its step ends is removed when another one begins or ends. */
static void test_busy(void **state)
{
    char inner[600];
    struct box box;
    void *step, *next;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    start(&box, false, false);
    step = attach(&box);
    snprintf(inner, sizeof(inner), "%s/900001.0/inner", box.tree);
    assert_int_equal(mkdir(inner, 0755), 0);
    counters_perf.detach(box.state, step);
    assert_true(rootfs_exists(&box.root, inner));
    assert_int_equal(rmdir(inner), 0);
    box.step.id.step = 1;
    next = attach(&box);
    *strrchr(inner, '/') = '\0';
    assert_false(rootfs_exists(&box.root, inner));
    perf_box_stop(box.pid);
    counters_perf.detach(box.state, next);
    box_close(&box);
}

/* With no file left the step is not counted: not when it begins, and no longer when it moves. */
static void test_too_many_files(void **state)
{
    struct counters_sample sample = {0};
    struct berth_error err = {""};
    struct rlimit limit, low;
    struct box box;
    void *step, *other;
    int rc;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    start(&box, false, false);
    step = attach(&box);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(limit.rlim_cur == limit.rlim_max); /* raised by open */
    low = (struct rlimit){3, limit.rlim_max};
    box.target.cpus = box.topo->cpus;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    rc = counters_perf.attach(box.state, &box.target, &other, &err);
    counters_perf.follow(box.state, step, &box.target);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(rc, -1);
    if (cpus_count(&box.topo->cpus) > 1) { /* and one is counted already */
        rc = counters_perf.read(box.state, step, &box.target, &sample, &err);
        assert_int_equal(rc, -1);
        assert_non_null(strstr(err.text, "too many open files"));
        assert_int_equal(sample.known, 0);
    }
    counters_perf.detach(box.state, step);
    perf_box_stop(box.pid);
    box_close(&box);
}

/* A table that cannot be read costs the hardware events, no more. */
static void test_wrong_table(void **state)
{
    struct box box;

    (void)state;
    if (!box_open(&box, "no/such/table"))
        skip();
    assert_non_null(strstr(box.say, "software events by cgroup; no hardware events: "));
    assert_non_null(strstr(box.say, "no/such/table: No such file or directory"));
    assert_int_equal(box.can, SOFTWARE);
    box_close(&box);
}

/* Without root: said at open, and nothing is left behind. */
static void test_not_permitted(void **state)
{
    struct box box;
    pid_t pid;
    int status;

    (void)state;
    if (!box_open(&box, "etc/events.conf"))
        skip();
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        struct berth_error err = {""};
        void *other;
        uint32_t can;
        char say[COUNTERS_SAY];
        int rc;

        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(2);
        rc = counters_perf.open(&box.node, &other, &can, say, &err);
        fprintf(stderr, "%s\n", err.text);
        _exit(rc == -1 && (strstr(err.text, "not permitted") || strstr(err.text, "CAP_PERFMON"))
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    box_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),          cmocka_unit_test(test_by_node),
        cmocka_unit_test(test_first_wins),    cmocka_unit_test(test_follow),
        cmocka_unit_test(test_busy),          cmocka_unit_test(test_left_behind),
        cmocka_unit_test(test_wrong_table),   cmocka_unit_test(test_too_many_files),
        cmocka_unit_test(test_not_permitted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
