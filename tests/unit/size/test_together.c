/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_together - the steps of a node that are sized together: the vectors are those of `berthctl
 * model nucore`, nobody starves, who runs changes only where it is worth it, and what becomes of
 * the cores that are left. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/base/json.h"
#include "lab/model/models.h"
#include "packer/daemon/render.h"
#include "packer/enact/rearrange.h"
#include "packer/size/cores.h"
#include "packer/size/demand.h"
#include "packer/size/size.h"
#include "packer/size/size_impl.h"

#define NODES 2

static const double saturates[] = {0, 6, 10, 10, 10};

static int open_nodes(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_machine(f, NODES, 4, saturates);
    fixture_paper(f);
    *state = f;
    return 0;
}

/* What so many cores of the program ask of their own node's memory. */
static void store(struct fixture *f, const char *tag, const char *curve)
{
    char text[256], key[PROFILE_KEY_MAX];
    struct profiles *profiles = NULL;
    struct profile_demand *demand;
    struct berth_error err = {""};
    struct json_object *object;

    snprintf(text, sizeof(text), "{\"curve_gbps\":%s}", curve);
    object = json_tokener_parse(text);
    profile_key_tag(key, tag);
    demand = profile_demand_parse(object, &err);
    if (!demand || profiles_open(&profiles, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_demand(profiles, 0, key, demand, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(profiles);
    profile_demand_free(demand);
    json_object_put(object);
}

static struct step *run(struct fixture *f, uint32_t job, uint32_t number, const char *cpus,
                        const char *tag, bool size)
{
    struct wire_register request = fixture_request(job, number, cpus, cpus, 1, tag);

    request.options.size = size;
    request.options.size_loss_pct = 0; /* as the model: bandwidth first */
    return fixture_start(f, request);
}

/* ---- the model as berthctl has it ---- */

/* A step's part of the memory's bandwidth when both use all their cores. */
static double part_of(double *const *table, const unsigned (*held)[NODES], size_t s, size_t node)
{
    double mine = table[s * NODES + node][held[s][node]], all = 0;

    for (size_t k = 0; k < 2; k++)
        all += table[k * NODES + node][held[k][node]];
    return all > saturates[4] ? saturates[4] * mine / all : mine;
}

static struct json_object *list_of(const unsigned *count)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < NODES; i++)
        json_object_array_add(list, json_object_new_uint64(count[i]));
    return list;
}

static struct json_object *table_of(const double *table, unsigned held, unsigned cores)
{
    struct json_object *list = json_object_new_array();

    for (unsigned c = 0; c <= cores; c++)
        json_object_array_add(list, json_object_new_double(table[c < held ? c : held]));
    return list;
}

/* The question that the daemon was asked, from the same figures. */
static struct json_object *question(struct fixture *f, struct step *const *step,
                                    const unsigned (*held)[NODES])
{
    struct json_object *input = json_tokener_parse(
        "{\"nodes\":2,\"alpha\":[10,10],\"beta\":[0.25,0.25],\"uni_max\":[[0,4],[4,0]],"
        "\"bi_max\":[[0,6],[6,0]]}");
    struct json_object *programs = json_object_new_array();
    unsigned cores[NODES] = {held[0][0] + held[1][0], held[0][1] + held[1][1]};
    double room[2 * NODES][5], *table[2 * NODES];
    struct berth_error err = {""};

    for (size_t s = 0; s < 2; s++) {
        struct size_traffic traffic;

        assert_int_equal(traffic_of(&f->packer, step[s], &traffic, &err), 0);
        for (size_t i = 0; i < NODES; i++) {
            table[s * NODES + i] = room[s * NODES + i];
            assert_int_equal(size_demand_fill(&f->packer, step[s], &traffic, i,
                                              table[s * NODES + i], held[s][i], &err),
                             0);
        }
        traffic_free(&traffic);
    }
    for (size_t s = 0; s < 2; s++) {
        struct json_object *program =
            json_tokener_parse("{\"cores_min\":1,\"read_solo\":[[0,0],[0,0]],"
                               "\"write_solo\":[[0,0],[0,0]]}");
        struct json_object *local = json_object_new_array();
        double floor = 0;

        for (size_t i = 0; i < NODES; i++) {
            json_object_array_add(local, table_of(table[s * NODES + i], held[s][i], cores[i]));
            floor += part_of(table, held, s, i);
        }
        json_object_object_add(program, "name", json_object_new_string(s ? "b" : "a"));
        json_object_object_add(program, "local_demand", local);
        json_object_object_add(program, "most", list_of(held[s]));
        json_object_object_add(program, "floor", json_object_new_double(floor * (1 - 1e-6)));
        json_object_array_add(programs, program);
    }
    json_object_object_add(input, "cores", list_of(cores));
    json_object_object_add(input, "programs", programs);
    return input;
}

static void assert_as_model(struct fixture *f, struct step *const *step)
{
    struct json_object *input, *output, *programs = NULL;
    unsigned held[2][NODES], used[NODES];
    struct berth_error err = {""};

    for (size_t s = 0; s < 2; s++)
        size_cores_on_nodes(&f->packer, step[s], false, held[s]);
    input = question(f, step, held);
    output = ctl_filter_run(&ctl_filter_nucore, input, &err);
    if (!output)
        fail_msg("%s", err.text);
    json_object_object_get_ex(output, "programs", &programs);
    for (size_t s = 0; s < 2; s++) {
        struct json_object *program = json_object_array_get_idx(programs, s);
        struct json_object *vector = json_object_object_get(program, "allocation");

        size_cores_on_nodes(&f->packer, step[s], true, used);
        for (size_t i = 0; i < NODES; i++)
            assert_int_equal(used[i], json_object_get_uint64(json_object_array_get_idx(vector, i)));
    }
    json_object_put(output);
    json_object_put(input);
}

static void test_as_model_nucore(void **state)
{
    static const struct {
        const char *curve[2], *cpus[2];
        size_t given[2]; /* 0: whatever the model says */
    } table[] = {
        /* one core of each asks for more than half of what there is */
        {{"[0,6,10,10,10]", "[0,6,10,10,10]"}, {"0-1", "2-3"}, {1, 1}},
        {{"[0,6,10,10,10]", "[0,1,2,3,4]"}, {"0-1", "2-3"}, {2, 2}},
        {{"[0,3,5,6,6]", "[0,3,5,6,6]"}, {"0-1", "2-3"}, {2, 2}},
        {{"[0,4,8,10,10]", "[0,6,10,10,10]"}, {"0-2,4", "3,5-7"}, {0, 0}},
    };
    struct fixture *f = *state;

    for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
        struct step *step[2];

        store(f, "a", table[k].curve[0]);
        store(f, "b", table[k].curve[1]);
        for (uint32_t s = 0; s < 2; s++)
            step[s] = run(f, s + 1, 0, table[k].cpus[s], s ? "b" : "a", true);
        assert_as_model(f, step);
        for (uint32_t s = 0; s < 2; s++)
            if (table[k].given[s])
                assert_int_equal(step[s]->size.given, table[k].given[s]);
        fixture_end(f, 1, 0);
        fixture_end(f, 2, 0);
    }
}

/* ---- nobody starves ---- */

/* The greatest sum of speeds would leave the one that asks for more with a core of 2 GB/s. */
static void test_nobody_starves(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    store(f, "modest", "[0,4,8,8,8]");
    store(f, "greedy", "[0,2,10,10,10]");
    a = run(f, 1, 0, "0-1", "modest", true);
    b = run(f, 2, 0, "2-3", "greedy", true);
    assert_int_equal(b->size.given, 2);
    assert_true(a->size.gbps >= 10 * 8 / 18.0 - 1e-3);
    assert_true(b->size.gbps >= 10 * 10 / 18.0 - 1e-3);
}

/* ---- steps that are not sized ---- */

static void assert_said(const struct step *step, bool counts, const char *reason)
{
    char text[400];

    size_reason(step, counts, text, sizeof(text));
    assert_string_equal(text, reason);
}

static bool explains(struct fixture *f, const struct step *step, uid_t viewer, const char *part)
{
    struct json_object *object = render_explanation(&f->packer, step, viewer);
    bool has = strstr(json_object_to_json_string(object), part) != NULL;

    json_object_put(object);
    return has;
}

static void test_load(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    store(f, "a", "[0,6,10,10,10]");
    fixture_timed(f, "stream", 50000, 2e9); /* 6.4 GB/s by a core, of which the node gives it 6 */
    run(f, 1, 0, "3", "stream", false);
    step = run(f, 2, 0, "0-2", "a", true);
    assert_said(step, true,
                "NuCore: the fewest cores with the greatest bandwidth, beside 1 that is "
                "not sized");
    assert_said(step, false, "NuCore: the fewest cores with the greatest bandwidth");
    f->packer.world.private_data = true;
    assert_false(explains(f, step, step->request.uid, "not sized"));
    assert_true(explains(f, step, 0, "beside 1 that is not sized"));
    assert_int_equal(step->size.given, 2);
    assert_true(fabs(step->size.gbps - 10 * 10 / 16.0) < 0.2);
    fixture_end(f, 1, 0);
    assert_string_equal(step->size.others, "");
    assert_true(step->size.gbps > 9.7);
}

/* Nothing is known of it: it counts for nothing. */
static void test_unknown_load(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    store(f, "a", "[0,6,10,10,10]");
    run(f, 1, 0, "3", "never-seen", false);
    step = run(f, 2, 0, "0-2", "a", true);
    assert_string_equal(step->size.others, "");
    assert_true(step->size.gbps > 9.7);
}

/* ---- who runs ---- */

/* A newcomer on another memory is nothing to who runs. */
static void test_nobody_is_moved_for_nothing(void **state)
{
    struct fixture *f = *state;
    struct step *a;

    store(f, "a", "[0,6,10,10,10]");
    a = run(f, 1, 0, "0-3", "a", true);
    assert_int_equal(a->size.given, 2);
    fixture_forget(f);
    run(f, 2, 0, "4-7", "a", true);
    assert_string_equal(f->calls, "apply 2.0 4-5; ");
    fixture_end(f, 2, 0);
    assert_string_equal(f->calls, "apply 2.0 4-5; restore 2.0 4-7; ");
    assert_int_equal(a->size.given, 2);
}

/* Runs that differ by 5 % leave nobody with 3.5 % less than he can have, who is to lose 2 % at
 * most.
 */
static void test_doubt_is_no_loss(void **state)
{
    static const double doubts[] = {0, 0.05};
    struct fixture *f = *state;

    store(f, "a", "[0,3,6,9.65,10]");
    for (size_t k = 0; k < 2; k++) {
        struct step *step;

        for (size_t i = 0; i < NODES; i++)
            f->packer.world.machine->node[i].alpha.spread = doubts[k];
        step = run(f, 1, 0, "0-3", "a", true);
        step->body.task[0].sized = cpus_of("0-2");
        size_node(&f->packer, NULL);
        assert_cpus(&step->body.task[0].sized, "0-3");
        fixture_end(f, 1, 0);
    }
}

/* Where there is no time to ask about all, the newcomer has what is best beside the others, who are
 * asked in the next turn. */
static void test_in_the_next_turn(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    store(f, "a", "[0,6,10,10,10]");
    a = run(f, 1, 0, "0-1", "a", true);
    f->packer.state->size->together_s = -1;
    b = run(f, 2, 0, "2-3", "a", true);
    assert_int_equal(a->size.given, 2);
    assert_int_equal(b->size.given, 1);
    assert_true(f->packer.state->size->later);
    assert_true(size_turn(&f->packer));
    assert_int_equal(a->size.given, 1);
    assert_false(f->packer.state->size->later);
    assert_false(size_turn(&f->packer));
}

/* Two that competed for a memory stand on two now: each has what it can use there. */
static void test_moved_apart(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    store(f, "a", "[0,6,10,10,10]");
    a = run(f, 1, 0, "0-1", "a", true);
    b = run(f, 2, 0, "2-3", "a", true);
    run(f, 3, 0, "6-7", "never-seen", false);
    b->size.threads = 2; /* as if it had been told so many */
    assert_int_equal(a->size.given, 1);
    assert_false(size_turn(&f->packer));
    fixture_exchange(f, 2, 6);
    fixture_exchange(f, 3, 7);
    assert_true(size_turn(&f->packer));
    assert_int_equal(a->size.given, 2);
    assert_int_equal(b->size.given, 2);
    assert_int_equal(rearrange(&f->packer, NULL, REARRANGE_DEAL, &(struct berth_error){""}), 0);
    assert_cpus(&b->place.cpus, "6-7");
    size_turn(&f->packer);
    assert_false(size_turn(&f->packer));
    assert_int_equal(b->size.given, 2);
}

/* A step that its user wants only to be watched changes nobody. */
static void test_observed_newcomer(void **state)
{
    struct wire_register request = fixture_request(2, 0, "2-3", "2-3", 1, "a");
    struct fixture *f = *state;
    struct step *a;

    store(f, "a", "[0,6,10,10,10]");
    a = run(f, 1, 0, "0-1", "a", true);
    request.options.size = true;
    request.options.mode = WIRE_MODE_OBSERVE;
    fixture_forget(f);
    assert_int_equal(fixture_start(f, request)->size.given, 1);
    assert_int_equal(a->size.given, 2);
    assert_null(strstr(f->calls, "apply"));
}

/* ---- cores that are left ---- */

static void assert_freed(struct fixture *f, const struct step *step, const char *idle,
                         const char *offered)
{
    struct cpus is_idle, is_offered;

    size_cores_freed(&f->packer, step, &is_idle, &is_offered);
    assert_cpus(&is_idle, idle);
    assert_cpus(&is_offered, offered);
}

static void test_freed_cores(void **state)
{
    struct fixture *f = *state;
    struct step *a, *other;

    store(f, "a", "[0,6,10,10,10]");
    fixture_timed(f, "quiet", 1, 2e9);
    a = run(f, 1, 0, "0-3", "a", true);
    assert_freed(f, a, "2-3", "");
    /* a step of its job that Slurm let onto the same cores (srun --overlap) has them to itself */
    other = run(f, 1, 1, "1-3", "quiet", false);
    assert_freed(f, a, "", "2-3");
    fixture_end(f, 1, 1);
    assert_freed(f, a, "2-3", "");
    /* and one that is sized, too, stands there first */
    other = run(f, 1, 2, "0-3", "a", true);
    assert_false(cpus_intersect(&a->body.task[0].sized, &other->body.task[0].sized));
    assert_int_equal(a->size.given + other->size.given, 2);
    fixture_end(f, 1, 2);
    assert_int_equal(a->size.given, 2);
    /* a batch script waits for its steps */
    run(f, 1, WIRE_STEP_BATCH, "0-3", "quiet", false);
    assert_freed(f, a, "2-3", "");
    /* and what another job was given, too, is not idle */
    run(f, 2, 0, "3", "quiet", false);
    assert_freed(f, a, "2", "");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_nodes, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_as_model_nucore),
        test(test_nobody_starves),
        test(test_load),
        test(test_unknown_load),
        test(test_nobody_is_moved_for_nothing),
        test(test_doubt_is_no_loss),
        test(test_in_the_next_turn),
        test(test_moved_apart),
        test(test_observed_newcomer),
        test(test_freed_cores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
