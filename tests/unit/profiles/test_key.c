/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_profile_key - keys of the profile store, and which one a person means. */
#include "tests/unit/common/profile_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void test_keys(void **state)
{
    char key[PROFILE_KEY_MAX];

    (void)state;
    profile_key_exe(key, "/opt/a b/solver", "0123");
    assert_string_equal(key, "exe:/opt/a b/solver#0123");
    profile_key_tag(key, "solver-v2");
    assert_string_equal(key, "tag:solver-v2");
}

static void test_starts_others(void **state)
{
    (void)state;
    assert_true(profile_key_starts_others("exe:/usr/bin/numactl#0123"));
    assert_true(profile_key_starts_others("exe:/usr/bin/python3.11#0123"));
    assert_true(profile_key_starts_others("exe:/var/spool/slurmd/job00038/slurm_script#0123"));
    assert_false(profile_key_starts_others("exe:/usr/bin/python3.11 /home/a/x.py#0123"));
    assert_false(profile_key_starts_others("exe:/usr/bin/bash /home/a/make#0123"));
    assert_false(profile_key_starts_others("exe:/opt/solver#0123"));
    assert_false(profile_key_starts_others("tag:numactl"));
}

static void test_geometry(void **state)
{
    char geometry[PROFILE_GEOMETRY_MAX];

    (void)state;
    profile_geometry(geometry, 4, 2);
    assert_string_equal(geometry, "4x2");
    profile_geometry(geometry, UINT32_MAX, UINT32_MAX);
    assert_string_equal(geometry, "4294967295x4294967295");
    profile_geometry(geometry, 4, 0);
    assert_string_equal(geometry, "");
    profile_geometry(geometry, 0, 4);
    assert_string_equal(geometry, "");
}

/* Keys of all three kinds of rows. */
static void fill(struct profiles *store)
{
    static const char *const profile_key[] = {"exe:/opt/a/solver#11", "exe:/opt/b/solver#22",
                                              "exe:/opt/b/other#33", "tag:other", "tag:twin",
                                              "exe:/usr/bin/python3 /home/a/fit.py#44"};
    static const char *const sample_key[] = {"tag:counted", "tag:twin"};
    double curve[] = {0, 1};
    struct profile_demand demand = {.cores = 1, .curve = curve};
    struct berth_error err;

    for (size_t i = 0; i < sizeof(profile_key) / sizeof(profile_key[0]); i++) {
        struct profile profile = profile_store_profile(profile_key[i], 1000, 1);

        profile_store_put(store, &profile);
    }
    for (size_t i = 0; i < sizeof(sample_key) / sizeof(sample_key[0]); i++) {
        struct profile_sample sample = profile_store_sample(sample_key[i], 1);

        profile_store_put_sample(store, &sample);
    }
    assert_int_equal(profiles_put_demand(store, 0, "tag:asked", &demand, &err), 0);
}

static void test_resolve(void **state)
{
    static const struct {
        const char *text, *key; /* NULL: none */
    } cases[] = {
        {"tag:other", "tag:other"},
        {"other", "tag:other"}, /* a tag before a program's base name */
        {"/opt/a/solver", "exe:/opt/a/solver#11"},
        {"exe:/opt/b/s", "exe:/opt/b/solver#22"},
        {"/opt/a", "exe:/opt/a/solver#11"},
        {"/opt/b/other#33", "exe:/opt/b/other#33"},
        {"/opt/b/o", "exe:/opt/b/other#33"},
        {"counted", "tag:counted"},
        {"cou", "tag:counted"},
        {"asked", "tag:asked"},
        {"twin", "tag:twin"}, /* of two kinds of rows, but one key */
        {"solve", NULL},      /* base names are not abbreviated */
        {"/home/a/fit.py", "exe:/usr/bin/python3 /home/a/fit.py#44"}, /* a script's path */
        {"fit.py", "exe:/usr/bin/python3 /home/a/fit.py#44"},
        {"a/fit.py", NULL},
        {"nobody", NULL},
        {"", NULL},
        {"TAG:other", NULL},
    };
    struct profiles *store = profile_store_open(*state, true);
    struct berth_error err = {""};
    char key[PROFILE_KEY_MAX];

    fill(store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int found = profiles_resolve(store, cases[i].text, key, &err);

        if (found != (cases[i].key != NULL) || (found && strcmp(key, cases[i].key) != 0))
            fail_msg("%s: %d %s %s", cases[i].text, found, found == 1 ? key : "", err.text);
    }
    profiles_close(store);
}

static void test_ambiguous(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"solver", "solver: 2 keys fit: exe:/opt/a/solver#11, exe:/opt/b/solver#22"},
        {"/opt/b/", "/opt/b/: 2 keys fit: exe:/opt/b/other#33, exe:/opt/b/solver#22"},
        {"tag:", "tag:: 4 keys fit"},
        {"t", "t: 4 keys fit"}, /* the prefixes of keys, and of names */
    };
    struct profiles *store = profile_store_open(*state, true);
    struct profile profile = profile_store_profile("tag:z", 1000, 1);
    struct berth_error err = {""};
    char key[PROFILE_KEY_MAX];

    assert_int_equal(profiles_resolve(store, "x", key, &err), 0); /* an empty store */
    fill(store);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(profiles_resolve(store, cases[i].text, key, &err), -1);
        if (!strstr(err.text, cases[i].says))
            fail_msg("%s", err.text);
    }
    profile_store_put(store, &profile);
    assert_int_equal(profiles_resolve(store, "tag:", key, &err), -1);
    assert_non_null(strstr(err.text, ", ..."));
    profiles_close(store);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, profile_store_setup, profile_store_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_starts_others),
        cmocka_unit_test(test_geometry),
        TEST(test_resolve),
        TEST(test_ambiguous),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
