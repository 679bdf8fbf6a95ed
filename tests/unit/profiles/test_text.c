/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_text - the profile store as text: what is exported and imported is the same again,
 * and what is wrong is named and changes nothing. */
#include "tests/unit/common/profile_store.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole store; the caller frees it. */
static char *export(struct profiles *store, const char *key)
{
    struct berth_error err = {""};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    if (profiles_export(store, key, out, &err) < 0)
        fail_msg("%s", err.text);
    fclose(out);
    return text;
}

static struct profiles_imported import(struct profiles *store, const char *text, bool replace)
{
    struct profiles_imported imported;
    struct berth_error err = {""};

    if (profiles_import(store, 0, text, strlen(text), replace, &imported, &err) < 0)
        fail_msg("%s", err.text);
    return imported;
}

/* ---- there and back ---- */

/* A number of any size that no row refuses, or an odd one. */
static double any_number(void)
{
    static const double odd[] = {0, DBL_MIN, 5e-324, 1000, 1.0 / 3, 1 + DBL_EPSILON, 999.999999999};
    size_t n = sizeof(odd) / sizeof(odd[0]), i = (size_t)lrand48() % (n + 5);

    return i < n ? odd[i] : drand48() * pow(10, (double)(lrand48() % 24) - 20);
}

static double any_error(void)
{
    return lrand48() % 3 ? any_number() : NAN;
}

/* Any text; what a user may have in his paths, too. */
static void any_text(char *text, size_t size)
{
    static const char letters[] = "ab/.\" '\\#\n\t\1\177\303\244\377{}[],:";
    size_t length = (size_t)lrand48() % size;

    for (size_t i = 0; i < length; i++)
        text[i] = letters[(size_t)lrand48() % (sizeof(letters) - 1)];
    text[length] = '\0';
}

static void any_key(char *key)
{
    char text[64];

    any_text(text, sizeof(text));
    if (lrand48() % 2)
        profile_key_tag(key, lrand48() % 2 ? "same" : "other");
    else
        profile_key_exe(key, text, "0123456789abcdef0123456789abcdef");
}

static uint32_t any_uid(void)
{
    return lrand48() % 2 ? 0 : (uint32_t)lrand48() % 3;
}

static void put_any_profile(struct profiles *store)
{
    struct profile profile = {.uid = any_uid(),
                              .llc_bytes = (uint64_t)mrand48() << 20,
                              .llc_ways = (unsigned)lrand48() % (PROFILE_WAYS_MAX + 1),
                              .line_bytes = 64,
                              .misses = any_number(),
                              .misses_error = any_error(),
                              .accesses = any_number(),
                              .accesses_error = any_error(),
                              .instructions = (uint64_t)mrand48(),
                              .references = (uint64_t)lrand48(),
                              .truncated = lrand48() % 2,
                              .measured_at = lrand48() % 1000,
                              .instructions_per_s = any_number()};

    any_key(profile.key);
    any_text(profile.shape, sizeof(profile.shape));
    any_text(profile.geometry, sizeof(profile.geometry));
    any_text(profile.machine, sizeof(profile.machine));
    any_text(profile.command, sizeof(profile.command));
    any_text(profile.source, sizeof(profile.source));
    for (unsigned i = 0; i < profile.llc_ways; i++)
        profile.hits[i] = any_number();
    profile_store_put(store, &profile);
}

static void put_any_sample(struct profiles *store)
{
    struct profile_sample sample;

    profile_sample_init(&sample);
    any_key(sample.key);
    any_text(sample.shape, sizeof(sample.shape));
    any_text(sample.geometry, 3);
    any_text(sample.machine, sizeof(sample.machine));
    any_text(sample.command, sizeof(sample.command));
    any_text(sample.source, 3);
    sample.uid = any_uid();
    sample.co_run = lrand48() % 2;
    sample.llc_bytes = (uint64_t)lrand48();
    sample.line_bytes = (unsigned)lrand48();
    sample.windows = any_number() + 1e-9;
    sample.seconds = any_number();
    sample.instructions = any_number();
    sample.measured_at = lrand48() % 1000;
    for (int i = 0; i < PROFILE_RATES; i++)
        if (lrand48() % 2)
            sample.rate[i] = (struct profile_estimate){any_number(), any_error()};
    profile_store_put_sample(store, &sample);
}

static void put_any_pair(struct profiles *store)
{
    static char key[PROFILE_BESIDE_MAX][PROFILE_KEY_MAX];
    char self[PROFILE_KEY_MAX], machine[PROFILE_MACHINE_MAX];
    struct profile_pair pair = {.uid = any_uid(),
                                .key = self,
                                .machine = machine,
                                .cores = 1 + (uint32_t)lrand48() % 9,
                                .n = 1 + (size_t)lrand48() % PROFILE_BESIDE_MAX,
                                .slowdown = drand48() - 0.5,
                                .error = drand48() + 1e-6,
                                .windows = 1 + any_number(),
                                .seconds = any_number(),
                                .runs = 1 + (uint64_t)lrand48(),
                                .measured_at = lrand48() % 1000};
    struct berth_error err;

    any_key(self);
    any_text(machine, sizeof(machine));
    for (size_t i = 0; i < pair.n; i++) {
        profile_key_exe(key[i], "/a/program", "");
        snprintf(key[i] + strlen(key[i]), 32, "%zu,%ld*", i, lrand48() % 3);
        pair.beside[i] = (struct profile_beside){key[i], 1 + (uint32_t)lrand48() % 200, any_uid()};
    }
    if (profiles_put_pairs(store, &pair, 1, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_any_demand(struct profiles *store)
{
    double curve[] = {0, any_number(), 1.0 / 3}, matrix[] = {0, 1.5, 1e-9, 0};
    struct profile_demand demand = {
        .cores = 2, .curve = curve, .nodes = 2, .read_solo = matrix, .write_solo = matrix};
    char key[PROFILE_KEY_MAX];
    struct berth_error err;

    any_key(key);
    if (profiles_put_demand(store, any_uid(), key, &demand, &err) < 0)
        fail_msg("%s", err.text);
}

/* How fast a run was comes back as it was written, and a wrong figure is named. */
static void test_speed(void **state)
{
    double matrix[] = {6, 0, 0, 6};
    struct profile_demand in = {.nodes = 2,
                                .read_solo = matrix,
                                .write_solo = matrix,
                                .matrix = PROFILE_MATRIX_PAGES,
                                .machine = "m",
                                .measured_at = 1700000000,
                                .speed = {.cores = 8,
                                          .shape = "-n #",
                                          .instructions_per_s = 4e9 / 3,
                                          .error = 1.0 / 3,
                                          .windows = 4.5,
                                          .misses = 1e-9,
                                          .bytes = NAN}};
    struct json_object *object = profile_demand_json(&in), *speed;
    struct berth_error err = {""};
    struct profile_demand *out = profile_demand_parse(object, &err);

    (void)state;
    assert_non_null(out);
    assert_int_equal(out->speed.cores, 8);
    assert_string_equal(out->speed.shape, "-n #");
    assert_true(out->speed.instructions_per_s == in.speed.instructions_per_s);
    assert_true(out->speed.error == in.speed.error && out->speed.windows == 4.5);
    assert_true(out->speed.misses == 1e-9 && isnan(out->speed.bytes));
    profile_demand_free(out);
    assert_true(json_object_object_get_ex(object, "speed", &speed));
    json_object_object_add(speed, "cores", json_object_new_int(0));
    assert_null(profile_demand_parse(object, &err));
    assert_non_null(strstr(err.text, "speed.cores"));
    json_object_object_del(object, "speed");
    out = profile_demand_parse(object, &err);
    assert_non_null(out);
    assert_int_equal(out->speed.cores, 0);
    profile_demand_free(out);
    json_object_put(object);
}

/* Import of an export, into an empty store: the same export, byte for byte. */
static void test_export_import(void **state)
{
    struct profile_store *files = *state;

    srand48(1);
    for (int round = 0; round < 20; round++) {
        struct profiles *store = profile_store_open(files, true);
        struct profiles_imported imported;
        struct berth_error err;
        char *before, *after;
        size_t lines = 0;

        assert_true(profiles_forget(store, NULL, NULL, false, &err) >= 0);
        for (int i = lrand48() % 8; i > 0; i--) {
            put_any_profile(store);
            put_any_sample(store);
            put_any_pair(store);
            put_any_demand(store);
        }
        before = export(store, NULL);
        profiles_close(store);
        assert_int_equal(remove(files->path), 0);
        store = profile_store_open(files, true);
        imported = import(store, before, false);
        for (const char *c = before; *c; c++)
            lines += *c == '\n';
        assert_int_equal(imported.taken, lines);
        assert_int_equal(imported.kept, 0);
        after = export(store, NULL);
        assert_string_equal(after, before);
        imported = import(store, before, false); /* nothing in it is newer */
        assert_int_equal(imported.taken, 0);
        assert_int_equal(imported.kept, lines);
        imported = import(store, before, true);
        assert_int_equal(imported.taken, lines);
        free(after);
        after = export(store, NULL);
        assert_string_equal(after, before);
        free(before);
        free(after);
        profiles_close(store);
    }
}

static void test_of_one_key(void **state)
{
    struct profiles *store = profile_store_open(*state, true);
    struct profile_sample a = profile_store_sample("tag:a", 1),
                          b = profile_store_sample("tag:b", 1);
    char *text;

    profile_store_put_sample(store, &a);
    profile_store_put_sample(store, &b);
    text = export(store, "tag:b");
    assert_non_null(strstr(text, "\"key\":\"tag:b\""));
    assert_null(strstr(text, "tag:a"));
    assert_non_null(strstr(text, "\"rates\":{\"misses\":[1.0,1.0]}"));
    free(text);
    profiles_close(store);
}

/* ---- what is there stays, unless it is older ---- */

#define PROFILE_LINE(key, at, misses)                                                              \
    "{\"version\":1,\"kind\":\"profile\",\"key\":\"" key "\",\"source\":\"valgrind\","             \
    "\"measured_at\":" at ",\"llc_bytes\":1000,\"llc_ways\":1,\"line_bytes\":64,\"hits\":[1],"     \
    "\"misses\":" misses ",\"accesses\":3,\"instructions\":1,\"references\":1}\n"
#define SAMPLE_LINE(key, at, misses)                                                               \
    "{\"version\":1,\"kind\":\"sample\",\"key\":\"" key "\",\"source\":\"perf\",\"co_run\":false," \
    "\"measured_at\":" at ",\"runs\":3,\"windows\":2,\"seconds\":1,\"instructions\":1,"            \
    "\"rates\":{\"misses\":[" misses ",null]}}\n"
#define DEMAND_LINE(key, gbps)                                                                     \
    "{\"version\":1,\"kind\":\"demand\",\"key\":\"" key "\",\"demand\":{\"curve_gbps\":[0," gbps   \
    "]}}\n"

#define PAIR_LINE(key, at, beside, slowdown)                                                       \
    "{\"version\":1,\"kind\":\"pair\",\"key\":\"" key                                              \
    "\",\"machine\":\"here\",\"cores\":1,\"beside\":[" beside "],\"slowdown\":" slowdown           \
    ",\"error\":0.1,\"windows\":2,\"seconds\":1,\"runs\":1,\"measured_at\":" at "}\n"
#define BESIDE(key, cores) "{\"key\":\"" key "\",\"cores\":" cores "}"

static double demand_of(struct profiles *store, const char *key)
{
    struct profile_demand *demand = NULL;
    struct berth_error err;
    double gbps;

    assert_int_equal(profiles_get_demand(store, 0, key, &demand, &err), 1);
    gbps = demand->curve[1];
    profile_demand_free(demand);
    return gbps;
}

static void test_newer_stays(void **state)
{
    static const struct {
        const char *text;
        bool replace;
        size_t taken, kept;
        double profile, sample, demand; /* what is there then */
    } steps[] = {
        {PROFILE_LINE("tag:p", "50", "1") SAMPLE_LINE("tag:s", "50", "1") DEMAND_LINE("tag:d", "1"),
         false, 3, 0, 1, 1, 1},
        {PROFILE_LINE("tag:p", "49", "2") SAMPLE_LINE("tag:s", "49", "2") DEMAND_LINE("tag:d", "2"),
         false, 0, 3, 1, 1, 1},
        {PROFILE_LINE("tag:p", "51", "3") "\n" SAMPLE_LINE("tag:s", "51", "3"), false, 2, 0, 3, 3,
         1},
        {PROFILE_LINE("tag:p", "9", "4") SAMPLE_LINE("tag:s", "9", "4") DEMAND_LINE("tag:d", "4"),
         true, 3, 0, 4, 4, 4},
        {"", false, 0, 0, 4, 4, 4},
    };
    struct profiles *store = profile_store_open(*state, true);

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct profiles_imported imported = import(store, steps[i].text, steps[i].replace);

        assert_int_equal(imported.taken, steps[i].taken);
        assert_int_equal(imported.kept, steps[i].kept);
        assert_true(profile_store_misses(store, "tag:p", 0) == steps[i].profile);
        assert_true(profile_store_misses(store, "tag:s", 0) == steps[i].sample);
        assert_true(demand_of(store, "tag:d") == steps[i].demand);
    }
    profiles_close(store);
}

/* ---- what is wrong ---- */

#define GOOD PROFILE_LINE("tag:good", "1", "1")

static void test_wrong(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{", "line 2: not JSON"},
        {"[]", "line 2: an object"},
        {"{\"kind\":\"profile\"}", "version: missing"},
        {"{\"version\":2,\"kind\":\"profile\"}", "version: 2"},
        {"{\"version\":1,\"kind\":\"frob\"}", "kind: "},
        {"{\"version\":1,\"kind\":\"demand\"}", "key: missing"},
        {DEMAND_LINE("solver", "1"), "key: tag:NAME"},
        {DEMAND_LINE("tag:", "1"), "key: tag:NAME"},
        {DEMAND_LINE("tag:x", "-1"), "curve_gbps[1]"},
        {"{\"version\":1,\"kind\":\"demand\",\"key\":\"tag:x\"}", "demand: missing"},
        {PROFILE_LINE("tag:x", "-1", "1"), "measured_at: -1: between 0 and"},
        {PROFILE_LINE("tag:x", "1e99", "1"), "measured_at: "},
        {PROFILE_LINE("tag:x", "1", "-1"), "misses: -1: between 0 and 2000000 expected"},
        {PROFILE_LINE("tag:x", "1", "2e6,\"misses\":1e308"), "misses: 1e+308: between 0 and"},
        {PROFILE_LINE("tag:x", "1", "1,\"instructions_per_s\":2e12"),
         "instructions_per_s: 2e+12: "},
        {PROFILE_LINE("tag:x", "1", "1,\"hits\":[3e6]"), "hits[0]: 3000000: "},
        {SAMPLE_LINE("tag:x", "1", "2000001"), "rates.misses: 2000001: 2000000 or less"},
        {SAMPLE_LINE("tag:x", "1", "1,9e9]},\"x\":{\"y\":[1"), "rates.misses: "},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "1"), "1e9"), "slowdown: 1000000000: "},
        {PROFILE_LINE("tag:x", "1", "null"), "misses: missing"},
        {PROFILE_LINE("tag:x", "1", "Infinity"), "misses: "},
        {PROFILE_LINE("tag:x", "1", "1,\"hits\":[1,2]"), "hits: 1 elements expected, not 2"},
        {PROFILE_LINE("tag:x", "1", "1,\"hits\":[-1]"), "hits[0]: "},
        {PROFILE_LINE("tag:x", "1", "1,\"hits\":[null]"), "hits[0]: "},
        {PROFILE_LINE("tag:x", "1", "1,\"hits\":[\"1\"]"), "hits[0]: "},
        {PROFILE_LINE("tag:x", "1", "1,\"llc_ways\":65"), "llc_ways: "},
        {PROFILE_LINE("tag:x", "1", "1,\"shape\":7"), "shape: "},
        {PROFILE_LINE("tag:x", "1", "1,\"source\":\"a source of more than thirty-two letters\""),
         "source: "},
        {PROFILE_LINE("tag:x", "1", "1,\"misses_error\":-1"), "misses_error: "},
        {PAIR_LINE("tag:x", "1", "", "1"), "beside: 1 to 32 programs expected"},
        {PAIR_LINE("tag:x", "1", "7", "1"), "beside[0].an object expected"},
        {PAIR_LINE("tag:x", "1", BESIDE("y", "1"), "1"), "beside[0].key: tag:NAME"},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "0"), "1"), "beside[0].cores: 0: "},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "1") "," BESIDE("tag:y", "1"), "1"),
         "beside[1].key: each program once"},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "1"), "-1"), "slowdown: -1: "},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "1"), "null"), "slowdown: missing"},
        {PAIR_LINE("tag:x", "1,\"error\":0", BESIDE("tag:y", "1"), "1"), "error: 0: "},
        {PAIR_LINE("tag:x", "1", BESIDE("tag:y", "1"), "1,\"machine\":5"), "machine: at most"},
        {PAIR_LINE("x", "1", BESIDE("tag:y", "1"), "1"), "key: tag:NAME"},
        {SAMPLE_LINE("tag:x", "1", "1,2"), "rates.misses: [mean, error] expected"},
        {SAMPLE_LINE("tag:x", "1", "null"), "rates.misses.mean: missing"},
        {SAMPLE_LINE("tag:x", "1", "\"1\""), "rates.misses.mean: number expected"},
        {SAMPLE_LINE("tag:x", "1", "-1"), "rates.misses.mean: -1: 0 or more"},
        {SAMPLE_LINE("tag:x", "1,\"co_run\":null", "1"), "co_run: missing"},
        {SAMPLE_LINE("tag:x", "1", "1,null]},\"windows\":0,\"x\":{\"y\":[1"), "windows: 0: more"},
        {SAMPLE_LINE("tag:x", "1", "1,null]},\"runs\":0,\"x\":{\"y\":[1"),
         "runs: 0: between 1 and"},
    };
    struct profiles *store = profile_store_open(*state, true);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct profiles_imported imported;
        struct berth_error err = {""};
        char text[2048];

        snprintf(text, sizeof(text), "%s%s\n%s", GOOD, cases[i].text, GOOD);
        if (profiles_import(store, 0, text, strlen(text), true, &imported, &err) == 0 ||
            strncmp(err.text, "line 2: ", 8) != 0 || !strstr(err.text, cases[i].says))
            fail_msg("%s: '%s', not '%s'", cases[i].text, err.text, cases[i].says);
        assert_true(profile_store_misses(store, "tag:good", 0) == -1); /* nothing of it */
    }
    profiles_close(store);
}

/* What this berth does not know yet is left out: fields, and rates. */
static void test_unknown_fields(void **state)
{
    struct profiles *store = profile_store_open(*state, true);

    import(store,
           "{\"version\":1,\"kind\":\"sample\",\"key\":\"tag:s\",\"source\":\"perf\",\"frob\":[],"
           "\"co_run\":true,\"measured_at\":5,\"runs\":3,\"windows\":2,\"seconds\":1,"
           "\"instructions\":1,\"rates\":{\"frobs\":[1],\"misses\":[7,null]}}",
           false);
    assert_true(profile_store_misses(store, "tag:s", 0) == 7);
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_export_import), TEST(test_of_one_key),     TEST(test_newer_stays),
        TEST(test_wrong),         TEST(test_unknown_fields), TEST(test_speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
