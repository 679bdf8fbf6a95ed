/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_round - which weights nodes shall have, and the file of state that knows the admin's:
 * whoever is killed at any moment leaves nothing that the next one does not know. */
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "models/placing/steer.h"
#include "steer/round.h"
#include "steer/state.h"

#define NOW 1000000

static struct steer_node node_of(const char *name, uint32_t weight, double pressure)
{
    struct steer_node node = {.chosen = true,
                              .up = true,
                              .in_use = true,
                              .weight = weight,
                              .own = weight,
                              .pressure = pressure,
                              .at = NOW};

    snprintf(node.name, sizeof(node.name), "%s", name);
    return node;
}

static void test_want(void **state)
{
    static const struct {
        struct steer_node node;
        uint32_t wanted;
    } cases[] = {
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW}, 26},
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW - 600}, 26},
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW - 601}, 10},
        {{.chosen = true, .up = true, .in_use = true, .pressure = NAN, .at = NOW}, 10},
        {{.chosen = true, .up = true, .pressure = NAN}, 42}, /* empty */
        {{.chosen = true, .in_use = true, .pressure = .5, .at = NOW}, 10},
        {{.up = true, .in_use = true, .pressure = .5, .at = NOW}, 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct steer_node node[] = {cases[i].node, node_of("news", 10, 0)};
        struct steer_nodes nodes = {2, node, STEER_FINE};

        node[0].own = node[0].weight = 10;
        round_want(&nodes, NOW);
        assert_int_equal(node[0].wanted, cases[i].wanted);
    }
}

/* Where no node has news, empty ones are left as they are, too. */
static void test_silence(void **state)
{
    struct steer_node node[] = {node_of("a", 3, .9), node_of("b", 9, NAN)};
    struct steer_nodes nodes = {2, node, STEER_FINE};

    (void)state;
    node[0].own = node[1].own = 1;
    node[0].at = NOW - 700;
    node[1].in_use = false;
    assert_int_equal(round_want(&nodes, NOW), 0);
    assert_int_equal(node[0].wanted, 1);
    assert_int_equal(node[1].wanted, 1);
}

/* The levels are as fine as the admin's weights leave room for. */
static void test_levels(void **state)
{
    struct steer_node node[] = {node_of("a", 1, .5), node_of("b", 34, .5), node_of("c", 1, .5)};
    struct steer_nodes nodes = {3, node, 0};
    struct berth_error err;

    (void)state;
    assert_int_equal(round_levels(&nodes, &err), 0);
    assert_int_equal(nodes.levels, STEER_FINE);
    round_want(&nodes, NOW);
    assert_int_equal(node[0].wanted, 17);
    node[0].weight = 17;
    node[1].own = 33;
    node[1].chosen = false; /* its order counts, too */
    assert_int_equal(round_levels(&nodes, &err), 0);
    assert_int_equal(nodes.levels, STEER_COARSE);
    round_want(&nodes, NOW); /* 16 is none of these levels */
    assert_int_equal(node[0].wanted, 5);
    node[1].own = 9;
    assert_int_equal(round_levels(&nodes, &err), -1);
    assert_non_null(strstr(err.text, "the weights 1 and 9"));
    assert_non_null(strstr(err.text, "by 9 or more"));
}

/* ---- the file ---- */

struct place {
    char folder[64], path[80];
};

static int make_place(void **state)
{
    static struct place place;

    strcpy(place.folder, "/tmp/test_round.XXXXXX");
    assert_non_null(mkdtemp(place.folder));
    snprintf(place.path, sizeof(place.path), "%s/state", place.folder);
    *state = &place;
    return 0;
}

static int remove_place(void **state)
{
    const struct place *place = *state;

    unlink(place->path);
    return rmdir(place->folder);
}

/* Whatever of its levels a weight has, the admin's is known; what is of none is the admin's. */
static void test_state(void **state)
{
    const struct place *place = *state;
    struct steer_node node[] = {node_of("a", 10, 0), node_of("b", 20, 0), node_of("gone", 9, 0)},
                      now[] = {node_of("a", 10 + STEER_COARSE, 0), node_of("b", 77, 0),
                               node_of("new", 5, 0)};
    struct steer_nodes nodes = {3, node, 0}, after = {3, now, 0};
    struct steer_state said = {NOW, NOW + 300}, read;
    struct berth_error err;

    node[2].wanted = node[2].own + STEER_COARSE; /* the most that is added */
    assert_int_equal(state_read(place->path, &read, &after, &err), 0);
    assert_int_equal(read.until, 0);
    assert_int_equal(state_write(place->path, &said, &nodes, &err), 0);
    assert_int_equal(state_read(place->path, &read, &after, &err), 0);
    assert_int_equal(read.at, NOW);
    assert_int_equal(read.until, NOW + 300);
    assert_int_equal(now[0].own, 10);
    assert_int_equal(now[1].own, 77);
    assert_int_equal(now[2].own, 5);
    assert_int_equal(state_remove(place->path, &err), 0);
    assert_int_equal(state_remove(place->path, &err), 0);
}

/* What was added with fine levels is known while coarse ones take their place, and once they have,
 * no more is taken for a level than they add. */
static void test_coarser_state(void **state)
{
    static const struct {
        uint32_t weight, wanted, seen, own;
    } cases[] = {
        {10, 42, 42, 10}, /* fine levels are told: each weight up to that is theirs, */
        {42, 18, 42, 10}, /* and until the coarse ones have been told */
        {42, 18, 18, 10}, /* whoever was killed in between */
        {18, 18, 18, 10}, /* a round later, this is theirs, */
        {18, 18, 19, 19}, /* and this the admin's */
    };
    const struct place *place = *state;
    struct steer_state said = {NOW, NOW + 300}, read;
    struct berth_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct steer_node node[] = {node_of("a", cases[i].weight, 0)},
                          now[] = {node_of("a", cases[i].seen, 0)};
        struct steer_nodes nodes = {1, node, 0}, after = {1, now, 0};

        node[0].own = 10;
        node[0].wanted = cases[i].wanted;
        assert_int_equal(state_write(place->path, &said, &nodes, &err), 0);
        assert_int_equal(state_read(place->path, &read, &after, &err), 0);
        assert_int_equal(now[0].own, cases[i].own);
    }
}

/* An older file says no `most`, and none is beyond the fine levels. */
static void test_most(void **state)
{
    static const struct {
        const char *text;
        uint32_t own[2]; /* of weights that are 8 and 33 above 10 */
    } cases[] = {
        {"{\"own\":{\"a\":10,\"b\":10}}", {10, 43}},
        {"{\"most\":7,\"own\":{\"a\":10,\"b\":10}}", {18, 43}},
        {"{\"most\":1000,\"own\":{\"a\":10,\"b\":10}}", {10, 43}},
        {"{\"most\":-1,\"own\":{\"a\":10,\"b\":10}}", {18, 43}},
    };
    const struct place *place = *state;
    struct steer_state read;
    struct berth_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct steer_node node[] = {node_of("a", 18, 0), node_of("b", 43, 0)};
        struct steer_nodes nodes = {2, node, 0};
        FILE *out = fopen(place->path, "w");

        assert_non_null(out);
        fputs(cases[i].text, out);
        fclose(out);
        assert_int_equal(state_read(place->path, &read, &nodes, &err), 0);
        assert_int_equal(node[0].own, cases[i].own[0]);
        assert_int_equal(node[1].own, cases[i].own[1]);
    }
}

static void test_wrong_state(void **state)
{
    static const char *const wrong[] = {"", "{", "[]", "{}", "{\"own\":3}"};
    const struct place *place = *state;
    struct steer_node node[] = {node_of("a", 10, 0)};
    struct steer_nodes nodes = {1, node, 0};
    struct steer_state read;
    struct berth_error err;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        FILE *out = fopen(place->path, "w");

        assert_non_null(out);
        fputs(wrong[i], out);
        fclose(out);
        assert_int_equal(state_read(place->path, &read, &nodes, &err), -1);
        assert_int_equal(node[0].own, 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_want),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_levels),
        cmocka_unit_test_setup_teardown(test_state, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_coarser_state, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_most, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_wrong_state, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
