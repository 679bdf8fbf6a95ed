/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_explain_inside - what `berthctl explain -v` says of the policies inside a step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packer/cli/explain/explain_inside.h"

typedef void explain_stage(FILE *out, struct json_object *object);

static void assert_says(explain_stage *explain, const char *json, const char *expected)
{
    struct json_object *object = json_tokener_parse(json);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(object);
    assert_non_null(out);
    explain(out, object);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    json_object_put(object);
}

static void test_refused(void **state)
{
    (void)state;
    assert_says(explain_faithful, "{\"refused\":\"no counters\",\"seconds\":null}",
                "has no effect: no counters");
    assert_says(explain_shuffle, "{\"refused\":\"it has too many threads\",\"seconds\":75}",
                "has no effect: it has too many threads; it was in effect for 1:15");
}

static void test_faithful(void **state)
{
    (void)state;
    assert_says(explain_faithful,
                "{\"refused\":null,\"seconds\":30,\"scaling\":0.16,\"miss_ratio\":null,"
                "\"lock\":0.84,\"class\":\"batch\",\"slice_ms\":100,\"asked_ms\":200,"
                "\"threads\":1,\"own_threads\":0,\"changes\":2}",
                "slices of 200 ms (the kernel gives 100) and SCHED_BATCH for 1 thread; scaling "
                "0.16: miss ratio not known, waiting for locks 84 % of the threads' time; changed "
                "2 times, in effect for 0:30");
    assert_says(explain_faithful,
                "{\"asked_ms\":10,\"slice_ms\":null,\"threads\":8,\"own_threads\":2,"
                "\"changes\":1,\"seconds\":1}",
                "slices of 10 ms (this kernel has none: the class alone) and SCHED_BATCH for 8 "
                "threads; 2 threads left alone, whose class or slice is the program's own; changed "
                "1 time, in effect for 0:01");
    assert_says(explain_faithful,
                "{\"asked_ms\":null,\"threads\":0,\"own_threads\":0,\"changes\":0}",
                "class and slices as the program has them; changed 0 times");
}

static void test_tranquil(void **state)
{
    (void)state;
    assert_says(explain_tranquil,
                "{\"pass\":2,\"state\":\"profile\",\"memory\":\"interleave\",\"kept\":true,"
                "\"miss\":[9000,500,4000,100],\"icx\":[null,null,null,null],\"asked_ms\":100,"
                "\"slice_ms\":100,\"threads\":4,\"own_threads\":0,\"changes\":1,\"seconds\":61}",
                "memory dealt over its nodes; slices of 100 ms (the kernel gives 100) and "
                "SCHED_BATCH for 4 threads; pass 2; what was tried last stays; misses per million "
                "instructions 9000 (+- 500) before, 4000 (+- 100) with it; changed 1 time, in "
                "effect for 1:01");
    assert_says(explain_tranquil,
                "{\"pass\":1,\"state\":\"trial\",\"memory\":\"local\",\"kept\":null,"
                "\"changes\":0}",
                "memory where the program has it; class and slices as the program has them; pass "
                "1, whose trial is being measured; changed 0 times");
    assert_says(explain_tranquil,
                "{\"pass\":2,\"state\":\"profile\",\"memory\":\"local\",\"kept\":false,"
                "\"changes\":2}",
                "memory where the program has it; class and slices as the program has them; pass "
                "2; what was tried last was taken back; changed 2 times");
}

static void test_tranquil_memory(void **state)
{
    (void)state;
    assert_says(explain_tranquil,
                "{\"memory\":\"interleave\",\"memory_why\":\"node 1 is full\",\"pass\":2,"
                "\"changes\":1}",
                "memory dealt over its nodes, not all: node 1 is full; class and slices as the "
                "program has them; pass 2; changed 1 time");
    assert_says(explain_tranquil,
                "{\"memory\":\"returning\",\"memory_why\":null,\"pass\":2,\"changes\":1}",
                "memory on its way back to where the program had it; class and slices as the "
                "program has them; pass 2; changed 1 time");
}

static void test_shuffle(void **state)
{
    (void)state;
    assert_says(explain_shuffle,
                "{\"round\":3,\"lock\":0.25,\"moved\":4,\"changes\":8,\"bound\":1,"
                "\"unit\":\"package\",\"groups\":[{\"package\":0,\"threads\":4,"
                "\"lock\":[0.02,0.11]},{\"package\":1,\"threads\":1,\"lock\":[null,null]}]}",
                "round 3: threads wait for locks 25 % of their time; 4 moved in it; 1 thread left "
                "alone, which the program has bound; package 0: 4 threads that wait 2 to 11 %; "
                "package 1: 1 thread; changed 8 times");
}

static void test_adapt(void **state)
{
    (void)state;
    assert_says(explain_adapt,
                "{\"configuration\":\"sets\",\"why\":null,\"user_all\":52.3,\"user_sets\":57,"
                "\"rule\":\"promised\",\"changes\":1,\"faithful\":true,"
                "\"interleave\":true,\"memory\":\"interleave\",\"memory_why\":null}",
                "a part of the cores that several have; predicted user time 52.3 % with all cores "
                "for all, 57.0 % with the best parts; the last change was by the rule promised; "
                "slices as by faithful; its memory is dealt over the nodes of its cores; changed 1 "
                "time");
    assert_says(explain_adapt,
                "{\"configuration\":null,\"why\":\"nothing is known\",\"changes\":0}",
                "shared by need: nothing is known; changed 0 times");
}

static void test_follow(void **state)
{
    (void)state;
    assert_says(explain_follow,
                "{\"threads\":2,\"most\":4,\"changes\":1,\"processes\":3,\"regions\":10,"
                "\"own_regions\":1,\"nested_regions\":0,\"region_threads\":2,"
                "\"surprise\":\"it is odd\",\"seconds\":5}",
                "parallel regions have 2 of 4 threads at most; 3 of its processes have said so "
                "far: 10 regions had that number, the last one 2, 1 had one of their own, 0 were "
                "within others; left alone: it is odd; changed 1 time, in effect for 0:05");
    assert_says(explain_follow,
                "{\"threads\":4,\"most\":4,\"changes\":0,\"processes\":0,\"regions\":0}",
                "parallel regions have 4 of 4 threads at most; no process has said anything; "
                "changed 0 times");
}

static void test_throttle(void **state)
{
    (void)state;
    assert_says(
        explain_throttle,
        "{\"mode\":\"lazy\",\"changes\":1,\"hold\":46,\"reduced\":2,\"throttled_s\":3.25,"
        "\"rests\":8,\"idle_thread_s\":6.5,\"freed\":0,\"seconds\":5}",
        "lazy: 46 samples of the blackboard in a row; threads were reduced 2 times, for 3.2 "
        "s; threads rested 8 times, 6.5 s together; changed 1 time, in effect for 0:05");
    assert_says(
        explain_throttle,
        "{\"mode\":\"aggressive\",\"changes\":0,\"hold\":1,\"reduced\":0,"
        "\"throttled_s\":0,\"rests\":0,\"idle_thread_s\":0,\"freed\":0}",
        "aggressive: 1 sample of the blackboard in a row; threads were not reduced; changed 0 "
        "times");
}

static void test_synchronise(void **state)
{
    (void)state;
    assert_says(
        explain_flex,
        "{\"changes\":1,\"domains\":2,\"processes\":3,\"objects\":7,\"surprise\":\"it is odd\","
        "\"seconds\":5}",
        "its cores are in 2 memory nodes or caches; 7 barriers and condition variables were "
        "distributed; processes that have said something: 3; left alone: it is odd; changed 1 "
        "time, in effect for 0:05");
    assert_says(explain_locks, "{\"changes\":0,\"domains\":1,\"processes\":0}",
                "its cores are in one memory node and cache; changed 0 times");
}

/* A step's page has a line of all that was asked for, be it refused, and no line without. */
static void test_line(void **state)
{
    (void)state;
    assert_says(explain_inside, "{\"faithful\":null,\"id\":\"3.0\"}", "");
    assert_says(explain_inside,
                "{\"faithful\":{\"refused\":null,\"seconds\":5},\"tranquil\":null,"
                "\"shuffle\":{\"refused\":\"this node has one package\",\"seconds\":null},"
                "\"locks\":{\"refused\":null,\"seconds\":null},"
                "\"prefetch\":{\"refused\":\"it was odd\",\"seconds\":7}}",
                "faithful: in effect for 0:05; shuffle has no effect: this node has one package; "
                "locks: nothing was changed yet; prefetch has no effect: it was odd; it was in "
                "effect for 0:07");
}

static void test_prefetch(void **state)
{
    (void)state;
    assert_says(explain_prefetch,
                "{\"state\":\"off\",\"own_cores\":4,\"switched_cores\":4,\"changes\":2,"
                "\"by\":\"instructions per joule\",\"on_ips\":1000,\"off_ips\":990,"
                "\"on_ipj\":10,\"off_ipj\":11,\"ratio\":0.909,\"at\":5,\"seconds\":5}",
                "off, on 4 cores that it has to itself, 4 of them switched; 1000 instructions per "
                "CPU second with prefetchers, 990 without; 10 instructions per joule with "
                "prefetchers, 11 without; decided by instructions per joule, ratio 0.909; changed "
                "2 times, in effect for 0:05");
    assert_says(explain_prefetch,
                "{\"state\":\"waiting\",\"own_cores\":0,\"switched_cores\":0,\"changes\":0}",
                "waiting, on 0 cores that it has to itself, 0 of them switched; changed 0 times");
}

static void test_frequency(void **state)
{
    (void)state;
    assert_says(explain_frequency,
                "{\"khz\":1200000,\"own_clocks\":4,\"changed_clocks\":3,\"changes\":1,"
                "\"seconds\":5}",
                "at most 1200 MHz; 4 clocks that it has to itself, 3 of them changed; changed 1 "
                "time, in effect for 0:05");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_faithful),
        cmocka_unit_test(test_tranquil),  cmocka_unit_test(test_tranquil_memory),
        cmocka_unit_test(test_shuffle),   cmocka_unit_test(test_adapt),
        cmocka_unit_test(test_follow),    cmocka_unit_test(test_synchronise),
        cmocka_unit_test(test_throttle),  cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_frequency), cmocka_unit_test(test_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
