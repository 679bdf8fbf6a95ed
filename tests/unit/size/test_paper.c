/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_paper - the published optima of Wang 2015 (Tables 5.3 and 5.5), reached by a packer on the
 * paper's two machines: counters are played, the matrix is measured from two readings with one core
 * of each node, and the step is sized by it. What is played is what these machines' own counters
 * say, too: family 10h's northbridge, Nehalem-EX's memory controllers and off-core responses.
 *
 * The document does not print what the programs ask for: the figures here are of the kind that its
 * text tells (shared data, all to all, a ring of writes), GB/s of one core. */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/memory_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/counters/sample_line.h"
#include "packer/observe/window.h"
#include "packer/size/cores.h"
#include "packer/size/size.h"
#include "packer/size/traffic.h"

#define NODES_MAX 8
#define LINE 64
#define PROFILE_S 0.5

/* How the counts come about. */
enum counting {
    PAIRS,    /* by pairs of nodes, as played */
    PAGES,    /* of the step, divided by where its pages lie */
    MEMORIES, /* by the machine's own counters, from recorded trees */
};

struct platform {
    const char *topology, *cpus;
    bool northbridge; /* family 10h's, which tells pairs; else Nehalem-EX's memory controllers */
    size_t nodes, cores;
    double alpha, beta, uni, bi; /* Table 5.1 */
    bool ring;                   /* the links that the text names, and the way round */
};

static const struct platform intel = {
    "package:4 numa:1 l3:1 core:8 pu:1", "0-31", false, 4, 8, 20.26, 0.24, 10.8, 17.5, false};
static const struct platform amd = {
    "package:4 numa:2 l3:1 core:6 pu:1", "0-47", true, 8, 6, 8.1, 0.4, 4.9, 8.5, false};
static const struct platform amd_ring = {
    "package:4 numa:2 l3:1 core:6 pu:1", "0-47", true, 8, 6, 8.1, 0.4, 2.1, 4.1, true};

/* What one core asks for. */
struct published {
    const char *name;
    const struct platform *platform;
    double own;    /* reads of its own node's memory */
    double first;  /* and of node 0's, from all nodes */
    double others; /* and of each other node's */
    double next;   /* writes to the next node's, in a ring */
    double most;   /* GB/s: no node's cores together ask more of their own; 0: as they like */
    unsigned wanted[NODES_MAX];
    enum numem_constraint constraint;
};

static const struct published published[] = {
    {"streamcluster", &intel, 0, 1.1, 0, 0, 0, {8, 8, 3, 0}, NUMEM_MAX_OUT},
    {"canneal", &intel, 0, .74, 0, 0, 0, {8, 8, 8, 4}, NUMEM_MAX_OUT},
    {"facesim", &intel, 0, 1.3, 0, 0, 0, {8, 8, 0, 0}, NUMEM_MAX_OUT},
    {"mg.D-resid", &intel, 2.6, 0, 0, 0, 18.2, {7, 7, 7, 7}, NUMEM_LOCAL_BANDWIDTH},
    {"sp.C-solve", &intel, 4, 0, 1, 0, 0, {3, 3, 3, 3}, NUMEM_CONTENTION},
    {"streamcluster", &amd, 0, 1.4, 0, 0, 0, {6, 0, 0, 0, 0, 0, 0, 0}, NUMEM_MAX_OUT},
    {"canneal", &amd, 0, .4, 0, 0, 0, {6, 6, 6, 3, 0, 0, 0, 0}, NUMEM_MAX_OUT},
    {"facesim", &amd, 0, .52, 0, 0, 0, {6, 6, 4, 0, 0, 0, 0, 0}, NUMEM_MAX_OUT},
    {"mg.D-rprj3", &amd_ring, 0, 0, 0, .48, 0, {6, 5, 6, 6, 6, 4, 6, 4}, NUMEM_LINK},
    {"sp.C-solve", &amd, 2.5, 0, 1, 0, 0, {1, 1, 1, 1, 1, 1, 1, 1}, NUMEM_CONTENTION},
    {"dgemm ACML", &amd, 1.2, .11, 0, 0, 0, {3, 6, 6, 6, 6, 6, 6, 6}, NUMEM_CONTENTION},
    {"dgemm MKL", &amd, 1.3, .125, 0, 0, 0, {2, 6, 6, 6, 6, 6, 6, 6}, NUMEM_CONTENTION},
};
#define PROGRAMS (sizeof(published) / sizeof(published[0]))

/* ---- the machine ---- */

/* The pairs within a package, and the wide link between nodes 3 and 4; two hops; one hop. */
static void set_link(struct machine_profile *machine, const struct platform *p, size_t i, size_t j)
{
    size_t low = i < j ? i : j, high = i < j ? j : i;
    bool wide = (low % 2 == 0 && high == low + 1) || (low == 3 && high == 4);
    bool far = (low == 5 && high == 6) || (low == 0 && high == 7);

    machine->uni[i * p->nodes + j].value = !p->ring ? p->uni : wide ? 4.9 : far ? 1.8 : p->uni;
    machine->bi[i * p->nodes + j].value = !p->ring ? p->bi : wide ? 8.5 : far ? 3.6 : p->bi;
}

/* Writes the platform's machine profile. The document has no local bandwidth by core count: none
 * stops the cores here but alpha. */
static void write_machine(struct fixture *f, const struct platform *p)
{
    size_t cores[NODES_MAX];
    struct machine_profile *machine;
    struct berth_error err = {""};

    for (size_t i = 0; i < p->nodes; i++)
        cores[i] = p->cores;
    machine = machine_profile_new(p->nodes, cores);
    assert_non_null(machine);
    strcpy(machine->source, "Wang 2015, Table 5.1");
    for (size_t i = 0; i < p->nodes; i++) {
        for (size_t c = 1; c <= p->cores; c++)
            machine->node[i].local[c] = (struct machine_figure){1e6, 0};
        machine->node[i].alpha = (struct machine_figure){p->alpha, 0};
        machine->node[i].beta = (struct machine_figure){p->beta, 0};
        for (size_t j = 0; j < p->nodes; j++)
            if (i != j)
                set_link(machine, p, i, j);
    }
    if (machine_profile_write(machine, f->conf.machine_profile, true, &err) < 0)
        fail_msg("%s", err.text);
    machine_profile_free(machine);
}

/* ---- the program ---- */

static double asks(const struct published *program, size_t node, size_t memory, bool writes)
{
    size_t n = program->platform->nodes;

    if (writes)
        return memory == (node + 1) % n ? program->next : 0;
    return (memory == node ? program->own : program->others) + (memory == 0 ? program->first : 0);
}

/* Where its data are all on node 0, no counter has to tell pairs of nodes: where its pages lie says
 * the same. */
static bool is_shared(const struct published *program)
{
    return program->own + program->others + program->next == 0;
}

/* Counted of the step, with the pages that it had. */
static void count_step(const struct published *program, double seconds,
                       struct counters_sample *sample)
{
    size_t n = program->platform->nodes;
    double lines = program->first * 1e9 * seconds / LINE;

    counters_set(sample, COUNTER_READS_LOCAL, lines);
    counters_set(sample, COUNTER_READS_REMOTE, (double)(n - 1) * lines);
    sample->nodes = n;
    sample->rss_node[0] = 12e9;
}

/* Lines that one core of the node reads from a memory, or writes to it, in a profiling run. */
static double lines(const struct published *program, size_t node, size_t memory, bool writes)
{
    return asks(program, node, memory, writes) * 1e9 * PROFILE_S / LINE;
}

static void count_pairs(const struct published *program, double times, struct by_node *by)
{
    size_t n = program->platform->nodes;
    double pair[2][NODES_MAX * NODES_MAX];

    for (int writes = 0; writes < 2; writes++)
        for (size_t k = 0; k < n * n; k++)
            pair[writes][k] = times * lines(program, k / n, k % n, writes);
    by_node_set(by, BY_NODE_READS_FROM, n, pair[0], 0);
    by_node_set(by, BY_NODE_WRITES_TO, n, pair[1], 0);
}

/* ---- what the paper's machines count, from trees as the kernel makes them ---- */

/* What the northbridge of that CPU's node counts of what its core asks. */
static double northbridge_counts(const struct perf_event_attr *attr, int cpu, void *arg)
{
    const struct published *program = arg;
    unsigned event = (unsigned)(attr->config & 0xff) | (unsigned)(attr->config >> 32 & 15) << 8;
    unsigned umask = attr->config >> 8 & 0xff, target = 0;
    size_t node = (size_t)cpu / program->platform->cores;

    while (target < 4 && !(umask >> 4 & 1u << target))
        target++;
    switch (event) {
    case 0x1e3:
    case 0x1e5:
        return lines(program, node, target + (event == 0x1e5 ? 4 : 0), false);
    case 0x1e7:
        return lines(program, node, target + (umask & 8 ? 4 : 0), true);
    default:
        return 0;
    }
}

/* What each of the two memory controllers of that CPU's package counts. */
static double controller_counts(const struct perf_event_attr *attr, int cpu, void *arg)
{
    const struct published *program = arg;
    size_t memory = (size_t)cpu / program->platform->cores;
    double sum = 0;

    for (size_t i = 0; i < program->platform->nodes; i++)
        sum += lines(program, i, memory, attr->config1 == 0x2820);
    return sum / 2;
}

/* Its off-core responses, which perf counts of the step itself. */
static void count_responses(const struct published *program, double times, struct by_node *by)
{
    size_t n = program->platform->nodes;
    double own[NODES_MAX], others[NODES_MAX] = {0};

    for (size_t i = 0; i < n; i++) {
        own[i] = times * lines(program, i, i, false);
        for (size_t j = 0; j < n; j++)
            others[i] += i == j ? 0 : times * lines(program, i, j, false);
    }
    by_node_set(by, BY_NODE_READS_LOCAL, n, own, 0);
    by_node_set(by, BY_NODE_READS_REMOTE, n, others, 0);
}

/* Reads the recorded tree before and after the run. */
static void count_memories(const struct published *program, struct by_node by[2])
{
    const struct platform *p = program->platform;
    struct memory_events *events;
    struct memory_tree tree;
    struct topo *topo;
    struct berth_error err = {""};

    memory_tree_new(&tree);
    if (p->northbridge)
        memory_tree_family_10h(&tree);
    else
        memory_tree_nehalem_ex(&tree, "0,8,16,24\n");
    assert_int_equal(topo_read(&topo, p->topology, &err), 0);
    if (memory_events_open(&events, &tree.root, topo, memory_tree_open, &tree, &err) < 0)
        fail_msg("%s", err.text);
    memory_events_read(events, &by[0]);
    memory_tree_count(&tree, p->northbridge ? northbridge_counts : controller_counts,
                      (void *)program, 500000000, 500000000);
    memory_events_read(events, &by[1]);
    for (int i = 0; i < 2 && !p->northbridge; i++)
        count_responses(program, i, &by[i]);
    memory_events_close(events);
    topo_free(topo);
    memory_tree_free(&tree);
}

/* ---- as a file to be played ---- */

static void count(const struct published *program, enum counting counting, struct by_node by[2])
{
    by[0] = by[1] = (struct by_node){.nodes = 0};
    if (counting == MEMORIES)
        count_memories(program, by);
    for (int i = 0; i < 2 && counting == PAIRS; i++)
        count_pairs(program, i, &by[i]);
}

/* What was counted with one core on each node: nothing at first, then a profiling run, then nothing
 * again, so that it does not matter when exactly it is read. */
static void write_samples(struct fixture *f, const struct published *program,
                          enum counting counting)
{
    struct by_node by[2];
    FILE *file;

    count(program, counting, by);
    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples", f->dir);
    file = fopen(f->conf.counters_replay, "w");
    assert_non_null(file);
    for (int i = 0; i < 3; i++) {
        struct counters_sample sample = {.at_s = i < 2 ? 10 + i * PROFILE_S : 20,
                                         .by_node = &by[i > 0]};
        char *line;

        if (counting == PAGES)
            count_step(program, i ? PROFILE_S : 0, &sample);
        counters_set(&sample, COUNTER_THREADS, 1);
        line = sample_line_json(program->name, &sample);
        fputs(line, file);
        free(line);
    }
    fclose(file);
}

/* What DraMon would say of so many of its cores is told to the store. */
static void tell_curve(struct fixture *f, const struct published *program)
{
    double curve[9];
    struct profile_demand demand = {.cores = program->platform->cores, .curve = curve};
    struct berth_error err = {""};
    struct profiles *store;
    char key[PROFILE_KEY_MAX];

    for (size_t c = 0; c <= demand.cores; c++)
        curve[c] = fmin((double)c * program->own, program->most);
    profile_key_tag(key, program->name);
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_demand(store, PROFILE_EVERYBODY, key, &demand, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
}

/* ---- the packer ---- */

static struct fixture *open_on(const struct published *program, enum counting counting)
{
    struct fixture *f = fixture_open(program->platform->topology);

    write_machine(f, program->platform);
    write_samples(f, program, counting);
    if (program->most > 0)
        tell_curve(f, program);
    f->conf.startup_ms = 0;
    fixture_restart(f);
    assert_non_null(f->packer.world.machine);
    fixture_paper(f);
    return f;
}

static struct step *start(struct fixture *f, const struct published *program)
{
    struct wire_register request =
        fixture_request(1, 0, program->platform->cpus, program->platform->cpus, 1, program->name);

    request.options.size = true;
    return fixture_start(f, request);
}

/* Reads what the step had counted at that time of its life. */
static void read_at(struct fixture *f, struct step *step, double at_s,
                    struct counters_sample *sample, struct by_node *by)
{
    step->started_mono_s = clock_s() - at_s;
    window_turn(&f->packer);
    assert_int_equal(window_read_by_node(&f->packer, step, sample, by), 0);
}

/* Measures the matrix on one core of each node. */
static void measure(struct fixture *f, struct step *step, struct size_traffic *traffic)
{
    static const unsigned one_each[NODES_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct counters_sample before, after;
    struct by_node by[2];
    struct berth_error err = {""};

    read_at(f, step, 5, &before, &by[0]);
    read_at(f, step, 15, &after, &by[1]);
    before.at_s = 10;
    after.at_s = 10 + PROFILE_S;
    if (traffic_measure(&f->packer, step, &before, &after, one_each, false, traffic, &err) < 0)
        fail_msg("%s", err.text);
}

static void check(const struct published *program, enum counting counting)
{
    struct fixture *f = open_on(program, counting);
    struct step *step = start(f, program);
    struct size_traffic traffic;
    unsigned count[NODES_MAX];

    measure(f, step, &traffic);
    assert_int_equal(traffic.source, counting == PAGES ? SIZE_MATRIX_PAGES : SIZE_MATRIX_COUNTED);
    step->size.loop.traffic = &traffic;
    size_node(&f->packer, NULL);
    size_cores_on_nodes(&f->packer, step, true, count);
    print_message("%s, %zu x %zu: {", program->name, program->platform->nodes,
                  program->platform->cores);
    for (size_t i = 0; i < program->platform->nodes; i++)
        print_message("%u%s", count[i], i + 1 < program->platform->nodes ? "," : "}");
    print_message(" %s\n", numem_constraint_name[step->size.constraint]);
    for (size_t i = 0; i < program->platform->nodes; i++)
        if (count[i] != program->wanted[i])
            fail_msg("node %zu: %u published", i, program->wanted[i]);
    assert_int_equal(step->size.constraint, program->constraint);
    assert_int_equal(step->size.where[0], program->constraint == NUMEM_LINK ? 7 : 0);
    assert_int_equal(step->size.where[1], 0);
    assert_int_equal(step->size.matrix, traffic.source);
    step->size.loop.traffic = NULL;
    traffic_free(&traffic);
    fixture_close(f);
}

static void test_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++)
        check(&published[i], PAIRS);
}

static void test_by_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++)
        if (is_shared(&published[i]))
            check(&published[i], PAGES);
}

/* By what the two machines' own counters tell, through the counters' table and the node packer. */
static void test_by_memories(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAMS; i++)
        check(&published[i], MEMORIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published),
                                       cmocka_unit_test(test_by_pages),
                                       cmocka_unit_test(test_by_memories)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
