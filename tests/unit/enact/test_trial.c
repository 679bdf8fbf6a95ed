/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_trial - whom the standing trial only observes: a part of those who asked for nothing, by
 * lot; all steps of a job alike, on all nodes that have one key. */
#include "tests/unit/common/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/enact/trial.h"

#define JOBS 400

static struct fixture *f;

/* Opens it anew with so many percent; key "": its own. */
static void control(double pct, const char *key)
{
    f->conf.control = pct;
    snprintf(f->conf.control_key, sizeof(f->conf.control_key), "%s", key);
    fixture_restart(f);
}

static int setup(void **state)
{
    (void)state;
    f = fixture_open(TWO_BY_TWO);
    fixture_paper(f);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_close(f);
    return 0;
}

static struct wire_register request_of(uint32_t job, uint32_t step)
{
    return fixture_request(job, step, "0-1", "0-1", 1, "x");
}

/* Registers it, and has it end. Returns its arm. */
static enum step_trial arm_of(struct wire_register request)
{
    struct wire_step_id id = request.id;
    const struct step *step = fixture_start(f, request);
    enum step_trial arm = step->enacted.trial;

    assert_int_equal(step->state == STEP_OBSERVED, arm == STEP_CONTROL);
    assert_int_equal(strncmp(step->enacted.reason, "control: ", 9) == 0, arm == STEP_CONTROL);
    fixture_end(f, id.job, id.step);
    return arm;
}

static void key_path(char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.1000s/control.key", f->conf.state_dir);
}

static void write_key(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* About as many as are asked for, a job's steps all alike, and whose key only root can read. */
static void test_part(void **state)
{
    unsigned n = 0;
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    control(20, "");
    for (uint32_t job = 1; job <= JOBS; job++) {
        enum step_trial arm = arm_of(request_of(job, 0));

        assert_int_not_equal(arm, STEP_NO_TRIAL);
        assert_int_equal(arm_of(request_of(job, 1)), arm);
        n += arm == STEP_CONTROL;
    }
    assert_in_range(n, 40, 120); /* 80 are to be expected: five standard deviations */
    key_path(path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* Who has asked is served as he asked, and is in no arm. */
static void test_asked(void **state)
{
    (void)state;
    control(100, "");
    assert_int_equal(arm_of(request_of(1, 0)), STEP_CONTROL);
    for (enum wire_mode mode = WIRE_MODE_AUTO; mode <= WIRE_MODE_OBSERVE; mode++) {
        struct wire_register request = request_of(2, 0);
        const struct step *step;

        request.asked = true;
        request.options.mode = mode;
        step = fixture_start(f, request);
        assert_int_equal(step->enacted.trial, STEP_NO_TRIAL);
        assert_int_equal(step->state, mode == WIRE_MODE_AUTO ? STEP_PLACED : STEP_OBSERVED);
        fixture_end(f, 2, 0);
    }
}

/* Who would be left alone in any case tells nothing. */
static void test_left(void **state)
{
    struct wire_register bound = request_of(1, 0), off = request_of(2, 0), pinned;

    (void)state;
    control(100, "");
    bound.bound_by_hand = true;
    assert_int_equal(arm_of(bound), STEP_NO_TRIAL);
    off.options.mode = WIRE_MODE_OFF;
    assert_int_equal(arm_of(off), STEP_NO_TRIAL);
    pinned = request_of(3, 0);
    pinned.pin = WIRE_PIN_CALLS;
    assert_int_equal(fixture_start(f, pinned)->state, STEP_LEFT);
    assert_int_equal(fixture_step(f, 3, 0)->enacted.trial, STEP_NO_TRIAL);
}

static void test_off(void **state)
{
    char path[PATH_MAX];
    struct stat st;

    (void)state;
    control(0, "");
    for (uint32_t job = 1; job <= 50; job++)
        assert_int_equal(arm_of(request_of(job, 0)), STEP_NO_TRIAL);
    key_path(path);
    assert_int_not_equal(stat(path, &st), 0);
}

/* A step of several nodes takes part where all have one key, and is in the same arm everywhere. */
static void test_nodes(void **state)
{
    char path[PATH_MAX];
    enum step_trial arm[JOBS];
    unsigned n = 0;

    (void)state;
    control(100, "");
    for (uint32_t job = 0; job < 2; job++) {
        struct wire_register request = request_of(job + 1, 0);

        request.nodes = 2;
        assert_int_equal(arm_of(request), STEP_NO_TRIAL);
    }
    snprintf(path, sizeof(path), "%s/key", f->dir);
    write_key(path, "000102030405060708090a0b0c0d0e0f\n", 0600);
    control(50, path);
    for (uint32_t job = 0; job < JOBS; job++) {
        struct wire_register request = request_of(job + 1, 0);

        request.nodes = 2;
        arm[job] = arm_of(request);
        n += arm[job] == STEP_CONTROL;
    }
    assert_in_range(n, 150, 250);
    fixture_restart(f); /* another node */
    for (uint32_t job = 0; job < JOBS; job++)
        assert_int_equal(arm_of(request_of(job + 1, 7)), arm[job]);
}

/* Without a key that nobody else can read all are placed; berthd starts all the same. */
static void test_no_key(void **state)
{
    static const struct {
        const char *text, *why;
        mode_t mode;
    } list[] = {
        {"000102030405060708090a0b0c0d0e0f\n", "mode 0640: it must be 0600", 0640},
        {"000102030405060708090a0b0c0d0e0\n", "32 hexadecimal digits expected", 0600},
        {"000102030405060708090a0b0c0d0e0f00\n", "32 hexadecimal digits expected", 0600},
        {"000102030405060708090a0b0c0d0e0f and more", "32 hexadecimal digits expected", 0600},
        {"", "32 hexadecimal digits expected", 0600},
    };
    char path[PATH_MAX];
    const char *why;

    (void)state;
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    snprintf(path, sizeof(path), "%s/key", f->dir);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        write_key(path, list[i].text, list[i].mode);
        control(100, path);
        assert_int_equal(arm_of(request_of(1, 0)), STEP_NO_TRIAL);
        assert_false(trial_runs(&f->packer, NULL, &why));
        if (!strstr(why, list[i].why))
            fail_msg("'%s', not '%s'", why, list[i].why);
    }
    control(100, "/nonexistent/key");
    assert_int_equal(arm_of(request_of(1, 0)), STEP_NO_TRIAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_part), TEST(test_asked), TEST(test_left),
                                       TEST(test_off),  TEST(test_nodes), TEST(test_no_key)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
