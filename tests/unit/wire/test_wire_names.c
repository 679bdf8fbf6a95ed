/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_wire_names - names of steps and options, and the identity of programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/wire/wire.h"

static void test_step_names(void **state)
{
    static const struct {
        struct wire_step_id id;
        const char *name;
    } cases[] = {
        {{4711, 0}, "4711.0"},
        {{4711, UINT32_MAX}, "4711"},
        {{4711, 0x80000000u}, "4711.0+0"},
        {{4711, 0x81000000u}, "4711.0+1"},
        {{4711, 0xfeffffffu}, "4711.16777215+126"},
        {{0, WIRE_STEP_BATCH}, "0.batch"},
        {{1, WIRE_STEP_EXTERN}, "1.extern"},
        {{UINT32_MAX, WIRE_STEP_INTERACTIVE}, "4294967295.interactive"},
        {{UINT32_MAX, WIRE_STEP_INTERACTIVE - 1}, "4294967295.4294967289"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[WIRE_STEP_NAME_MAX];
        struct wire_step_id id;

        wire_step_name(cases[i].id, name);
        assert_string_equal(name, cases[i].name);
        assert_int_equal(wire_step_parse(name, &id), 0);
        assert_memory_equal(&id, &cases[i].id, sizeof(id));
    }
}

static void test_step_parse_refuses(void **state)
{
    static const char *const wrong[] = {"",
                                        ".",
                                        ".0",
                                        "1.",
                                        "a",
                                        "1.a",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.0.0",
                                        "1.batc",
                                        "1.batchx",
                                        "4294967296",
                                        "1.4294967296",
                                        "1.-1",
                                        "1.0+",
                                        "1.+1",
                                        "1.0+1+1",
                                        "1.0+127",
                                        "1.16777216+0",
                                        "1.batch+0",
                                        "1.0000000000000000+0",
                                        "0x10",
                                        "1..0",
                                        "99999999999999999999",
                                        "1.99999999999999999999999",
                                        "0000000000000000001",
                                        "1\n",
                                        "1.0\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wire_step_id id = {7, 8};

        errno = 0;
        if (wire_step_parse(wrong[i], &id) == 0)
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(id.job, 7);
    }
}

static void test_components(void **state)
{
    (void)state;
    assert_int_equal(wire_step_number(wire_step_component(7, 126)), 7);
    assert_int_equal(wire_step_number(7), 7);
    assert_int_equal(wire_step_number(WIRE_STEP_BATCH), WIRE_STEP_BATCH);
    assert_int_equal(wire_step_component(7, 127), UINT32_MAX);
    assert_int_equal(wire_step_component(1u << 24, 0), UINT32_MAX);
}

static void test_title(void **state)
{
    static const struct {
        const char *title, *name;
    } row[] = {{"slurmstepd: [4711.0]", "4711.0"},
               {"slurmstepd: [4711.3+1]", "4711.3+1"},
               {"slurmstepd: [4711.batch]", "4711.batch"},
               {"slurmstepd: [4711.0 task_0]", "4711.0"},
               {"slurmstepd: [4711]", NULL},
               {"slurmstepd: [4711.0", NULL},
               {"slurmstepd: []", NULL},
               {"/usr/sbin/slurmstepd", NULL},
               {"", NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char name[WIRE_STEP_NAME_MAX];
        struct wire_step_id id;

        assert_int_equal(wire_step_of_title(row[i].title, &id), row[i].name ? 0 : -1);
        if (!row[i].name)
            continue;
        wire_step_name(id, name);
        assert_string_equal(name, row[i].name);
    }
}

static void test_options(void **state)
{
    struct wire_options options;
    char text[256];

    (void)state;
    wire_options_init(&options);
    wire_options_format(&options, text, sizeof(text));
    assert_string_equal(text, "off");
    options.mode = WIRE_MODE_AUTO;
    options.isolate = options.edp = options.size = options.require = options.verbose = true;
    options.pack = true;
    options.policy_given = true;
    options.policy = WIRE_POLICY_DIO_POWER;
    options.mem = WIRE_MEM_LOCAL;
    strcpy(options.tag, "x");
    options.cores_min = 2;
    options.cores_max = 4;
    options.max_slowdown_pct = 7.5;
    wire_options_format(&options, text, sizeof(text));
    assert_string_equal(text, "auto,isolate,edp,size,pack,policy=dio-power,mem=local,tag=x,require,"
                              "verbose,cores=2-4,max-slowdown=7.5");
    options = (struct wire_options){
        .mode = WIRE_MODE_AUTO, .size = true, .size_loss_pct = 0.5, .max_slowdown_pct = -1};
    wire_options_format(&options, text, sizeof(text));
    assert_string_equal(text, "auto,size=0.5");
    assert_true(wire_size_loss(&options) == 0.005);
    wire_options_init(&options);
    assert_true(wire_size_loss(&options) == 0.02);
}

/* A list that does not fit is cut. */
static void test_options_cut(void **state)
{
    struct wire_options options;
    char text[8] = "untouch";

    (void)state;
    wire_options_init(&options);
    options.mode = WIRE_MODE_OBSERVE;
    options.verbose = true;
    wire_options_format(&options, text, 0);
    assert_string_equal(text, "untouch");
    wire_options_format(&options, text, 1);
    assert_string_equal(text, "");
    wire_options_format(&options, text, sizeof(text));
    assert_string_equal(text, "observe");
}

/* ---- programs ---- */

#define MIB ((size_t)1 << 20)

static char path[] = "/tmp/berth-wire-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(strcpy(path, "/tmp/berth-wire-XXXXXX"));

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* The hash of a file of `size` bytes, all 0 but one. */
static void hash_of(size_t size, size_t at, char hash[WIRE_HASH_MAX])
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    if (at < size)
        assert_int_equal(pwrite(fd, "x", 1, (off_t)at), 1);
    close(fd);
    assert_int_equal(wire_program_hash(path, hash), 0);
    assert_int_equal(strlen(hash), 32);
    assert_int_equal(strspn(hash, "0123456789abcdef"), 32);
}

static void test_hash(void **state)
{
    static const struct {
        size_t size, at;
        bool same; /* as the file of the same size with nothing in it */
    } cases[] = {
        {1, 0, false},
        {MIB, MIB - 1, false},
        {MIB + 1, MIB, false},
        {3 * MIB, 0, false},
        {3 * MIB, MIB - 1, false},
        {3 * MIB, 2 * MIB, false},
        {3 * MIB, 3 * MIB - 1, false},
        {3 * MIB, MIB, true}, /* the middle is not read */
        {3 * MIB, 2 * MIB - 1, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char empty[WIRE_HASH_MAX], hash[WIRE_HASH_MAX];

        hash_of(cases[i].size, SIZE_MAX, empty);
        hash_of(cases[i].size, cases[i].at, hash);
        assert_int_equal(strcmp(empty, hash) == 0, cases[i].same);
    }
}

static void test_hash_has_the_size(void **state)
{
    char a[WIRE_HASH_MAX], b[WIRE_HASH_MAX];

    (void)state;
    hash_of(4 * MIB, SIZE_MAX, a);
    hash_of(4 * MIB + 1, SIZE_MAX, b);
    assert_string_not_equal(a, b);
    hash_of(0, 0, a);
    hash_of(0, 0, b);
    assert_string_equal(a, b);
}

static void test_hash_fails(void **state)
{
    char hash[WIRE_HASH_MAX] = "as it was";

    (void)state;
    assert_int_equal(wire_program_hash("/nonexistent", hash), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(wire_program_hash("/dev/zero", hash), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(wire_program_hash("/", hash), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(wire_program_hash(path, hash), -1); /* and does not wait for a writer */
    assert_string_equal(hash, "as it was");
}

#define with_file(name) cmocka_unit_test_setup_teardown(name, make_file, remove_file)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step_names),
        cmocka_unit_test(test_step_parse_refuses),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_title),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_options_cut),
        with_file(test_hash),
        with_file(test_hash_has_the_size),
        with_file(test_hash_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
