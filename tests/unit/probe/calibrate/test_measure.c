/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_measure - which cores and nodes are measured and in which order, and the whole list on a
 * machine of two nodes: made of two CPUs of this one, the memory of both on the same node. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "probe/calibrate/places.h"

/* 2 nodes, 2 caches of 3 cores each, 2 hardware threads of a core. */
#define WIDE "package:2 [numa] l3:2(size=1048576) core:3 pu:2"

struct witness {
    char notes[512];
    double last_s, total_s;
    unsigned calls, end_after; /* 0: never */
};

static bool on_progress(double done_s, double total_s, const char *what, void *arg)
{
    struct witness *witness = arg;

    assert_true(what[0] && done_s >= witness->last_s && done_s < total_s);
    assert_true(witness->total_s == 0 || witness->total_s == total_s);
    witness->last_s = done_s;
    witness->total_s = total_s;
    return ++witness->calls == witness->end_after;
}

static void on_note(const char *line, void *arg)
{
    struct witness *witness = arg;
    size_t used = strlen(witness->notes);

    snprintf(witness->notes + used, sizeof(witness->notes) - used, "%s; ", line);
}

static struct topo *topology(const char *spec)
{
    struct berth_error err = {""};
    struct topo *topo;

    if (topo_read(&topo, spec, &err) < 0)
        fail_msg("%s", err.text);
    return topo;
}

static struct calibrate_wish wish_for(const struct topo *topo, struct witness *witness,
                                      const char *cpus, const char *mems)
{
    struct calibrate_wish wish = {.topo = topo,
                                  .runs = 1,
                                  .quick = true,
                                  .progress = on_progress,
                                  .note = on_note,
                                  .arg = witness};

    assert_int_equal(cpus_parse(&wish.cpus, cpus), 0);
    assert_int_equal(cpus_parse(&wish.mems, mems), 0);
    return wish;
}

static void assert_cpus_of(const struct place *place, const char *wanted)
{
    char text[256] = "";

    for (size_t i = 0; i < place->cores; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
                 place->cpu[i]);
    assert_string_equal(text, wanted);
}

/* ---- cores and nodes ---- */

static void test_places(void **state)
{
    static const struct {
        const char *cpus, *mems, *first, *second, *notes;
    } row[] = {
        /* the caches in turn, one hardware thread of each core */
        {"0-23", "0-1", "0 6 2 8 4 10", "12 18 14 20 16 22", ""},
        /* the second thread where the first one may not be used; a cache with fewer cores */
        {"1-4,6,12-23", "0-1", "1 6 2 4", "12 18 14 20 16 22",
         "NUMA node 0: 4 of its 6 cores may be used here: the profile is of these; "},
        {"12-23", "0-1", "12 18 14 20 16 22", NULL,
         "NUMA node 0: none of its cores may be used here: left out; "},
        {"0-23", "0", "0 6 2 8 4 10", NULL,
         "NUMA node 1: its memory may not be used here: left out; "},
    };
    struct topo *topo = topology(WIDE);

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct witness witness = {0};
        struct calibrate_wish wish = wish_for(topo, &witness, row[i].cpus, row[i].mems);
        struct berth_error err = {""};
        struct place *place;
        size_t n;

        assert_int_equal(places_find(&wish, &place, &n, &err), 0);
        assert_int_equal(n, row[i].second ? 2 : 1);
        assert_cpus_of(&place[0], row[i].first);
        if (row[i].second)
            assert_cpus_of(&place[1], row[i].second);
        assert_string_equal(witness.notes, row[i].notes);
        assert_int_equal(place[0].llc_bytes, 2 << 20);
        assert_int_equal(place[0].chain_bytes, 4 << 20);
        places_free(place, n);
    }
    topo_free(topo);
}

static void test_no_place(void **state)
{
    struct topo *topo = topology(WIDE);
    struct witness witness = {0};
    struct calibrate_wish wish = wish_for(topo, &witness, "", "0-1");
    struct berth_error err = {""};

    (void)state;
    assert_null(calibrate(&wish, &err));
    assert_string_equal(err.text, "0 NUMA nodes to measure: 1 to 256 expected");
    assert_int_equal(witness.calls, 0);
    topo_free(topo);
}

/* ---- the list ---- */

/* Both CPUs of two nodes, which are in truth one. */
static struct topo *two_nodes(void)
{
    struct topo *topo;
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    if (!CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
        skip();
    topo = topology("package:2 [numa] l3:1(size=1048576) core:1 pu:1");
    assert_int_equal(topo->nodes, 2);
    topo->node[1].os_index = topo->node[0].os_index;
    return topo;
}

static bool known(const struct machine_figure *figure)
{
    return isfinite(figure->value) && figure->value > 0;
}

static void check_pair(const struct machine_profile *profile, size_t from, size_t to)
{
    size_t pair = from * 2 + to;

    assert_true(known(&profile->latency_ns[pair]));
    assert_int_equal(known(&profile->core_latency[pair]), from != to); /* one core a node */
    assert_int_equal(known(&profile->uni[pair]), from != to);
    assert_int_equal(known(&profile->bi[pair]), from != to);
    assert_int_equal(machine_profile_route(profile, from, to)->hops, from != to);
}

static void test_two_nodes(void **state)
{
    struct topo *topo = two_nodes();
    struct witness witness = {0};
    struct calibrate_wish wish = wish_for(topo, &witness, "0-1", "0");
    struct berth_error err = {""};
    struct machine_profile *profile = calibrate(&wish, &err);

    (void)state;
    if (!profile)
        fail_msg("%s", err.text);
    assert_true(witness.total_s > 0 && witness.total_s - witness.last_s < 0.03);
    assert_int_equal(profile->nodes, 2);
    assert_int_equal(profile->runs, 1);
    assert_string_equal(profile->source, "measured");
    assert_int_equal(strlen(profile->date), strlen("2026-11-21T14:26:09Z"));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(profile->node[i].cores, 1);
        assert_true(known(&profile->node[i].local[1]) && known(&profile->node[i].triad[1]));
        assert_true(known(&profile->node[i].alpha) && !known(&profile->node[i].cache));
        assert_true(profile->node[i].beta.value >= 0 && profile->node[i].beta.value <= 1);
        for (size_t j = 0; j < 2; j++)
            check_pair(profile, i, j);
    }
    assert_true(profile->bi[1].value == profile->bi[2].value);
    machine_profile_free(profile);
    topo_free(topo);
}

/* One node with two caches of a core each: what one of them draws is measured, too. */
static void test_two_caches(void **state)
{
    struct topo *topo = topology("package:1 [numa] l3:2(size=1048576) core:1 pu:1");
    struct witness witness = {0};
    struct calibrate_wish wish = wish_for(topo, &witness, "0-1", "0");
    struct berth_error err = {""};
    struct machine_profile *profile;
    cpu_set_t set;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    if (!CPU_ISSET(0, &set) || !CPU_ISSET(1, &set))
        skip();
    profile = calibrate(&wish, &err);
    if (!profile)
        fail_msg("%s", err.text);
    assert_int_equal(profile->nodes, 1);
    assert_int_equal(profile->node[0].cores, 2);
    assert_true(known(&profile->node[0].cache) && known(&profile->node[0].local[2]));
    machine_profile_free(profile);
    topo_free(topo);
}

/* Told to end, at once or in the midst, it does. */
static void test_interrupted(void **state)
{
    struct topo *topo = two_nodes();

    (void)state;
    for (unsigned after = 1; after < 5; after += 3) {
        struct witness witness = {.end_after = after};
        struct calibrate_wish wish = wish_for(topo, &witness, "0-1", "0");
        struct berth_error err = {""};

        assert_null(calibrate(&wish, &err));
        assert_string_equal(err.text, "interrupted");
        assert_int_equal(witness.calls, after);
    }
    topo_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),      cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_two_nodes),   cmocka_unit_test(test_two_caches),
        cmocka_unit_test(test_interrupted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
