/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_uncore - PMUs outside cores, as trees of plain files describe them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "packer/system/uncore.h"
#include "tests/unit/common/folder.h"

#define PMU "sys/bus/event_source/devices/uncore_imc_0/"

struct scene {
    char dir[64];
    struct rootfs root;
    struct uncore_event event;
};

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct berth_error err;

    folder_new(scene->dir, sizeof(scene->dir), "berth-uncore");
    folder_put(scene->dir, PMU "type", "14\n");
    folder_put(scene->dir, PMU "cpumask", "0,20\n");
    folder_put(scene->dir, PMU "format/event", "config:0-7\n");
    folder_put(scene->dir, PMU "format/umask", "config:8-15\n");
    folder_put(scene->dir, PMU "events/reads", "event=0x04,umask=0x03\n");
    folder_put(scene->dir, PMU "events/reads.scale", "6.103515625e-5\n");
    folder_put(scene->dir, PMU "events/reads.unit", "MiB\n");
    assert_int_equal(rootfs_open(&scene->root, scene->dir, &err), 0);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    rootfs_close(&scene->root);
    folder_remove(scene->dir);
    free(scene);
    return 0;
}

static bool finds(struct scene *scene, const char *unit)
{
    return uncore_event(&scene->root, "uncore_imc_0", "reads", unit, &scene->event);
}

static void test_usual(void **state)
{
    struct scene *scene = *state;
    struct berth_error err;
    struct cpus cpus;
    uint32_t type;

    assert_int_equal(uncore_type(&scene->root, "uncore_imc_0", &type), 0);
    assert_int_equal(type, 14);
    assert_int_equal(uncore_type(&scene->root, "uncore_imc_1", &type), -1);
    assert_int_equal(uncore_cpus(&scene->root, "uncore_imc_0", &cpus, &err), 0);
    assert_true(cpus_has(&cpus, 20) && cpus_count(&cpus) == 2);
    assert_true(finds(scene, "MiB"));
    assert_int_equal(scene->event.config, 0x304);
    assert_true(scene->event.scale == 6.103515625e-5);
    assert_false(finds(scene, "Joules"));
    assert_false(uncore_event(&scene->root, "uncore_imc_0", "writes", "MiB", &scene->event));
}

/* The PMU's own format says where a term goes. */
static void test_format(void **state)
{
    struct scene *scene = *state;

    folder_put(scene->dir, PMU "format/umask", "config:16-23\n");
    assert_true(finds(scene, "MiB"));
    assert_int_equal(scene->event.config, 0x30004);
    folder_put(scene->dir, PMU "format/edge", "config:18\n");
    folder_put(scene->dir, PMU "events/reads", "event=0xff,edge\n");
    assert_true(finds(scene, "MiB"));
    assert_int_equal(scene->event.config, 0x400ff);
}

/* A term may be in pieces, and in another word than the first. */
static void test_pieces(void **state)
{
    struct scene *scene = *state;
    struct uncore_code code;

    folder_put(scene->dir, PMU "format/event", "config:0-7,32-35\n");
    folder_put(scene->dir, PMU "format/umask", "config:8-15,24-27\n");
    folder_put(scene->dir, PMU "format/fvc", "config1:0-31\n");
    assert_true(uncore_terms(&scene->root, "uncore_imc_0", "event=0x1e3,umask=0xbfe", &code));
    assert_true(code.config[0] == 0x10b00fee3 && code.config[1] == 0 && code.config[2] == 0);
    assert_true(uncore_terms(&scene->root, "uncore_imc_0", "event=1,fvc=0x2800", &code));
    assert_true(code.config[0] == 1 && code.config[1] == 0x2800);
    assert_false(uncore_terms(&scene->root, "uncore_imc_0", "event=0x1000", &code));
    folder_put(scene->dir, PMU "events/reads", "event=1,fvc=0x2800\n");
    assert_true(uncore_named(&scene->root, "uncore_imc_0", "reads", &code));
    assert_false(uncore_named(&scene->root, "uncore_imc_0", "no", &code));
    assert_false(finds(scene, "MiB")); /* who asks so has one word only */
}

/* What is not understood is not counted: half an event would be another one. */
static void test_odd(void **state)
{
    static const char *const terms[] = {"event=0x04,filter=1", "event=",    "event=x", "=4",
                                        "event=0x04,",         "config=-1", ""};
    static const char *const formats[] = {"config1:0-7", "config3:0-7", "config:64", "config:0-1",
                                          "config:0-7,", "config:7-0",  "config:",   ""};
    static const char *const scales[] = {"0", "-1", "x", "nan", "inf", "1e-5 GiB", ""};
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        folder_put(scene->dir, PMU "events/reads", terms[i]);
        assert_false(finds(scene, "MiB"));
    }
    folder_put(scene->dir, PMU "events/reads", "event=0x04\n");
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        folder_put(scene->dir, PMU "events/reads.scale", scales[i]);
        assert_false(finds(scene, "MiB"));
    }
    folder_put(scene->dir, PMU "events/reads.scale", "1\n");
    assert_true(finds(scene, "MiB"));
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        folder_put(scene->dir, PMU "format/event", formats[i]);
        assert_false(finds(scene, "MiB"));
    }
    folder_put(scene->dir, PMU "type", "-1\n");
    assert_int_equal(uncore_type(&scene->root, "uncore_imc_0", &(uint32_t){0}), -1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_usual), CASE(test_format), CASE(test_pieces),
                                       CASE(test_odd)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
