/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_machine_profile - the two machines of Wang 2015 as shipped, what is refused and by which
 * name, the way through a file and back, and NuMem's machine. */
#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/machine/profile.h"

static struct machine_profile *shipped(const char *name)
{
    const char *srcdir = getenv("srcdir");
    struct machine_profile *profile;
    struct berth_error err = {""};
    char path[4096];

    snprintf(path, sizeof(path), "%s/etc/machines/%s", srcdir ? srcdir : ".", name);
    profile = machine_profile_read(path, &err);
    if (!profile)
        fail_msg("%s", err.text);
    return profile;
}

static double uni(const struct machine_profile *profile, size_t from, size_t to)
{
    return profile->uni[from * profile->nodes + to].value;
}

static double bi(const struct machine_profile *profile, size_t from, size_t to)
{
    return profile->bi[from * profile->nodes + to].value;
}

/* Table 5.1a, and every pair one hop as in Figure 3.2: enough for NuMem. */
static void test_intel(void **state)
{
    struct machine_profile *profile = shipped("intel-x7550-4x8.json");
    struct numem_machine *machine;
    struct numem_fault fault;
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(profile->nodes, 4);
    machine = machine_profile_numem(profile, &err);
    if (!machine)
        fail_msg("%s", err.text);
    assert_int_equal(machine->nodes, 4);
    assert_int_equal(numem_check_machine(machine, &fault), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(profile->node[i].cores, 8);
        assert_int_equal(machine->cores[i], 8);
        assert_true(machine->alpha[i] == 20.26 && machine->beta[i] == 0.24);
        assert_true(isnan(profile->node[i].local[8].value));
        for (size_t j = 0; j < 4; j++) {
            const struct numem_route *route = &machine->route[i * 4 + j];

            assert_int_equal(route->hops, i != j);
            if (i == j)
                continue;
            assert_true(machine->uni_max[i * 4 + j] == 10.8 && machine->bi_max[i * 4 + j] == 17.5);
            assert_true(route->hop[0][0] == i && route->hop[0][1] == j);
        }
    }
    machine_profile_numem_free(machine);
    machine_profile_free(profile);
}

/* Table 5.1b for the pairs that the text names; for NuMem that is not enough, and it says so. */
static void test_amd(void **state)
{
    struct machine_profile *profile = shipped("amd-6174-8x6.json");
    struct berth_error err = {""};
    struct dramon_hardware hw;

    (void)state;
    assert_int_equal(machine_dram_hardware(&profile->dram, 1, 1, &hw, &err), 0); /* Table 4.1 */
    assert_true(hw.channels == 2 && hw.trcd_ns == 13.5 && hw.auto_close == 4);
    assert_int_equal(profile->nodes, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(profile->node[i].cores, 6);
        assert_true(profile->node[i].alpha.value == 8.1 && profile->node[i].beta.value == 0.4);
        assert_true(uni(profile, i, i ^ 1) == 4.9 && bi(profile, i, i ^ 1) == 8.5);
        for (size_t j = 0; j < 8; j++) {
            double same = uni(profile, j, i);

            assert_true(uni(profile, i, j) == same || (isnan(uni(profile, i, j)) && isnan(same)));
        }
    }
    assert_true(uni(profile, 1, 2) == 2.1 && bi(profile, 1, 2) == 4.1);
    assert_true(uni(profile, 5, 6) == 1.8 && bi(profile, 7, 0) == 3.6);
    assert_true(isnan(uni(profile, 0, 2)));
    assert_null(machine_profile_numem(profile, &err));
    assert_string_equal(err.text, "uni_gbps[0][2]: not known");
    machine_profile_free(profile);
}

/* ---- one node ---- */

static struct machine_profile *parse(const char *text, struct berth_error *err)
{
    struct json_object *object = json_tokener_parse(text);
    struct machine_profile *profile;

    assert_non_null(object);
    profile = machine_profile_parse(object, err);
    json_object_put(object);
    return profile;
}

/* The only node shares its memory with no other one: its alpha is what it can deliver. */
static void test_one_node(void **state)
{
    struct berth_error err = {""};
    struct machine_profile *profile = parse(
        "{\"version\":1,\"nodes\":[{\"node\":3,\"cores\":2,\"local_gbps\":[0,9.5,7]}]}", &err);
    struct numem_machine *machine = machine_profile_numem(profile, &err);

    (void)state;
    assert_int_equal(profile->node[0].os_index, 3);
    assert_true(machine->alpha[0] == 9.5 && machine->beta[0] == 0);
    assert_int_equal(machine->route[0].hops, 0);
    assert_true(machine_profile_local(profile, 0, 2) == 7);
    assert_true(machine_profile_local(profile, 0, 99) == 7);
    profile->node[0].local[1].value = NAN; /* not measured: halfway between none and two */
    assert_true(machine_profile_local(profile, 0, 1) == 3.5);
    profile->node[0].local[2].value = NAN;
    assert_true(isnan(machine_profile_local(profile, 0, 1)));
    assert_true(machine_profile_local(profile, 0, 0) == 0);
    machine_profile_numem_free(machine);
    machine_profile_free(profile);
    profile = parse("{\"version\":1,\"nodes\":[{\"cores\":1}]}", &err);
    assert_null(machine_profile_numem(profile, &err));
    assert_string_equal(err.text, "nodes[0].alpha_gbps: not known");
    machine_profile_free(profile);
}

/* Figures of the memory: there and back, and null where they are not known. */
static void test_dram(void **state)
{
    struct berth_error err = {""};
    struct machine_profile *profile =
        parse("{\"version\":1,\"nodes\":[{\"cores\":1}],\"dram\":{\"type\":\"DDR3\",\"source\":"
              "\"given\",\"channels\":2,\"tCK_ns\":1.5,\"auto_close\":null}}",
              &err);
    struct json_object *object = machine_profile_json(profile), *dram;

    (void)state;
    assert_true(profile->dram.channels == 2 && profile->dram.tck_ns == 1.5);
    assert_true(isnan(profile->dram.auto_close) && isnan(profile->dram.banks));
    assert_true(json_object_object_get_ex(object, "dram", &dram));
    assert_string_equal(
        json_object_to_json_string_ext(dram, JSON_C_TO_STRING_PLAIN),
        "{\"type\":\"DDR3\",\"source\":\"given\",\"channels\":2,\"ranks\":null,"
        "\"banks\":null,\"tCK_ns\":1.5,\"tRCD_ns\":null,\"tCAS_ns\":null,\"tRP_ns\":"
        "null,\"tBurst_ns\":null,\"tWR_ns\":null,\"tRTRS_ns\":null,\"tWTR_ns\":null,"
        "\"request_bytes\":null,\"auto_close\":null}");
    json_object_put(object);
    machine_profile_free(profile);
    profile = parse("{\"version\":1,\"nodes\":[{\"cores\":1}]}", &err);
    assert_true(isnan(profile->dram.channels) && !profile->dram.type[0]);
    machine_profile_free(profile);
}

/* The clock of a package comes back as it was; what is not known of it is not there. */
static void test_clock(void **state)
{
    static const char text[] = "{\"one_ghz\":3.7,\"half_ghz\":3.5,\"all_ghz\":3.1,\"cores\":8}";
    struct berth_error err = {""};
    char whole[256];
    struct machine_profile *profile;
    struct json_object *object, *clock;

    (void)state;
    snprintf(whole, sizeof(whole), "{\"version\":1,\"nodes\":[{\"cores\":1}],\"clock\":%s}", text);
    profile = parse(whole, &err);
    assert_non_null(profile);
    assert_true(clock_at(&profile->clock, 8) == 3.1);
    object = machine_profile_json(profile);
    assert_true(json_object_object_get_ex(object, "clock", &clock));
    assert_string_equal(json_object_to_json_string_ext(clock, JSON_C_TO_STRING_PLAIN), text);
    json_object_put(object);
    machine_profile_free(profile);
    profile = parse("{\"version\":1,\"nodes\":[{\"cores\":1}]}", &err);
    assert_false(clock_is_known(&profile->clock));
    object = machine_profile_json(profile);
    assert_false(json_object_object_get_ex(object, "clock", &clock));
    json_object_put(object);
    machine_profile_free(profile);
}

/* The coefficients of ADAPT: there and back, or the field that is wrong. */
static void test_adapt(void **state)
{
    static const char text[] = "{\"paap\":[1.0,2.0,3.0,4.0,5.0,-6.0],\"pacc\":[7.0,8.0,9.5],"
                               "\"source\":\"runs.jsonl\"}";
    struct berth_error err = {""};
    struct machine_profile *profile;
    struct json_object *object, *adapt;
    char whole[256];

    (void)state;
    snprintf(whole, sizeof(whole), "{\"version\":1,\"nodes\":[{\"cores\":1}],\"adapt\":%s}", text);
    profile = parse(whole, &err);
    assert_true(profile->adapt.known && profile->adapt.is.paap[5] == -6 &&
                profile->adapt.is.pacc[2] == 9.5);
    object = machine_profile_json(profile);
    assert_true(json_object_object_get_ex(object, "adapt", &adapt));
    assert_string_equal(json_object_to_json_string_ext(adapt, JSON_C_TO_STRING_PLAIN), text);
    json_object_put(object);
    machine_profile_free(profile);
    assert_null(parse("{\"version\":1,\"nodes\":[{\"cores\":1}],\"adapt\":{\"paap\":[1]}}", &err));
    assert_non_null(strstr(err.text, "adapt.paap"));
    profile = parse("{\"version\":1,\"nodes\":[{\"cores\":1}],\"adapt\":null}", &err);
    assert_false(profile->adapt.known);
    machine_profile_free(profile);
}

/* ---- what is refused ---- */

#define TWO "\"version\":1,\"nodes\":[{\"cores\":1},{\"node\":1,\"cores\":2}]"

static void test_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } row[] = {
        {"{}", "version: missing"},
        {"{\"version\":2,\"nodes\":[]}", "version: 2: this berth reads version 1"},
        {"{\"version\":1}", "nodes: missing"},
        {"{\"version\":1,\"nodes\":[]}", "nodes: 1 to 256 expected, not 0"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1}],\"dram\":{\"channels\":1.5}}",
         "dram.channels: 1.5: a whole number"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1}],\"dram\":{\"tCK_ns\":-1}}",
         "dram.tCK_ns: -1: between 0 and 1000000000 expected"},
        {"{\"version\":1,\"nodes\":[7]}", "nodes[0]: object expected, not int"},
        {"{\"version\":1,\"nodes\":[{}]}", "nodes[0].cores: missing"},
        {"{\"version\":1,\"nodes\":[{\"cores\":0}]}", "nodes[0].cores: 0: between 1"},
        {"{\"version\":1,\"nodes\":[{\"cores\":5000}]}", "nodes[0].cores: 5000: between 1"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1},{\"cores\":1,\"node\":0}]}",
         "nodes[1].node: 0 is there twice"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"cpus\":\"x\"}]}", "nodes[0].cpus: 'x': a list"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"beta\":1.5}]}", "nodes[0].beta: 1.5: between"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"alpha_gbps\":\"8\"}]}",
         "nodes[0].alpha_gbps: number expected, not string"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"local_gbps\":[0]}]}",
         "nodes[0].local_gbps: 2 elements expected, not 1"},
        {"{\"version\":1,\"nodes\":[{\"cores\":1,\"local_gbps\":[0,NaN]}]}",
         "nodes[0].local_gbps[1]: not a finite number"},
        {"{" TWO ",\"host\":7}", "host: string expected"},
        {"{" TWO ",\"runs\":-1}", "runs: -1: 0 or more expected"},
        {"{" TWO ",\"uni_gbps\":7}", "uni_gbps: array expected, not int"},
        {"{" TWO ",\"uni_gbps\":[[null,1]]}", "uni_gbps: 2 elements expected, not 1"},
        {"{" TWO ",\"uni_gbps\":[[null,1],[1]]}", "uni_gbps[1]: 2 elements expected, not 1"},
        {"{" TWO ",\"bi_gbps\":[[null,-1],[1,null]]}", "bi_gbps[0][1]: -1: between"},
        {"{" TWO ",\"latency_ns\":[[1,2e12],[1,1]]}", "latency_ns[0][1]: 2e+12: between"},
        {"{" TWO ",\"core_latency_spread\":[[1,true],[1,1]]}",
         "core_latency_spread[0][1]: number expected, not boolean"},
        {"{" TWO ",\"route\":[[null,null]]}", "route: 2 elements expected, not 1"},
        {"{" TWO ",\"route\":[[null],[null,null]]}", "route[0]: 2 elements expected, not 1"},
        {"{" TWO ",\"route\":[[null,7],[null,null]]}", "route[0][1]: array expected, not int"},
        {"{" TWO ",\"route\":[[null,[[0,2]]],[null,null]]}", "route[0][1][0]: a link [0,x]"},
        {"{" TWO ",\"route\":[[null,[[1,0]]],[null,null]]}", "route[0][1][0]: a link [0,x]"},
        {"{" TWO ",\"route\":[[null,[[0,1],[1,0]]],[null,null]]}", "route[0][1]: ends at node 0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct berth_error err = {""};
        const char *why = row[i].why;

        assert_null(parse(row[i].text, &err));
        if (strncmp(err.text, why, strlen(why)) != 0)
            fail_msg("%s: %s, not %s", row[i].text, err.text, why);
    }
}

/* ---- files ---- */

static int make_folder(void **state)
{
    static char folder[64];

    strcpy(folder, "/tmp/berth-machine-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
    return rmdir(*state); /* fails where a temporary file is left */
}

static struct machine_profile *example(void)
{
    static const size_t cores[] = {1, 2, 1}, way[] = {0, 1, 2};
    struct machine_profile *profile = machine_profile_new(3, cores);

    assert_non_null(profile);
    strcpy(profile->host, "n1");
    strcpy(profile->source, "measured");
    profile->runs = 5;
    profile->node[1].os_index = 7;
    cpus_parse(&profile->node[1].cpus, "4-5");
    profile->node[1].local[2] = (struct machine_figure){12.345678, 0.01};
    profile->node[1].alpha = (struct machine_figure){20.26, 0.02};
    profile->node[1].cache = (struct machine_figure){36.5, 0.03};
    profile->node[1].beta = (struct machine_figure){0.24, NAN};
    profile->node[1].correlation = 0.96;
    profile->uni[1] = (struct machine_figure){10.8, 0.03};
    profile->core_latency[8] = (struct machine_figure){61, 0.5};
    assert_int_equal(machine_profile_set_route(profile, way, 2), 0);
    return profile;
}

static void test_file(void **state)
{
    struct machine_profile *profile = example(), *back;
    const struct machine_route *route;
    struct berth_error err = {""};
    char path[128];
    struct stat st;

    snprintf(path, sizeof(path), "%s/m.json", (char *)*state);
    assert_int_equal(machine_profile_write(profile, path, false, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    back = machine_profile_read(path, &err);
    if (!back)
        fail_msg("%s", err.text);
    assert_string_equal(back->host, "n1");
    assert_int_equal(back->runs, 5);
    assert_int_equal(back->nodes, 3);
    assert_int_equal(back->node[1].os_index, 7);
    assert_true(cpus_equal(&back->node[1].cpus, &profile->node[1].cpus));
    assert_true(fabs(back->node[1].local[2].value - 12.345678) < 1e-4);
    assert_true(back->node[1].local[2].spread == 0.01 && back->node[1].local[0].value == 0);
    assert_true(isnan(back->node[1].local[1].value) && isnan(back->node[1].beta.spread));
    assert_true(back->node[1].cache.value == 36.5 && back->node[1].cache.spread == 0.03);
    assert_true(isnan(back->node[0].cache.value));
    assert_true(back->node[1].alpha.value == 20.26 && back->node[1].correlation == 0.96);
    assert_true(back->uni[1].value == 10.8 && back->uni[1].spread == 0.03);
    assert_true(isnan(back->uni[3].value) && back->core_latency[8].value == 61);
    route = machine_profile_route(back, 0, 2);
    assert_int_equal(route->hops, 2);
    assert_int_equal(route->node[1], 1);
    assert_int_equal(machine_profile_route(back, 2, 0)->hops, 0);
    machine_profile_free(back);
    machine_profile_free(profile);
    unlink(path);
}

static void test_overwrite(void **state)
{
    struct machine_profile *profile = example();
    struct berth_error err = {""};
    char path[128], sub[160];

    snprintf(path, sizeof(path), "%s/m.json", (char *)*state);
    assert_int_equal(machine_profile_write(profile, path, false, &err), 0);
    assert_int_equal(machine_profile_write(profile, path, false, &err), -1);
    assert_non_null(strstr(err.text, "m.json: there is one already; --force replaces it"));
    assert_int_equal(machine_profile_write(profile, path, true, &err), 0);
    snprintf(sub, sizeof(sub), "%s/x", path); /* a file is no folder */
    assert_int_equal(machine_profile_write(profile, sub, true, &err), -1);
    assert_non_null(strstr(err.text, "m.json/x: Not a directory"));
    unlink(path);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(machine_profile_write(profile, path, true, &err), -1);
    assert_non_null(strstr(err.text, "not a regular file"));
    rmdir(path);
    machine_profile_free(profile);
}

static void test_no_file(void **state)
{
    struct machine_profile *profile = example();
    struct berth_error err = {""};

    (void)state;
    assert_int_equal(machine_profile_write(profile, "/proc/m.json", false, &err), -1);
    assert_non_null(strstr(err.text, "/proc/m.json: "));
    assert_null(machine_profile_read("/dev/zero", &err));
    assert_string_equal(err.text, "/dev/zero: not a regular file");
    assert_null(machine_profile_read("/nowhere/m.json", &err));
    assert_string_equal(err.text, "/nowhere/m.json: No such file or directory");
    machine_profile_free(profile);
}

static void test_new(void **state)
{
    const size_t none[] = {0}, many[] = {MACHINE_CORES_MAX + 1};

    (void)state;
    assert_null(machine_profile_new(0, none));
    assert_null(machine_profile_new(1, none));
    assert_null(machine_profile_new(1, many));
    machine_profile_free(NULL);
    machine_profile_numem_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intel),
        cmocka_unit_test(test_amd),
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_dram),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_adapt),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_overwrite, make_folder, remove_folder),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
