/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory_follow - when a step's memory follows it, what of it, and what is said where it does
 * not. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/enact/memory_follow.h"
#include "packer/observe/window.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/numa_box.h"

#define PAGE 4096.0

/* A machine of two nodes whose kernel is a box, and a step of two tasks on CPUs 0 and 1, each with
 * ten pages on node 0. */
struct bench {
    struct fixture *f;
    struct numa_box *box;
    struct step *step;
};

/* The packer, opened anew perhaps, has the box for a kernel. */
static void put_in_box(struct bench *b)
{
    struct berth_error err;

    fixture_paper(b->f);
    memory_close(&b->f->packer);
    rootfs_close(&b->f->packer.world.root);
    assert_int_equal(rootfs_open(&b->f->packer.world.root, b->box->dir, &err), 0);
    assert_int_equal(topo_read_distances(b->f->packer.world.topo, &b->f->packer.world.root, &err),
                     0);
    b->f->packer.state->mover = memory_mover_open(&b->box->system, 1e12);
}

static void start_step(struct bench *b)
{
    b->step = fixture_put(b->f, 1, 0, "0-3", 5000, (const char *const[]){"0", "1", NULL});
    b->step->place.mems = cpus_of("0");
    b->step->size.given = 2;
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));

    b->f = fixture_open(FOURS_ON_TWO_NODES);
    b->box = numa_box_open(2);
    put_in_box(b);
    start_step(b);
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = b->step->body.task[i].pid;

        numa_box_start(b->box, pid, 0);
        numa_box_map(b->box, (struct box_map){.pid = pid, .start = 0x10000000, .pages = 10});
    }
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    fixture_close(b->f);
    numa_box_close(b->box);
    free(b);
    return 0;
}

/* Counters say: so many bytes on each node, and so much traffic. */
static void count(struct bench *b, double on_0, double on_1, double traffic_gbps)
{
    struct step_counts *counts = calloc(1, sizeof(*counts));

    counts->last.nodes = 2;
    counts->last.rss_node[0] = on_0;
    counts->last.rss_node[1] = on_1;
    b->step->counts = counts;
    b->step->profile.core_gbps = traffic_gbps / 2;
}

/* The tasks stand there now. */
static void move(struct bench *b, const char *first, const char *second, const char *from,
                 const char *to)
{
    struct cpus from_nodes = cpus_of(from), to_nodes = cpus_of(to);

    b->step->body.task[0].cpus = cpus_of(first);
    b->step->body.task[1].cpus = cpus_of(second);
    memory_follow(&b->f->packer, b->step, &from_nodes, &to_nodes);
}

static const struct step_memory *settle(struct bench *b)
{
    while (b->step->memory.running) {
        usleep(1000);
        memory_turn(&b->f->packer);
    }
    return &b->step->memory;
}

static size_t on_node(const struct bench *b, size_t task, int node)
{
    return numa_box_count(b->box, b->step->body.task[task].pid, node);
}

static void test_follows(void **state)
{
    struct bench *b = *state;
    const struct step_memory *memory = &b->step->memory;

    assert_false(memory->asked);
    move(b, "4", "5", "0", "1");
    assert_true(memory->asked);
    settle(b);
    assert_string_equal(memory->why, "");
    assert_float_equal(memory->bytes, 20 * PAGE, 0);
    assert_float_equal(memory->moved, 20 * PAGE, 0);
    assert_float_equal(memory->rate, 1e9, 0);
    assert_true(isnan(memory->gain)); /* nobody counts its traffic */
    assert_int_equal(on_node(b, 0, 1), 10);
    assert_true(cpus_empty(&memory->behind));
}

static pthread_t answers;
static int (*list)(struct enforce *, const struct enforce_step *, struct enforce_pids *);
static unsigned listed;

static int list_elsewhere(struct enforce *enforce, const struct enforce_step *step,
                          struct enforce_pids *pids)
{
    listed += pthread_equal(pthread_self(), answers) ? 1000 : 1;
    return list(enforce, step, pids);
}

/* A step may have thousands of processes: whoever waits for an answer does not wait for their list.
 */
static void test_processes_are_listed_elsewhere(void **state)
{
    struct bench *b = *state;

    answers = pthread_self();
    list = b->f->way.pids;
    listed = 0;
    b->f->way.pids = list_elsewhere;
    move(b, "2", "3", "0", "0"); /* nobody has left a node */
    assert_int_equal(listed, 0);
    move(b, "4", "5", "0", "1");
    settle(b);
    assert_int_equal(listed, 1);
    assert_int_equal(on_node(b, 0, 1), 10);
}

/* Only the task that moved takes its memory along. */
static void test_one_task(void **state)
{
    struct bench *b = *state;

    move(b, "0", "5", "0", "0-1");
    settle(b);
    assert_int_equal(on_node(b, 0, 0), 10);
    assert_int_equal(on_node(b, 1, 1), 10);
}

static void test_stays_on_node(void **state)
{
    struct bench *b = *state;

    move(b, "2", "3", "0", "0");
    assert_false(b->step->memory.asked);
    move(b, "4", "5", "0", "1");
    settle(b);
    b->step->body.mems_home = cpus_of("1"); /* nor to a node that Slurm did not give */
    b->step->memory.asked = false;
    move(b, "0", "1", "1", "0");
    assert_false(b->step->memory.asked);
    assert_int_equal(on_node(b, 0, 1), 10);
}

static void test_says_why(void **state)
{
    static const struct {
        enum wire_mem mem;
        uint64_t rate;
        bool no_mover;
        double bytes;
        const char *why; /* NULL: it follows */
        double age_s;    /* as long as it has run it is expected to run on */
    } row[] = {
        {WIRE_MEM_AUTO, 1000, false, 1e6, NULL, 0},
        {WIRE_MEM_LOCAL, 1000, false, 1e6, NULL, 0},
        {WIRE_MEM_INTERLEAVE, 1000, false, 1e6, "mem=interleave: ", 0},
        {WIRE_MEM_BIND, 1000, false, 1e6, "mem=bind: ", 0},
        {WIRE_MEM_AUTO, 0, false, 1e6, "memory_rate of berth.conf is 0", 0},
        {WIRE_MEM_AUTO, 1000, true, 1e6, "nothing on this node", 0},
        {WIRE_MEM_AUTO, 1000, true, 1e12, "it would not pay: ", 0},
        {WIRE_MEM_AUTO, 1000, false, 1e12,
         "it would not pay: 1e+03 core-seconds, to gain 0.71 cores", 0},
        {WIRE_MEM_AUTO, 1000, false, 1e11, "it would not pay: ", 130},
        {WIRE_MEM_AUTO, 1000, false, 1e11, NULL, 400},
    };

    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct bench *b;

        setup(state);
        b = *state;
        b->step->request.options.mem = row[i].mem;
        b->f->packer.world.conf.memory_rate = row[i].rate;
        if (row[i].no_mover)
            memory_close(&b->f->packer);
        count(b, row[i].bytes, 5e9, 8);
        b->step->started_mono_s -= row[i].age_s;
        move(b, "4", "5", "0", "1");
        if (!row[i].why && !b->step->memory.running)
            fail_msg("row %zu: %s", i, b->step->memory.why);
        assert_int_equal(b->step->memory.running, !row[i].why);
        if (row[i].why) {
            assert_memory_equal(b->step->memory.why, row[i].why, strlen(row[i].why));
            assert_float_equal(b->step->memory.bytes, row[i].bytes, 0);
        }
        assert_float_equal(b->step->memory.lost, row[i].bytes / 1e9, 1e-9);
        settle(b);
        assert_int_equal(on_node(b, 0, 1), row[i].why ? 0 : 10);
        teardown(state);
    }
}

/* What could not follow at once is remembered when the step moves on. */
static void test_behind(void **state)
{
    struct bench *b = *state;

    b->f->packer.world.conf.memory_rate = 0;
    move(b, "4", "5", "0", "1");
    b->f->packer.world.conf.memory_rate = 1000;
    move(b, "5", "4", "1", "1");
    settle(b);
    assert_int_equal(on_node(b, 0, 1), 10);
}

/* It went back while its memory was under way. */
static void test_back(void **state)
{
    struct bench *b = *state;

    b->box->gated = true;
    move(b, "4", "5", "0", "1");
    sem_wait(&b->box->come);
    b->box->gated = false;
    move(b, "0", "1", "1", "0");
    sem_post(&b->box->go);
    settle(b);
    assert_int_equal(on_node(b, 1, 0), 10);
}

static void test_ended(void **state)
{
    struct bench *b = *state;

    b->box->gated = true;
    move(b, "4", "5", "0", "1");
    sem_wait(&b->box->come);
    memory_ended(&b->f->packer, b->step);
    b->box->gated = false;
    sem_post(&b->box->go);
    assert_false(b->step->memory.running);
    assert_string_equal(b->step->memory.why, "the step ended, or left berth's care");
    memory_close(&b->f->packer); /* the chunk in hand is done */
    assert_int_equal(on_node(b, 1, 0), 10);
    memory_ended(&b->f->packer, b->step);
}

/* The kernel's distances, or what was measured: the ratio of two latencies, a link of 4 GB/s, and
 * 10 GB/s by a core. 8 GB/s of two cores that read 8 each at most: half of the time. */
static void test_price(void **state)
{
    struct bench *b = *state;
    struct cpus from = cpus_of("0"), to = cpus_of("1");
    static const double local[] = {0, 10, 10, 10, 10};
    struct page_move_price price;

    price = memory_price(&b->f->packer, b->step, &from, &to);
    assert_false(price.known);
    assert_true(isnan(price.lost));
    count(b, 2e9, 1e9, 8);
    price = memory_price(&b->f->packer, b->step, &from, &to);
    assert_float_equal(price.lost, 2, 1e-9);
    assert_float_equal(price.gain, 2 * (1 - 1 / 1.55), 1e-9);

    fixture_machine(b->f, 2, 4, local);
    put_in_box(b);
    start_step(b);
    count(b, 2e9, 1e9, 8);
    price = memory_price(&b->f->packer, b->step, &from, &to);
    assert_float_equal(price.gain, 2 * (1 - 1 / 2.0), 1e-9); /* the link: 8 of 4 GB/s */
    b->f->packer.world.machine->uni[1].value = 16;
    price = memory_price(&b->f->packer, b->step, &from, &to);
    assert_float_equal(price.gain, 2 * (1 - 1 / 1.44), 1e-9);
    b->f->packer.world.machine->latency_ns[1].value = 150; /* of node 0, from node 1 */
    b->f->packer.world.machine->latency_ns[3].value = 100;
    price = memory_price(&b->f->packer, b->step, &from, &to);
    assert_float_equal(price.gain, 2 * (1 - 1 / 1.2), 1e-9);
}

static void test_bound(void **state)
{
    struct bench *b = *state;
    struct cpus here = cpus_of("0"), there = cpus_of("1"), both = cpus_of("0-1");

    memory_told(b->step);
    assert_true(step_may_use(b->step, &there));
    b->step->request.options.mem = WIRE_MEM_BIND;
    assert_true(step_may_use(b->step, &there)); /* it was told nothing yet */
    memory_told(b->step);
    assert_true(step_may_use(b->step, &here));
    assert_false(step_may_use(b->step, &there));
    assert_false(step_may_use(b->step, &both));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_follows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_task, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processes_are_listed_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stays_on_node, setup, teardown),
        cmocka_unit_test(test_says_why),
        cmocka_unit_test_setup_teardown(test_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(test_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(test_price, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
