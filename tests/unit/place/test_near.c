/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_near - steps with devices stand near them: cases worked by hand on two memory nodes, and
 * random jobs on the machines that others recorded, where those are at hand. */
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/daemon/answer.h"
#include "packer/place/near.h"
#include "packer/place/place.h"
#include "tests/unit/common/recorded.h"
#include "tests/unit/common/thorough.h"

/* Two memory nodes of four cores: gpu0 at the first, gpu1 at the second, gpu2 nowhere. */
static int open_policy(void **state, enum wire_policy policy)
{
    struct fixture *f = fixture_open(FOURS_ON_TWO_NODES);

    fixture_gpu(f, "0000:3b:00.0", "0\n", "0-3\n");
    fixture_gpu(f, "0000:86:00.0", "1\n", "4-7\n");
    fixture_gpu(f, "0000:c0:00.0", "-1\n", "0-7\n");
    f->conf.policy = policy;
    fixture_restart(f);
    fixture_paper(f);
    *state = f;
    return 0;
}

static int open_di(void **state)
{
    return open_policy(state, WIRE_POLICY_DI);
}

static int open_contend(void **state)
{
    return open_policy(state, WIRE_POLICY_CONTEND);
}

static int open_power(void **state)
{
    return open_policy(state, WIRE_POLICY_DIO_POWER);
}

static struct wire_register with_devices(uint32_t job, const char *job_cpus, const char *cpus,
                                         size_t ntasks, const char *devices)
{
    struct wire_register request = fixture_request(job, 0, job_cpus, cpus, ntasks, "gpu");

    request.pin = WIRE_PIN_DEVICE;
    strcpy(request.pin_by, "SLURM_STEP_GPUS");
    request.devices = devices;
    return request;
}

static struct step *run_gpu(struct fixture *f, uint32_t job, const char *cpus, const char *devices)
{
    return fixture_start(f, with_devices(job, cpus, cpus, 1, devices));
}

static void assert_stands(const struct step *step, const char *cpus)
{
    struct cpus its;

    enforce_union(&step->body, ENFORCE_PLACE, &its);
    assert_cpus(&its, cpus);
}

/* ---- cases ---- */

/* It stands near, and stays: whoever comes, and whatever the policy would do. */
static void test_rests(void **state)
{
    struct fixture *f = *state;
    const struct step *gpu;

    fixture_profile(f, "gpu", 30000);
    fixture_profile(f, "hog", 40000);
    gpu = run_gpu(f, 1, "0-1", "gpu:0");
    assert_int_equal(gpu->state, STEP_PLACED);
    assert_true(gpu->near.holds);
    for (uint32_t job = 2; job < 8; job++) {
        char cpu[2] = {(char)('0' + job), '\0'};

        fixture_run(f, job, cpu, "hog");
        assert_stands(gpu, "0-1");
    }
    fixture_age(f, 100);
    assert_stands(gpu, "0-1");
    assert_int_equal(gpu->enacted.moves, 0);
    for (uint32_t job = 2; job < 8; job++) {
        fixture_end(f, job, 0);
        fixture_age(f, 100);
        assert_stands(gpu, "0-1");
    }
}

/* It is far, and there is a core that its job has and no step uses; so it starts there. */
static void test_free_core(void **state)
{
    struct fixture *f = *state;
    const struct step *gpu = fixture_start(f, with_devices(1, "0-7", "6-7", 1, "gpu:0"));

    assert_int_equal(cpus_count(&gpu->body.task[0].cpus), 2);
    assert_true(cpus_subset(&gpu->body.task[0].cpus, &gpu->near.cpus));
}

/* Steps without a device make room, as whole ones. */
static void test_makes_room(void **state)
{
    struct fixture *f = *state;
    const struct step *a = fixture_run(f, 1, "0-1", "a"), *b = fixture_run(f, 2, "2-3", "b"), *gpu;

    gpu = run_gpu(f, 3, "6-7", "gpu:0");
    assert_true(cpus_subset(&gpu->body.task[0].cpus, &gpu->near.cpus));
    assert_int_equal(a->enacted.moves + b->enacted.moves, 1);
    assert_stands(a->enacted.moves ? a : b, "6-7");
    fixture_end(f, 3, 0); /* its cores go, and who stood there comes home */
    assert_stands(a, "0-1");
    assert_stands(b, "2-3");
}

/* One that is larger than what is needed is not torn apart. */
static void test_no_tearing(void **state)
{
    struct fixture *f = *state;
    const struct step *a = fixture_run(f, 1, "0-3", "a"), *gpu;

    gpu = run_gpu(f, 2, "6-7", "gpu:0");
    assert_stands(a, "0-3");
    assert_stands(gpu, "6-7");
    assert_int_equal(gpu->state, STEP_PLACED);
    fixture_end(f, 1, 0);
    fixture_age(f, 100); /* nobody's cores are there: the job has ended */
    assert_stands(gpu, "6-7");
}

/* Of three units those go that have the right number of cores together. */
static void test_knapsack(void **state)
{
    struct fixture *f = *state;
    const struct step *a = fixture_run(f, 1, "0", "a"), *b = fixture_run(f, 2, "1-2", "b"),
                      *c = fixture_run(f, 3, "3", "c"), *gpu;

    gpu = run_gpu(f, 4, "5-7", "gpu:0");
    assert_true(cpus_subset(&gpu->body.task[0].cpus, &gpu->near.cpus));
    assert_int_equal(b->enacted.moves, 1);
    assert_int_equal(a->enacted.moves + c->enacted.moves, 1);
}

/* Two GPU steps, each at the other's GPU, change places; two at the same one's do not. */
static void test_crossed(void **state)
{
    struct fixture *f = *state;
    const struct step *a = run_gpu(f, 1, "0-3", "gpu:1"), *b = run_gpu(f, 2, "4-7", "gpu:0");

    assert_stands(a, "4-7");
    assert_stands(b, "0-3");
    fixture_end(f, 1, 0);
    assert_stands(b, "4-7"); /* its core went home with its job */
    run_gpu(f, 3, "0-3", "gpu:0");
    assert_stands(b, "4-7");
}

/* It waits for room, and is moved when there is some. */
static void test_later(void **state)
{
    struct fixture *f = *state;
    struct wire_register pinned = fixture_request(1, 0, "0-3", "0-1", 1, "a");
    const struct step *gpu;

    pinned.pin = WIRE_PIN_CALLS;
    strcpy(pinned.pin_by, "sched_setaffinity");
    fixture_start(f, pinned); /* its job's other cores are in no pool */
    gpu = run_gpu(f, 2, "6", "gpu:0");
    assert_stands(gpu, "6");
    fixture_run(f, 3, "2", "a");
    fixture_age(f, 100);
    assert_stands(gpu, "2");
}

static void test_key_and_word(void **state)
{
    struct fixture *f = *state;
    struct wire_register request;
    const struct step *gpu, *cpu;

    f->packer.world.conf.device_near = CONF_NEAR_OFF;
    gpu = run_gpu(f, 1, "6-7", "gpu:0");
    assert_int_equal(gpu->state, STEP_LEFT);
    assert_non_null(strstr(gpu->enacted.reason, "a device"));
    fixture_end(f, 1, 0);

    f->packer.world.conf.device_near = CONF_NEAR_PREFER; /* nobody makes room */
    cpu = fixture_run(f, 1, "0-3", "a");
    gpu = run_gpu(f, 2, "6-7", "gpu:0");
    assert_int_equal(gpu->state, STEP_PLACED);
    assert_stands(gpu, "6-7");
    assert_stands(cpu, "0-3");
    fixture_end(f, 2, 0);

    f->packer.world.conf.device_near = CONF_NEAR_MUST;
    request = with_devices(3, "4-7", "4-7", 1, "gpu:0");
    request.options.nodevice = true;
    gpu = fixture_start(f, request);
    assert_int_equal(gpu->state, STEP_PLACED);
    assert_false(gpu->near.holds);
    assert_stands(cpu, "0-3");
}

/* What is not known of its devices leaves it where Slurm put it. */
static void test_unknown(void **state)
{
    static const char *const lists[] = {"", "gpu:9", "gpu:0,gpu:9", "cuda:MIG-1", "quantum:0"};
    struct fixture *f = *state;

    for (uint32_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const struct step *gpu = run_gpu(f, 10 + i, "6-7", lists[i]);

        assert_int_equal(gpu->state, STEP_LEFT);
        assert_false(gpu->near.holds);
        fixture_end(f, 10 + i, 0);
    }
}

/* A device that is nowhere, and devices at both places: they stay where they are. */
static void test_anywhere(void **state)
{
    struct fixture *f = *state;
    const struct step *a = run_gpu(f, 1, "6-7", "gpu:2"), *b = run_gpu(f, 2, "1,5", "gpu:0,gpu:1");

    assert_true(a->near.holds && b->near.holds);
    fixture_run(f, 3, "0", "a");
    fixture_age(f, 100);
    assert_stands(a, "6-7");
    assert_stands(b, "1,5");
}

/* berthd hears of a GPU whose driver came later when it reads berth.conf again. */
static void test_read_again(void **state)
{
    struct fixture *f = *state;
    const struct step *gpu = run_gpu(f, 1, "6-7", "gpu:3");

    assert_int_equal(gpu->state, STEP_LEFT);
    fixture_end(f, 1, 0);
    fixture_gpu(f, "0000:d0:00.0", "1\n", "4-7\n");
    pipeline_reload(&f->packer, &f->conf);
    gpu = run_gpu(f, 2, "6-7", "gpu:3");
    assert_int_equal(gpu->state, STEP_PLACED);
    assert_stands(gpu, "6-7");
}

/* A program that binds itself stays, whatever devices it has. */
static void test_pinned(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = with_devices(1, "6-7", "6-7", 1, "gpu:0");
    const struct step *gpu;

    request.pin = WIRE_PIN_CALLS;
    gpu = fixture_start(f, request);
    assert_int_equal(gpu->state, STEP_LEFT);
}

/* A berthd that starts again finds it near, and leaves it there. */
static void test_adopted(void **state)
{
    struct fixture *f = *state;
    const struct step *gpu;
    struct berth_error err;
    struct cpus was;

    fixture_run(f, 1, "0-1", "a");
    gpu = run_gpu(f, 2, "6-7", "gpu:0");
    enforce_union(&gpu->body, ENFORCE_PLACE, &was);
    assert_true(cpus_subset(&was, &gpu->near.cpus));
    fixture_restart(f);
    assert_int_equal(pipeline_resume(&f->packer, &err), 0);
    gpu = fixture_step(f, 2, 0);
    assert_true(gpu->near.holds);
    assert_string_equal(gpu->request.devices, "gpu:0");
    assert_true(cpus_subset(&gpu->place.cpus, &gpu->near.cpus));
}

/* ---- recorded machines ---- */

#define JOBS_MAX 64

struct load {
    struct fixture *f;
    unsigned seed;
    struct {
        uint32_t job; /* 0: none */
        struct cpus cpus;
        bool device;
    } job[JOBS_MAX];
    uint32_t next;
    size_t topologies, starts, far_home, near, far;
};

static unsigned draw(struct load *load, unsigned n)
{
    load->seed = load->seed * 1103515245 + 12345;
    return (load->seed >> 16) % n;
}

/* Writes what a registration calls a device of the machine; "": nobody is given one of its kind. */
static void name_of(const struct load *load, const struct device *device, char name[64])
{
    const struct devices *gear = load->f->packer.state->gear;
    const char *digits = strrchr(device->name, '_');

    name[0] = '\0';
    if (device->kind == DEVICE_GPU && device->number >= 0)
        snprintf(name, 64, "gpu:%d", device->number);
    else if (device->kind == DEVICE_NETWORK && digits)
        snprintf(name, 64, "nic:%.8s", digits + 1);
    if (name[0] && devices_find(gear, name) != device)
        name[0] = '\0';
}

/* Draws a device that a step can have; "": the machine has none. */
static void draw_device(struct load *load, char name[64])
{
    const struct devices *gear = load->f->packer.state->gear;
    size_t first = gear->n ? draw(load, (unsigned)gear->n) : 0;

    name[0] = '\0';
    for (size_t i = 0; i < gear->n && !name[0]; i++)
        name_of(load, &gear->device[(first + i) % gear->n], name);
}

/* Draws whole cores that no job has, beside each other where that goes. */
static size_t draw_cores(struct load *load, size_t most, struct cpus *cpus)
{
    const struct topo *topo = load->f->packer.world.topo;
    size_t first = draw(load, (unsigned)topo->cores), n = 0;
    struct cpus taken = {0};

    cpus_zero(cpus);
    for (size_t i = 0; i < JOBS_MAX; i++)
        if (load->job[i].job)
            cpus_or(&taken, &load->job[i].cpus);
    for (size_t i = 0; i < topo->cores && n < most; i++) {
        const struct topo_core *core = &topo->core[(first + i) % topo->cores];

        if (cpus_intersect(&core->cpus, &taken))
            continue;
        cpus_or(cpus, &core->cpus);
        n++;
    }
    return n;
}

static void start(struct load *load, size_t slot)
{
    static const char *const tags[] = {"low", "mid", "high"};
    char job_cpus[CPUS_TEXT_MAX], device[64] = "";
    size_t n = draw_cores(load, 1 + draw(load, 6), &load->job[slot].cpus);
    struct wire_register request;
    const struct step *step;

    if (n == 0)
        return;
    cpus_format(&load->job[slot].cpus, job_cpus, sizeof(job_cpus));
    if (draw(load, 3) == 0)
        draw_device(load, device);
    load->job[slot].job = ++load->next;
    load->job[slot].device = device[0];
    request = fixture_request(load->next, 0, job_cpus, job_cpus, 1 + draw(load, (unsigned)n),
                              tags[draw(load, 3)]);
    request.devices = device;
    request.pin = device[0] ? WIRE_PIN_DEVICE : WIRE_PIN_NONE;
    step = fixture_start(load->f, request);
    load->starts += device[0] && step->near.holds;
    load->far_home +=
        device[0] && step->near.holds && !cpus_subset(&step->body.step_home, &step->near.cpus);
}

/* Whose cores are there, of those near the step's devices? Fails where a place is free, or can be
 * made so by one step without a device, and the step's unit is far all the same. */
static void check_unit(const struct load *load, const struct units *units, size_t unit)
{
    const struct packer *packer = &load->f->packer;
    size_t need = 0, nobody = 0, *part = calloc(units->n + 1, sizeof(*part));

    for (size_t i = units->at[unit]; i < units->at[unit] + units->unit[unit].cores; i++)
        need += !cpus_subset(&packer->world.topo->core[packer->pool->stand[units->from[i]]].cpus,
                             units->near[unit]);
    for (size_t core = 0; core < packer->pool->cores; core++) {
        size_t who = units->of_core[core];

        if (!pool_has(packer->state->pool, core) ||
            !cpus_subset(&packer->world.topo->core[packer->pool->stand[core]].cpus,
                         units->near[unit]))
            continue;
        nobody += who == UNITS_NONE;
        if (who != UNITS_NONE && !units->near[who])
            part[who]++;
    }
    if (need > 0 && nobody >= need)
        fail_msg("%s: far though %zu cores are free", packer->world.topo->name, nobody);
    for (size_t u = 0; need > 0 && u < units->n; u++)
        if (part[u] && part[u] <= need && part[u] + nobody >= need)
            fail_msg("%s: far though a step of %zu cores can go", packer->world.topo->name,
                     part[u]);
    free(part);
}

static void check(struct load *load)
{
    struct scene scene = {&load->f->packer, load->f->packer.state->pool, false};
    const struct step *step;
    struct units units;

    assert_int_equal(units_collect(&scene, NULL, 0, &units), 0);
    for (size_t u = 0; u < units.n; u++)
        if (units.near[u])
            check_unit(load, &units, u);
    units_free(&units);
    TAILQ_FOREACH(step, &load->f->packer.steps->live, link)
    {
        bool far = near_is_far(&scene, step),
             home = cpus_subset(&step->body.step_home, &step->near.cpus);

        if (!step->near.holds)
            continue;
        load->far += far;
        load->near += !far;
        if (home) /* at home near its devices it never moves */
            assert_int_equal(step->enacted.moves, 0);
    }
}

static void run_load(const char *path, void *arg)
{
    struct load *load = arg;
    unsigned events = thorough() ? 200 : 24;

    if (!thorough() && draw(load, 4) != 0)
        return;
    load->f = fixture_open(path);
    load->f->conf.policy = load->topologies % 2 ? WIRE_POLICY_DI : WIRE_POLICY_CONTEND;
    load->f->conf.replace_limit = 600;
    fixture_restart(load->f);
    fixture_paper(load->f);
    fixture_profile(load->f, "low", 10);
    fixture_profile(load->f, "mid", 2000);
    fixture_profile(load->f, "high", 30000);
    memset(load->job, 0, sizeof(load->job));
    for (unsigned event = 0; event < events; event++) {
        size_t slot = draw(load, JOBS_MAX / 2);

        if (load->job[slot].job) {
            fixture_end(load->f, load->job[slot].job, 0);
            load->job[slot].job = 0;
        } else {
            start(load, slot);
        }
        load->f->packer.steps->changed = true;
        pipeline_observe(&load->f->packer);
        check(load);
    }
    load->topologies++;
    fixture_close(load->f);
}

static void test_recorded(void **state)
{
    struct load load = {.seed = 7};

    (void)state;
    if (recorded_topologies(run_load, &load) == 0)
        skip();
    print_message("%zu topologies: %zu starts with devices, %zu of them not near at home; "
                  "looks: %zu near, %zu far where there was no room\n",
                  load.topologies, load.starts, load.far_home, load.near, load.far);
    assert_true(load.starts > 0);
}

#define DI(name) cmocka_unit_test_setup_teardown(name, open_di, fixture_teardown)
#define CONTEND(name) cmocka_unit_test_setup_teardown(name, open_contend, fixture_teardown)
#define POWER(name) cmocka_unit_test_setup_teardown(name, open_power, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DI(test_rests),           CONTEND(test_rests),      POWER(test_rests),
        DI(test_free_core),       CONTEND(test_free_core),  POWER(test_free_core),
        DI(test_makes_room),      CONTEND(test_makes_room), DI(test_no_tearing),
        CONTEND(test_no_tearing), DI(test_knapsack),        CONTEND(test_knapsack),
        DI(test_crossed),         CONTEND(test_crossed),    DI(test_later),
        CONTEND(test_later),      DI(test_key_and_word),    DI(test_unknown),
        DI(test_anywhere),        CONTEND(test_anywhere),   DI(test_read_again),
        DI(test_pinned),          DI(test_adopted),         cmocka_unit_test(test_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
