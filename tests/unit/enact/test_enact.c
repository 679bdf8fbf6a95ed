/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_hold - in which order steps move, and what becomes of one that cannot be moved. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "packer/enact/enact.h"
#include "packer/enact/rearrange.h"
#include "packer/place/place.h"
#include "packer/steps/journal.h"
#include "packer/steps/stand.h"

#define ONE(home) ((const char *const[]){home, NULL})

static int open_paper(void **state)
{
    struct fixture *f = fixture_open("package:2 numa:1 l3:2 core:2 pu:1");

    fixture_paper(f);
    *state = f;
    return 0;
}

/* Hold the pool of all live steps with n cores assigned. */
static int change(struct fixture *f, size_t n, const size_t *from, const size_t *to, unsigned flags)
{
    struct berth_error err = {""};
    struct pool next;

    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    stand_sync(&(struct scene){&f->packer, &next, false});
    assert_int_equal(pool_assign(&next, n, from, to), 0);
    return rearrange_as(&f->packer, &next, flags, &err);
}

static void test_nothing_to_do(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    assert_int_equal(change(f, 0, NULL, NULL, 0), 0);
    assert_string_equal(f->calls, "");
    assert_int_equal(f->packer.state->tally->moves, 0);
}

/* 1 goes where 2 stands, 2 where 3 stands, 3 to a free core: 3 first, 1 last. */
static void test_vacate_first(void **state)
{
    struct fixture *f = *state;
    struct step *first = fixture_put(f, 1, 0, "0", 1, ONE("0"));

    fixture_put(f, 2, 0, "1", 1, ONE("1"));
    fixture_put(f, 3, 0, "2-3", 1, ONE("2"));
    assert_int_equal(change(f, 3, (size_t[]){0, 1, 2}, (size_t[]){1, 2, 3}, 0), 0);
    assert_string_equal(f->calls, "apply 3.0 3; apply 2.0 2; apply 1.0 1; ");
    assert_int_equal(f->packer.state->tally->moves, 3);
    assert_true(first->enacted.verified);
    assert_cpus(&first->place.cpus, "1");
    assert_cpus(&first->place.home, "0");
}

/* Who makes room has not been moved for his own sake: the next decision does not hesitate. */
static void test_to_make_room(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));

    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, ENACT_MUST), 0);
    assert_int_equal(step->enacted.moves, 1);
    assert_true(step_moved_lately(step, clock_s()) == 0);
    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){0}, 0), 0);
    assert_int_equal(step->enacted.moves, 2);
    assert_true(step_moved_lately(step, clock_s()) > 0.9);
}

/* In a ring somebody has to begin; the one whose place that frees is next. */
static void test_ring(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0", 1, ONE("0"));
    fixture_put(f, 2, 0, "1", 1, ONE("1"));
    fixture_put(f, 3, 0, "2", 1, ONE("2"));
    fixture_put(f, 4, 0, "3", 1, ONE("3")); /* not concerned */
    assert_int_equal(change(f, 3, (size_t[]){0, 1, 2}, (size_t[]){1, 2, 0}, 0), 0);
    assert_string_equal(f->calls, "apply 1.0 1; apply 3.0 0; apply 2.0 2; ");
}

/* Who goes partly where he stands himself does not wait for himself. */
static void test_own_cores_do_not_block(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0-3", 1, ONE("0-1"));
    assert_int_equal(change(f, 2, (size_t[]){0, 1}, (size_t[]){1, 2}, 0), 0);
    assert_string_equal(f->calls, "apply 1.0 1-2; ");
}

/* Tasks may exchange cores while the step's union stays: that is a move to make, too. */
static void test_tasks_exchange(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0-1", 1, (const char *const[]){"0", "1", NULL});

    assert_int_equal(change(f, 2, (size_t[]){0, 1}, (size_t[]){1, 0}, 0), 0);
    assert_string_equal(f->calls, "apply 1.0 0-1; ");
    assert_cpus(&step->body.task[0].cpus, "1");
    assert_cpus(&step->body.task[1].cpus, "0");
}

/* A new step stands at home whatever the pool said of its cores before: it moves where the others
 * do not change. */
static void test_fresh(void **state)
{
    struct fixture *f = *state;
    struct step *fresh;
    struct berth_error err;
    struct pool next;

    fixture_put(f, 1, WIRE_STEP_BATCH, "0-1", 1, ONE("0-1"));
    assert_int_equal(change(f, 2, (size_t[]){0, 1}, (size_t[]){1, 0}, 0), 0);
    fresh = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    fixture_forget(f);
    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    assert_int_equal(enact_change(&f->packer, &next, fresh, 0, &err), 0);
    assert_string_equal(f->calls, "apply 1.0 1; ");
    assert_cpus(&fresh->place.cpus, "1");
}

static void paper_job_list(const struct enforce *enforce, const struct enforce_step *step,
                           char *path)
{
    (void)enforce, (void)step;
    strcpy(path, "/nothing/there");
}

/* Where Slurm writes a job's list at each new step, the job's other moved steps are applied again.
 */
static void test_slurm_writes_the_job_again(void **state)
{
    struct fixture *f = *state;
    struct step *fresh;
    struct berth_error err;
    struct pool next;

    f->way.job_list = paper_job_list;
    fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    fixture_put(f, 2, 0, "2-3", 1, ONE("2"));
    assert_int_equal(change(f, 2, (size_t[]){0, 2}, (size_t[]){2, 0}, 0), 0);
    fresh = fixture_put(f, 1, 1, "0-1", 1, ONE("1"));
    fixture_forget(f);
    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    assert_int_equal(enact_change(&f->packer, &next, fresh, 0, &err), 0);
    assert_string_equal(f->calls, "apply 1.0 2; ");

    fixture_forget(f);
    rearrange_again(&f->packer, 2);
    assert_string_equal(f->calls, "apply 2.0 0; ");
    fixture_forget(f);
    rearrange_again(&f->packer, 7);
    assert_string_equal(f->calls, "");
    f->fails = 1;
    rearrange_again(&f->packer, 1);
    assert_int_equal(f->packer.state->tally->failures, 2); /* both of its steps */
    assert_stand(f->packer.state->pool, "- - 2 3 - - - -");
}

static void test_all(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0", 1, ONE("0"));
    fixture_put(f, 2, 0, "1", 1, ONE("1"))->state = STEP_LEFT;
    assert_int_equal(change(f, 0, NULL, NULL, ENACT_ALL), 0);
    assert_string_equal(f->calls, "apply 1.0 0; ");
    assert_int_equal(f->packer.state->tally->moves, 0); /* it stood right */
}

/* It has ended, and nobody has said so yet: that is no failure. */
static void test_the_dead_do_not_fail(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0", 1, ONE("0"));
    fixture_put(f, 2, 0, "4", 1, ONE("4"));
    f->fails = f->dead = 2;
    assert_int_equal(change(f, 0, NULL, NULL, ENACT_ALL), 0);
    assert_int_equal(f->packer.state->tally->failures, 0);
    assert_null(strstr(f->calls, "restore"));
}

/* 2 cannot be moved: it is put back, its cores leave the pool, 1 goes on to where 2 should have. */
static void test_failure(void **state)
{
    struct fixture *f = *state;
    struct step *first = fixture_put(f, 1, 0, "0", 1, ONE("0"));
    struct step *second = fixture_put(f, 2, 0, "4", 1, ONE("4"));

    fixture_put(f, 3, 0, "2-3", 1, ONE("3"));
    f->fails = 2;
    assert_int_equal(change(f, 2, (size_t[]){0, 4}, (size_t[]){4, 2}, 0), 0);
    assert_int_equal(second->state, STEP_FAILED);
    assert_cpus(&second->body.task[0].cpus, "4");
    assert_cpus(&second->place.cpus, "4");
    assert_cpus(&second->place.mems, "1");
    assert_true(second->enacted.verified); /* at home */
    assert_string_equal(second->enacted.reason, "put back: it could not be moved: the paper tore");
    assert_cpus(&first->body.task[0].cpus, "2");
    assert_stand(f->packer.state->pool, "2 - 0 3 - - - -");
    assert_int_equal(f->packer.state->tally->failures, 1);
    assert_true(strncmp(f->calls, "apply 2.0 2; restore 2.0 4; ", 28) == 0);
    assert_string_equal(f->calls + strlen(f->calls) - 13, "apply 1.0 2; ");
}

/* ---- threads that are for later ---- */

static bool torn;
static unsigned woken;

static int list_ghost(struct enforce *enforce, const struct enforce_step *step,
                      struct enforce_pids *list)
{
    (void)enforce, (void)step;
    return enforce_pids_add(list, 0x3ffffff0); /* a number that no process has */
}

static int stand_or_tear(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    (void)enforce, (void)step;
    return torn ? berth_error_set(err, "the paper tore later") : 0;
}

static int apply_later(struct enforce *enforce, const struct enforce_step *step,
                       struct berth_error *err)
{
    enforce_pace(enforce, 0, 0);
    return enforce_settle(enforce, step, ENFORCE_PLACE, false, err);
}

static void wake_now(void *arg, double in_s)
{
    (void)arg;
    woken += in_s == 0;
}

/* A step stands where it shall when its cpuset does; it is verified when its threads were seen to,
 * and put back when that cannot be done. */
static void test_verified_later(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0", 1, ONE("0"));

    fixture_put(f, 2, 0, "1-3", 1, ONE("3"))->state = STEP_LEFT;
    fixture_put(f, 3, 0, "4", 1, ONE("4"));
    f->way.apply = apply_later;
    f->way.pids = list_ghost;
    f->way.stands = stand_or_tear;
    f->packer.wake.call = wake_now;
    for (int i = 0; i < 2; i++) {
        torn = i == 1;
        woken = 0;
        step->enacted.verified = true;
        assert_int_equal(change(f, 2, (size_t[]){0, 4}, (size_t[]){i ? 0 : 4, i ? 4 : 0}, 0), 0);
        assert_int_equal(woken, 2);
        assert_false(step->enacted.verified);
        assert_int_equal(step->state, STEP_PLACED);
        assert_true(enforce_settles(f->packer.world.enforce, step->request.id, ENFORCE_PLACE));
        for (int turns = 0; rearrange_turn(&f->packer); turns++)
            assert_true(turns < 1000); /* each lasts a while, which may be over at once */
        assert_false(enforce_settles(f->packer.world.enforce, step->request.id, ENFORCE_PLACE));
        assert_true(step->enacted.verified); /* where it shall stand, or at home */
    }
    assert_int_equal(step->state, STEP_FAILED);
    assert_string_equal(step->enacted.reason,
                        "put back: it could not be moved: the paper tore later");
    assert_false(step->enacted.away);
    assert_non_null(strstr(f->calls, "restore 1.0 0; "));
}

static unsigned fails, sent;

static int list_in_a_turn(struct enforce *enforce, const struct enforce_step *step,
                          struct enforce_pids *list)
{
    if (enforce->looks == 0 || fails == 0)
        return list_ghost(enforce, step, list);
    fails--;
    errno = EIO;
    return -1;
}

static int restore_later(struct enforce *enforce, const struct enforce_step *step,
                         struct berth_error *err)
{
    sent++;
    enforce_pace(enforce, 0, 0);
    return enforce_settle(enforce, step, ENFORCE_HOME, false, err);
}

/* A step whose way home fails in a turn is sent there once more, and not for ever. */
static void test_home_later(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0", 1, ONE("0"));

    f->way.restore = restore_later;
    f->way.pids = list_in_a_turn;
    f->packer.wake.call = wake_now;
    for (unsigned times = 0; times < 6; times++) {
        fails = times % 3;
        sent = 0;
        enact_restore(&f->packer, step);
        assert_true(step->enacted.away);
        for (int turns = 0; rearrange_turn(&f->packer); turns++)
            assert_true(turns < 1000);
        assert_int_equal(sent, times % 3 == 0 ? 1 : 2);
        assert_int_equal(step->enacted.away, times % 3 == 2);
        assert_int_equal(step->enacted.verified, times % 3 != 2);
    }
}

/* Everybody fails: nobody is left in the pool, and it ends. */
static void test_all_fail(void **state)
{
    struct fixture *f = *state;
    struct step *step;

    fixture_put(f, 5, 0, "0", 1, ONE("0"));
    fixture_put(f, 5, 1, "2", 1, ONE("2"));
    f->fails = 5;
    assert_int_equal(change(f, 2, (size_t[]){0, 2}, (size_t[]){2, 0}, 0), 0);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
    TAILQ_FOREACH(step, &f->packer.steps->live, link) assert_int_equal(step->state, STEP_FAILED);
    assert_string_equal(f->calls, "apply 5.0 2; restore 5.0 0; apply 5.1 0; restore 5.1 2; ");
}

static bool no_memory;

int __real_array_grow(void *list, size_t *room, size_t need, size_t size);
int __wrap_array_grow(void *list, size_t *room, size_t need, size_t size);
int __wrap_array_grow(void *list, size_t *room, size_t need, size_t size)
{
    return no_memory ? -1 : __real_array_grow(list, room, need, size);
}

/* A move that there is no memory for is not told of, and made with the next change. */
static void test_no_memory(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));

    assert_int_equal(change(f, 0, NULL, NULL, ENACT_ALL), 0);
    fixture_forget(f);
    no_memory = true;
    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, 0), 0);
    no_memory = false;
    assert_string_equal(f->calls, "");
    assert_cpus(&step->body.task[0].cpus, "0");
    assert_cpus(&step->place.cpus, "0");
    assert_int_equal(change(f, 0, NULL, NULL, 0), 0);
    assert_string_equal(f->calls, "apply 1.0 1; ");
    assert_cpus(&step->place.cpus, "1");
}

/* ---- the journal comes first ---- */

static void test_not_journaled_not_done(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    assert_int_equal(change(f, 0, NULL, NULL, 0), 0);
    fixture_limit_files(journal_size(&f->packer));
    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, 0), -1);
    assert_string_equal(f->calls, "");
    assert_stand(f->packer.state->pool, "0 1 - - - - - -");
    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, ENACT_MUST), 0);
    fixture_limit_files(RLIM_INFINITY);
    assert_string_equal(f->calls, "apply 1.0 1; ");
    assert_stand(f->packer.state->pool, "1 0 - - - - - -");
}

static void test_journaled_once(void **state)
{
    struct fixture *f = *state;
    size_t size;

    fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, 0), 0);
    size = journal_size(&f->packer);
    assert_true(size > 0);
    assert_int_equal(change(f, 0, NULL, NULL, 0), 0);
    assert_int_equal(journal_size(&f->packer), size);
}

/* ---- words ---- */

static void test_describe(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0-3", 1, (const char *const[]){"0", "1", NULL});

    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    assert_int_equal(pool_assign(f->packer.state->pool, 1, (size_t[]){1}, (size_t[]){3}), 0);
    place_describe(&f->packer, f->packer.state->pool, step);
    assert_cpus(&step->place.home, "0-1");
    assert_cpus(&step->place.cpus, "0,3");
    assert_cpus(&step->place.mems, "0");
}

static void test_restore(void **state)
{
    struct fixture *f = *state;
    struct step *step = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));

    assert_int_equal(change(f, 1, (size_t[]){0}, (size_t[]){1}, 0), 0);
    fixture_forget(f);
    enact_restore(&f->packer, step);
    assert_string_equal(f->calls, "restore 1.0 0; ");
    assert_cpus(&step->body.task[0].cpus, "0");
    assert_cpus(&step->place.cpus, "0");
}

#define test(name) cmocka_unit_test_setup_teardown(name, open_paper, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_nothing_to_do),
        test(test_vacate_first),
        test(test_to_make_room),
        test(test_ring),
        test(test_own_cores_do_not_block),
        test(test_tasks_exchange),
        test(test_fresh),
        test(test_slurm_writes_the_job_again),
        test(test_all),
        test(test_the_dead_do_not_fail),
        test(test_verified_later),
        test(test_home_later),
        test(test_failure),
        test(test_all_fail),
        test(test_no_memory),
        test(test_not_journaled_not_done),
        test(test_journaled_once),
        test(test_describe),
        test(test_restore),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
