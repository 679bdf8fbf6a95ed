/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_size - how many cores a step uses, and which: never more than it has, never fewer than one
 * for each task, within what its user said, and all where nothing is known. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <string.h>

#include "packer/size/flexible.h"
#include "packer/size/size.h"
#include "packer/steps/program.h"

/* Two cores of a node were measured to read all that its memory gives. */
static const double saturates[] = {0, 6, 10, 10, 10};

/* Below the roof of one channel, n a / (1 + n a / 10), where a core alone would read a of an idle
 * memory: 256 of "stream", of which one core has no more than any was measured to read. */
#define TWO (2 * 256 / (1 + 2 * 25.6))
#define THREE (3 * 256 / (1 + 3 * 25.6))
#define FOUR (4 * 256 / (1 + 4 * 25.6))
#define MIDDLING_IDLE (2.56 / (1 - 0.256))
#define MIDDLING (4 * MIDDLING_IDLE / (1 + 0.4 * MIDDLING_IDLE))
#define COMPUTE_IDLE (0.0128 / (1 - 0.00128))
#define COMPUTE (4 * COMPUTE_IDLE / (1 + 0.4 * COMPUTE_IDLE))

static int open_nodes(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_machine(f, 2, 4, saturates);
    fixture_timed(f, "stream", 100000, 2e9);  /* 12.8 GB/s by a core */
    fixture_timed(f, "wide", 50000, 2e9);     /* 6.4 */
    fixture_timed(f, "compute", 100, 2e9);    /* 0.0128 */
    fixture_timed(f, "middling", 20000, 2e9); /* 2.56 */
    fixture_profile(f, "untimed", 50000);
    *state = f;
    return 0;
}

struct ask {
    const char *tag, *cpus;
    size_t tasks;
    uint32_t min, max;
    double loss_pct; /* 0: not said; < 0 is not either */
    bool no_size, user_omp;
};

#define OF(program, given) .tag = program, .cpus = given

static struct step *ask(struct fixture *f, struct ask a)
{
    struct wire_register request =
        fixture_request(1, 0, a.cpus, a.cpus, a.tasks ? a.tasks : 1, a.tag);

    request.options.size = !a.no_size;
    request.options.size_loss_pct = a.loss_pct ? a.loss_pct : -1;
    request.options.cores_min = a.min;
    request.options.cores_max = a.max;
    request.user_omp_threads = a.user_omp;
    fixture_paper(f);
    return fixture_start(f, request);
}

static void assert_use(const struct step *step, size_t task, const char *cpus)
{
    assert_cpus(&step->body.task[task].use, cpus);
}

static void assert_reason(const struct step *step, const char *part)
{
    char reason[400];

    size_reason(step, true, reason, sizeof(reason));
    if (!strstr(reason, part))
        fail_msg("'%s', not '%s'", reason, part);
}

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-6))
        fail_msg("%.9g, not %.9g", value, wanted);
}

/* ---- the model decides ---- */

static void test_vector(void **state)
{
    static const struct {
        struct ask ask;
        const char *use;
        size_t given, threads;
        enum numem_constraint constraint;
        double gbps, gbps_all;
    } table[] = {
        {{OF("stream", "0-3")}, "0-1", 2, 2, NUMEM_LOCAL_BANDWIDTH, TWO, FOUR},
        {{OF("stream", "0-7")}, "0-1,4-5", 4, 4, NUMEM_LOCAL_BANDWIDTH, 2 * TWO, 2 * FOUR},
        {{OF("stream", "0,4-7")}, "0,4-5", 3, 3, NUMEM_LOCAL_BANDWIDTH, 6 + TWO, 6 + FOUR},
        {{OF("stream", "0")}, "0", 1, 0, NUMEM_NONE, 6, 6},
        {{OF("compute", "0-3")}, "0-3", 4, 0, NUMEM_NONE, COMPUTE, COMPUTE},
        {{OF("middling", "0-3")}, "0-3", 4, 0, NUMEM_NONE, MIDDLING, MIDDLING},
        {{OF("stream", "0-3"), .max = 1}, "0", 1, 1, NUMEM_NONE, 6, FOUR},
        {{OF("stream", "0-3"), .min = 3, .max = 4},
         "0-2",
         3,
         3,
         NUMEM_LOCAL_BANDWIDTH,
         THREE,
         FOUR},
        {{OF("stream", "0-3"), .min = 6, .max = 8}, "0-3", 4, 0, NUMEM_LOCAL_BANDWIDTH, FOUR, FOUR},
        {{OF("stream", "0-3"), .user_omp = true}, "0-1", 2, 0, NUMEM_LOCAL_BANDWIDTH, TWO, FOUR},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct step *step = ask(f, table[i].ask);
        struct cpus had = cpus_of(table[i].ask.cpus);

        assert_use(step, 0, table[i].use);
        assert_cpus(&step->body.task[0].home, table[i].ask.cpus);
        assert_int_equal(step->size.cores, cpus_count(&had));
        assert_int_equal(step->size.given, table[i].given);
        assert_int_equal(step->size.threads, table[i].threads);
        assert_true(step->size.modelled);
        assert_near(step->size.gbps, table[i].gbps);
        assert_near(step->size.gbps_all, table[i].gbps_all);
        if (table[i].ask.max != 1)
            assert_int_equal(step->size.constraint, table[i].constraint);
        assert_reason(step, "NuCore");
        fixture_end(f, 1, 0);
    }
}

/* Each core adds something below a soft roof: what they may cost says how many are taken away. */
static void test_loss(void **state)
{
    static const struct {
        double loss_pct;
        const char *use;
    } table[] = {{-1, "0-3"}, {1e-9, "0-3"}, {2, "0-3"}, {5, "0-2"}, {12, "0-1"}, {50, "0"}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct step *step = ask(f, (struct ask){OF("wide", "0-3"), .loss_pct = table[i].loss_pct});

        assert_use(step, 0, table[i].use);
        fixture_end(f, 1, 0);
    }
}

/* A run of the machine's that went badly is no limit: as many as fewer read, more can. */
static void test_noise(void **state)
{
    static const double dips[] = {0, 6, 10, 8, 10};
    struct fixture *f = *state;
    struct step *step;

    fixture_machine(f, 2, 4, dips);
    step = ask(f, (struct ask){OF("stream", "0-3")});
    assert_use(step, 0, "0-1");
    assert_near(step->size.gbps, TWO);
    assert_near(step->size.gbps_all, FOUR);
}

/* ---- tasks ---- */

static void test_tasks(void **state)
{
    static const struct {
        struct ask ask;
        const char *use[4];
        size_t threads;
    } table[] = {
        {{OF("stream", "0-3"), .tasks = 4}, {"0", "1", "2", "3"}, 0}, /* one each in any case */
        {{OF("stream", "0-3"), .tasks = 2}, {"0", "2"}, 1},
        {{OF("stream", "0-7"), .tasks = 2}, {"0-1", "4-5"}, 2},
        {{OF("stream", "0-7"), .tasks = 4, .min = 5, .max = 8}, {"0-1", "2-3", "4-5", "6-7"}, 0},
        {{OF("stream", "0-7"), .tasks = 4, .min = 5, .max = 5}, {"0-1", "2", "4", "6"}, 1},
        {{OF("stream", "0-7"), .tasks = 4, .max = 2}, {"0", "2", "4", "6"}, 1},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct step *step = ask(f, table[i].ask);

        for (size_t t = 0; t < table[i].ask.tasks; t++)
            assert_use(step, t, table[i].use[t]);
        assert_int_equal(step->size.threads, table[i].threads);
        fixture_end(f, 1, 0);
    }
}

/* Two tasks on node 0, one on node 1, whose memory one core fills: each has its core. */
static void test_tasks_of_one_node(void **state)
{
    static const double one_fills[] = {0, 6, 6, 6, 6};
    struct fixture *f = *state;
    struct step *step;

    fixture_machine(f, 2, 4, one_fills);
    step = fixture_put(f, 1, 0, "0-5", 50000, (const char *const[]){"0-1", "2-3", "4-5", NULL});
    step->request.options.size = true;
    step->profile.core_gbps = 12.8;
    strcpy(step->request.options.tag, "stream");
    size_node(&f->packer, step);
    assert_use(step, 0, "0");
    assert_use(step, 1, "2");
    assert_use(step, 2, "4");
    assert_int_equal(step->size.given, 3);
    assert_near(step->size.gbps, 512 / (1 + 512 / 6.0) + 256 / (1 + 256 / 6.0));
}

/* Tasks that Slurm bound to nothing share what is left, and have a core each. */
static void test_tasks_that_share(void **state)
{
    struct fixture *f = *state;
    struct step *step =
        fixture_put(f, 1, 0, "0-3", 50000, (const char *const[]){"0-3", "0-3", "0-3", NULL});

    step->request.options.size = true;
    step->profile.core_gbps = 12.8;
    strcpy(step->request.options.tag, "stream");
    size_node(&f->packer, step);
    for (size_t t = 0; t < 3; t++)
        assert_use(step, t, "0-2");
    assert_int_equal(step->size.given, 3);
    assert_int_equal(step->size.threads, 1);
}

/* A core's hardware threads go together, and are counted as threads. */
static void test_hardware_threads(void **state)
{
    struct fixture *f = fixture_open("numa:1 l3:1 core:4 pu:2");

    (void)state;
    fixture_machine(f, 1, 4, saturates);
    fixture_timed(f, "stream", 100000, 2e9);
    assert_use(ask(f, (struct ask){OF("stream", "0-7")}), 0, "0-3");
    assert_int_equal(TAILQ_FIRST(&f->packer.steps->live)->size.given, 2);
    assert_int_equal(TAILQ_FIRST(&f->packer.steps->live)->size.threads, 4);
    fixture_close(f);
}

/* A step that Slurm let onto the same cores finds the ones that the first left idle. */
static void test_spare_cores_go_to_who_has_them_too(void **state)
{
    struct fixture *f = *state;
    struct wire_register again = fixture_request(1, 1, "0-3", "0-3", 1, "stream");

    again.options.size = true;
    again.options.cores_min = again.options.cores_max = 2;
    assert_use(ask(f, (struct ask){OF("stream", "0-3"), .min = 2, .max = 2}), 0, "0-1");
    assert_use(fixture_start(f, again), 0, "2-3");
}

/* ---- what is not known ---- */

static void test_all_of_them(void **state)
{
    static const struct {
        struct ask ask;
        const char *use, *reason;
    } table[] = {
        {{OF("stream", "0-3"), .no_size = true}, "0-3", "not asked"},
        {{OF("stream", "0-3"), .no_size = true, .max = 1}, "0-3", "not asked"},
        {{OF("never-seen", "0-3")}, "0-3", "no profile"},
        {{OF("untimed", "0-3")}, "0-3", "instructions per second"},
        {{OF("never-seen", "0-3"), .min = 1, .max = 2}, "0-1", "no profile of it; cores=1-2 asked"},
        {{OF("untimed", "0-7"), .min = 1, .max = 2}, "0,4", "cores=1-2 asked"},
        {{OF("untimed", "0-3"), .tasks = 2, .max = 1}, "0", "but each task has one"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct step *step = ask(f, table[i].ask);

        assert_use(step, 0, table[i].use);
        assert_reason(step, table[i].reason);
        assert_false(step->size.modelled);
        assert_true(isnan(step->size.gbps) && isnan(step->size.gbps_all));
        fixture_end(f, 1, 0);
    }
}

static void test_no_machine_profile(void **state)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);
    struct step *step;

    (void)state;
    fixture_timed(f, "stream", 100000, 2e9);
    step = ask(f, (struct ask){OF("stream", "0-3")});
    assert_use(step, 0, "0-3");
    assert_reason(step, "no machine profile (berthctl calibrate makes one)");
    fixture_close(f);
}

static void test_shell_is_not_sized(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, WIRE_STEP_BATCH, "0-3", "0-3", 1, "stream");
    struct step *step;

    request.options.size = true;
    step = fixture_start(f, request);
    assert_use(step, 0, "0-3");
    assert_reason(step, "shell");
}

static void test_left_alone(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "stream");
    struct step *step;

    request.options.size = true;
    request.bound_by_hand = true;
    step = fixture_start(f, request);
    assert_use(step, 0, "0-3");
    assert_reason(step, "left alone");
}

static void test_size_on_node(void **state)
{
    struct fixture *f = *state;
    struct step *step = ask(f, (struct ask){OF("stream", "0-2,4")});
    size_t cores, used;

    size_on_node(&f->packer, step, 0, &cores, &used);
    assert_int_equal(cores, 3);
    assert_int_equal(used, 2);
    size_on_node(&f->packer, step, 1, &cores, &used);
    assert_int_equal(cores, 1);
    assert_int_equal(used, 1);
    size_all(&f->packer, step, "put back");
    assert_use(step, 0, "0-2,4");
    assert_int_equal(step->size.given, 4);
    assert_false(step->size.modelled);
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_nodes, fixture_teardown)

/* ---- flex ---- */

/* 256 threads for 32 cores by the paper's figures; by what was measured of the machine and of the
 * program where that is known: dearer synchronisation makes fewer. */
static void test_flexible(void **state)
{
    struct fixture *f = *state;
    struct machine_profile *machine = (struct machine_profile *)f->packer.world.machine;
    struct step *step = ask(f, (struct ask){OF("compute", "0-7")});
    size_t paper, dear;

    step->request.options.flex = true;
    paper = flexible_threads(&f->packer, step, 32);
    assert_int_equal(paper, 256);
    machine->suspend_ns = (struct machine_figure){2000, 0.1};
    machine->core_latency[1] = (struct machine_figure){200, 0.1};
    assert_int_equal(flexible_threads(&f->packer, step, 32), paper);
    machine->suspend_ns.value = 8000;
    dear = flexible_threads(&f->packer, step, 32);
    assert_in_range(dear, 1, paper - 1);
    machine->core_latency[1].value = 2000; /* to the other node */
    assert_in_range(flexible_threads(&f->packer, step, 32), 1, dear);
    machine->suspend_ns.spread = 2; /* disturbed */
    machine->core_latency[1].value = 2e7;
    assert_int_equal(flexible_threads(&f->packer, step, 32), paper);
    step->request.options.flex_threads = 7;
    assert_int_equal(flexible_threads(&f->packer, step, 32), 7);
}

/* A program that was seen to give up its CPU seldom synchronises seldom. */
static void test_flexible_program(void **state)
{
    struct fixture *f = *state;
    struct profile_sample sample;
    struct berth_error err = {""};
    struct profiles *store;
    struct step *step = ask(f, (struct ask){OF("often", "0-7")});

    program_sample_init(&f->packer, step, "software", &sample);
    sample.runs = 1;
    sample.windows = sample.seconds = 100;
    sample.rate[PROFILE_THREADS] = (struct profile_estimate){8, 0};
    sample.rate[PROFILE_SWITCHES_PER_S] = (struct profile_estimate){8 * 20000., 0};
    if (profiles_open(&store, f->conf.profile_db, true, &err) < 0 ||
        profiles_put_samples(store, &sample, 1, &err) < 0)
        fail_msg("%s", err.text);
    profiles_close(store);
    step->request.options.flex = true;
    assert_in_range(flexible_threads(&f->packer, step, 32), 1, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_vector),
        test(test_loss),
        test(test_noise),
        test(test_tasks),
        test(test_tasks_of_one_node),
        test(test_tasks_that_share),
        cmocka_unit_test(test_hardware_threads),
        test(test_spare_cores_go_to_who_has_them_too),
        test(test_all_of_them),
        cmocka_unit_test(test_no_machine_profile),
        test(test_shell_is_not_sized),
        test(test_left_alone),
        test(test_size_on_node),
        test(test_flexible),
        test(test_flexible_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
