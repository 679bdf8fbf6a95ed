/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The built plugin under a fake Slurm and a fake berthd: whatever fails, the step starts, where
 * Slurm put it, and what was answered holds in the task itself. */
#include <limits.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/spank/fake_berthd.h"
#include "tests/spank/host.h"

#define FUSE_S 20     /* a test that hangs longer dies */
#define PATIENT "10s" /* deadline where berthd is expected to answer, on however busy a machine */
#define SHORT "50ms"  /* deadline where it is not */
#define WELL                                                                                       \
    "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"alone\",\"mem\":\"auto\",\"mems\":"    \
    "\"\",\"env\":{},\"tasks\":[]}\n"

struct bench {
    struct host host;
    struct fake_berthd fake;
    char socket[128], deadline[32];
    char answer[1024];
    struct cpus cpus; /* where this program, and so a task before berth, may run */
    size_t first, second;
};

static void bench_start(struct bench *bench, enum fake_way way, const char *answer,
                        const char *deadline)
{
    alarm(FUSE_S);
    fake_start(&bench->fake, way, answer);
    host_init(&bench->host);
    snprintf(bench->socket, sizeof(bench->socket), "socket=%s", bench->fake.socket);
    snprintf(bench->deadline, sizeof(bench->deadline), "deadline=%s", deadline);
    bench->host.argument[0] = bench->socket;
    bench->host.argument[1] = bench->deadline;
    bench->host.has_option = true;
    assert_int_equal(sched_getaffinity(0, sizeof(bench->cpus.word), (cpu_set_t *)bench->cpus.word),
                     0);
    bench->first = cpus_next(&bench->cpus, 0);
    bench->second = cpus_next(&bench->cpus, bench->first + 1);
}

static void bench_stop(struct bench *bench)
{
    fake_stop(&bench->fake);
    for (size_t i = 1; bench->host.env[i]; i++)
        if (strncmp(bench->host.env[i], "BERTH_", 6) == 0)
            free(bench->host.env[i]);
    alarm(0);
}

/* Every task came to its exec, on these CPUs, and no callback returned anything but 0. */
static void assert_ran_on(const struct host *host, const struct cpus *cpus)
{
    assert_int_equal(host->worst, 0);
    for (uint32_t i = 0; i < host->tasks; i++) {
        assert_true(host->report[i].ran);
        assert_int_equal(host->status[i], 0);
        assert_true(cpus_equal(&host->report[i].cpus, cpus));
    }
}

/* ---- berthd fails ---- */

static const enum fake_way bad_ways[] = {FAKE_ABSENT,  FAKE_DEAD,    FAKE_DEAF,    FAKE_HUNG,
                                         FAKE_CLOSES,  FAKE_SLAMS,   FAKE_GARBAGE, FAKE_TRUNCATED,
                                         FAKE_ENDLESS, FAKE_TRICKLE, FAKE_STRANGER};
#define BAD_WAYS (sizeof(bad_ways) / sizeof(bad_ways[0]))

/* Starts one with the i-th of them, and a short deadline. Returns false where this user cannot try
 * that. */
static bool bench_start_bad(struct bench *bench, size_t i)
{
    if (bad_ways[i] == FAKE_STRANGER && geteuid() != 0)
        return false;
    bench_start(bench, bad_ways[i], WELL, SHORT);
    return true;
}

static void test_bad_berthd(void **state)
{
    (void)state;
    for (size_t i = 0; i < BAD_WAYS; i++) {
        struct bench bench;

        if (!bench_start_bad(&bench, i))
            continue;
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        assert_string_equal(bench.host.log, ""); /* users who did not ask are not bothered */
        bench_stop(&bench);
    }
}

/* A launch that no berthd was told of, nor its end, leaves a note for the next one: its end, with
 * its registration. */
static void test_note(void **state)
{
    struct wire_request request;
    struct berth_error err;
    struct bench bench;
    char path[160], line[16384] = "";
    FILE *notes;

    (void)state;
    bench_start(&bench, FAKE_DEAD, NULL, SHORT);
    host_run_step(&bench.host);
    snprintf(path, sizeof(path), "%s/" WIRE_MISSED_FILE, bench.fake.dir);
    notes = fopen(path, "r");
    assert_non_null(notes);
    assert_non_null(fgets(line, sizeof(line), notes));
    if (wire_request_decode(line, strlen(line), &request, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(request.op, WIRE_OP_END);
    assert_int_equal(request.end.id.job, 4711);
    assert_non_null(request.end.late);
    assert_int_equal(request.end.late->ntasks, bench.host.tasks);
    wire_request_clear(&request);
    assert_null(fgets(line, sizeof(line), notes));
    fclose(notes);
    bench_stop(&bench);
}

static void test_bad_berthd_required(void **state)
{
    (void)state;
    for (size_t i = 0; i < BAD_WAYS; i++) {
        struct bench bench;

        if (!bench_start_bad(&bench, i))
            continue;
        bench.host.option = "require";
        host_run_step(&bench.host);
        assert_int_equal(bench.host.worst, 0);
        for (uint32_t task = 0; task < bench.host.tasks; task++) {
            assert_false(bench.host.report[task].ran);
            assert_true(WIFEXITED(bench.host.status[task]));
            assert_int_equal(WEXITSTATUS(bench.host.status[task]), 1);
        }
        assert_non_null(strstr(bench.host.log, "berth: step 4711.0 on "));
        assert_non_null(strstr(bench.host.log, "not started, as you required: "));
        bench_stop(&bench);
    }
}

/* A refusal is an answer, but not one that placed the step. */
static void test_refused(void **state)
{
    static const char no[] = "{\"version\":1,\"ok\":false,\"error\":\"full\"}\n";
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, no, PATIENT);
    bench.host.option = "verbose";
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    assert_non_null(strstr(bench.host.log, "left where Slurm put it: full"));
    bench.host.option = "require";
    host_run_step(&bench.host);
    assert_int_equal(bench.host.worst, 0);
    assert_false(bench.host.report[0].ran);
    bench_stop(&bench);
}

/* What was asked for in vain is told to whom asked for it, without verbose; not to all whom the
 * site has asked it for. */
static void test_warned(void **state)
{
    static const char vain[] = "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\","
                               "\"warning\":\"mem=bind has no effect: so\",\"tasks\":[]}\n";
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, vain, PATIENT);
    bench.host.has_option = false;
    bench.host.argument[2] = "default=mem=bind";
    host_run_step(&bench.host);
    assert_null(strstr(bench.host.log, "has no effect"));
    bench.host.has_option = true;
    bench.host.option = "mem=bind";
    host_run_step(&bench.host);
    assert_non_null(strstr(bench.host.log, "berth: step 4711.0 on "));
    assert_non_null(strstr(bench.host.log, ": mem=bind has no effect: so"));
    bench_stop(&bench);
}

/* The end that comes second says all that the registration said. */
static void assert_late(struct wire_request request[2])
{
    const struct wire_register *first = &request[0].reg, *again = request[1].end.late;

    assert_int_equal(request[0].op, WIRE_OP_REGISTER);
    assert_int_equal(request[1].op, WIRE_OP_END);
    assert_non_null(again);
    assert_true(first->began_s > 0);
    assert_true(again->began_s == first->began_s);
    assert_true(request[1].end.ended_s >= first->began_s);
    assert_string_equal(again->exe, first->exe);
    assert_int_equal(again->uid, getuid());
    assert_int_equal(again->ntasks, 2);
    assert_int_equal(again->task[1].pid, first->task[1].pid);
    wire_request_clear(&request[0]);
    wire_request_clear(&request[1]);
}

/* A step that is not heard at its start, or is refused, is still told over, lest a slow berthd
 * keeps it; and what it was, lest its record is missing. */
static void test_end_after_unheard(void **state)
{
    static const char no[] = "{\"version\":1,\"ok\":false,\"error\":\"full\"}\n";
    struct wire_request request[3];
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_HUNG, WELL, SHORT);
    host_run_step(&bench.host);
    assert_int_equal(fake_requests(&bench.fake, 2, request, 3), 2);
    assert_late(request);
    bench_stop(&bench);
    bench_start(&bench, FAKE_ANSWERS, no, PATIENT);
    host_run_step(&bench.host);
    assert_int_equal(fake_requests(&bench.fake, 2, request, 3), 2);
    assert_late(request);
    bench_stop(&bench);
}

/* ---- berthd answers CPUs ---- */

/* Run a step whose tasks are all given the CPUs by berthd. */
static void run_given(struct bench *bench, const char *cpus, const char *option)
{
    char list[256] = "";

    for (int i = 0; i < 2; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s[%d,\"%s\"]", i ? "," : "", i,
                 cpus);
    snprintf(bench->answer, sizeof(bench->answer),
             "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"beside a turtle\",\"mem\":"
             "\"auto\",\"mems\":\"\",\"env\":{},\"tasks\":[%s]}\n",
             list);
    bench_start(bench, FAKE_ANSWERS, bench->answer, PATIENT);
    bench->host.option = option;
    host_run_step(&bench->host);
}

static void test_placed(void **state)
{
    struct cpus want = {0};
    struct bench bench;
    char list[32], line[128];

    (void)state;
    bench_start(&bench, FAKE_ABSENT, NULL, SHORT);
    bench_stop(&bench);
    cpus_add(&want, bench.second < CPUS_MAX ? bench.second : bench.first);
    assert_int_equal(cpus_format(&want, list, sizeof(list)), 0);
    run_given(&bench, list, "verbose,require");
    assert_ran_on(&bench.host, &want);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof(line), ": task %d on CPU %s: beside a turtle", i, list);
        assert_non_null(strstr(bench.host.report[i].said, "berth: step 4711.0 on "));
        assert_non_null(strstr(bench.host.report[i].said, line));
    }
    bench_stop(&bench);
}

/* CPUs that the task may not use, or more of them than it has: it stays where Slurm put it. */
static void test_never_outside(void **state)
{
    const struct {
        bool from_first; /* begin the list with a CPU that the task has */
        const char *rest;
    } table[] = {{false, "4095"}, {true, ",4095"}, {false, "0-4095"}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct bench bench;
        char list[32] = "";

        bench_start(&bench, FAKE_ABSENT, NULL, SHORT);
        bench_stop(&bench);
        if (table[i].from_first)
            snprintf(list, sizeof(list), "%zu", bench.first);
        strcat(list, table[i].rest);
        run_given(&bench, list, NULL);
        assert_ran_on(&bench.host, &bench.cpus);
        bench_stop(&bench);
        run_given(&bench, list, "require");
        assert_int_equal(bench.host.worst, 0);
        assert_false(bench.host.report[0].ran);
        bench_stop(&bench);
    }
}

/* A task with one CPU is not given two, though both are there. */
static void test_never_more(void **state)
{
    struct cpus one = {0}, all;
    struct bench bench;
    char list[32];

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(all.word), (cpu_set_t *)all.word), 0);
    if (cpus_count(&all) < 2) {
        print_message("skipped: needs two CPUs\n");
        skip();
    }
    cpus_add(&one, cpus_next(&all, 0));
    snprintf(list, sizeof(list), "%zu,%zu", cpus_next(&all, 0),
             cpus_next(&all, cpus_next(&all, 0) + 1));
    assert_int_equal(sched_setaffinity(0, sizeof(one.word), (cpu_set_t *)one.word), 0);
    run_given(&bench, list, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(all.word), (cpu_set_t *)all.word), 0);
    assert_ran_on(&bench.host, &one);
    bench_stop(&bench);
}

/* Places of tasks that do not exist, and none for those that do. */
static void test_odd_tasks(void **state)
{
    static const char odd[] = "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\",\"mem\":"
                              "\"auto\",\"mems\":\"\",\"env\":{},\"tasks\":[[7,\"0\"],[4000000000,"
                              "\"0\"],[0,\"\"]]}\n";
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, odd, PATIENT);
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    bench_stop(&bench);
}

static void test_memory_and_environment(void **state)
{
    static const struct {
        const char *mem, *mems;
        int policy;
    } table[] = {{"auto", "0", MPOL_DEFAULT},          {"local", "0", MPOL_LOCAL},
                 {"interleave", "0", MPOL_INTERLEAVE}, {"bind", "0", MPOL_BIND},
                 {"bind", "", MPOL_DEFAULT},           {"bind", "900", MPOL_DEFAULT}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct bench bench;
        char answer[512];

        snprintf(
            answer, sizeof(answer),
            "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\",\"mem\":\"%s\",\"mems\":"
            "\"%s\",\"env\":{\"OMP_NUM_THREADS\":\"2\",\"BERTH_CPUS\":\"0\"},\"tasks\":[]}\n",
            table[i].mem, table[i].mems);
        bench_start(&bench, FAKE_ANSWERS, answer, PATIENT);
        bench.host.env[1] = (char *)"OMP_NUM_THREADS=7";
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        if (bench.host.report[0].mempolicy >= 0)
            assert_int_equal(bench.host.report[0].mempolicy, table[i].policy);
        assert_string_equal(bench.host.report[0].omp_threads, "7");
        if (strcmp(table[i].mems, "900") != 0)
            assert_string_equal(bench.host.report[0].berth_cpus, "0");
        bench_stop(&bench);
    }
}

/* A berthd that was taken over has nothing run in the tasks: what it may not answer is not set, is
 * told once, and keeps nothing else from being set. */
static void test_foreign_environment(void **state)
{
    static const char answer[] =
        "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\",\"mem\":\"auto\",\"mems\":"
        "\"\",\"env\":{\"LD_PRELOAD\":\"/tmp/x.so\",\"BERTH_CPUS\":\"0\",\"LD_AUDIT\":\"/tmp/"
        "y.so\","
        "\"OMP_NUM_THREADS\":\"2\"},\"tasks\":[]}\n";
    struct bench bench;
    const char *said;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, answer, PATIENT);
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    for (uint32_t task = 0; task < bench.host.tasks; task++) {
        assert_string_equal(bench.host.report[task].preload, "");
        assert_string_equal(bench.host.report[task].berth_cpus, "0");
        assert_string_equal(bench.host.report[task].omp_threads, "2");
        assert_string_equal(bench.host.report[task].said, "");
    }
    said = strstr(bench.host.log, "berthd answered LD_PRELOAD for the environment");
    assert_non_null(said);
    assert_null(strstr(said + 1, "berthd answered"));
    bench_stop(&bench);
}

/* The number of threads that berthd answers: set where the user has set none. */
static void test_omp_threads(void **state)
{
    static const struct {
        const char *user, *seen;
    } table[] = {{NULL, "2"}, {"OMP_NUM_THREADS=7", "7"}, {"OMP_NUM_THREADS=", ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        static const char answer[] =
            "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\",\"mem\":\"auto\",\"mems\":"
            "\"\",\"env\":{\"OMP_NUM_THREADS\":\"2\"},\"tasks\":[]}\n";
        struct wire_request request[3];
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, answer, PATIENT);
        bench.host.env[1] = (char *)table[i].user;
        bench.host.option = "size,cores=1-2";
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        assert_string_equal(bench.host.report[0].omp_threads, table[i].seen);
        assert_int_equal(fake_requests(&bench.fake, 2, request, 3), 2);
        assert_int_equal(request[0].reg.user_omp_threads, table[i].user != NULL);
        assert_true(request[0].reg.options.size);
        assert_int_equal(request[0].reg.options.cores_max, 2);
        wire_request_clear(&request[0]);
        bench_stop(&bench);
    }
}

/* Writes the path of the library beside the plugin. */
static void library_path(char path[PATH_MAX + 16])
{
    const char *plugin = getenv("BERTH_PLUGIN");
    char real[PATH_MAX];

    assert_non_null(realpath(plugin ? plugin : ".libs/spank_berth.so", real));
    snprintf(path, PATH_MAX + 16, "%.*s/libberth_rt.so", (int)(strrchr(real, '/') - real), real);
}

#define ASAN "verify_asan_link_order=0"

/* A task whose step has a page gets it with the library, behind its own; one that inherited both
 * from an outer step, and has no page, or where berthd is not there, is as if they had never been.
 */
static void test_runtime(void **state)
{
    static const struct {
        bool inherits; /* the page of an outer step */
        const char *user, *env;
        enum fake_way way;
        const char *page, *preload; /* %s: the library */
        const char *asan, *asan_then;
    } table[] = {
        {false, NULL, "\"BERTH_RT_PAGE\":\"/p\"", FAKE_ANSWERS, "/p", "%s", "", ASAN},
        {false, "/a.so /b.so", "\"BERTH_RT_PAGE\":\"/p\"", FAKE_ANSWERS, "/p", "/a.so:/b.so:%s",
         "verbosity=1", "verbosity=1:" ASAN},
        {true, "/a.so:/old/libberth_rt.so", "\"BERTH_RT_PAGE\":\"/p\"", FAKE_ANSWERS, "/p",
         "/a.so:%s", "verify_asan_link_order=1", "verify_asan_link_order=1"},
        {true, "/a.so:/old/libberth_rt.so", "", FAKE_ANSWERS, "", "/a.so", "", ""},
        {true, "/old/libberth_rt.so", "", FAKE_ABSENT, "", "", "a=1", "a=1"},
        {false, "/mine/libberth_rt.so", "", FAKE_ANSWERS, "", "/mine/libberth_rt.so", "", ""}};
    char library[PATH_MAX + 16];

    (void)state;
    library_path(library);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char answer[512], user[256], asan[64], want[PATH_MAX + 256];
        struct bench bench;
        int n = 1;

        snprintf(
            answer, sizeof(answer),
            "{\"version\":1,\"ok\":true,\"managed\":true,\"note\":\"\",\"mem\":\"auto\",\"mems\":"
            "\"\",\"env\":{%s},\"tasks\":[]}\n",
            table[i].env);
        bench_start(&bench, table[i].way, answer, table[i].way == FAKE_ANSWERS ? PATIENT : SHORT);
        if (table[i].inherits)
            bench.host.env[n++] = strdup("BERTH_RT_PAGE=/outer");
        snprintf(user, sizeof(user), "LD_PRELOAD=%s", table[i].user ? table[i].user : "");
        snprintf(asan, sizeof(asan), "ASAN_OPTIONS=%s", table[i].asan);
        if (table[i].asan[0])
            bench.host.env[n++] = asan;
        if (table[i].user)
            bench.host.env[n] = user;
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        snprintf(want, sizeof(want), table[i].preload, library);
        for (uint32_t task = 0; task < bench.host.tasks; task++) {
            assert_string_equal(bench.host.report[task].page, table[i].page);
            assert_string_equal(bench.host.report[task].preload, want);
            assert_string_equal(bench.host.report[task].asan, table[i].asan_then);
        }
        bench_stop(&bench);
    }
}

/* ---- what berthd is told ---- */

/* The step's environment says more of its job than berthd may believe. Of which array it calls
 * itself is shown to its user, and counts for nothing. */
static void assert_says_nothing_of_the_job(const struct wire_request *request)
{
    static const char *const words[] = {"physics", "high", "long", "\"fit", "north"};
    char *line = wire_request_encode(request);

    assert_non_null(line);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(line, words[i]))
            fail_msg("berthd was told %s: %s", words[i], line);
    free(line);
}

static void test_requests(void **state)
{
    struct wire_request request[3];
    const struct wire_register *reg = &request[0].reg;
    char *exe = realpath("/bin/cat", NULL), hash[WIRE_HASH_MAX];
    struct bench bench;

    (void)state;
    setenv("SLURMD_NODENAME", "n7", 1);
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    bench.host.option = "observe,tag=x";
    bench.host.argv[0] = (char *)"cat";
    bench.host.argv[1] = (char *)"-n12";
    bench.host.nodes = 3;
    bench.host.env[1] = (char *)"SLURM_CPU_BIND_TYPE=map_cpu:";
    bench.host.env[2] = (char *)"SLURM_ARRAY_JOB_ID=4700";
    bench.host.env[3] = (char *)"SLURM_ARRAY_TASK_ID=11";
    bench.host.env[4] = (char *)"SLURM_JOB_ACCOUNT=physics";
    bench.host.env[5] = (char *)"SLURM_JOB_QOS=high";
    bench.host.env[6] = (char *)"SLURM_JOB_PARTITION=long";
    bench.host.env[7] = (char *)"SLURM_JOB_NAME=fit";
    bench.host.env[8] = (char *)"SLURM_CLUSTER_NAME=north";
    bench.host.env[9] = (char *)"SLURM_JOB_NUM_NODES=99";
    bench.host.env[10] = (char *)"SLURM_RESTART_COUNT=2";
    bench.host.env[11] = (char *)"OMP_PLACES=sockets";
    bench.host.env[12] = (char *)"SLURM_STEP_GPUS=0,2";
    for (int i = 0; i <= WIRE_GROUPS_MAX; i++)
        bench.host.groups[bench.host.ngroups++] = (gid_t)(100 + i);
    host_run_step(&bench.host);
    unsetenv("SLURMD_NODENAME");
    assert_int_equal(fake_requests(&bench.fake, 2, request, 3), 2);

    assert_int_equal(request[0].op, WIRE_OP_REGISTER);
    assert_int_equal(reg->id.job, 4711);
    assert_int_equal(reg->id.step, 0);
    assert_int_equal(reg->uid, getuid());
    assert_int_equal(reg->gid, getgid());
    assert_int_equal(reg->cpus_per_task, 1);
    assert_string_equal(reg->node, "n7");
    assert_string_equal(reg->job_cores, "0-1");
    assert_string_equal(reg->exe, exe);
    assert_int_equal(wire_program_hash(exe, hash), 0);
    assert_string_equal(reg->hash, hash);
    assert_string_equal(reg->shape, "-n#");
    assert_int_equal(reg->nodes, 3);
    assert_int_equal(reg->array_job, 4700);
    assert_int_equal(reg->array_task, 11);
    assert_says_nothing_of_the_job(&request[0]);
    assert_int_equal(reg->ngroups, WIRE_GROUPS_MAX);
    assert_int_equal(reg->group[WIRE_GROUPS_MAX - 1], 100 + WIRE_GROUPS_MAX - 1);
    assert_true(reg->bound_by_hand);
    assert_false(reg->user_omp_threads);
    assert_int_equal(reg->pin, WIRE_PIN_ENVIRONMENT);
    assert_string_equal(reg->devices, "gpu:0,gpu:2");
    assert_int_equal(reg->options.mode, WIRE_MODE_OBSERVE);
    assert_string_equal(reg->options.tag, "x");
    assert_int_equal(reg->ntasks, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(reg->task[i].id, i);
        assert_int_equal(reg->task[i].pid, bench.host.pid[i]);
    }
    assert_int_equal(request[1].op, WIRE_OP_END);
    assert_int_equal(request[1].end.id.job, 4711);
    assert_int_equal(request[1].end.exit_status, 0);
    assert_true(request[1].end.user_s >= 0);
    assert_true(request[1].end.maxrss_kib > 0);
    assert_true(request[1].end.ended_s >= reg->began_s && reg->began_s > 0);
    assert_null(request[1].end.late); /* berthd knows it */
    assert_says_nothing_of_the_job(&request[1]);
    wire_request_clear(&request[0]);
    free(exe);
    bench_stop(&bench);
}

static void set_binding(const char *all, const char *verbose, const char *type, const char *list)
{
    setenv("SLURM_CPU_BIND", all, 1);
    setenv("SLURM_CPU_BIND_VERBOSE", verbose, 1);
    setenv("SLURM_CPU_BIND_TYPE", type, 1);
    setenv("SLURM_CPU_BIND_LIST", list, 1);
}

/* Runs a step whose srun was called in a task of another: what the outer one left is in srun's
 * environment, what srun makes of it and of its user's words in the step's. Says whether berthd was
 * told that the user bound it by hand, and to what. */
static bool nested_by_hand(const char *type, const char *list, char cpus[64])
{
    static char type_is[64], list_is[64], left_is[128];
    struct wire_request request[2];
    struct bench bench;
    bool by_hand;

    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    set_binding("quiet,mask_cpu:0x1,0x2", "quiet", "mask_cpu:", "0x1,0x2");
    bench.host.context = S_CTX_LOCAL;
    assert_int_equal(host_call(&bench.host, "slurm_spank_init", -1), 0);
    snprintf(left_is, sizeof(left_is), "SLURM_BERTH_BIND_LEFT=%s", getenv("SLURM_BERTH_BIND_LEFT"));
    snprintf(type_is, sizeof(type_is), "SLURM_CPU_BIND_TYPE=%s", type);
    snprintf(list_is, sizeof(list_is), "SLURM_CPU_BIND_LIST=%s", list);
    bench.host.context = S_CTX_REMOTE;
    bench.host.env[1] = type_is;
    bench.host.env[2] = list_is;
    bench.host.env[3] = left_is;
    host_run_step(&bench.host);
    assert_int_equal(fake_requests(&bench.fake, 2, request, 2), 2);
    by_hand = request[0].reg.bound_by_hand;
    snprintf(cpus, 64, "%s", request[0].reg.bound_cpus);
    for (size_t i = 0; bench.host.env[i]; i++) /* a note that no task needs */
        assert_null(strstr(bench.host.env[i], "BIND_LEFT"));
    wire_request_clear(&request[0]);
    bench_stop(&bench);
    return by_hand;
}

static void test_nested_srun(void **state)
{
    char cpus[64];

    (void)state;
    assert_false(nested_by_hand("mask_cpu:", "0x1,0x2", cpus));
    assert_false(nested_by_hand("mask_cpu:", "1,2", cpus));
    assert_true(nested_by_hand("mask_cpu:", "0xff", cpus)); /* given to the inner srun */
    assert_string_equal(cpus, "0-7");
    assert_true(nested_by_hand("map_cpu:", "0", cpus));
    assert_string_equal(cpus, "");
}

static void kill_last(const struct host *host)
{
    kill(host->pid[host->tasks - 1], SIGKILL);
}

/* The end is told once all tasks are over, however often Slurm says so of one. */
static void test_worst_status(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        struct wire_request request[3];
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.tasks = 3;
        bench.host.forked = kill_last;
        bench.host.twice = twice;
        host_run_step(&bench.host);
        assert_int_equal(fake_requests(&bench.fake, 2, request, 3), 2);
        assert_int_equal(request[1].end.exit_status, SIGKILL);
        wire_request_clear(&request[0]);
        bench_stop(&bench);
    }
}

/* Older versions of Slurm call some callbacks twice. */
static void test_twice(void **state)
{
    struct wire_request request[4];
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    host_call(&bench.host, "slurm_spank_init", -1);
    bench.host.twice = true;
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    assert_int_equal(fake_requests(&bench.fake, 2, request, 4), 2);
    assert_int_equal(request[0].op, WIRE_OP_REGISTER);
    assert_int_equal(request[1].op, WIRE_OP_END);
    wire_request_clear(&request[0]);
    bench_stop(&bench);
}

/* Which mode counts: the user's word, else the site's; and who says off is only heard of in a job
 * of the pool. */
static void test_whose_word(void **state)
{
    static const struct {
        const char *site, *user;
        bool has_option, in_pool;
        size_t requests;
        enum wire_mode mode;
    } table[] = {
        {NULL, NULL, false, false, 0, WIRE_MODE_OFF},
        {NULL, NULL, true, false, 2, WIRE_MODE_AUTO},
        {NULL, "(null)", true, false, 2, WIRE_MODE_AUTO},
        {NULL, "nonsense", true, false, 0, WIRE_MODE_OFF},
        {"default=observe", NULL, false, false, 2, WIRE_MODE_OBSERVE},
        {"default=observe", "off", true, false, 0, WIRE_MODE_OFF},
        {"default=off", "auto", true, false, 2, WIRE_MODE_AUTO},
        {"default=nonsense", NULL, false, false, 0, WIRE_MODE_OFF},
        {NULL, NULL, false, true, 2, WIRE_MODE_OFF},
        {"default=auto", "off", true, true, 2, WIRE_MODE_OFF},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_request request[3];
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.argument[2] = table[i].site;
        bench.host.option = table[i].user;
        bench.host.has_option = table[i].has_option;
        if (table[i].in_pool)
            fake_mark_job(&bench.fake, 4711);
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        assert_int_equal(fake_requests(&bench.fake, table[i].requests, request, 3),
                         table[i].requests);
        if (table[i].requests) {
            assert_int_equal(request[0].reg.options.mode, table[i].mode);
            wire_request_clear(&request[0]);
        }
        bench_stop(&bench);
    }
}

/* While steps may stand on cores of nobody, a step that is not registered asks for its own before
 * its tasks run; once, and it runs whatever comes of that. */
static void test_claim(void **state)
{
    static const struct {
        const char *user;
        bool marked;
        size_t requests;
        enum wire_op op;
    } table[] = {{NULL, false, 0, WIRE_OP_CLAIM},
                 {NULL, true, 1, WIRE_OP_CLAIM},
                 {"off", true, 1, WIRE_OP_CLAIM},
                 {"auto", true, 2, WIRE_OP_REGISTER}};

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct wire_request request[3];
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.option = table[i].user;
        bench.host.has_option = table[i].user != NULL;
        if (table[i].marked)
            fake_mark(&bench.fake, WIRE_IDLE_MARK);
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        assert_int_equal(fake_requests(&bench.fake, table[i].requests, request, 3),
                         table[i].requests);
        if (table[i].requests) {
            assert_int_equal(request[0].op, table[i].op);
            assert_int_equal(request[0].id.job, 4711);
            wire_request_clear(&request[0]);
        }
        bench_stop(&bench);
    }
}

static void test_claim_bad_berthd(void **state)
{
    (void)state;
    for (size_t i = 0; i < BAD_WAYS; i++) {
        struct bench bench;

        if (!bench_start_bad(&bench, i))
            continue;
        bench.host.has_option = false; /* else it registers */
        fake_mark(&bench.fake, WIRE_IDLE_MARK);
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        bench_stop(&bench);
    }
}

static void test_extern_step(void **state)
{
    struct wire_request request[1];
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    bench.host.step = WIRE_STEP_EXTERN;
    fake_mark_job(&bench.fake, 4711);
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    assert_int_equal(fake_requests(&bench.fake, 0, request, 1), 0);
    bench_stop(&bench);
}

static void test_job_epilog(void **state)
{
    struct wire_request request[2];

    (void)state;
    for (int in_pool = 0; in_pool < 2; in_pool++) {
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.context = S_CTX_JOB_SCRIPT;
        if (in_pool)
            fake_mark_job(&bench.fake, 4711);
        assert_int_equal(host_call(&bench.host, "slurm_spank_job_epilog", -1), 0);
        assert_int_equal(fake_requests(&bench.fake, (size_t)in_pool, request, 2), in_pool);
        if (in_pool) {
            assert_int_equal(request[0].op, WIRE_OP_JOB_END);
            assert_int_equal(request[0].id.job, 4711);
        }
        bench_stop(&bench);
    }
}

static void test_job_epilog_bad_berthd(void **state)
{
    (void)state;
    for (size_t i = 0; i < BAD_WAYS; i++) {
        struct bench bench;

        if (!bench_start_bad(&bench, i))
            continue;
        bench.host.context = S_CTX_JOB_SCRIPT;
        fake_mark_job(&bench.fake, 4711);
        assert_int_equal(host_call(&bench.host, "slurm_spank_job_epilog", -1), 0);
        assert_non_null(strstr(bench.host.log, "job 4711"));
        bench_stop(&bench);
    }
}

/* ---- Slurm fails ---- */

/* Every item in turn is refused wherever it is asked for. */
static void test_items_fail(void **state)
{
    (void)state;
    for (int item = S_JOB_UID; item <= S_JOB_ARRAY_TASK_ID; item++) {
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.fail_item = item;
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        bench_stop(&bench);
    }
}

/* Every single call of Slurm's in turn fails, once. */
static void test_calls_fail(void **state)
{
    struct bench bench;
    int calls;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    host_run_step(&bench.host);
    calls = bench.host.calls;
    bench_stop(&bench);
    assert_true(calls > 10);
    for (int call = 0; call < calls; call++) {
        struct wire_request request[3];

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.fail_call = call;
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        /* Whether it was registered or not: never with a task whose pid is not known. */
        if (fake_requests(&bench.fake, 0, request, 3) > 0)
            for (uint32_t i = 0; i < 2; i++)
                assert_int_equal(request[0].reg.task[i].pid, bench.host.pid[i]);
        wire_request_clear(&request[0]);
        bench_stop(&bench);
    }
}

/* A step that cannot be identified is not one that the packer placed. */
static void test_required_unidentified(void **state)
{
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    bench.host.fail_item = S_JOB_ID;
    bench.host.option = "require";
    host_run_step(&bench.host);
    assert_int_equal(bench.host.worst, 0);
    assert_false(bench.host.report[0].ran);
    bench_stop(&bench);
}

/* What a step's command line runs, and what berthd is told of it. */
struct told {
    const char *argv[8];
    uint32_t step;
    const char *exe; /* its end */
    const char *shape;
    bool known, by_cpu; /* has it a hash? */
};

static void assert_told(const struct told *told)
{
    struct wire_request request[2];
    const struct wire_register *reg = &request[0].reg;
    struct bench bench;

    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    for (size_t i = 0; i < 8; i++)
        bench.host.argv[i] = (char *)told->argv[i];
    bench.host.step = told->step;
    host_run_step(&bench.host);
    assert_int_equal(fake_requests(&bench.fake, 2, request, 2), 2);
    if (strlen(reg->exe) < strlen(told->exe) ||
        strcmp(reg->exe + strlen(reg->exe) - strlen(told->exe), told->exe) != 0)
        fail_msg("%s %s: %s", told->argv[0], told->argv[1], reg->exe);
    assert_string_equal(reg->shape, told->shape);
    assert_int_equal(reg->hash[0] != '\0', told->known);
    assert_int_equal(reg->by_cpu, told->by_cpu);
    wire_request_clear(&request[0]);
    bench_stop(&bench);
}

/* Behind wrappers and interpreters the plugin finds the program; a batch script is Slurm's copy. */
static void test_program_within(void **state)
{
    char script[] = "test_plugin.script.XXXXXX", *path;
    int fd = mkstemp(script);
    const struct told cases[] = {
        {{"env", "A=b", "nice", "-n", "3", "cat", "-n12"}, 0, "/cat", "-n#", true, false},
        {{"perl", script, "7"}, 0, script, "#", true, false},
        {{"perl", "no-such-script"}, 0, " no-such-script", "()", false, false},
        {{"bash", "-c", "true"}, 0, " -c", "()", true, true},
        {{"env", "-S", "cat"}, 0, "/env", "-S ~54ee", false, true},
        {{"/spool/job00038/slurm_script", "1"},
         WIRE_STEP_BATCH,
         "/spool/job00038/slurm_script",
         "",
         false,
         true},
    };

    (void)state;
    assert_true(fd >= 0 && write(fd, "1;\n", 3) == 3);
    close(fd);
    path = realpath(script, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_told(&cases[i]);
    unlink(script);
    free(path);
}

/* Programs that are not to be found are told as unknown. */
static void test_unknown_program(void **state)
{
    static const char *const command[] = {NULL, "no-such-program", "/no/such", "bin", "", "/etc"};

    (void)state;
    for (size_t i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
        struct wire_request request[2];
        struct bench bench;

        bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
        bench.host.argv[0] = (char *)command[i];
        host_run_step(&bench.host);
        assert_ran_on(&bench.host, &bench.cpus);
        assert_int_equal(fake_requests(&bench.fake, 2, request, 2), 2);
        assert_string_equal(request[0].reg.hash, "");
        wire_request_clear(&request[0]);
        bench_stop(&bench);
    }
}

/* ---- other contexts ---- */

static void test_contexts(void **state)
{
    static const char *const callback[] = {
        "slurm_spank_init",          "slurm_spank_job_prolog",
        "slurm_spank_init_post_opt", "slurm_spank_local_user_init",
        "slurm_spank_user_init",     "slurm_spank_task_init_privileged",
        "slurm_spank_task_init",     "slurm_spank_task_post_fork",
        "slurm_spank_task_exit",     "slurm_spank_job_epilog",
        "slurm_spank_slurmd_exit",   "slurm_spank_exit"};

    (void)state;
    for (int context = S_CTX_ERROR; context <= S_CTX_JOB_SCRIPT; context++)
        for (size_t i = 0; i < sizeof(callback) / sizeof(callback[0]); i++)
            for (int task = -1; task < 2; task++) {
                struct wire_request request[1];
                struct bench bench;

                bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
                bench.host.context = (enum spank_context)context;
                assert_int_equal(host_call(&bench.host, callback[i], task), 0);
                assert_int_equal(fake_requests(&bench.fake, 0, request, 1), 0);
                bench_stop(&bench);
            }
}

/* In srun and sbatch a wrong LIST stops the submission, in slurmstepd it never does. */
static void test_option(void **state)
{
    static const struct {
        const char *list, *says;
        int rc;
    } table[] = {{NULL, NULL, 0},
                 {"observe,size", NULL, 0},
                 {"nonsense", "'nonsense'", -1},
                 {"policy=x", "'policy=x'", -1},
                 {"help", NULL, -1}};
    static const enum spank_context contexts[] = {S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE};

    (void)state;
    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
            int remote = contexts[c] == S_CTX_REMOTE;
            struct host host;

            host_init(&host);
            host.context = contexts[c];
            assert_int_equal(host_call(&host, "slurm_spank_init", -1), 0);
            assert_int_equal(host_option(&host, table[i].list, remote), remote ? 0 : table[i].rc);
            if (table[i].says)
                assert_non_null(strstr(host.log, table[i].says));
            else
                assert_string_equal(host.log, "");
        }
}

/* An administrator hears of a wrong argument, and the rest of them counts. */
static void test_wrong_argument(void **state)
{
    struct wire_request request[2];
    struct bench bench;

    (void)state;
    bench_start(&bench, FAKE_ANSWERS, WELL, PATIENT);
    bench.host.argument[2] = "sokcet=/x";
    host_run_step(&bench.host);
    assert_ran_on(&bench.host, &bench.cpus);
    assert_non_null(strstr(bench.host.log, "'sokcet=/x'"));
    assert_int_equal(fake_requests(&bench.fake, 2, request, 2), 2);
    wire_request_clear(&request[0]);
    bench_stop(&bench);
}

/* --load: whether it loads, and no more. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_note),
        cmocka_unit_test(test_bad_berthd),
        cmocka_unit_test(test_bad_berthd_required),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_warned),
        cmocka_unit_test(test_end_after_unheard),
        cmocka_unit_test(test_placed),
        cmocka_unit_test(test_never_outside),
        cmocka_unit_test(test_never_more),
        cmocka_unit_test(test_odd_tasks),
        cmocka_unit_test(test_memory_and_environment),
        cmocka_unit_test(test_foreign_environment),
        cmocka_unit_test(test_omp_threads),
        cmocka_unit_test(test_runtime),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_nested_srun),
        cmocka_unit_test(test_worst_status),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_whose_word),
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_claim_bad_berthd),
        cmocka_unit_test(test_extern_step),
        cmocka_unit_test(test_job_epilog),
        cmocka_unit_test(test_job_epilog_bad_berthd),
        cmocka_unit_test(test_items_fail),
        cmocka_unit_test(test_calls_fail),
        cmocka_unit_test(test_required_unidentified),
        cmocka_unit_test(test_program_within),
        cmocka_unit_test(test_unknown_program),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_option),
        cmocka_unit_test(test_wrong_argument),
    };

    host_load();
    if (argc > 1 && strcmp(argv[1], "--load") == 0)
        return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
