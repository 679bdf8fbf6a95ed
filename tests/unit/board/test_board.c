/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_board - what programs read of a berthd whose step plays a recording: states that follow it,
 * nothing where nothing is known, and that readers are told of its end. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blackboard/berth_blackboard.h"
#include "packer/board/board.h"
#include "packer/steps/step_counts.h"

#define ONE_NODE "package:1 l3:2 core:2 pu:1"
#define PATIENCE_S 20 /* for a thread that writes a hundred times a second */

/* Four cores get 10 GB/s at most; two have it nearly all. */
static const double local[] = {0, 5, 9.6, 9.9, 10};

struct scene {
    struct fixture *f;
    struct berth_blackboard *board;
    double age_s;
};

/* "calm" moves 1 GB/s, "burst" 9.8 GB/s from second 5 on; "mute" is counted, but not its traffic.
 */
static void write_recording(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "step,at,instructions,bytes,cpu_ns,threads\n");
    for (int at = 1; at <= 20; at++) {
        fprintf(file, "burst,%d,%.0f,%.0f,%.0f,1\n", at, at * 2e9,
                at <= 5 ? at * 1e9 : 5e9 + (at - 5) * 9.8e9, at * 1e9);
        fprintf(file, "mute,%d,%.0f,,%.0f,1\n", at, at * 2e9, at * 1e9);
    }
    fclose(file);
}

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    struct fixture *f = scene->f = fixture_open(ONE_NODE);
    char path[PATH_MAX + 16];

    snprintf(f->conf.counters_replay, sizeof(f->conf.counters_replay), "%s/samples.csv", f->dir);
    write_recording(f->conf.counters_replay);
    f->conf.window_ms = 3600000; /* they end when the test says so */
    fixture_machine(f, 1, 4, local);
    fixture_paper(f);
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, f->dir, NULL), 0); /* no resctrl there */
    fixture_busy(f, NULL);
    f->packer.world.conf.blackboard = CONF_ON;
    board_open(&f->packer);
    assert_non_null(f->packer.state->board);
    snprintf(path, sizeof(path), "%s/" BOARD_FILE, f->packer.world.conf.state_dir);
    assert_int_equal(berth_blackboard_open(&scene->board, path), BERTH_BLACKBOARD_OK);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    berth_blackboard_close(scene->board);
    fixture_close(scene->f);
    free(scene);
    return 0;
}

/* The step is so old, and its window over. */
static void at_age(struct scene *scene, struct step *step, double age_s)
{
    step->started_mono_s = clock_s() - age_s;
    step->counts->due_s = 0;
    pipeline_observe(&scene->f->packer);
}

static bool is_so(double value, double wanted)
{
    return isnan(wanted) ? isnan(value) : fabs(value - wanted) <= 0.01 * fabs(wanted);
}

/* Waits until the section's value is that; fails where it never is. */
static void wait_for(const struct scene *scene, const char *name, enum berth_blackboard_value id,
                     double wanted)
{
    struct berth_blackboard_section section;
    double end_s = clock_s() + PATIENCE_S;
    int number = berth_blackboard_find(scene->board, name);

    assert_true(number >= 0);
    do {
        sched_yield();
        if (berth_blackboard_read(scene->board, number, 0, &section) == BERTH_BLACKBOARD_OK &&
            section.written_ns && is_so(section.value[id], wanted))
            return;
    } while (clock_s() < end_s);
    fail_msg("%s: value %d is %g, not %g", name, id, section.value[id], wanted);
}

/* One memory: the node's traffic is its, and the package's. */
static void test_states(void **state)
{
    static const char *const names[] = {"node", "package0", "memory0"};
    struct scene *scene = *state;
    struct step *step = fixture_run(scene->f, 1, "0", "burst");

    for (double age_s = 1; age_s <= 4; age_s++)
        at_age(scene, step, age_s);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        wait_for(scene, names[i], BERTH_BLACKBOARD_TRAFFIC, 1e9);
        wait_for(scene, names[i], BERTH_BLACKBOARD_STATE, BERTH_BLACKBOARD_IDLE);
    }
    wait_for(scene, "llc0", BERTH_BLACKBOARD_TRAFFIC, NAN); /* nobody counts each cache's */
    at_age(scene, step, 6);
    at_age(scene, step, 7);
    wait_for(scene, "memory0", BERTH_BLACKBOARD_UTILISATION, 0.98);
    wait_for(scene, "memory0", BERTH_BLACKBOARD_STATE, BERTH_BLACKBOARD_SATURATED);
    fixture_end(scene->f, 1, 0);
    wait_for(scene, "memory0", BERTH_BLACKBOARD_STATE, NAN);
    wait_for(scene, "node", BERTH_BLACKBOARD_TRAFFIC, NAN);
}

/* A step of which no traffic is known makes the sum unknown. */
static void test_unknown(void **state)
{
    struct scene *scene = *state;
    struct step *step = fixture_run(scene->f, 1, "0", "burst"), *mute;

    for (double age_s = 1; age_s <= 4; age_s++)
        at_age(scene, step, age_s);
    wait_for(scene, "node", BERTH_BLACKBOARD_TRAFFIC, 1e9);
    mute = fixture_run(scene->f, 2, "1", "mute");
    for (double age_s = 1; age_s <= 4; age_s++)
        at_age(scene, mute, age_s);
    wait_for(scene, "node", BERTH_BLACKBOARD_TRAFFIC, NAN);
    wait_for(scene, "node", BERTH_BLACKBOARD_STATE, NAN);
}

/* What the last window said is not for ever. */
static void test_old(void **state)
{
    struct scene *scene = *state;
    struct step *step;

    scene->f->packer.world.conf.window_ms = 100;
    step = fixture_run(scene->f, 1, "0", "burst");
    for (double age_s = 1; age_s <= 4; age_s++)
        at_age(scene, step, age_s);
    wait_for(scene, "node", BERTH_BLACKBOARD_TRAFFIC, NAN);
    wait_for(scene, "node", BERTH_BLACKBOARD_STATE, NAN);
}

static void test_end(void **state)
{
    struct scene *scene = *state;
    struct berth_blackboard_section section;

    board_close(scene->f->packer.state->board);
    scene->f->packer.state->board = NULL;
    assert_int_equal(berth_blackboard_read(scene->board, 0, 0, &section), BERTH_BLACKBOARD_ENDED);
    assert_int_equal(berth_blackboard_follow(scene->board), BERTH_BLACKBOARD_NONE);
    board_open(&scene->f->packer);
    assert_int_equal(berth_blackboard_follow(scene->board), BERTH_BLACKBOARD_OK);
    assert_int_equal(berth_blackboard_read(scene->board, 0, 0, &section), BERTH_BLACKBOARD_OK);
}

static void test_say(void **state)
{
    struct scene *scene = *state;
    char say[BOARD_SAY];

    assert_true(board_say(scene->f->packer.state->board, say));
    assert_string_equal(say, "saturated from 96 %, idle to 67 %; traffic by the steps' windows, of "
                             "the node as a whole");
}

/* Without a machine profile there is traffic, and no state. */
static void test_no_profile(void **state)
{
    struct scene *scene = *state;
    struct packer *packer = &scene->f->packer;
    char say[BOARD_SAY];

    board_close(packer->state->board);
    machine_profile_free(packer->world.machine);
    packer->world.machine = NULL;
    board_open(packer);
    assert_false(board_say(packer->state->board, say));
    assert_non_null(strstr(say, "berthctl calibrate"));
}

/* A folder that is gone: berthd goes on without, and can say why. */
static void test_no_file(void **state)
{
    struct scene *scene = *state;
    struct packer *packer = &scene->f->packer;

    board_close(packer->state->board);
    strcpy(packer->world.conf.state_dir, "/nonexistent");
    board_open(packer);
    assert_null(packer->state->board);
    assert_string_equal(lacks_why(packer, LACK_BOARD),
                        "/nonexistent/blackboard: No such file or directory");
    board_turn(packer);
}

/* Half a percent of a core, however long a sample takes; once a second at least. */
static void test_cost(void **state)
{
    (void)state;
    assert_true(board_wait_s(0.01, 1e-6) == 0.01);
    assert_float_equal(board_wait_s(0.01, 40e-6), 0.01, 1e-9);
    assert_float_equal(board_wait_s(0.01, 100e-6), 0.02, 1e-9);
    assert_float_equal(board_wait_s(0.001, 2e-3), 0.4, 1e-9);
    assert_true(board_wait_s(0.01, 1) == BOARD_SLOW_S);
    assert_true(board_wait_s(BOARD_SLOW_S, 1e-3) == BOARD_SLOW_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_old, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_say, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_profile, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
        cmocka_unit_test(test_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
