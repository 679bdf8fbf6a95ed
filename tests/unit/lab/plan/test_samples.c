/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_samples - what applications a file of samples makes, and how they join those that
 * are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/base/json.h"
#include "lab/plan/plan.h"

static size_t shells; /* that were left out, of the last file */
static char path[] = "/tmp/berth-samples-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* The workload with those samples. The caller releases it. */
static struct json_object *with(const char *workload, const char *samples)
{
    struct json_object *object = json_parse(workload, strlen(workload), NULL);
    struct berth_error err;
    FILE *file = fopen(path, "w");

    assert_non_null(object);
    fputs(samples, file);
    fclose(file);
    if (ctl_plan_add_samples(object, path, &shells, &err) < 0)
        fail_msg("%s", err.text);
    return object;
}

static void assert_apps(const char *workload, const char *samples, const char *wanted)
{
    struct json_object *object = with(workload, samples);

    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), wanted);
    json_object_put(object);
}

static double field(struct json_object *object, const char *name, const char *key)
{
    struct json_object *apps = json_object_object_get(object, "apps");

    for (size_t i = 0; i < json_object_array_length(apps); i++) {
        struct json_object *app = json_object_array_get_idx(apps, i);

        if (strcmp(json_object_get_string(json_object_object_get(app, "name")), name) == 0)
            return json_object_get_double(json_object_object_get(app, key));
    }
    fail_msg("no app %s", name);
    return 0;
}

/* The fixture's figures, from its formula. */
static void test_fixture(void **state)
{
    static const struct {
        const char *name;
        double cores, ipc, apki, mpki, gbps;
    } wanted[] = {
        {"devil", 1, 0.4, 40, 20, 1.536},
        {"turtle", 1, 2, 0.1, 0.01, 3.84e-3},
        /* 9 s of a turtle and 10 s of a devil, between the first and the last sample */
        {"phases", 2, 132e9 / 114e9, 970.8e6 / 132e6, 481.08e6 / 132e6, 481.08e6 * 64 / 19e9}};
    const char *srcdir = getenv("srcdir");
    struct json_object *object = json_object_new_object();
    struct berth_error err;
    char file[512];

    (void)state;
    snprintf(file, sizeof(file), "%s/tests/fixtures/samples/three.jsonl", srcdir ? srcdir : ".");
    assert_int_equal(ctl_plan_add_samples(object, file, &shells, &err), 0);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const char *name = wanted[i].name;

        assert_true(field(object, name, "cores") == wanted[i].cores);
        assert_float_equal(field(object, name, "ipc"), wanted[i].ipc, 1e-12);
        assert_float_equal(field(object, name, "llc_apki"), wanted[i].apki, 1e-12);
        assert_float_equal(field(object, name, "llc_mpki"), wanted[i].mpki, 1e-12);
        assert_float_equal(field(object, name, "mem_gbps"), wanted[i].gbps, 1e-12);
    }
    json_object_put(object);
}

/* What was not counted is left out. */
static void test_partial(void **state)
{
    (void)state;
    assert_apps("{}", "step,at,switches\na,1,5\n", "{\"apps\":[{\"name\":\"a\"}]}");
    assert_apps("{}", "step,at,instructions,cycles\na,1,10,20\na,2,10,20\n",
                "{\"apps\":[{\"name\":\"a\"}]}"); /* nothing grew */
    assert_apps("{}", "step,at,instructions,cycles\na,2,10,20\n",
                "{\"apps\":[{\"name\":\"a\",\"ipc\":0.5}]}"); /* since its registration */
    /* each figure between the samples that know what it needs */
    assert_apps("{}",
                "step,at,instructions,cycles,cpu_ns\n"
                "a,1,,,0\na,2,100,100,1500000000\na,3,200,300,\na,4,,,\n",
                "{\"apps\":[{\"name\":\"a\",\"cores\":2,\"ipc\":0.5}]}");
}

/* Batch scripts that only wait for srun are no applications; one that works is, and one that the
 * workload names. */
static void test_batch_scripts(void **state)
{
    (void)state;
    assert_apps("{}",
                "step,at,cpu_ns\n"
                "slurm_script,0,0\nslurm_script,10,20000000\n"
                "12.batch#2,0,0\n12.batch#2,10,0\n7.interactive,0,0\n7.interactive,10,1000\n"
                "solver,0,0\nsolver,10,10000000000\n",
                "{\"apps\":[{\"name\":\"solver\",\"cores\":1}]}");
    assert_int_equal(shells, 3);
    assert_apps("{}", "step,at,cpu_ns\nslurm_script,0,0\nslurm_script,10,20000000000\n",
                "{\"apps\":[{\"name\":\"slurm_script\",\"cores\":2}]}");
    assert_apps("{\"apps\":[{\"name\":\"12.batch\",\"ipc\":1}]}",
                "step,at,cpu_ns\n12.batch,0,0\n12.batch,10,0\n",
                "{\"apps\":[{\"name\":\"12.batch\",\"ipc\":1,\"cores\":1}]}");
    assert_apps("{}", "step,at,cpu_ns\nidle,0,0\nidle,10,0\n",
                "{\"apps\":[{\"name\":\"idle\",\"cores\":1}]}");
    assert_int_equal(shells, 0);
}

static void test_traffic(void **state)
{
    (void)state;
    assert_apps("{}", "step,at,llc_misses\na,0,0\na,2,1e9\n",
                "{\"apps\":[{\"name\":\"a\",\"mem_gbps\":32.0}]}");
    assert_apps(
        "{}", "step,at,llc_misses,reads_local\na,0,0,0\na,2,1e9,1\n",
        "{\"apps\":[{\"name\":\"a\",\"mem_gbps\":32.0}]}"); /* of remote ones nothing known */
    assert_apps("{}", "step,at,llc_misses,reads_local,reads_remote\na,0,0,0,0\na,2,1e9,3e9,1e9\n",
                "{\"apps\":[{\"name\":\"a\",\"mem_gbps\":128.0}]}");
    assert_apps("{}", "step,at,reads_local,reads_remote,bytes\na,0,0,0,0\na,2,3e9,1e9,1e9\n",
                "{\"apps\":[{\"name\":\"a\",\"mem_gbps\":0.5}]}");
}

static void test_cores(void **state)
{
    static const struct {
        const char *cpu_ns;
        int cores;
    } cases[] = {{"0", 1},     {"1e8", 1},    {"1e9", 1},   {"1.05e9", 1},
                 {"1.2e9", 2}, {"2.09e9", 2}, {"2.5e9", 3}, {"64.01e9", 64}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char samples[128];
        struct json_object *object;

        snprintf(samples, sizeof(samples), "step,at,cpu_ns\na,0,0\na,1,%s\n", cases[i].cpu_ns);
        object = with("{}", samples);
        assert_true(field(object, "a", "cores") == cases[i].cores);
        json_object_put(object);
    }
}

/* Its own fields win; every app of that name is completed; the others follow. */
static void test_merge(void **state)
{
    static const char samples[] = "step,at,instructions,cycles,cpu_ns\n"
                                  "a,1,10,20,2e9\nb,1,30,20,1e9\n";

    (void)state;
    assert_apps("{\"apps\":[{\"name\":\"a\",\"ipc\":7},{\"name\":\"c\"},"
                "{\"name\":\"a\",\"cores\":1,\"llc_mpki\":3,\"ipc\":null}],\"machine\":{}}",
                samples,
                "{\"apps\":[{\"name\":\"a\",\"ipc\":7,\"cores\":2},{\"name\":\"c\"},"
                "{\"name\":\"a\",\"cores\":1,\"llc_mpki\":3,\"ipc\":0.5},"
                "{\"name\":\"b\",\"cores\":1,\"ipc\":1.5}],\"machine\":{}}");
    /* what is no list, or no app, is left to who reads it */
    assert_apps("{\"apps\":7}", samples, "{\"apps\":7}");
    assert_apps("{\"apps\":[7,{\"name\":1}]}", "step,at\nb,1\n",
                "{\"apps\":[7,{\"name\":1},{\"name\":\"b\"}]}");
}

static void test_refused(void **state)
{
    struct json_object *object = json_object_new_object();
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(ctl_plan_add_samples(object, "/nowhere/x", &shells, &err), -1);
    assert_string_equal(err.text, "/nowhere/x: No such file or directory");
    assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), "{}");
    json_object_put(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixture),       cmocka_unit_test(test_partial),
        cmocka_unit_test(test_batch_scripts), cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_cores),         cmocka_unit_test(test_merge),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
