/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_by_node - what is counted by NUMA node: entered once, told apart, played, packed and read
 * back exactly; and each thing that can be wrong with its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "packer/counters/by_node.h"

/* Every kind on so many nodes (matrices where there is room), with figures that have no short
 * decimal form; `more` is added to each. */
static struct by_node full(size_t nodes, double more)
{
    double number[BY_NODE_MAX * BY_NODE_MAX];
    struct by_node by = {.nodes = 0};

    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        for (size_t i = 0; i < nodes * nodes && i < BY_NODE_MAX * BY_NODE_MAX; i++)
            number[i] = (double)(i + 1) * 1e9 / (kind + 3) + more;
        by_node_set(&by, kind, nodes, number, kind % 2 ? 1. / (kind + 5) : 0);
    }
    return by;
}

static void assert_same(const struct by_node *a, const struct by_node *b)
{
    assert_int_equal(a->known, b->known);
    assert_int_equal(a->nodes, b->nodes);
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        size_t n = by_node_knows(a, kind) ? by_node_count(a->nodes, kind) : 0;

        assert_true(a->error[kind] == b->error[kind]);
        for (size_t i = 0; i < n; i++)
            assert_true(by_node_values(a, kind)[i] == by_node_values(b, kind)[i]);
    }
}

static void test_first_wins(void **state)
{
    const double one[] = {1, 2}, two[] = {3, 4, 5};
    struct by_node by = {.nodes = 0}, other = {.nodes = 0};

    (void)state;
    by_node_set(&by, BY_NODE_BYTES, 2, one, 0.5);
    by_node_set(&by, BY_NODE_BYTES, 2, two, 0);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[1] == 2 && by.error[BY_NODE_BYTES] == 0.5);
    by_node_set(&by, BY_NODE_CPU_NS, 3, two, 0); /* of another machine */
    assert_false(by_node_knows(&by, BY_NODE_CPU_NS));
    by_node_set(&other, BY_NODE_BYTES, 2, two, 0);
    by_node_set(&other, BY_NODE_CPU_NS, 2, two, 0);
    by_node_add(&by, &other);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[0] == 1);
    assert_true(by_node_values(&by, BY_NODE_CPU_NS)[0] == 3);
    by_node_update(&by, &other);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[0] == 3 && by.error[BY_NODE_BYTES] == 0);
}

static void test_too_many_nodes(void **state)
{
    struct by_node by = full(BY_NODE_PAIRS + 1, 0);

    (void)state;
    assert_true(by_node_knows(&by, BY_NODE_BYTES));
    assert_false(by_node_knows(&by, BY_NODE_READS_FROM)); /* no room for so many pairs */
    assert_int_equal(by_node_count(BY_NODE_PAIRS + 1, BY_NODE_READS_FROM), 0);
    by = full(BY_NODE_MAX + 1, 0);
    assert_int_equal(by.known, 0);
}

static void test_grown(void **state)
{
    struct by_node before = full(3, 0), after = full(3, 5), none = {.nodes = 0};
    double grown[BY_NODE_PAIRS * BY_NODE_PAIRS];

    (void)state;
    assert_true(by_node_grown(&before, &after, BY_NODE_READS_FROM, grown));
    assert_true(grown[8] > 4.9 && grown[8] < 5.1);
    assert_int_equal(by_node_fallen(&before, &after), BY_NODE_KINDS);
    by_node_room(&after, BY_NODE_READS_REMOTE)[2] = 0;
    assert_false(by_node_grown(&before, &after, BY_NODE_READS_REMOTE, grown));
    assert_int_equal(by_node_fallen(&before, &after), BY_NODE_READS_REMOTE);
    assert_false(by_node_grown(&none, &after, BY_NODE_CPU_NS, grown));
    assert_int_equal(by_node_fallen(&none, &after), BY_NODE_KINDS);
    after = full(2, 1e12);
    assert_int_equal(by_node_fallen(&before, &after), BY_NODE_CPU_NS); /* another machine */
}

static void test_pack(void **state)
{
    static const size_t nodes[] = {1, 2, BY_NODE_PAIRS, BY_NODE_MAX};
    static double number[BY_NODE_NUMBERS_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        struct by_node by = full(nodes[i], 0), back;

        assert_true(by_node_numbers(&by) <= BY_NODE_NUMBERS_MAX);
        number[by_node_numbers(&by)] = 42;
        by_node_pack(&by, number);
        assert_true(number[by_node_numbers(&by)] == 42);
        by_node_unpack(&back, by.nodes, by.known, number);
        assert_same(&by, &back);
    }
}

static void test_json(void **state)
{
    static const size_t nodes[] = {1, 3, BY_NODE_PAIRS, BY_NODE_MAX};
    struct by_node none = {.nodes = 0};

    (void)state;
    assert_null(by_node_json(&none));
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        struct by_node by = full(nodes[i], 0), back;
        struct json_object *object = by_node_json(&by), *again;
        const char *text = json_object_to_json_string(object);
        struct berth_error err = {""};

        again = json_parse(text, strlen(text), &err);
        assert_non_null(again);
        if (by_node_take(again, &back, &err) < 0)
            fail_msg("%s", err.text);
        assert_same(&by, &back);
        json_object_put(object);
        json_object_put(again);
    }
}

static void test_wrong_json(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{\"cpu_ns\":3}", "cpu_ns"},
        {"{\"cpu_ns\":[]}", "cpu_ns: as many nodes"},
        {"{\"cpu_ns\":[1,-1]}", "cpu_ns[1]: -1"},
        {"{\"cpu_ns\":[1,null]}", "cpu_ns[1]"},
        {"{\"cpu_ns\":[1,2],\"bytes\":[1]}", "bytes: as many nodes"},
        {"{\"bytes\":[1,2],\"reads_from\":[[1,2],[3]]}", "reads_from[1]"},
        {"{\"bytes\":[1,2],\"reads_from\":[1,2]}", "reads_from[0]"},
        {"{\"bytes\":[1,2],\"error\":{\"bytes\":-1}}", "error.bytes: -1"},
        {"{\"bytes\":[1,2],\"error\":[]}", "error"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_object *object = json_parse(cases[i].text, strlen(cases[i].text), NULL);
        struct berth_error err = {""};
        struct by_node by;

        assert_non_null(object);
        assert_int_equal(by_node_take(object, &by, &err), -1);
        if (strncmp(err.text, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        json_object_put(object);
    }
}

/* A recording of two readings that is played again and again. */
static void test_play(void **state)
{
    const double first[] = {10, 0}, last[] = {30, 8};
    struct by_node one = {.nodes = 0}, two = {.nodes = 0}, none = {.nodes = 0}, by;

    (void)state;
    by_node_set(&one, BY_NODE_BYTES, 2, first, 0.1);
    by_node_set(&two, BY_NODE_BYTES, 2, last, 0.2);
    by = none;
    by_node_play(&by, NULL, &one, 0.5, &two, 0);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[0] == 5 && by.error[BY_NODE_BYTES] == 0.1);
    by = none;
    by_node_play(&by, &one, &two, 0.25, &two, 2);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[0] == 60 + 15);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[1] == 16 + 2 && by.error[BY_NODE_BYTES] == 0.2);
    by = none;
    by_node_play(&by, &none, &two, 1, &two, 1);
    assert_true(by_node_values(&by, BY_NODE_BYTES)[0] == 60);
    by = none;
    by_node_play(&by, &none, &two, 0.5, &two, 1); /* not known at its begin: no guess */
    assert_int_equal(by.known, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_wins), cmocka_unit_test(test_too_many_nodes),
        cmocka_unit_test(test_grown),      cmocka_unit_test(test_pack),
        cmocka_unit_test(test_json),       cmocka_unit_test(test_wrong_json),
        cmocka_unit_test(test_play),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
