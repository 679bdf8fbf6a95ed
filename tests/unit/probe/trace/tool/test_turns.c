/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_turns - whom a thread waits for before its turn, with a valgrind that is played here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/trace/tool/turns.h"
#include "pub_tool_threadstate.h"

#define AHEAD 1000000    /* instructions: more than any turn has */
#define STARVED 3000000L /* yields: some seconds in which a thread gets no CPU */

/* What turns.c asks of valgrind and of count.c. */
extern ULong count_instructions;
extern void VG_(vg_yield)(void);
extern Bool VG_(is_valid_tid)(ThreadId tid);
extern Bool VG_(is_exiting)(ThreadId tid);
ULong count_instructions;

static long yields;          /* so far */
static ThreadId over, dying; /* the thread that has ended, and the one that is about to */
static void (*on_yield)(void);

void VG_(vg_yield)(void)
{
    if (++yields > 10 * STARVED)
        fail_msg("waits for ever");
    if (on_yield)
        on_yield();
}

Bool VG_(is_valid_tid)(ThreadId tid)
{
    return tid != over;
}

Bool VG_(is_exiting)(ThreadId tid)
{
    return tid == dying;
}

/* Threads 1 and 2 exist, and 1 is far ahead. */
static int set_up(void **state)
{
    (void)state;
    yields = 0;
    over = dying = VG_INVALID_THREADID;
    on_yield = NULL;
    turns_init(64);
    turns_forked(1);
    turns_begin(1);
    turns_join(2);
    count_instructions += AHEAD;
    return 0;
}

static void other_catches_up(void)
{
    if (yields < STARVED)
        return;
    on_yield = NULL;
    turns_begin(2);
    count_instructions += AHEAD;
    turns_begin(2);
}

static void test_one_without_a_cpu_is_waited_for(void **state)
{
    (void)state;
    on_yield = other_catches_up;
    turns_begin(1);
    assert_int_equal(yields, STARVED);
}

static void other_is_dying(void)
{
    dying = 2;
}

static void other_is_over(void)
{
    over = 2;
}

static void test_one_that_ends_is_not(void **state)
{
    (void)state;
    on_yield = other_is_dying;
    turns_begin(1);
    assert_int_equal(yields, 1);
    set_up(NULL);
    on_yield = other_is_over;
    turns_begin(1);
    assert_int_equal(yields, 1);
}

static void other_calls(void)
{
    turns_leave(2);
}

static void test_one_in_a_call_is_not_until_its_result(void **state)
{
    (void)state;
    on_yield = other_calls;
    turns_begin(1);
    assert_int_equal(yields, 1);
    turns_join(2); /* it has the result, and has not run yet */
    count_instructions += AHEAD;
    on_yield = other_catches_up;
    turns_begin(1);
    assert_int_equal(yields, STARVED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_without_a_cpu_is_waited_for, set_up),
        cmocka_unit_test_setup(test_one_that_ends_is_not, set_up),
        cmocka_unit_test_setup(test_one_in_a_call_is_not_until_its_result, set_up),
    };

    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
