/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_idle - what is at work on cores of nobody, in a /proc/stat that the test rewrites. */
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/folder.h"

#include <stdio.h>

#include "packer/enact/idle.h"
#include "packer/steps/stand.h"

#define CPUS 8

static double now_s;

static int open_tree(void **state)
{
    struct fixture *f = fixture_open("numa:2 l3:2 core:2 pu:1");

    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0);
    f->packer.state->idle.nobody = cpus_of("2-7");
    now_s = 1000;
    *state = f;
    return 0;
}

/* Looks ten seconds later; until then that CPU was at work for so long, ticks of 10 ms. */
static void look(struct fixture *f, size_t cpu, unsigned ticks)
{
    static unsigned long busy[CPUS];
    char text[1024];
    int used = sprintf(text, "cpu  1 2 3 4 5 6 7 8 9 10\n");

    busy[cpu] += ticks;
    for (size_t i = 0; i < CPUS; i++)
        used += sprintf(text + used, "cpu%zu %lu 0 0 %d 0 0 0 0 0 0\n", i, busy[i], 1000000);
    folder_put(f->dir, "proc/stat", text);
    now_s += 10;
    idle_look(&f->packer, now_s);
}

static void assert_used(const struct fixture *f, const char *wanted)
{
    assert_cpus(&f->packer.state->idle.used, wanted);
}

/* A daemon that wakes up now and then uses no core, nor does a script that is soon over; one that
 * works on does, and the cores are dealt anew; two minutes after it has ended it is forgotten. */
static void test_used(void **state)
{
    struct fixture *f = *state;

    look(f, 3, 90000); /* the first look says nothing */
    look(f, 3, 490);
    look(f, 3, 490);
    look(f, 3, 1000);
    look(f, 3, 0);
    look(f, 3, 1000);
    assert_used(f, "");
    f->packer.steps->changed = false;
    look(f, 3, 600);
    assert_used(f, "3");
    assert_true(f->packer.steps->changed);
    f->packer.steps->changed = false;
    for (int i = 0; i < 11; i++)
        look(f, 3, 10);
    assert_used(f, "3");
    assert_false(f->packer.steps->changed);
    look(f, 3, 10);
    assert_used(f, "");
    assert_true(f->packer.steps->changed);
}

/* Where a step stands, or stood at the last look, it is the step that works; and who has a core is
 * not asked. */
static void test_steps_and_strangers(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0", 1, (const char *const[]){"0", NULL});

    step->place.cpus = cpus_of("4");
    look(f, 4, 0);
    look(f, 4, 1000);
    look(f, 4, 1000);
    step->place.cpus = cpus_of("0");
    look(f, 4, 1000);
    look(f, 4, 1000);
    assert_used(f, "");
    look(f, 4, 1000);
    assert_used(f, "4");
    look(f, 1, 1000);
    look(f, 1, 1000);
    assert_used(f, "4");
}

/* What is used is no place; what cannot be read says nothing. */
static void test_no_place(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.idle = CONF_IDLE_ON;
    fixture_put(f, 1, 0, "0-1", 1, (const char *const[]){"0", NULL});
    look(f, 3, 0);
    look(f, 3, 1000);
    look(f, 3, 1000);
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    assert_stand(f->packer.state->pool, "0 1 2 - 4 5 6 7");
    folder_put(f->dir, "proc/stat", "nonsense\n");
    idle_look(&f->packer, now_s + 1000);
    assert_used(f, "3");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_tree, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_used),
        CASE(test_steps_and_strangers),
        CASE(test_no_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
