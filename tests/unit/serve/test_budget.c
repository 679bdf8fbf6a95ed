/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_budget - what users may take, by a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "packer/serve/budget.h"

#define ALICE 1001
#define BOB 1002
#define NOW 1000.0

static int start(void **state)
{
    struct budget *budget = malloc(sizeof(*budget));

    budget_init(budget, NOW);
    *state = budget;
    return 0;
}

static int halt(void **state)
{
    free(*state);
    return 0;
}

static void test_connections(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = NULL, *bob;

    for (int i = 0; i < BUDGET_CONNECTIONS; i++)
        assert_non_null(alice = budget_enter(budget, ALICE, NOW));
    assert_null(budget_enter(budget, ALICE, NOW));
    assert_non_null(bob = budget_enter(budget, BOB, NOW));
    assert_ptr_not_equal(alice, bob);
    assert_int_equal(budget_connections(budget, ALICE), BUDGET_CONNECTIONS);
    assert_int_equal(budget_connections(budget, BOB), 1);
    assert_int_equal(budget_connections(budget, 1), 0);
    budget_leave(budget, alice);
    assert_ptr_equal(budget_enter(budget, ALICE, NOW), alice);
}

static void test_connections_of_all(void **state)
{
    struct budget *budget = *state;
    struct budget_account *last = NULL;

    for (uid_t uid = 1; uid <= BUDGET_CONNECTIONS_ALL; uid++)
        assert_non_null(last = budget_enter(budget, uid, NOW));
    assert_null(budget_enter(budget, ALICE, NOW));
    budget_leave(budget, last);
    assert_non_null(budget_enter(budget, ALICE, NOW));
}

/* So many requests at once, then as many as time brings. */
static void test_requests(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW),
                          *bob = budget_enter(budget, BOB, NOW);
    int begun = 0;

    while (budget_wait_s(budget, alice, true, NOW) <= 0) {
        budget_spend(budget, alice, 1, 0, NOW);
        begun++;
    }
    assert_int_equal(begun, BUDGET_REQUESTS);
    assert_true(budget_wait_s(budget, alice, false, NOW) <= 0); /* what has begun goes on */
    assert_true(budget_wait_s(budget, bob, true, NOW) <= 0);
    assert_true(budget_wait_s(budget, alice, true, NOW + 1.0 / BUDGET_REQUESTS_PER_S) < 1e-6);
}

static void test_time(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW);
    double wait_s;

    budget_spend(budget, alice, 0, BUDGET_CPU_S + 0.01, NOW);
    wait_s = budget_wait_s(budget, alice, false, NOW);
    assert_true(wait_s > 0);
    assert_true(budget_wait_s(budget, alice, false, NOW + wait_s) < 1e-9);
    assert_true(budget_wait_s(budget, alice, false, NOW + 1e6) <= 0);
    budget_spend(budget, alice, 0, BUDGET_CPU_S + 0.01, NOW + 1e6); /* not more than full */
    assert_true(budget_wait_s(budget, alice, false, NOW + 1e6) > 0);
}

/* A new connection brings nothing new. */
static void test_debts_stay(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW);

    budget_spend(budget, alice, BUDGET_REQUESTS, 1, NOW);
    budget_leave(budget, alice);
    for (uid_t uid = 1; uid < BUDGET_ACCOUNTS; uid++)
        budget_leave(budget, budget_enter(budget, uid, NOW));
    alice = budget_enter(budget, ALICE, NOW);
    assert_true(budget_wait_s(budget, alice, true, NOW) > 0);
}

/* Many users together leave the others something, too. */
static void test_all_together(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW);

    for (uid_t uid = 1; uid <= BUDGET_ALL; uid++)
        budget_spend(budget, budget_enter(budget, uid, NOW), 0, BUDGET_CPU_S + 0.01, NOW);
    assert_true(budget_wait_s(budget, alice, true, NOW) <= 0); /* of her own she has */
    assert_true(budget_wait_s(budget, NULL, false, NOW) > 0);
    assert_true(budget_wait_s(budget, NULL, false, NOW + 1) <= 0);
}

/* Who has had least is next. Who has asked for nothing is not owed a thousand turns for that, and
 * who has asked much does not wait until a newcomer has had as much. */
static void test_turns(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW),
                          *bob = budget_enter(budget, BOB, NOW), *carol;

    for (int i = 0; i < 1000; i++) {
        budget_turn(budget, alice);
        budget_spend(budget, alice, 1, 0, NOW);
    }
    assert_true(budget_had(budget, bob) < budget_had(budget, alice));
    budget_turn(budget, bob);
    budget_spend(budget, bob, 4, 0, NOW);
    carol = budget_enter(budget, 1, NOW);
    assert_true(budget_had(budget, carol) < budget_had(budget, alice));
    budget_spend(budget, carol, 4, 0, NOW);
    assert_true(budget_had(budget, alice) < budget_had(budget, bob));
    assert_true(budget_had(budget, alice) < budget_had(budget, carol));
}

static void test_unsent(void **state)
{
    struct budget *budget = *state;
    struct budget_account *alice = budget_enter(budget, ALICE, NOW),
                          *bob = budget_enter(budget, BOB, NOW);

    budget_unsent(budget, alice, 0, BUDGET_UNSENT);
    assert_false(budget_may_write(budget, alice));
    assert_true(budget_may_write(budget, bob));
    budget_unsent(budget, alice, BUDGET_UNSENT, 0);
    assert_true(budget_may_write(budget, alice));
    budget_unsent(budget, alice, 0, BUDGET_UNSENT_ALL);
    assert_false(budget_may_write(budget, bob));
}

#define test(name) cmocka_unit_test_setup_teardown(name, start, halt)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(test_connections), test(test_connections_of_all),
        test(test_requests),    test(test_time),
        test(test_debts_stay),  test(test_all_together),
        test(test_turns),       test(test_unsent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
