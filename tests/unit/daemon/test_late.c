/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_late - steps that run before anybody has heard what berthd says of them: each has its
 * record, with its own times, once; and is never on fewer cores than its threads were counted for.
 */
#include "tests/unit/common/clock_stands.h"
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "packer/base/clock.h"
#include "packer/daemon/ledger_record.h"

static int start(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

/* What the plugin says of a step that began so many seconds ago. */
static struct wire_register request_of(uint32_t job, double ago_s)
{
    struct wire_register reg = fixture_request(job, 0, "2-3", "2-3", 1, "prog");

    reg.began_s = clock_s() - ago_s;
    return reg;
}

static void end_late(struct fixture *f, double began_s, uint32_t job, double ago_s, int status)
{
    struct wire_register reg = request_of(job, 0);
    struct wire_end end = {.id = {job, 0},
                           .exit_status = status,
                           .user_s = 2,
                           .system_s = 1,
                           .ended_s = clock_s() - ago_s,
                           .late = &reg};

    reg.began_s = began_s;
    pipeline_end(&f->packer, &end);
    free(reg.task);
}

static void assert_close(double x, double y)
{
    if (fabs(x - y) > 1e-3)
        fail_msg("%.3f is not %.3f", x, y);
}

/* It is so many seconds ago, by a clock of whole seconds that was read before and goes on. */
static void assert_ago(int64_t at, int64_t before, int64_t ago_s)
{
    assert_in_range(at, before - ago_s - 1, time(NULL) - ago_s);
}

/* Nobody knew of it until its end: a record with all that is known, and nobody moves for it. */
static void test_known_by_its_end(void **state)
{
    struct fixture *f = *state;
    struct step *other = fixture_run(f, 1, "0", "low");
    const struct step *step;
    struct ledger_record record;
    int64_t before = time(NULL);

    end_late(f, clock_s() - 8, 2, 3, 256);
    assert_int_equal(f->packer.steps->nlive, 1);
    step = TAILQ_FIRST(&f->packer.steps->ended);
    ledger_record_fill(&f->packer, step, &record);
    assert_int_equal(record.id.job, 2);
    assert_string_equal(record.state, "late");
    assert_string_equal(record.program, "prog");
    assert_int_equal(record.tasks, 1);
    assert_int_equal(record.exit_status, 256);
    assert_true(record.user_s == 2);
    assert_close(record.elapsed_s, 5);
    assert_ago(record.start, before, 8);
    assert_ago(record.end, before, 3);
    assert_cpus(&other->place.cpus, "0");
    assert_int_equal(pool_count(f->packer.state->pool), 1);
}

/* A registration that is served after the end is of nobody. */
static void test_other_way_round(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, 1);
    double began_s = reg.began_s;
    struct wire_answer answer;

    end_late(f, began_s, 2, 0, 0);
    end_late(f, began_s, 2, 0, 0); /* heard of twice */
    assert_int_equal(f->packer.steps->nended, 1);
    pipeline_start(&f->packer, &reg, &answer);
    assert_false(answer.ok);
    assert_non_null(strstr(answer.error, "has ended"));
    wire_answer_clear(&answer);
    free(reg.task);
    assert_int_equal(f->packer.steps->nlive, 0);
    assert_int_equal(f->packer.steps->nended, 1);
}

/* The registration was taken in after all: it is that step that ends. */
static void test_taken_in(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, 1);
    double began_s = reg.began_s;
    struct ledger_record record;

    fixture_start(f, reg);
    end_late(f, began_s, 2, 0, 0);
    assert_int_equal(f->packer.steps->nlive, 0);
    assert_int_equal(f->packer.steps->nended, 1);
    assert_true(TAILQ_FIRST(&f->packer.steps->ended)->late);
    ledger_record_fill(&f->packer, TAILQ_FIRST(&f->packer.steps->ended), &record);
    assert_string_equal(record.home, "2-3");
    assert_close(record.elapsed_s, 1);
}

/* A job that was requeued: the step that is known has the same name, and is another one. */
static void test_same_name(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, request_of(2, 60));
    end_late(f, clock_s() - 1, 2, 0, 0);
    assert_int_equal(f->packer.steps->nlive, 0);
    assert_int_equal(f->packer.steps->nended, 2);
}

/* Its threads were counted without berth: it has all its cores, for good, and stays in the pool. */
static void test_not_sized(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, 0), same;
    struct step *step;

    reg.options.size = true;
    reg.options.cores_min = reg.options.cores_max = 1;
    same = reg;
    step = fixture_start(f, reg);
    assert_int_equal(step->size.given, 1);
    pipeline_late(&f->packer, &same);
    assert_true(step->late);
    assert_int_equal(step->state, STEP_PLACED);
    assert_int_equal(step->size.given, 2);
    assert_int_equal(cpus_count(&step->place.cpus), 2);
    assert_int_equal(cpus_count(&step->body.task[0].use), 2);
    fixture_run(f, 3, "0", "low"); /* all are sized anew */
    assert_int_equal(step->size.given, 2);
    same.began_s++; /* another registration's answer was not heard */
    step->late = false;
    pipeline_late(&f->packer, &same);
    assert_false(step->late);
}

/* Launches that went on without berthd are counted, where their user wanted it. */
static void test_counted(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, 0), same = reg;

    fixture_start(f, reg);
    pipeline_late(&f->packer, &same);
    assert_int_equal(f->packer.state->tally->failed_open[PACKER_LATE], 1);
    reg = request_of(5, 1);
    pipeline_end(&f->packer, &(struct wire_end){.id = reg.id, .user_s = -1, .late = &reg});
    assert_int_equal(f->packer.state->tally->failed_open[PACKER_UNHEARD], 1);
    free(reg.task);
    reg = request_of(6, 1);
    reg.options.mode = WIRE_MODE_OFF;
    pipeline_end(&f->packer, &(struct wire_end){.id = reg.id, .user_s = -1, .late = &reg});
    free(reg.task);
    assert_int_equal(f->packer.state->tally->failed_open[PACKER_UNHEARD], 1);
}

static void leave_notes(const struct fixture *f, const char *more, mode_t mode)
{
    struct wire_register reg = request_of(7, 1);
    struct wire_request request = {
        .op = WIRE_OP_END, .end = {.id = reg.id, .user_s = -1, .exit_status = 3, .late = &reg}};
    char *line = wire_request_encode(&request), path[PATH_MAX];
    FILE *out;

    snprintf(path, sizeof(path), "%s/" WIRE_MISSED_FILE, f->dir);
    out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "%s%s", more, line);
    fclose(out);
    assert_int_equal(chmod(path, mode), 0);
    free(line);
    free(reg.task);
}

/* What the plugin has left for a berthd that was not there is heard once, by the next one. */
static void test_notes(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    snprintf(f->packer.world.conf.socket, sizeof(f->packer.world.conf.socket), "%s/sock", f->dir);
    log_open(LOG_TARGET_STDERR, LOG_LEVEL_ERROR);
    leave_notes(f, "garbage\n{}\n", 0600);
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.steps->nended, 1);
    step = TAILQ_FIRST(&f->packer.steps->ended);
    assert_int_equal(step->request.id.job, 7);
    assert_int_equal(step->exit_status, 3);
    assert_true(step->late);
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.state->tally->failed_open[PACKER_UNHEARD], 1);
    leave_notes(f, "", 0622); /* anybody could have written it */
    pipeline_sweep(&f->packer);
    assert_int_equal(f->packer.state->tally->failed_open[PACKER_UNHEARD], 1);
}

/* Times that cannot be are those of now. */
static void test_times(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, -3600);
    int64_t before = time(NULL);
    struct step *step = fixture_start(f, reg);

    assert_close(step->started_mono_s, clock_s());
    assert_ago(step->started_at, before, 0);
    pipeline_end(&f->packer, &(struct wire_end){.id = {2, 0}, .ended_s = 1});
    step = TAILQ_FIRST(&f->packer.steps->ended);
    assert_close(step->ended_mono_s, clock_s());
    assert_true(step->ended_at >= step->started_at);
}

/* What is late is so for the next berthd, too. */
static void test_journal(void **state)
{
    struct fixture *f = *state;
    struct wire_register reg = request_of(2, 1), same = reg;
    struct berth_error err = {""};

    fixture_start(f, reg);
    pipeline_late(&f->packer, &same);
    fixture_restart(f);
    fixture_paper(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(fixture_step(f, 2, 0)->late);
    assert_true(step_is_of(fixture_step(f, 2, 0), &same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_known_by_its_end, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_other_way_round, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_taken_in, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_same_name, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_not_sized, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_counted, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_notes, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_times, start, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_journal, start, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
