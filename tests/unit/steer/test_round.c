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
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW}, 14},
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW - 600}, 14},
        {{.chosen = true, .up = true, .in_use = true, .pressure = .5, .at = NOW - 601}, 10},
        {{.chosen = true, .up = true, .in_use = true, .pressure = NAN, .at = NOW}, 10},
        {{.chosen = true, .up = true, .pressure = NAN}, 18}, /* empty */
        {{.chosen = true, .in_use = true, .pressure = .5, .at = NOW}, 10},
        {{.up = true, .in_use = true, .pressure = .5, .at = NOW}, 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct steer_node node[] = {cases[i].node, node_of("news", 10, 0)};
        struct steer_nodes nodes = {2, node};

        node[0].own = node[0].weight = 10;
        round_want(&nodes, NOW);
        assert_int_equal(node[0].wanted, cases[i].wanted);
    }
}

/* Where no node has news, empty ones are left as they are, too. */
static void test_silence(void **state)
{
    struct steer_node node[] = {node_of("a", 3, .9), node_of("b", 9, NAN)};
    struct steer_nodes nodes = {2, node};

    (void)state;
    node[0].own = node[1].own = 1;
    node[0].at = NOW - 700;
    node[1].in_use = false;
    assert_int_equal(round_want(&nodes, NOW), 0);
    assert_int_equal(node[0].wanted, 1);
    assert_int_equal(node[1].wanted, 1);
}

static void test_check(void **state)
{
    struct steer_node node[] = {node_of("a", 1, 0), node_of("b", 10, 0), node_of("c", 1, 0)};
    struct steer_nodes nodes = {3, node};
    struct berth_error err;

    (void)state;
    assert_int_equal(round_check(&nodes, &err), 0);
    node[1].own = 9;
    node[1].chosen = false; /* its order counts, too */
    assert_int_equal(round_check(&nodes, &err), -1);
    assert_non_null(strstr(err.text, "the weights 1 and 9"));
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
                      now[] = {node_of("a", 10 + STEER_EMPTY, 0), node_of("b", 77, 0),
                               node_of("new", 5, 0)};
    struct steer_nodes nodes = {3, node}, after = {3, now};
    struct steer_state said = {NOW, NOW + 300}, read;
    struct berth_error err;

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

static void test_wrong_state(void **state)
{
    static const char *const wrong[] = {"", "{", "[]", "{}", "{\"own\":3}"};
    const struct place *place = *state;
    struct steer_node node[] = {node_of("a", 10, 0)};
    struct steer_nodes nodes = {1, node};
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
        cmocka_unit_test(test_check),
        cmocka_unit_test_setup_teardown(test_state, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_wrong_state, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
