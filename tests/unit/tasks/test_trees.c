/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_trees - trees of tasks whose sums are known, run by pools of every kind and by more workers
 * than there are processors: each task runs once, and nobody goes on before his children end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tasks/berth_tasks.h"

#define CHILDREN_MOST 4
#define DEPTH 7
#ifndef TREES
#define TREES 3
#endif

struct node {
    uint64_t seed;
    int depth;
    uint64_t *sum; /* where it goes */
};

static _Atomic uint64_t run;
static char objects[64][4096];

static uint64_t mix(uint64_t seed)
{
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    return seed ^ seed >> 31;
}

static unsigned children(const struct node *node)
{
    return node->depth ? 1 + (unsigned)(mix(node->seed) % CHILDREN_MOST) : 0;
}

static struct node child(const struct node *node, unsigned i, uint64_t *sum)
{
    return (struct node){.seed = mix(node->seed + i + 1), .depth = node->depth - 1, .sum = sum};
}

/* Sums up without tasks, and counts the nodes. */
static uint64_t serial(const struct node *node, uint64_t *nodes)
{
    uint64_t sum = node->seed;

    ++*nodes;
    for (unsigned i = 0; i < children(node); i++) {
        struct node next = child(node, i, NULL);

        sum = mix(sum + serial(&next, nodes));
    }
    return sum;
}

static void sum_up(const struct node *node, const uint64_t *part)
{
    uint64_t sum = node->seed;

    for (unsigned i = 0; i < children(node); i++)
        sum = mix(sum + part[i]);
    *node->sum = sum;
    atomic_fetch_add(&run, 1);
}

/* Every third node lets others run in between. */
static void wander(const struct node *node)
{
    if (node->seed % 3 == 0)
        sched_yield();
}

static void by_children(const void *arguments)
{
    const struct node *node = arguments;
    uint64_t part[CHILDREN_MOST];

    for (unsigned i = 0; i < children(node); i++) {
        struct node next = child(node, i, &part[i]);

        berth_task(by_children, &next, sizeof(next));
        wander(node);
    }
    berth_task_wait();
    sum_up(node, part);
}

/* Half of the nodes are near an object. */
static void by_objects(const void *arguments)
{
    const struct node *node = arguments;
    uint64_t part[CHILDREN_MOST];

    for (unsigned i = 0; i < children(node); i++) {
        struct node next = child(node, i, &part[i]);

        if (next.seed % 2)
            berth_task_on(objects[next.seed % 64], sizeof(objects[0]), by_objects, &next,
                          sizeof(next));
        else
            berth_task(by_objects, &next, sizeof(next));
    }
    berth_task_wait();
    sum_up(node, part);
}

/* Each node waits for a group of its own, and some for two. */
static void by_groups(const void *arguments)
{
    const struct node *node = arguments;
    struct berth_task_group *group[2] = {berth_task_group_new(NULL), berth_task_group_new(NULL)};
    uint64_t part[CHILDREN_MOST];

    for (unsigned i = 0; i < children(node); i++) {
        struct node next = child(node, i, &part[i]);

        berth_task_group_add(group[i % 2], NULL, 0, by_groups, &next, sizeof(next));
        wander(node);
    }
    for (int i = 0; i < 2; i++)
        if (berth_task_group_free(group[i]) != 0)
            return; /* then the sum is wrong */
    sum_up(node, part);
}

/* Nobody waits but for the whole. */
static void by_nobody(const void *arguments)
{
    const struct node *node = arguments;

    for (unsigned i = 0; i < children(node); i++) {
        struct node next = child(node, i, NULL);

        berth_task(by_nobody, &next, sizeof(next));
    }
    wander(node);
    atomic_fetch_add(&run, 1);
}

static berth_task_function *const kinds[] = {by_children, by_objects, by_groups, by_nobody};

static void check_tree(struct berth_tasks *pool, berth_task_function *kind, uint64_t seed)
{
    struct node root = {.seed = mix(seed), .depth = DEPTH};
    uint64_t nodes = 0, sum = 0, expected = serial(&root, &nodes);

    atomic_store(&run, 0);
    root.sum = &sum;
    berth_tasks_run(pool, kind, &root, sizeof(root));
    assert_int_equal(run, nodes);
    if (kind != by_nobody)
        assert_int_equal(sum, expected);
}

static void check_pool(uint32_t workers, enum berth_tasks_stealing stealing)
{
    struct berth_tasks_options options = {
        .size = sizeof(options), .workers = workers, .stealing = stealing};
    struct berth_tasks *pool = berth_tasks_start(&options);

    assert_non_null(pool);
    assert_int_equal(berth_tasks_workers(pool), workers);
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
        for (uint64_t seed = 1; seed <= TREES; seed++)
            check_tree(pool, kinds[kind], seed * 100 + kind);
    assert_int_equal(berth_tasks_stop(pool), 0);
}

static void check_pools(const char *nodes, unsigned domains)
{
    static const uint32_t workers[] = {1, 2, 3, 8, 64};
    struct berth_tasks *pool;

    assert_int_equal(setenv("BERTH_TASKS_NODES", nodes, 1), 0);
    pool = berth_tasks_start(NULL);
    assert_int_equal(berth_tasks_domains(pool), domains);
    assert_int_equal(berth_tasks_stop(pool), 0);
    for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
        for (int stealing = BERTH_TASKS_TOPOLOGY; stealing <= BERTH_TASKS_LITERAL; stealing++)
            check_pool(workers[i], (enum berth_tasks_stealing)stealing);
}

static void test_one_node(void **state)
{
    (void)state;
    check_pools("0-1", 1);
}

static void test_two_nodes(void **state)
{
    (void)state;
    check_pools("0-1|2-3", 2);
}

static void test_many_nodes(void **state)
{
    (void)state;
    check_pools("0|1|2|3|4|5|6|7", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_two_nodes),
        cmocka_unit_test(test_many_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
