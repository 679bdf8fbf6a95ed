/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_share_wait - who is too young for a part of cores that other jobs have, too, and when berthd
 * looks at him again. */
#include "tests/unit/common/sharing.h"

#include "packer/size/share_wait.h"

/* ---- parts ---- */

static void test_newcomer(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b;

    share(f);
    b = put(f, 2, 0, "0-3");
    share_now(f);
    assert_use(a, "0-3"); /* it has it all yet, and so has the newcomer */
    assert_use(b, "0-3");
    assert_int_equal(a->share.others, 1);
    assert_int_equal(a->share.cores, 0);
    assert_int_equal(a->share.changes + b->share.changes, 0);
    assert_false(a->share.waits);
    assert_true(b->share.waits);
    grows(b);
    share_now(f);
    assert_use(a, "0,2");
    assert_use(b, "1,3");
    assert_false(b->share.waits);
}

/* The older one may be the young one: it is a matter of the steps' ages. */
static void test_all_are_new(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 2, 0, "0-3");

    share_now(f);
    assert_use(a, "0-3");
    assert_use(b, "0-3");
    grows(b);
    share_now(f);
    assert_use(a, "0-3");
    assert_use(b, "0-3");
    assert_true(a->share.waits);
}

/* Who has a part keeps it, whoever comes. */
static void test_newcomer_beside_parts(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 2, 0, "0-3"), *c;

    share(f);
    c = put(f, 3, 0, "0-5");
    share_now(f);
    assert_use(a, "0,2");
    assert_use(b, "1,3");
    assert_use(c, "0-5");
    assert_int_equal(a->share.others, 2);
    assert_int_equal(a->share.cores, 2);
    assert_int_equal(c->share.others, 2);
    assert_int_equal(c->share.cores, 0);
    assert_int_equal(a->share.changes + b->share.changes, 2);
    registry_drop(f->packer.steps, c); /* it was a short one */
    share_now(f);
    assert_int_equal(a->share.changes + b->share.changes, 2);
}

/* A batch script has the part while a step of its job is too young for it. */
static void test_newcomer_of_a_script(void **state)
{
    struct fixture *f = *state;
    struct step *shell = put(f, 1, WIRE_STEP_BATCH, "0-1"), *b = put(f, 2, 0, "0-1"), *a;

    share(f);
    assert_use(shell, "0");
    a = put(f, 1, 0, "0-1");
    share_now(f);
    assert_use(shell, "0");
    assert_use(a, "0-1");
    assert_use(b, "1");
    grows(a);
    share_now(f);
    assert_use(shell, "0-1");
    assert_int_equal(cpus_count(&a->body.task[0].use), 1);
    assert_int_equal(cpus_count(&b->body.task[0].use), 1);
    assert_false(cpus_intersect(&a->body.task[0].use, &b->body.task[0].use));
}

/* `adapt` asks for parts by name. */
static void test_adapt_does_not_wait(void **state)
{
    struct fixture *f = *state;
    struct step *a = put(f, 1, 0, "0-3"), *b = put(f, 1, 1, "0-3");

    a->request.options.adapt = b->request.options.adapt = true;
    share_now(f);
    assert_use(a, "0,2");
    assert_use(b, "1,3");
    assert_false(a->share.waits || b->share.waits);
}

/* ---- when berthd looks again ---- */

/* berthd is woken for those who wait, once, and for nobody else. */
static void test_due(void **state)
{
    struct fixture *f = *state;
    struct step *a, *b;

    f->packer.world.conf.first_window_ms = 1000000;
    put(f, 7, 0, "4-5"); /* young, and alone */
    share_now(f);
    assert_true(share_due(&f->packer) < 0);
    a = put(f, 1, 0, "0-1");
    b = put(f, 2, 0, "0-1");
    a->started_mono_s -= 1000;
    share_now(f);
    assert_true(share_due(&f->packer) > 0 && share_due(&f->packer) <= 1000);
    assert_false(share_turn(&f->packer));
    grows(a);
    assert_true(share_due(&f->packer) == 0);
    assert_true(share_turn(&f->packer));
    assert_false(share_turn(&f->packer));
    share_now(f);
    assert_true(share_due(&f->packer) > 1000 && share_due(&f->packer) <= 2000);
    grows(b);
    assert_true(share_turn(&f->packer));
    share_now(f);
    assert_true(share_due(&f->packer) < 0);
    assert_false(share_turn(&f->packer));
}

#define test(name) cmocka_unit_test_setup_teardown(name, sharing_open, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_newcomer),
        test(test_all_are_new),
        test(test_newcomer_beside_parts),
        test(test_newcomer_of_a_script),
        test(test_adapt_does_not_wait),
        test(test_due),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
