/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire - every message there and back, and what is refused in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/wire/wire.h"

/* ---- requests there and back ---- */

/* Encode and decode; the caller clears what comes back. */
static struct wire_request round_trip(const struct wire_request *request)
{
    struct wire_request back;
    struct berth_error err = {""};
    char *line = wire_request_encode(request);

    assert_non_null(line);
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_true(strncmp(line, "{\"version\":1,", 13) == 0);
    if (wire_request_decode(line, strlen(line), &back, &err) < 0)
        fail_msg("%s: %s", line, err.text);
    assert_int_equal(back.op, request->op);
    free(line);
    return back;
}

static const uint32_t groups[] = {0, UINT32_MAX};

static struct wire_register full_register(struct wire_task *task, size_t ntasks)
{
    struct wire_register reg = {.id = {4711, WIRE_STEP_BATCH},
                                .uid = 1000,
                                .gid = 100,
                                .cpus_per_task = 4,
                                .node = "node-1",
                                .job_cores = "0-7",
                                .step_cores = "0-3",
                                .exe = "/home/\303\244 \"b\"\\\n/prog",
                                .hash = "0123456789abcdef0123456789abcdef",
                                .shape = "-n # --in=/.mtx",
                                .nodes = UINT32_MAX,
                                .ngroups = 2,
                                .group = groups,
                                .bound_by_hand = true,
                                .bound_cpus = "0-2,1000",
                                .devices = "gpu:0,cuda:GPU-9fe1,nic:0",
                                .by_cpu = true,
                                .user_omp_threads = true,
                                .asked = true,
                                .pin = WIRE_PIN_ENVIRONMENT,
                                .pin_by = "OMP_PROC_BIND",
                                .pin_within = true,
                                .ntasks = ntasks,
                                .task = task};

    reg.options = (struct wire_options){.mode = WIRE_MODE_OBSERVE,
                                        .isolate = true,
                                        .edp = true,
                                        .size = true,
                                        .spread = true,
                                        .require = true,
                                        .verbose = true,
                                        .policy_given = true,
                                        .policy = WIRE_POLICY_CONTEND,
                                        .cores_min = 2,
                                        .cores_max = 8,
                                        .max_slowdown_pct = 12.5,
                                        .size_loss_pct = 4.5,
                                        .mem = WIRE_MEM_BIND,
                                        .threads_auto = true,
                                        .threads_follow = true,
                                        .throttle = WIRE_THROTTLE_AGGRESSIVE,
                                        .flex = true,
                                        .flex_threads = 256,
                                        .locks_cohort = true,
                                        .faithful = true,
                                        .tranquil = true,
                                        .shuffle = true,
                                        .mem_auto = true,
                                        .adapt = true,
                                        .nocount = true,
                                        .nodevice = true,
                                        .prefetch = WIRE_PREFETCH_OFF,
                                        .tag = "A-z_0.9"};
    return reg;
}

static void assert_same_options(const struct wire_options *a, const struct wire_options *b)
{
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->isolate, b->isolate);
    assert_int_equal(a->edp, b->edp);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->spread, b->spread);
    assert_int_equal(a->pack, b->pack);
    assert_int_equal(a->require, b->require);
    assert_int_equal(a->verbose, b->verbose);
    assert_int_equal(a->policy_given, b->policy_given);
    assert_int_equal(a->policy, b->policy);
    assert_int_equal(a->cores_min, b->cores_min);
    assert_int_equal(a->cores_max, b->cores_max);
    assert_true(a->max_slowdown_pct == b->max_slowdown_pct);
    assert_true(a->size_loss_pct == b->size_loss_pct);
    assert_int_equal(a->mem, b->mem);
    assert_int_equal(a->threads_auto, b->threads_auto);
    assert_int_equal(a->threads_follow, b->threads_follow);
    assert_int_equal(a->throttle, b->throttle);
    assert_int_equal(a->flex, b->flex);
    assert_int_equal(a->flex_threads, b->flex_threads);
    assert_int_equal(a->locks_cohort, b->locks_cohort);
    assert_int_equal(a->faithful, b->faithful);
    assert_int_equal(a->tranquil, b->tranquil);
    assert_int_equal(a->shuffle, b->shuffle);
    assert_int_equal(a->mem_auto, b->mem_auto);
    assert_int_equal(a->adapt, b->adapt);
    assert_int_equal(a->nocount, b->nocount);
    assert_int_equal(a->nodevice, b->nodevice);
    assert_int_equal(a->prefetch, b->prefetch);
    assert_string_equal(a->tag, b->tag);
}

static void assert_same_register(const struct wire_register *a, const struct wire_register *b)
{
    assert_memory_equal(&a->id, &b->id, sizeof(a->id));
    assert_int_equal(a->uid, b->uid);
    assert_int_equal(a->gid, b->gid);
    assert_int_equal(a->cpus_per_task, b->cpus_per_task);
    assert_string_equal(a->node, b->node);
    assert_string_equal(a->job_cores, b->job_cores);
    assert_string_equal(a->step_cores, b->step_cores);
    assert_string_equal(a->exe, b->exe);
    assert_string_equal(a->hash, b->hash);
    assert_string_equal(a->shape, b->shape);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->ngroups, b->ngroups);
    assert_memory_equal(a->group, b->group, a->ngroups * sizeof(a->group[0]));
    assert_int_equal(a->bound_by_hand, b->bound_by_hand);
    assert_string_equal(a->bound_cpus, b->bound_cpus);
    assert_string_equal(a->devices, b->devices);
    assert_int_equal(a->by_cpu, b->by_cpu);
    assert_int_equal(a->user_omp_threads, b->user_omp_threads);
    assert_int_equal(a->asked, b->asked);
    assert_int_equal(a->pin, b->pin);
    assert_string_equal(a->pin_by, b->pin_by);
    assert_int_equal(a->pin_within, b->pin_within);
    assert_same_options(&a->options, &b->options);
    assert_int_equal(a->ntasks, b->ntasks);
    for (size_t i = 0; i < a->ntasks; i++) {
        assert_int_equal(a->task[i].id, b->task[i].id);
        assert_int_equal(a->task[i].pid, b->task[i].pid);
    }
}

static void test_register(void **state)
{
    struct wire_task task[] = {{0, 1}, {UINT32_MAX, INT32_MAX}};
    struct wire_request request = {.op = WIRE_OP_REGISTER, .reg = full_register(task, 2)}, back;

    (void)state;
    back = round_trip(&request);
    assert_same_register(&request.reg, &back.reg);
    wire_request_clear(&back);
    assert_null(back.reg.task);
}

/* Nothing asked stays nothing asked. */
static void test_register_default_options(void **state)
{
    struct wire_task task = {0, 1};
    struct wire_request request = {.op = WIRE_OP_REGISTER, .reg = full_register(&task, 1)}, back;

    (void)state;
    wire_options_init(&request.reg.options);
    back = round_trip(&request);
    assert_same_options(&request.reg.options, &back.reg.options);
    assert_true(back.reg.options.max_slowdown_pct < 0);
    assert_true(back.reg.options.size_loss_pct < 0);
    wire_request_clear(&back);
}

static void test_end(void **state)
{
    static const struct wire_end cases[] = {{{1, 2}, 256, 1.5, 0.25, 4096, 35277762.411, NULL},
                                            {{UINT32_MAX, 0}, -1, -1, -1, 0, 0, NULL},
                                            {{1, 0}, 0, 0, 0, 1, 0.1, NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_request request = {.op = WIRE_OP_END, .end = cases[i]};
        struct wire_request back = round_trip(&request);

        assert_memory_equal(&back.end.id, &cases[i].id, sizeof(cases[i].id));
        assert_int_equal(back.end.exit_status, cases[i].exit_status);
        assert_true(back.end.user_s == cases[i].user_s);
        assert_true(back.end.system_s == cases[i].system_s);
        assert_int_equal(back.end.maxrss_kib, cases[i].maxrss_kib);
        assert_true(back.end.ended_s == cases[i].ended_s);
        assert_null(back.end.late);
        wire_request_clear(&back);
    }
}

/* The end of a step that berthd may not know says all that its registration said. */
static void test_late(void **state)
{
    struct wire_task task[] = {{0, 1234}, {1, 1235}};
    struct wire_register reg = full_register(task, 2);
    struct wire_request request = {.op = WIRE_OP_END, .end = {.id = reg.id, .late = &reg}}, back;

    (void)state;
    reg.began_s = 35277762.411123;
    back = round_trip(&request);
    assert_non_null(back.end.late);
    assert_same_register(&reg, back.end.late);
    assert_true(back.end.late->began_s == reg.began_s); /* to the last bit: it tells runs apart */
    wire_request_clear(&back);
    assert_null(back.end.late);
}

static void test_others(void **state)
{
    static const struct wire_request cases[] = {
        {.op = WIRE_OP_STATUS},
        {.op = WIRE_OP_COUNTERS},
        {.op = WIRE_OP_JOB_END, .id = {7, UINT32_MAX}},
        {.op = WIRE_OP_CLAIM, .id = {7, UINT32_MAX}},
        {.op = WIRE_OP_CLAIM, .id = {7, WIRE_STEP_BATCH}},
        {.op = WIRE_OP_EXPLAIN, .id = {7, UINT32_MAX}},
        {.op = WIRE_OP_EXPLAIN, .id = {7, 0}},
        {.op = WIRE_OP_EXPLAIN, .id = {7, WIRE_STEP_BATCH}},
        {.op = WIRE_OP_RELEASE, .release = {.id = {UINT32_MAX, UINT32_MAX}}},
        {.op = WIRE_OP_RELEASE, .release = {.id = {UINT32_MAX, UINT32_MAX}, .end = true}},
        {.op = WIRE_OP_RELEASE, .release = {.id = {7, UINT32_MAX}}},
        {.op = WIRE_OP_RELEASE, .release = {.id = {7, 0}}},
        {.op = WIRE_OP_CORES},
        {.op = WIRE_OP_PROPOSE,
         .propose = {.id = {7, 0}, .policy = "p", .task = UINT32_MAX, .khz = 1800000, .for_s = 9}},
        {.op = WIRE_OP_PROPOSE,
         .propose =
             {.id = {7, 1}, .policy = "p", .task = UINT32_MAX, .prefetch = WIRE_PREFETCH_ON}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_request back = round_trip(&cases[i]);

        assert_int_equal(back.op, cases[i].op);
        if (back.op != WIRE_OP_STATUS && back.op != WIRE_OP_COUNTERS && back.op != WIRE_OP_CORES)
            assert_memory_equal(&back.id, &cases[i].id, sizeof(back.id));
        if (back.op == WIRE_OP_RELEASE)
            assert_int_equal(back.release.end, cases[i].release.end);
        if (back.op == WIRE_OP_PROPOSE)
            assert_memory_equal(&back.propose, &cases[i].propose, sizeof(back.propose));
        wire_request_clear(&back);
    }
}

static void test_records(void **state)
{
    static const char *const names[] = {"alice", "a \"b\"\\", ""};
    static const struct wire_step_id jobs[] = {{7, UINT32_MAX}, {8, WIRE_STEP_BATCH}, {0, 0}};
    struct wire_request request = {.op = WIRE_OP_RECORDS,
                                   .records = {.since = 1,
                                               .until = 9000000000,
                                               .njobs = 3,
                                               .job = jobs,
                                               .users = {3, names},
                                               .nodes = {1, names},
                                               .next = true,
                                               .after = {.end = 5,
                                                         .start = 4,
                                                         .id = {UINT32_MAX, WIRE_STEP_BATCH},
                                                         .restart = 2,
                                                         .cluster = "c",
                                                         .node = ""}}},
                        back = round_trip(&request);

    (void)state;
    assert_int_equal(back.records.since, 1);
    assert_int_equal(back.records.until, 9000000000);
    assert_int_equal(back.records.njobs, 3);
    assert_memory_equal(back.records.job, jobs, sizeof(jobs));
    assert_int_equal(back.records.users.n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(back.records.users.word[i], names[i]);
    assert_int_equal(back.records.accounts.n, 0);
    assert_int_equal(back.records.nodes.n, 1);
    assert_true(back.records.next);
    assert_memory_equal(&back.records.after, &request.records.after, sizeof(back.records.after));
    wire_request_clear(&back);
    request.records = (struct wire_records){0};
    back = round_trip(&request);
    assert_int_equal(back.records.njobs + back.records.users.n + back.records.next, 0);
    wire_request_clear(&back);
}

static void test_register_too_long(void **state)
{
    size_t n = 6000;
    struct wire_task *task = calloc(n, sizeof(*task));
    struct wire_request request = {.op = WIRE_OP_REGISTER, .reg = full_register(task, n)};

    (void)state;
    for (size_t i = 0; i < n; i++)
        task[i] = (struct wire_task){(uint32_t)i, 1000000 + (pid_t)i};
    errno = 0;
    assert_null(wire_request_encode(&request));
    assert_int_equal(errno, EMSGSIZE);
    free(task);
}

/* ---- requests that are refused ---- */

static void assert_refused(const char *line, size_t length, const char *why)
{
    struct wire_request request = {.op = WIRE_OP_STATUS};
    struct berth_error err = {""};

    if (wire_request_decode(line, length, &request, &err) == 0)
        fail_msg("%.*s: was taken", (int)length, line);
    if (!strstr(err.text, why))
        fail_msg("%.*s: '%s', not '%s'", (int)length, line, err.text, why);
    assert_int_equal(wire_request_decode(line, length, &request, NULL), -1);
}

#define REGISTER                                                                                   \
    "\"version\":1,\"op\":\"register\",\"job\":1,\"step\":0,\"uid\":0,"                            \
    "\"options\":{\"mode\":\"auto\"},\"tasks\":[[0,5]]"

static void test_release_fields(void **state)
{
    static const struct {
        const char *rest, *why;
    } cases[] = {{"\"step\":0", "job: missing"},
                 {"\"job\":1,\"end\":true", "whole node only"},
                 {"\"job\":\"1\"", "job: int"},
                 {"\"job\":1,\"step\":-1", "step: -1: 0 or more"},
                 {"\"end\":1", "end: bool"}};
    char line[128];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(line, sizeof(line), "{\"version\":1,\"op\":\"release\",%s}", cases[i].rest);
        assert_refused(line, strlen(line), cases[i].why);
    }
}

/* What an older plugin says of account, QOS and cluster, out of the step's environment, is not
 * taken in. */
static void test_environment_is_nobody(void **state)
{
    static const char line[] =
        "{" REGISTER ",\"account\":\"rivals\",\"qos\":7,\"cluster\":\"x\\\"y\",\"restart\":77}";
    struct wire_request request;
    char *again;

    (void)state;
    assert_int_equal(wire_request_decode(line, strlen(line), &request, NULL), 0);
    again = wire_request_encode(&request);
    assert_non_null(again);
    assert_null(strstr(again, "rivals"));
    assert_null(strstr(again, "cluster"));
    assert_null(strstr(again, "77"));
    free(again);
    wire_request_clear(&request);
}

static const struct wire_identity identity = {.source = WIRE_SOURCE_SLURMCTLD,
                                              .job = 7,
                                              .uid = 1001,
                                              .start = 1700000000,
                                              .restart = 2,
                                              .nodes = 3,
                                              .array_job = 5,
                                              .array_task = 1,
                                              .cluster = "north",
                                              .account = "physics",
                                              .qos = "high",
                                              .partition = "long,all",
                                              .job_name = "fit"};

static void assert_same_identity(const struct wire_identity *a, const struct wire_identity *b)
{
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->job, b->job);
    assert_int_equal(a->uid, b->uid);
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->restart, b->restart);
    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->array_job, b->array_job);
    assert_int_equal(a->array_task, b->array_task);
    assert_string_equal(a->cluster, b->cluster);
    assert_string_equal(a->account, b->account);
    assert_string_equal(a->qos, b->qos);
    assert_string_equal(a->partition, b->partition);
    assert_string_equal(a->job_name, b->job_name);
}

static void test_job_end(void **state)
{
    struct wire_request request = {.op = WIRE_OP_JOB_END, .job_end = {{7, UINT32_MAX}, identity}};
    struct wire_request back = round_trip(&request);

    (void)state;
    assert_int_equal(back.job_end.id.job, 7);
    assert_same_identity(&back.job_end.said, &identity);
    request.job_end.said = (struct wire_identity){0};
    back = round_trip(&request);
    assert_int_equal(back.id.job, 7);
    assert_int_equal(back.job_end.said.source, WIRE_SOURCE_NONE);
}

/* The cores of the job are cleared, whatever is wrong with what is said of it; names that are none
 * are not known. */
static void test_job_end_that_is_wrong(void **state)
{
    static const char *const lines[] = {
        "{\"version\":1,\"op\":\"job_end\",\"job\":7,\"said\":7}",
        "{\"version\":1,\"op\":\"job_end\",\"job\":7,\"said\":{\"source\":\"god\"}}",
        ("{\"version\":1,\"op\":\"job_end\",\"job\":7,\"said\":{\"source\":\"slurmd\",\"job\":7,"
         "\"uid\":1,\"cluster\":\"x\\\"y\",\"account\":\"a b\"}}")};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct wire_request request;

        assert_int_equal(wire_request_decode(lines[i], strlen(lines[i]), &request, NULL), 0);
        assert_int_equal(request.id.job, 7);
        assert_string_equal(request.job_end.said.cluster, "");
        assert_string_equal(request.job_end.said.account, "");
    }
}

static void test_names_valid(void **state)
{
    static const char *const good[] = {"a", "a,b", "A-z_0.9+x"};
    static const char *const bad[] = {"", "x\"y", "a b", "a'b", "a;b", "\303\244", "a/b", "a\nb"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(wire_name_valid(good[i]));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(wire_name_valid(bad[i]));
}

static void test_minimal_register(void **state)
{
    static const char line[] = "{" REGISTER "}";
    struct wire_request request;

    (void)state;
    assert_int_equal(wire_request_decode(line, strlen(line), &request, NULL), 0);
    assert_int_equal(request.reg.options.mode, WIRE_MODE_AUTO);
    assert_string_equal(request.reg.exe, "");
    assert_int_equal(request.reg.nodes, 0);
    wire_request_clear(&request);
}

/* Every field of a registration: missing where it is required, of another type, out of range. A
 * later field of the same name wins in JSON, so one is wrong by being said again. */
static void test_register_fields(void **state)
{
    static const struct {
        const char *wrong, *why;
    } cases[] = {
        {"\"job\":null", "job: missing"},
        {"\"job\":\"1\"", "job: int expected"},
        {"\"job\":-1", "job: -1: 0 or more"},
        {"\"job\":4294967296", "job: 4294967296: 4294967295 or less"},
        {"\"job\":4294967295", "job: 4294967295 is no job"},
        {"\"step\":4294967295", "step: 4294967295 is no step that has tasks"},
        {"\"step\":4294967292", "step: 4294967292 is no step that has tasks"},
        {"\"step\":null", "step: missing"},
        {"\"step\":1.5", "step: int expected"},
        {"\"uid\":null", "uid: missing"},
        {"\"uid\":-1", "uid: -1: 0 or more"},
        {"\"gid\":{}", "gid: int"},
        {"\"cpus_per_task\":-4", "cpus_per_task: -4: 0 or more"},
        {"\"node\":7", "node: string"},
        {"\"node\":\"../../etc\"", "node: '../../etc'"},
        {"\"node\":\"a/b\"", "node: 'a/b'"},
        {"\"node\":\"..\"", "node: '..'"},
        {"\"node\":\"a\\u0000b\"", "node: 0 to 63 bytes expected, none of them NUL"},
        {"\"job_cores\":0", "job_cores: string"},
        {"\"step_cores\":0", "step_cores: string"},
        {"\"exe\":[]", "exe: string"},
        {"\"exe\":\"/bin/\\u0000sh\"", "exe: 0 to 4095 bytes"},
        {"\"hash\":\"0123456789abcdef0123456789abcdef0\"", "hash: 0 to 32 bytes"},
        {"\"shape\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"",
         "shape: 0 to 63 bytes"},
        {"\"shape\":1", "shape: string expected"},
        {"\"nodes\":-1", "nodes: -1: 0 or more"},
        {"\"nodes\":\"2\"", "nodes: int"},
        {"\"groups\":7", "groups: array"},
        {"\"groups\":[0,-1]", "groups[1]: -1: 0 or more expected"},
        {"\"groups\":[\"wheel\"]", "groups[0]: int expected, not string"},
        {"\"groups\":[4294967296]", "groups[0]: 4294967296: 4294967295 or less"},
        {"\"groups\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
         "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
         "groups: at most 64 expected, not 65"},
        {"\"bound_by_hand\":1", "bound_by_hand: boolean"},
        {"\"by_cpu\":1", "by_cpu: boolean"},
        {"\"user_omp_threads\":\"no\"", "user_omp_threads: boolean"},
        {"\"asked\":1", "asked: boolean"},
        {"\"pin\":\"glue\"", "pin: 'glue' is none of"},
        {"\"pin_by\":\"0123456789012345678901234567890123456789012345678\"",
         "pin_by: 0 to 47 bytes"},
        {"\"devices\":\"gpu 0\"", "devices: names such as gpu:0"},
        {"\"options\":null", "options: missing"},
        {"\"options\":[]", "options: object"},
        {"\"options\":{}", "options.mode: missing"},
        {"\"options\":{\"mode\":\"fast\"}", "options.mode: 'fast' is none of: off, auto, observe"},
        {"\"options\":{\"mode\":\"auto\",\"policy\":\"best\"}", "options.policy: 'best'"},
        {"\"options\":{\"mode\":\"auto\",\"mem\":\"far\"}", "options.mem: 'far'"},
        {"\"options\":{\"mode\":\"auto\",\"isolate\":0}", "isolate: boolean"},
        {"\"options\":{\"mode\":\"auto\",\"edp\":0}", "edp: boolean"},
        {"\"options\":{\"mode\":\"auto\",\"size\":0}", "size: boolean"},
        {"\"options\":{\"mode\":\"auto\",\"require\":0}", "require: boolean"},
        {"\"options\":{\"mode\":\"auto\",\"verbose\":0}", "verbose: boolean"},
        {"\"options\":{\"mode\":\"auto\",\"cores_min\":-1}", "cores_min: -1: 0 or more"},
        {"\"options\":{\"mode\":\"auto\",\"cores_max\":1.5}", "cores_max: int"},
        {"\"options\":{\"mode\":\"auto\",\"max_slowdown_pct\":\"5\"}", "max_slowdown_pct: number"},
        {"\"options\":{\"mode\":\"auto\",\"max_slowdown_pct\":1e999}", "max_slowdown_pct: not"},
        {"\"options\":{\"mode\":\"auto\",\"size_loss_pct\":51}", "size_loss_pct: 51"},
        {"\"options\":{\"mode\":\"auto\",\"tag\":\"a b\"}", "options.tag: letters"},
        {"\"options\":{\"mode\":\"auto\",\"tag\":\"a\\u0000\"}", "options.tag: 0 to 63 bytes"},
        {"\"tasks\":null", "tasks: missing"},
        {"\"tasks\":{}", "tasks: array"},
        {"\"tasks\":[]", "tasks: at least one"},
        {"\"tasks\":[[0,5],7]", "tasks[1]: [id, pid] expected"},
        {"\"tasks\":[[0]]", "tasks[0]: [id, pid] expected"},
        {"\"tasks\":[[0,5,6]]", "tasks[0]: [id, pid] expected"},
        {"\"tasks\":[[0,\"5\"]]", "tasks[0].pid: int expected, not string"},
        {"\"tasks\":[[0,0]]", "tasks[0].pid: 0: between 1 and 2147483647 expected"},
        {"\"tasks\":[[0,-1]]", "tasks[0].pid: -1: between 1 and 2147483647 expected"},
        {"\"tasks\":[[0,2147483648]]", "tasks[0].pid: 2147483648: between 1 and"},
        {"\"tasks\":[[-1,5]]", "tasks[0].id: -1: 0 or more expected"},
        {"\"tasks\":[[4294967296,5]]", "tasks[0].id: 4294967296: 4294967295 or less"},
        {"\"tasks\":[null]", "tasks[0]: missing"},
    };
    char line[1024];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(line, sizeof(line), "{" REGISTER ",%s}\n", cases[i].wrong);
        assert_refused(line, strlen(line), cases[i].why);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"", "not JSON"},
        {"\n", "not JSON"},
        {"hello", "not JSON"},
        {"[]", "an object expected"},
        {"1", "an object expected"},
        {"null", "null"},
        {"{}", "version: missing"},
        {"{\"version\":2,\"op\":\"status\"}", "version: 2 is not spoken"},
        {"{\"version\":0,\"op\":\"status\"}", "version: 0 is not spoken"},
        {"{\"version\":\"1\",\"op\":\"status\"}", "version: int expected"},
        {"{\"version\":1}", "op: missing"},
        {"{\"version\":1,\"op\":\"dance\"}", "op: 'dance' is none of: register, end"},
        {"{\"version\":1,\"op\":7}", "op: string"},
        {"{\"version\":1,\"op\":\"status\"} x", "text after the value"},
        {"{\"version\":1,\"op\":\"status\"}{}", "text after the value"},
        {"{\"version\":1,\"op\":\"status\"", "not JSON"},
        {"{\"version\":1,\"op\":\"explain\"}", "job: missing"},
        {"{\"version\":1,\"op\":\"explain\",\"job\":1,\"step\":-1}", "step: -1: 0 or more"},
        {"{\"version\":1,\"op\":\"job_end\"}", "job: missing"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1}", "step: missing"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"late\":7}", "late: object"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"late\":{\"job\":1}}",
         "late: step: missing"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"late\":{\"job\":1,\"step\":1,"
         "\"uid\":0,\"options\":{\"mode\":\"auto\"},\"tasks\":[[0,5]]}}",
         "late: another step's"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"ended_s\":-1}", "ended_s:"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"exit_status\":65536}",
         "exit_status:"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"exit_status\":-2}", "exit_status:"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"exit_status\":\"0\"}",
         "exit_status:"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"user_s\":\"1\"}", "user_s: number"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"system_s\":1e999}", "system_s: not"},
        {"{\"version\":1,\"op\":\"end\",\"job\":1,\"step\":0,\"maxrss_kib\":-1}", "maxrss_kib:"},
        {"{\"version\":1,\"op\":\"records\",\"jobs\":7}", "jobs: array"},
        {"{\"version\":1,\"op\":\"records\",\"jobs\":[[1,0],1]}", "jobs[1]: [job, step] expected"},
        {"{\"version\":1,\"op\":\"records\",\"users\":[\"a\",1]}", "users[1]: string expected"},
        {"{\"version\":1,\"op\":\"records\",\"nodes\":[\"a\\u0000b\"]}",
         "nodes[0]: string expected"},
        {"{\"version\":1,\"op\":\"records\",\"since\":-1}", "since: -1"},
        {"{\"version\":1,\"op\":\"records\",\"after\":{\"end\":1}}", "after.start: missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_refused(cases[i].line, strlen(cases[i].line), cases[i].why);
    assert_refused("{\"version\":1,\"op\":\"status\"}\0", 28, "not JSON");
}

static void test_records_too_many(void **state)
{
    char line[8 * WIRE_RECORDS_WORDS];
    size_t used = (size_t)sprintf(line, "{\"version\":1,\"op\":\"records\",\"users\":[\"a\"");

    (void)state;
    for (size_t i = 0; i < WIRE_RECORDS_WORDS; i++)
        used += (size_t)sprintf(line + used, ",\"a\"");
    sprintf(line + used, "]}");
    assert_refused(line, strlen(line), "users: at most 1024 expected, not 1025");
}

static void test_refused_long(void **state)
{
    char *line = malloc(2 * WIRE_MESSAGE_MAX);
    size_t depth = 30000;

    (void)state;
    memset(line, ' ', 2 * WIRE_MESSAGE_MAX);
    assert_refused(line, WIRE_MESSAGE_MAX + 1, "longer than 65536 bytes");
    memcpy(line, "{\"version\":1,\"op\":\"status\"}", 27);
    assert_int_equal(wire_request_decode(line, WIRE_MESSAGE_MAX,
                                         &(struct wire_request){.op = WIRE_OP_STATUS}, NULL),
                     0);
    memset(line, '[', depth);
    memset(line + depth, ']', depth);
    assert_refused(line, 2 * depth, "not JSON");
    free(line);
}

/* ---- answers ---- */

static struct wire_answer answer_round_trip(const struct wire_answer *answer)
{
    struct berth_error err = {""};
    struct wire_answer back;
    char *line = wire_answer_encode(answer);

    assert_non_null(line);
    assert_true(strlen(line) <= WIRE_MESSAGE_MAX);
    assert_int_equal(line[strlen(line) - 1], '\n');
    if (wire_answer_decode(line, strlen(line), &back, &err) < 0)
        fail_msg("%s: %s", line, err.text);
    free(line);
    return back;
}

static void test_answer(void **state)
{
    struct wire_task_place task[2] = {{.id = 0}, {.id = 7}};
    struct wire_answer answer = {.ok = true,
                                 .managed = true,
                                 .note = "because",
                                 .warning = "in vain",
                                 .mem = WIRE_MEM_INTERLEAVE,
                                 .nenv = 2,
                                 .env = {{"A", "1"}, {"B", ""}},
                                 .ntasks = 2,
                                 .task = task},
                       back;

    (void)state;
    cpus_add(&answer.mems, 0);
    cpus_add(&answer.mems, 3);
    cpus_add(&task[0].cpus, CPUS_MAX - 1);
    back = answer_round_trip(&answer);
    assert_true(back.ok);
    assert_true(back.managed);
    assert_string_equal(back.note, "because");
    assert_string_equal(back.warning, "in vain");
    assert_string_equal(back.error, "");
    assert_int_equal(back.mem, WIRE_MEM_INTERLEAVE);
    assert_true(cpus_equal(&back.mems, &answer.mems));
    assert_int_equal(back.nenv, 2);
    assert_memory_equal(back.env, answer.env, sizeof(back.env));
    assert_int_equal(back.ntasks, 2);
    assert_int_equal(back.task[1].id, 7);
    assert_true(cpus_equal(&back.task[0].cpus, &task[0].cpus));
    assert_true(cpus_empty(&back.task[1].cpus));
    wire_answer_clear(&back);
    assert_null(back.task);
    assert_int_equal(back.ntasks, 0);
}

static void test_answer_error(void **state)
{
    struct wire_answer answer = {.error = "no\nway"}, back = answer_round_trip(&answer);

    (void)state;
    assert_false(back.ok);
    assert_string_equal(back.error, "no\nway");
    wire_answer_clear(&back);
}

/* Places that do not fit are left out: berthd has set them already. */
static void test_answer_too_long(void **state)
{
    size_t n = 4000;
    struct wire_answer answer = {.ok = true, .managed = true, .note = "x", .ntasks = n}, back;

    (void)state;
    answer.task = calloc(n, sizeof(*answer.task));
    for (size_t i = 0; i < n; i++) {
        answer.task[i].id = (uint32_t)i;
        cpus_add(&answer.task[i].cpus, 1000 + i % 1000);
        cpus_add(&answer.task[i].cpus, CPUS_MAX - 1);
    }
    back = answer_round_trip(&answer);
    assert_true(back.managed);
    assert_int_equal(back.ntasks, 0);
    wire_answer_clear(&back);
    answer.ntasks = 100;
    back = answer_round_trip(&answer);
    assert_int_equal(back.ntasks, 100);
    wire_answer_clear(&back);
    free(answer.task);
}

static void test_answer_refused(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"", "not JSON"},
        {"{\"version\":1}", "ok: missing"},
        {"{\"version\":3,\"ok\":true}", "version: 3"},
        {"{\"version\":1,\"ok\":1}", "ok: boolean"},
        {"{\"version\":1,\"ok\":false,\"error\":7}", "error: string"},
        {"{\"version\":1,\"ok\":true,\"managed\":7}", "managed: boolean"},
        {"{\"version\":1,\"ok\":true,\"note\":[]}", "note: string"},
        {"{\"version\":1,\"ok\":true,\"mem\":\"x\"}", "mem: 'x'"},
        {"{\"version\":1,\"ok\":true,\"mems\":\"x\"}", "mems: 'x'"},
        {"{\"version\":1,\"ok\":true,\"mems\":\"9999\"}", "mems: '9999'"},
        {"{\"version\":1,\"ok\":true,\"env\":[]}", "env: object"},
        {"{\"version\":1,\"ok\":true,\"env\":{\"A\":1}}", "A: string"},
        {"{\"version\":1,\"ok\":true,\"env\":{\"A\":null}}", "A: missing"},
        {"{\"version\":1,\"ok\":true,\"env\":{\"A\":\"\\u0000\"}}", "A: 0 to 127 bytes"},
        {"{\"version\":1,\"ok\":true,\"tasks\":7}", "tasks: array"},
        {"{\"version\":1,\"ok\":true,\"tasks\":[[0,\"0\"],[1,1]]}",
         "tasks[1].cpus: string expected, not int"},
        {"{\"version\":1,\"ok\":true,\"tasks\":[[0,\"0-\"]]}", "tasks[0].cpus: '0-': a list"},
        {"{\"version\":1,\"ok\":true,\"tasks\":[[-1,\"0\"]]}",
         "tasks[0].id: -1: 0 or more expected"},
        {"{\"version\":1,\"ok\":true,\"tasks\":[[\"0\",\"0\"]]}",
         "tasks[0].id: int expected, not string"},
        {"{\"version\":1,\"ok\":true,\"tasks\":[[0,\"0\\u0000,9\"]]}",
         "tasks[0].cpus: '0': a list"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wire_answer answer;
        struct berth_error err = {""};

        if (wire_answer_decode(cases[i].line, strlen(cases[i].line), &answer, &err) == 0)
            fail_msg("%s: was taken", cases[i].line);
        if (!strstr(err.text, cases[i].why))
            fail_msg("%s: '%s', not '%s'", cases[i].line, err.text, cases[i].why);
        assert_null(answer.task);
        assert_int_equal(answer.ntasks, 0);
    }
}

/* 16 variables at most, and no name that does not fit. */
static void test_answer_env_limits(void **state)
{
    char line[2048], name[80];
    struct berth_error err = {""};
    struct wire_answer answer;

    (void)state;
    for (size_t n = WIRE_ENV_MAX; n <= WIRE_ENV_MAX + 1; n++) {
        size_t used = (size_t)sprintf(line, "{\"version\":1,\"ok\":true,\"env\":{");

        for (size_t i = 0; i < n; i++)
            used += (size_t)sprintf(line + used, "%s\"V%zu\":\"x\"", i ? "," : "", i);
        sprintf(line + used, "}}");
        assert_int_equal(wire_answer_decode(line, strlen(line), &answer, &err),
                         n > WIRE_ENV_MAX ? -1 : 0);
    }
    assert_non_null(strstr(err.text, "env: too many"));
    memset(name, 'N', 64);
    name[64] = '\0';
    sprintf(line, "{\"version\":1,\"ok\":true,\"env\":{\"%s\":\"x\"}}", name);
    assert_int_equal(wire_answer_decode(line, strlen(line), &answer, &err), -1);
    assert_non_null(strstr(err.text, "a name too long"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_register),
        cmocka_unit_test(test_register_default_options),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_records_too_many),
        cmocka_unit_test(test_register_too_long),
        cmocka_unit_test(test_release_fields),
        cmocka_unit_test(test_minimal_register),
        cmocka_unit_test(test_environment_is_nobody),
        cmocka_unit_test(test_job_end),
        cmocka_unit_test(test_job_end_that_is_wrong),
        cmocka_unit_test(test_names_valid),
        cmocka_unit_test(test_register_fields),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_long),
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_answer_error),
        cmocka_unit_test(test_answer_too_long),
        cmocka_unit_test(test_answer_refused),
        cmocka_unit_test(test_answer_env_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
