/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_throttle - steps that asked for throttle: what their page says, what their processes said of
 * it, and why nothing is done where it is not known when memory is saturated. */
#include "tests/unit/common/step_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/board/board.h"
#include "packer/figures/figures.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"

/* Four cores get 10 GB/s at most; two have it nearly all. */
static const double local[] = {0, 5, 9.6, 9.9, 10};

static int begin(void **state)
{
    struct fixture *f = fixture_open("package:1 l3:2 core:2 pu:1");

    strcat(f->conf.allow, ",throttle");
    fixture_machine(f, 1, 4, local);
    fixture_paper(f);
    fixture_restart(f);
    f->packer.world.conf.blackboard = CONF_ON;
    *state = f;
    return 0;
}

static int end(void **state)
{
    fixture_close(*state);
    return 0;
}

static struct step *start(struct fixture *f, enum wire_throttle throttle)
{
    struct wire_register request = fixture_request(1, 0, "0-3", "0-3", 1, "t");

    request.options.throttle = throttle;
    return fixture_start(f, request);
}

static struct step *start_with_board(struct fixture *f, enum wire_throttle throttle)
{
    board_open(&f->packer);
    assert_non_null(f->packer.state->board);
    return start(f, throttle);
}

static struct json_object *explained(struct fixture *f, const struct step *step)
{
    struct json_object *explain = json_object_new_object(), *throttle;

    figures_inside(&f->packer, step, explain);
    throttle = json_object_get(json_object_object_get(explain, "throttle"));
    json_object_put(explain);
    return throttle;
}

/* The blackboard stands beside the page: it is berthd's. */
static void assert_found(const struct fixture *f)
{
    char path[STEP_FILES_PATH], board[PATH_MAX + sizeof(BOARD_FILE)];
    struct stat found, is;

    step_files_path(f, BOARD_FILE, path);
    snprintf(board, sizeof(board), "%s/" BOARD_FILE, f->packer.world.conf.state_dir);
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(stat(board, &is), 0);
    assert_int_equal(found.st_ino, is.st_ino);
}

/* Says why nothing is done; NULL: something is. */
static void assert_refused(struct fixture *f, const struct step *step, const char *wanted)
{
    struct json_object *throttle = explained(f, step);
    const char *why = json_object_get_string(json_object_object_get(throttle, "refused"));

    if (wanted)
        assert_non_null(why);
    if (wanted)
        assert_non_null(strstr(why, wanted));
    else
        assert_null(why);
    json_object_put(throttle);
}

static void test_page(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_with_board(f, WIRE_THROTTLE_BASELINE);
    struct rt_page page = step_files_page(f);

    assert_int_equal(page.features, RT_THROTTLE);
    assert_int_equal(page.throttle, RT_BASELINE);
    assert_int_equal(page.hold, 5);
    assert_true(step->inside.effect[STEP_THROTTLE].since_s > 0);
    assert_refused(f, step, NULL);
    assert_found(f);
    inside_undo(&f->packer, step);
    assert_int_equal(step_files_page(f).features, 0);
    assert_true(step->inside.effect[STEP_THROTTLE].since_s == 0);
}

static void test_lazy(void **state)
{
    struct fixture *f = *state;

    f->packer.world.conf.rcr_hold = 2;
    start_with_board(f, WIRE_THROTTLE_LAZY);
    assert_int_equal(step_files_page(f).throttle, RT_LAZY);
    assert_int_equal(step_files_page(f).hold, 49);
}

static void test_said(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_with_board(f, WIRE_THROTTLE_AGGRESSIVE);
    struct rt_rested rested = {.version = RT_SAID_VERSION,
                               .pid = 7,
                               .reduced = 3,
                               .throttled_ns = 2500000000,
                               .rests = 9,
                               .idle_ns = 4000000000,
                               .freed = 1};
    struct json_object *throttle;

    step_files_say(f, &rested, sizeof(rested)); /* no magic: nobody's */
    memcpy(rested.magic, RT_RESTED_MAGIC, sizeof(rested.magic));
    step_files_say(f, &rested, sizeof(rested));
    step_files_say(f, &rested, sizeof(rested));
    rested.version++;
    step_files_say(f, &rested, sizeof(rested));
    inside_turn(&f->packer);
    throttle = explained(f, step);
    assert_int_equal(json_object_get_int(json_object_object_get(throttle, "reduced")), 6);
    assert_true(json_object_get_double(json_object_object_get(throttle, "throttled_s")) == 5);
    assert_int_equal(json_object_get_int(json_object_object_get(throttle, "rests")), 18);
    assert_true(json_object_get_double(json_object_object_get(throttle, "idle_thread_s")) == 8);
    assert_int_equal(json_object_get_int(json_object_object_get(throttle, "freed")), 2);
    json_object_put(throttle);
    rested.version--;
    step_files_say(f, &rested, sizeof(rested)); /* at its end */
    inside_end(&f->packer, step);
    assert_int_equal(step->inside.throttled.times, 9);
    assert_true(step->inside.throttled.idle_thread_s == 12);
}

/* A berthd goes on counting where the one before it was killed. */
static void test_killed(void **state)
{
    struct fixture *f = *state;
    struct rt_rested rested = {.version = RT_SAID_VERSION,
                               .reduced = 3,
                               .throttled_ns = 2000000000,
                               .idle_ns = 1000000000};
    struct berth_error err = {""};
    struct step *step;

    memcpy(rested.magic, RT_RESTED_MAGIC, sizeof(rested.magic));
    f->conf.blackboard = CONF_ON;
    fixture_restart(f);
    start_with_board(f, WIRE_THROTTLE_BASELINE);
    step_files_say(f, &rested, sizeof(rested));
    inside_turn(&f->packer);
    fixture_restart(f);
    board_open(&f->packer);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    step = fixture_step(f, 1, 0);
    inside_turn(&f->packer);
    assert_int_equal(step->inside.throttled.times, 3);
    step_files_say(f, &rested, sizeof(rested));
    inside_end(&f->packer, step);
    assert_int_equal(step->inside.throttled.times, 6);
    assert_true(step->inside.throttled.seconds == 4);
    assert_true(step->inside.throttled.idle_thread_s == 2);
}

/* A user's program says what no program does: the ledger has a number all the same. */
static void test_lies(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_with_board(f, WIRE_THROTTLE_AGGRESSIVE);
    struct rt_rested rested = {.version = RT_SAID_VERSION,
                               .reduced = UINT64_MAX,
                               .throttled_ns = UINT64_MAX - 1,
                               .idle_ns = (uint64_t)1 << 63};

    memcpy(rested.magic, RT_RESTED_MAGIC, sizeof(rested.magic));
    for (int i = 0; i < 3; i++)
        step_files_say(f, &rested, sizeof(rested));
    inside_end(&f->packer, step);
    assert_true(step->inside.throttled.times == STEP_SAID_MOST);
    assert_true(step->inside.throttled.seconds == (double)STEP_SAID_MOST / 1e9);
    assert_true(step->inside.throttled.idle_thread_s == (double)STEP_SAID_MOST / 1e9);
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f, WIRE_THROTTLE_BASELINE);

    assert_refused(f, step, "no blackboard");
    board_open(&f->packer);
    assert_non_null(f->packer.state->board);
    assert_refused(f, step, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page, begin, end),
        cmocka_unit_test_setup_teardown(test_lazy, begin, end),
        cmocka_unit_test_setup_teardown(test_said, begin, end),
        cmocka_unit_test_setup_teardown(test_killed, begin, end),
        cmocka_unit_test_setup_teardown(test_lies, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
