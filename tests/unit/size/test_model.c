/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_size_model - NuCore's question about one step: what is asked of which node's memory, and the
 * reasons why nothing can be asked. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "models/numa/dramon.h"
#include "packer/size/demand.h"
#include "packer/size/model.h"

static const double saturates[] = {0, 6, 10, 10, 10};

static int open_nodes(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_machine(f, 2, 4, saturates);
    *state = f;
    return 0;
}

static struct step *step_of(struct fixture *f, const char *tag)
{
    struct step *step = fixture_put(f, 1, 0, "0-7", 50000, (const char *const[]){"0-7", NULL});

    strcpy(step->request.options.tag, tag);
    step->profile.core_gbps = 6.4;
    return step;
}

static void store(struct fixture *f, const char *tag, const char *text)
{
    struct json_object *object = json_tokener_parse(text);
    struct profiles *store = NULL;
    struct profile_demand *demand;
    struct berth_error err = {""};
    char key[PROFILE_KEY_MAX];

    profile_key_tag(key, tag);
    demand = profile_demand_parse(object, &err);
    if (!demand || profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_demand(store, 0, key, demand, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
    profile_demand_free(demand);
    json_object_put(object);
}

static struct size_model *model_of(struct fixture *f, struct step *step, unsigned a, unsigned b)
{
    unsigned held[2] = {a, b};
    struct berth_error err = {""};
    struct size_model *model = size_model_new(&f->packer, &err);

    if (!model || size_model_add(model, step, held, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(size_model_steps(model), 1);
    return model;
}

static void assert_choice(const struct size_model *model, unsigned least, unsigned most, unsigned a,
                          unsigned b)
{
    const struct size_bounds bounds = {least, most, (const unsigned[]){0, 0}, 0};
    unsigned chosen[2] = {99, 99};
    struct berth_error err = {""};
    struct size_answer answer;

    if (size_model_choose(model, &bounds, 60, chosen, &answer, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(answer.proven);
    assert_int_equal(answer.cores, a + b);
    assert_int_equal(chosen[0], a);
    assert_int_equal(chosen[1], b);
}

static void assert_predicts(const struct size_model *model, unsigned a, unsigned b, double gbps,
                            enum numem_constraint constraint)
{
    struct size_prediction got;

    size_model_predict(model, (const unsigned[]){a, b}, &got);
    assert_true(fabs(got.gbps - gbps) < 1e-6);
    assert_int_equal(got.constraint, constraint);
}

static void refused(struct fixture *f, struct step *step, const char *why)
{
    struct berth_error err = {""};
    struct size_model *model = size_model_new(&f->packer, &err);

    if (model)
        assert_int_equal(size_model_add(model, step, (const unsigned[]){4, 4}, &err), -1);
    size_model_free(model);
    if (!strstr(err.text, why))
        fail_msg("'%s', not '%s'", err.text, why);
}

/* Its user gives 12 % of its speed. What so many cores have is below the roof of one channel; what
 * is predicted is that, not what NuCore was told. */
#define IDLE (6.4 / (1 - 0.64))
#define BELOW_ROOF(cores) ((cores)*IDLE / (1 + (cores)*IDLE / 10))

static void test_rates_of_the_profile(void **state)
{
    struct fixture *f = *state;
    struct step *step = step_of(f, "x");
    struct size_model *model;

    step->request.options.size_loss_pct = 12;
    model = model_of(f, step, 4, 2);

    assert_choice(model, 1, 6, 2, 2);
    assert_choice(model, 1, 3, 2, 1);
    assert_choice(model, 5, 6, 3, 2); /* ties go to the lower node */
    assert_predicts(model, 4, 2, BELOW_ROOF(4) + BELOW_ROOF(2), NUMEM_LOCAL_BANDWIDTH);
    assert_predicts(model, 3, 1, BELOW_ROOF(3) + 6, NUMEM_LOCAL_BANDWIDTH);
    assert_predicts(model, 1, 0, 6, NUMEM_NONE);
    size_model_free(model);
    size_model_free(NULL);
}

/* Two steps of two cores on one memory of 400 GB/s, 200 a core: one core each would ask for all of
 * it, which is not to have it. Both give up a core only where their users allow what that costs. */
static void test_steps_share_a_roof(void **state)
{
    static const double large[] = {0, 300, 400, 400, 400};
    static const struct {
        double loss_pct;
        unsigned each;
    } table[] = {{2, 2}, {10, 2}, {16, 1}};
    struct fixture *f = *state;
    struct step *step;

    fixture_machine(f, 2, 4, large);
    step = step_of(f, "x");
    step->profile.core_gbps = 200;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const struct size_bounds bounds[2] = {{1, 2, (const unsigned[]){1, 0}, 0},
                                              {1, 2, (const unsigned[]){1, 0}, 0}};
        unsigned chosen[4];
        struct berth_error err = {""};
        struct size_answer answer;
        struct size_model *model;

        step->request.options.size_loss_pct = table[i].loss_pct;
        model = model_of(f, step, 2, 0);
        assert_int_equal(size_model_add(model, step, (const unsigned[]){2, 0}, &err), 0);
        assert_int_equal(size_model_choose(model, bounds, 60, chosen, &answer, &err), 0);
        assert_int_equal(chosen[0], table[i].each);
        assert_int_equal(chosen[2], table[i].each);
        size_model_free(model);
    }
}

/* A stored curve is taken as it is, and needs neither profile nor rate. */
static void test_stored_curve(void **state)
{
    struct fixture *f = *state;
    struct step *step = step_of(f, "curve");
    struct size_model *model;

    step->profile.known = false;
    step->profile.core_gbps = NAN;
    refused(f, step, "no profile");
    store(f, "curve", "{\"curve_gbps\":[0,3,5,7,7]}");
    model = model_of(f, step, 4, 0);
    assert_choice(model, 1, 4, 3, 0);
    size_model_free(model);
    store(f, "curve", "{\"curve_gbps\":[0,3,5,7]}");
    refused(f, step, "ends at 3 cores of a node, it has 4");
}

/* All data in node 0: the link and that memory limit how many cores of node 1 are of use. */
static void test_traffic_between_nodes(void **state)
{
    struct fixture *f = *state;
    struct step *step = step_of(f, "shared");
    struct size_model *model;

    store(f, "shared",
          "{\"curve_gbps\":[0,0.5,1,1.5,2],\"read_solo_gbps\":[[0,2],[0,0]],"
          "\"write_solo_gbps\":[[0,0],[0,0]]}");
    model = model_of(f, step, 4, 4);
    assert_choice(model, 1, 8, 4, 4);
    assert_predicts(model, 0, 3, 5.5, NUMEM_LINK);
    size_model_free(model);
    store(f, "shared",
          "{\"read_solo_gbps\":[[0,2,2],[0,0,0],[0,0,0]],"
          "\"write_solo_gbps\":[[0,0,0],[0,0,0],[0,0,0]]}");
    refused(f, step, "of a machine with 3 nodes");
}

static void test_not_known(void **state)
{
    struct fixture *f = *state;
    struct step *step = step_of(f, "x");

    step->profile.core_gbps = NAN;
    refused(f, step, "instructions per second");
    step->profile.known = false;
    refused(f, step, "no profile");
    step->request.options.tag[0] = '\0';
    step->request.exe = "";
    refused(f, step, "neither a program nor a tag");
    step = step_of(f, "x");
    f->packer.world.machine->node[1].local[4].value = NAN;
    refused(f, step, "local bandwidth of node 1");
    f->packer.world.machine->node[1].alpha.value = NAN;
    refused(f, step, "alpha_gbps");
    f->packer.world.machine->nodes = 1;
    refused(f, step, "4 of its cores are on nodes that the machine profile does not have");
    f->packer.world.machine->nodes = 2;
    machine_profile_free(f->packer.world.machine);
    f->packer.world.machine = NULL;
    refused(f, step, "no machine profile");
}

/* beta x local demand is more than alpha with any core: said, not guessed around. */
static void test_infeasible(void **state)
{
    struct fixture *f = *state;
    struct step *step = step_of(f, "x");
    const struct size_bounds bounds = {1, 8, (const unsigned[]){0, 0}, 0};
    struct size_prediction got;
    struct size_model *model;
    struct berth_error err = {""};
    unsigned chosen[2];
    struct size_answer answer;

    for (size_t i = 0; i < 2; i++) {
        f->packer.world.machine->node[i].alpha.value = 1;
        f->packer.world.machine->node[i].beta.value = 1;
    }
    model = model_of(f, step, 4, 4);
    assert_int_equal(size_model_choose(model, &bounds, 60, chosen, &answer, &err), -1);
    assert_string_not_equal(err.text, "");
    size_model_predict(model, (const unsigned[]){4, 4}, &got);
    assert_true(isnan(got.gbps));
    size_model_free(model);
}

/* Table 4.1's memory: what DraMon says, and where the memory is known to give less, that. */
static void test_dramon(void **state)
{
    static const double steep[] = {0, 6, 6.5, 6.5, 6};
    struct fixture *f = *state;
    struct step *step;
    struct machine_profile *machine;
    struct dramon_hardware hw;
    struct dramon_software sw = {.issue_rate_single = 3e7,
                                 .hit = 0.55,
                                 .miss = 0.25,
                                 .conflict = 0.2,
                                 .brd = dramon_brd_runtime,
                                 .brds = DRAMON_BRDS_RUNTIME,
                                 .read_ratio = 0.7,
                                 .ranks = 2,
                                 .same_row = NAN,
                                 .same_bank = NAN,
                                 .other_channel = NAN};
    struct dramon_point point[4];
    struct size_traffic traffic;
    double local[5];

    fixture_machine(f, 2, 4, steep);
    step = step_of(f, "rows");
    machine = f->packer.world.machine;
    machine->dram = (struct machine_dram){.channels = 2,
                                          .banks = 8,
                                          .ranks = 2,
                                          .tck_ns = 1.5,
                                          .trcd_ns = 13.5,
                                          .tcas_ns = 13.5,
                                          .trp_ns = 13.5,
                                          .tburst_ns = 6,
                                          .twr_ns = 15,
                                          .trtrs_ns = NAN,
                                          .twtr_ns = 7.5,
                                          .request_bytes = 64,
                                          .auto_close = 4};
    step->profile.known = false;
    step->profile.core_gbps = NAN;
    store(f, "rows",
          "{\"dram\":{\"hit\":0.55,\"miss\":0.25,\"conflict\":0.2,\"read_ratio\":0.7,"
          "\"issue_rate_single\":3e7}}");
    assert_int_equal(machine_dram_hardware(&machine->dram, 0, 0, &hw, NULL), 0);
    assert_int_equal(dramon_curve(&hw, &sw, 4, point), 0);
    assert_int_equal(traffic_of(&f->packer, step, &traffic, NULL), 0);
    assert_int_equal(size_demand_fill(&f->packer, step, &traffic, 0, local, 4, NULL), 0);
    assert_true(local[0] == 0);
    for (size_t c = 1; c <= 4; c++)
        assert_true(local[c] == fmin(point[c - 1].gbps, c < 4 ? steep[c] : 6.5));
    assert_true(point[0].gbps < 6 && point[3].gbps > 6.5); /* both decide somewhere */
    assert_true(size_demand_idle(&f->packer, &traffic, 0) == 0);
    traffic_free(&traffic);
    machine->dram.auto_close = NAN; /* nothing shows it: then one core's bandwidth decides */
    assert_int_equal(traffic_of(&f->packer, step, &traffic, NULL), 0);
    traffic.core_gbps = 2;
    assert_int_equal(size_demand_fill(&f->packer, step, &traffic, 0, local, 2, NULL), 0);
    assert_true(local[1] <= 2 && local[1] > 1);
    traffic_free(&traffic);
}

/* What was counted of its requests does the same (Wang 2015, Table 4.3), where nobody has told the
 * store; without a count of rank turns on a memory of one rank only. */
static void test_dramon_counted(void **state)
{
    static const double steep[] = {0, 60, 65, 65, 60};
    struct fixture *f = *state;
    struct machine_profile *machine;
    struct dramon_software sw = {.issue_rate_single = 3e7,
                                 .hit = 0.55,
                                 .miss = 0.25,
                                 .conflict = 0.2,
                                 .brd = dramon_brd_runtime,
                                 .brds = DRAMON_BRDS_RUNTIME,
                                 .read_ratio = 0.7,
                                 .ranks = 1,
                                 .same_row = NAN,
                                 .same_bank = NAN,
                                 .other_channel = NAN};
    struct dramon_point point[4];
    struct dramon_hardware hw;
    struct size_traffic traffic;
    struct berth_error err;
    double local[5];

    fixture_machine(f, 2, 4, steep);
    machine = f->packer.world.machine;
    machine->dram = (struct machine_dram){.channels = 2,
                                          .banks = 8,
                                          .ranks = 1,
                                          .tck_ns = 1.5,
                                          .trcd_ns = 13.5,
                                          .tcas_ns = 13.5,
                                          .trp_ns = 13.5,
                                          .tburst_ns = 6,
                                          .twr_ns = 15,
                                          .trtrs_ns = NAN,
                                          .twtr_ns = 7.5,
                                          .request_bytes = 64,
                                          .auto_close = 4};
    assert_int_equal(machine_dram_hardware(&machine->dram, 0, 0, &hw, &err), 0);
    assert_int_equal(dramon_curve(&hw, &sw, 4, point), 0);
    assert_int_equal(traffic_new(2, &traffic, &err), 0);
    traffic.measured = true;
    traffic.read_solo[0] = 3e7 * 2 * 64 / 1e9;
    traffic.dram = (struct profile_dram){.hit = 0.55,
                                         .miss = 0.25,
                                         .conflict = 0.2,
                                         .read_ratio = 0.7,
                                         .issue_rate_single = NAN,
                                         .rtr = NAN,
                                         .ranks = NAN};
    assert_int_equal(size_demand_fill(&f->packer, NULL, &traffic, 0, local, 4, &err), 0);
    for (size_t c = 1; c <= 4; c++)
        assert_true(fabs(local[c] - point[c - 1].gbps) < 1e-9);
    machine->dram.ranks = 2;
    assert_true(size_demand_idle(&f->packer, &traffic, 0) > 0); /* by the roof */
    traffic_free(&traffic);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_nodes, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_rates_of_the_profile),
        test(test_steps_share_a_roof),
        test(test_stored_curve),
        test(test_traffic_between_nodes),
        test(test_not_known),
        test(test_infeasible),
        test(test_dramon),
        test(test_dramon_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
