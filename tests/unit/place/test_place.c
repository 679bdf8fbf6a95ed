/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_place - units, DI over the pool, images of homes: hand-worked cases, agreement with
 * di_place, and what holds for any set of steps. */
#include "tests/unit/common/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/placing/di.h"
#include "packer/base/clock.h"
#include "packer/observe/classify.h"
#include "packer/place/place.h"
#include "packer/place/price.h"
#include "packer/steps/stand.h"

#define ONE(home) ((const char *const[]){home, NULL})

static int open_plain(void **state)
{
    *state = fixture_open(TWO_BY_TWO);
    return 0;
}

static int open_smt(void **state)
{
    *state = fixture_open(TWO_BY_TWO_SMT);
    return 0;
}

static void assert_image(struct fixture *f, const struct step *step, const char *text)
{
    struct cpus image;

    stand_image(&f->packer, f->packer.state->pool, &step->body.task[0].home, &image);
    assert_cpus(&image, text);
}

/* ---- members of the pool ---- */

static void test_sync(void **state)
{
    struct fixture *f = *state;
    struct pool *pool = f->packer.state->pool;
    struct step *a = fixture_put(f, 1, 0, "0-1", 1, ONE("0")), *b;

    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 1 - - - - - -");
    fixture_put(f, 2, 0, "6", 1, ONE("6"));
    b = fixture_put(f, 3, 0, "3", 1, ONE("3"));
    b->state = STEP_LEFT;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 1 - - - - 6 -");
    a->state = STEP_OBSERVED;
    stand_sync(&(struct scene){&f->packer, pool, true}); /* as if it were placed */
    assert_stand(pool, "0 1 - - - - 6 -");
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "- - - - - - 6 -");
}

/* A step of a pool job that berth keeps off takes its cores out; who stood there goes on. */
static void test_sync_off_step(void **state)
{
    struct fixture *f = *state;
    struct pool *pool = f->packer.state->pool;

    fixture_put(f, 1, 0, "0-2", 1, ONE("0"));
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_int_equal(pool_assign(pool, 2, (size_t[]){0, 1}, (size_t[]){1, 0}), 0);
    fixture_put(f, 1, 1, "0-2", 1, ONE("1"))->state = STEP_LEFT;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 - 2 - - - - -");
}

/* With idle = on all cores of nobody are in the pool, with near those of the memory nodes of who is
 * placed; whoever has a core takes it out, and who stood there goes where nobody stood. */
static void test_idle(void **state)
{
    struct fixture *f;
    struct pool *pool;
    struct step *a;

    fixture_close(*state);
    *state = f = fixture_open("numa:2 l3:2 core:2 pu:1");
    pool = f->packer.state->pool;
    f->packer.world.conf.idle = CONF_IDLE_ON;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "- - - - - - - -"); /* nobody is there for whom they would be */
    a = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    fixture_put(f, 2, 0, "6", 1, ONE("6"))->state = STEP_LEFT;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 1 2 3 4 5 - 7");
    assert_cpus(&f->packer.state->idle.nobody, "2-5,7");
    assert_int_equal(pool_assign(pool, 1, (size_t[]){0}, (size_t[]){2}), 0);
    assert_image(f, a, "2");
    fixture_put(f, 3, 0, "2", 1, ONE("2")); /* placed, too: it starts where nobody is */
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_image(f, a, "2");
    assert_stand(pool, "2 1 0 3 4 5 - 7");
    fixture_put(f, 4, 0, "2", 1, ONE("2"))->state = STEP_LEFT;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_image(f, a, "0");
    f->packer.world.conf.idle = CONF_IDLE_NEAR;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 1 - 3 - - - -");
    f->packer.world.conf.idle = CONF_IDLE_OFF;
    stand_sync(&(struct scene){&f->packer, pool, false});
    assert_stand(pool, "0 1 - - - - - -");
}

/* Its time on cores of nobody, as many as they are at each time. */
static void test_idle_time(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_put(f, 1, 0, "0-1", 1, ONE("0-1"));
    double now_s = clock_s();

    a->place.cpus = a->place.home;
    place_note_idle(&f->packer);
    assert_true(place_idle_core_s(a, now_s) == 0);
    cpus_parse(&a->place.cpus, "4-7");
    cpus_parse(&f->packer.state->idle.nobody, "5-7");
    place_note_idle(&f->packer);
    assert_cpus(&a->place.idle, "5-7");
    assert_int_equal(a->place.on_idle.cores, 3);
    assert_true(fabs(place_idle_core_s(a, a->place.on_idle.since_s + 10) - 30) < 1e-6);
    a->place.on_idle.since_s -= 10;
    cpus_parse(&f->packer.state->idle.nobody, "7");
    place_note_idle(&f->packer);
    assert_true(a->place.on_idle.core_s >= 30);
    assert_int_equal(a->place.on_idle.cores, 1);
    place_home(&f->packer, a);
    place_note_idle(&f->packer);
    assert_true(place_idle_core_s(a, now_s + 1e6) == place_idle_core_s(a, now_s));
}

/* Who is in a job that Slurm does not confine may start unseen: then nobody's cores are known. */
static void test_idle_unconfined(void **state)
{
    struct fixture *f = *state;
    struct scene scene = {&f->packer, f->packer.state->pool, false};
    struct step *a = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));

    f->packer.world.conf.idle = CONF_IDLE_ON;
    assert_true(stand_idle(&scene)); /* nobody is touched */
    fixture_paper(f);
    f->way.touches = true;
    snprintf(a->body.leaf, sizeof(a->body.leaf), "/slurm/uid_0/job_1/step_0");
    assert_true(stand_idle(&scene));
    stand_sync(&scene); /* the marker could not be made: nobody would ask for his cores */
    assert_stand(f->packer.state->pool, "0 1 - - - - - -");
    f->packer.state->idle.marked = true;
    stand_sync(&scene);
    assert_stand(f->packer.state->pool, "0 1 2 3 4 5 6 7");
    fixture_put(f, 2, 0, "6", 1, ONE("6"))->state = STEP_LEFT;
    assert_false(stand_idle(&scene));
    stand_sync(&scene);
    assert_stand(f->packer.state->pool, "0 1 - - - - - -");
}

/* Half a core is nobody's to exchange. */
static void test_sync_partial_core(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0-2", 1, ONE("0-1")); /* CPU 2 is half of core 1 */
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    assert_stand(f->packer.state->pool, "0 - - - - - - -");
}

/* ---- what berth cannot decide about ---- */

static enum wire_left unfit(struct fixture *f, const char *job_home, const char *home)
{
    struct step *step = fixture_put(f, 1, 0, job_home, 1, ONE(home));
    enum wire_left why = stand_unfit(&f->packer, &step->body);

    registry_drop(f->packer.steps, step);
    return why;
}

static void test_unfit(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(unfit(f, "0-3", "2-3"), WIRE_NOT_LEFT);
    assert_int_equal(unfit(f, "0-3", "2"),
                     WIRE_NOT_LEFT); /* one thread of a core that is the job's */
    assert_int_equal(unfit(f, "0-3", ""), WIRE_LEFT_NO_CPUS);
    assert_int_equal(unfit(f, "2", "2"), WIRE_LEFT_CORE_SHARED);
    assert_int_equal(unfit(f, "16", "16"), WIRE_LEFT_TOPOLOGY);
}

/* As if CPU 1 did not exist: the first core has one thread, the others two. It is of a kind of its
 * own, and nobody is left alone for that. */
static void test_odd_core(void **state)
{
    struct fixture *f = *state;
    struct topo *topo = f->packer.world.topo;

    cpus_remove(&topo->core[0].cpus, 1);
    topo_index(topo);
    assert_int_equal(topo->kinds, 2);
    assert_true(topo->core[0].kind != topo->core[1].kind);
    assert_true(topo->core[1].kind == topo->core[7].kind);
    assert_int_equal(unfit(f, "0,2-3", "2-3"), WIRE_NOT_LEFT);
    assert_int_equal(unfit(f, "0,2-3", "0"), WIRE_NOT_LEFT);
    fixture_put(f, 1, 0, "0,2-3", 1, ONE("2-3"));
    stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
    assert_stand(f->packer.state->pool, "0 1 - - - - - -");
}

/* Two caches of two small cores and two large ones each, and of steps of one core each the two most
 * intensive are on the large ones of the first cache. */
static void test_kinds(void **state)
{
    struct fixture *f = fixture_open("package:1 l3:2 core:4 pu:1");
    struct topo *topo = f->packer.world.topo;

    (void)state;
    for (size_t i = 0; i < topo->cores; i++)
        topo->core[i].cpukind = i % 4 >= 2;
    topo_index(topo);
    assert_int_equal(topo->kinds, 2);
    fixture_put(f, 1, 0, "2", 24000, ONE("2"));
    fixture_put(f, 2, 0, "3", 24000, ONE("3"));
    fixture_put(f, 3, 0, "4", 20, ONE("4"));
    fixture_put(f, 4, 0, "5", 20, ONE("5"));
    fixture_decide(f);
    assert_stand(f->packer.pool, "- - 2 3 4 5 - -"); /* no large core is free over there */
    fixture_put(f, 5, 0, "6", 20, ONE("6"));
    fixture_decide(f);
    assert_stand(f->packer.pool, "- - 2 6 4 5 3 -");
    fixture_close(f);
}

/* A task with cores of both kinds is a unit in each, and a core that joins the pool without a unit
 * keeps to its kind, too. */
static void test_task_of_both_kinds(void **state)
{
    struct fixture *f = fixture_open("package:1 l3:2 core:4 pu:1");
    struct topo *topo = f->packer.world.topo;

    (void)state;
    for (size_t i = 0; i < topo->cores; i++)
        topo->core[i].cpukind = i % 4 >= 2;
    topo_index(topo);
    fixture_put(f, 1, 0, "1-2", 24000, ONE("1-2"));
    fixture_put(f, 2, 0, "0,3", 24000, ONE("0,3"));
    fixture_put(f, 3, 0, "4-7", 20, ONE("4-7"));
    fixture_decide(f);
    for (size_t core = 0; core < topo->cores; core++)
        assert_int_equal(topo->core[f->packer.pool->stand[core]].kind, topo->core[core].kind);
    fixture_close(f);
}

/* ---- images ---- */

static void test_image_threads(void **state)
{
    struct fixture *f = *state;
    struct pool *pool = f->packer.state->pool;
    static const struct {
        const char *home, *image;
    } cases[] = {{"0-1", "6-7"}, {"0", "6"},     {"1", "7"},         {"6-7", "0-1"},
                 {"2-3", "2-3"}, {"8-9", "8-9"}, {"1,6,9", "0,7,9"}, {"", ""}};
    struct cpus home, image;

    for (size_t core = 0; core < 4; core++)
        pool_join(pool, core);
    assert_int_equal(pool_assign(pool, 2, (size_t[]){0, 3}, (size_t[]){3, 0}), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        home = cpus_of(cases[i].home);
        stand_image(&f->packer, pool, &home, &image);
        assert_cpus(&image, cases[i].image);
    }
}

/* Intel numbers the second threads after all the first ones. */
static void test_image_far_siblings(void **state)
{
    struct fixture *f = *state;
    struct pool *pool = f->packer.state->pool;
    struct cpus home, image;

    for (size_t core = 0; core < 8; core++) {
        cpus_zero(&f->packer.world.topo->core[core].cpus);
        cpus_add(&f->packer.world.topo->core[core].cpus, core);
        cpus_add(&f->packer.world.topo->core[core].cpus, core + 8);
        pool_join(pool, core);
    }
    topo_index(f->packer.world.topo);
    assert_int_equal(pool_assign(pool, 2, (size_t[]){1, 5}, (size_t[]){5, 1}), 0);
    home = cpus_of("1,9");
    stand_image(&f->packer, pool, &home, &image);
    assert_cpus(&image, "5,13");
    home = cpus_of("9");
    stand_image(&f->packer, pool, &home, &image);
    assert_cpus(&image, "13");
}

/* ---- decisions, worked by hand ---- */

/* The pool is cores 0, 1 (one cache of package 0) and 4-7 (both caches of package 1). 100 goes to
 * package 0; 50 to package 1, its first cache; now both packages hold one, the order of the
 * packages is reversed, and 1 goes to package 1 too, to its empty cache. */
static void test_spread(void **state)
{
    struct fixture *f = *state;
    struct step *low = fixture_put(f, 1, 0, "0", 1, ONE("0"));
    struct step *high = fixture_put(f, 2, 0, "1", 100, ONE("1"));
    struct step *mid = fixture_put(f, 3, 0, "4-7", 50, ONE("4"));

    fixture_decide(f);
    assert_image(f, high, "1"); /* DI says core 0, but it stands in that cache already */
    assert_image(f, mid, "4");
    assert_image(f, low, "6");
    assert_int_equal(high->place.rank, 1);
    assert_int_equal(mid->place.rank, 2);
    assert_int_equal(low->place.rank, 3);
    assert_int_equal(low->place.of, 3);
}

static void test_neutral_between(void **state)
{
    struct fixture *f = *state;
    struct step *unknown = fixture_put(f, 1, 0, "0", NAN, ONE("0"));
    struct step *devil = fixture_put(f, 2, 0, "1", 1e6, ONE("1"));
    struct step *turtle = fixture_put(f, 3, 0, "2", 0, ONE("2"));

    fixture_decide(f);
    assert_int_equal(devil->place.rank, 1);
    assert_int_equal(unknown->place.rank, 2);
    assert_int_equal(turtle->place.rank, 3);
}

/* A step with all cores to itself: its tasks are equal, and nobody has anything to gain. */
static void test_equal_tasks_fill_the_machine(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "0-7", 9000,
                (const char *const[]){"0", "1", "2", "3", "4", "5", "6", "7", NULL});
    fixture_decide(f);
    assert_stand(f->packer.state->pool, "0 1 2 3 4 5 6 7");
}

/* Four of them on half of their job's cores are spread, one to a cache, and two need not move. */
static void test_equal_tasks_spread(void **state)
{
    struct fixture *f = *state;
    size_t moved = 0;
    bool used[4] = {false};

    fixture_put(f, 1, 0, "0-7", 9000, (const char *const[]){"0", "1", "2", "3", NULL});
    fixture_decide(f);
    for (size_t core = 0; core < 4; core++) {
        size_t stand = f->packer.pool->stand[core];

        moved += stand != core;
        assert_false(used[stand / 2]);
        used[stand / 2] = true;
    }
    assert_int_equal(moved, 2);
}

/* Who comes later and is equal takes what is left: nobody makes room for his equal. */
static void test_equal_does_not_push(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "4", 100, ONE("4"));
    fixture_put(f, 2, 0, "0", 100, ONE("0"));
    fixture_decide(f);
    assert_stand(f->packer.state->pool, "0 - - - 4 - - -");
}

/* Nor do two tasks of two cores each, in two caches, change places. */
static void test_equal_units_of_two_cores(void **state)
{
    struct fixture *f = *state;

    fixture_put(f, 1, 0, "4-5", 100, ONE("4-5"));
    fixture_put(f, 2, 0, "0-1", 100, ONE("0-1"));
    fixture_decide(f);
    assert_stand(f->packer.state->pool, "0 1 - - 4 5 - -");
}

static void test_equal_keep_order(void **state)
{
    struct fixture *f = *state;
    struct step *first = fixture_put(f, 1, 0, "5", 7, ONE("5"));
    struct step *second = fixture_put(f, 2, 0, "0", 7, ONE("0"));

    fixture_decide(f);
    assert_int_equal(first->place.rank, 1);
    assert_int_equal(second->place.rank, 2);
}

/* A batch script counts only as long as no other step of its job runs. */
static void test_batch_shell(void **state)
{
    struct fixture *f = *state;
    struct step *shell = fixture_put(f, 1, WIRE_STEP_BATCH, "0-1", 1000, ONE("0-1"));
    struct step *other = fixture_put(f, 2, 0, "2-3", 5, ONE("2")), *inner;

    fixture_decide(f);
    assert_int_equal(other->place.of, 2);
    assert_int_equal(other->place.rank, 2);
    inner = fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    fixture_decide(f);
    assert_int_equal(shell->place.rank, 0);
    assert_int_equal(other->place.of, 2);
    assert_int_equal(other->place.rank, 1);
    assert_int_equal(inner->place.rank, 2);
}

/* srun --overlap: who shares cores moves together, ranked by the most intensive. */
static void test_overlap_merged(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_put(f, 1, 0, "0-2", 1, ONE("0"));
    struct step *b = fixture_put(f, 1, 1, "0-2", 90, ONE("1"));
    struct step *bridge = fixture_put(f, 1, 2, "0-2", 50, ONE("0-1"));
    struct step *other = fixture_put(f, 2, 0, "4", 60, ONE("4"));

    fixture_decide(f);
    assert_int_equal(other->place.of, 2);
    assert_int_equal(a->place.rank, 1);
    assert_int_equal(b->place.rank, 1);
    assert_int_equal(bridge->place.rank, 1);
    assert_int_equal(other->place.rank, 2);
}

/* Tasks are units of their own; one of two cores gets a cache for itself. */
static void test_tasks(void **state)
{
    struct fixture *f = *state;
    struct step *step =
        fixture_put(f, 1, 0, "0-3", 10, (const char *const[]){"1-2", "0", "3", NULL});

    fixture_decide(f);
    assert_int_equal(step->place.of, 3);
    assert_image(f, step, "0-1");
    assert_stand(f->packer.state->pool, "2 1 0 3 - - - -");
}

/* A second decision about the same steps moves nobody. */
static void test_stable(void **state)
{
    struct fixture *f = *state;
    struct pool before;

    fixture_put(f, 1, 0, "0-1", 1, ONE("0"));
    fixture_put(f, 2, 0, "2-3", 100, ONE("2-3"));
    fixture_put(f, 3, 0, "6", 50, ONE("6"));
    fixture_decide(f);
    assert_int_equal(pool_copy(&before, f->packer.state->pool), 0);
    fixture_decide(f);
    assert_memory_equal(before.stand, f->packer.pool->stand, before.cores * sizeof(size_t));
    pool_free(&before);
}

static void test_as_if(void **state)
{
    struct fixture *f = *state;
    struct step *a = fixture_put(f, 1, 0, "0", 5, ONE("0"));
    struct step *observed = fixture_put(f, 2, 0, "1", 50, ONE("1"));
    struct scene scene = {&f->packer, f->packer.state->pool, true};
    struct berth_error err;

    observed->state = STEP_OBSERVED;
    stand_sync(&scene);
    assert_int_equal(place_decide(&scene, NULL, &err), 0);
    assert_int_equal(observed->place.rank, 1);
    assert_int_equal(observed->place.of, 2);
    assert_int_equal(a->place.of, 0); /* nothing was said to others */
}

static void test_nobody(void **state)
{
    struct fixture *f = *state;

    fixture_decide(f);
    assert_int_equal(pool_count(f->packer.state->pool), 0);
}

/* ---- against di_place itself ---- */

#define MACHINE 16

static const double no_rate = -1;

/* n jobs of one core each, random cores and rates (distinct, so that no order of equals matters).
 */
static size_t put_random(struct fixture *f, struct step **step, double *rate_of_core)
{
    size_t n = 0;

    for (size_t core = 0; core < MACHINE; core++) {
        char home[16];

        rate_of_core[core] = no_rate;
        if (random() % 3 == 0)
            continue;
        rate_of_core[core] = (double)(random() % 1000) + (double)core / 100;
        snprintf(home, sizeof(home), "%zu", core);
        step[n++] = fixture_put(f, (uint32_t)core + 1, 0, home, rate_of_core[core], ONE(home));
    }
    return n;
}

/* The cache of every unit as di_place alone decides it, on the tree of the units' own cores. */
static void caches_by_di(struct fixture *f, struct step **step, size_t n, size_t *llc)
{
    struct di_unit unit[MACHINE];
    struct cpus within = {0};
    struct topo_tree tree;
    size_t core[MACHINE];

    for (size_t i = 0; i < n; i++) {
        unit[i] = (struct di_unit){.miss_pmi = step[i]->profile.miss_pmi, .cores = 1};
        cpus_or(&within, &step[i]->body.job_home);
    }
    assert_int_equal(topo_tree_build(&tree, f->packer.world.topo, &within, NULL), 0);
    assert_int_equal(di_place(&tree.machine, n, unit, core), 0);
    for (size_t i = 0; i < n; i++)
        llc[i] = f->packer.world.topo->core[tree.core_index[core[i]]].llc;
    topo_tree_free(&tree);
}

static void test_same_as_di(void **state)
{
    (void)state;
    srandom(7);
    for (int round = 0; round < 60; round++) {
        struct fixture *f = fixture_open("package:2 l3:2 core:4 pu:1");
        struct step *step[MACHINE];
        double rate[MACHINE];
        size_t llc[MACHINE], n = put_random(f, step, rate);

        fixture_decide(f);
        if (n)
            caches_by_di(f, step, n, llc);
        for (size_t i = 0; i < n; i++) {
            size_t home = cpus_next(&step[i]->body.task[0].home, 0);
            size_t now = f->packer.pool->stand[home];

            assert_int_equal(f->packer.world.topo->core[now].llc, llc[i]);
            if (f->packer.world.topo->core[home].llc == llc[i])
                assert_int_equal(now, home); /* in the right cache: keeps its core */
        }
        fixture_close(f);
    }
}

/* ---- for any set of steps ---- */

#define RUN_TEXT 48 /* bytes of two numbers */

/* A random run of cores as CPU list; its threads are 2 * core and + 1. */
static void random_run(char text[RUN_TEXT], size_t from, size_t cores)
{
    size_t first = from + (size_t)random() % cores;
    size_t last = first + (size_t)random() % (from + cores - first);

    snprintf(text, RUN_TEXT, "%zu-%zu", 2 * first, 2 * last + 1);
}

static void put_anything(struct fixture *f)
{
    for (size_t from = 0; from < 8;) {
        size_t cores = 1 + (size_t)random() % (8 - from);
        uint32_t steps = (uint32_t)random() % 4;
        char job[RUN_TEXT], home[2][RUN_TEXT];

        snprintf(job, sizeof(job), "%zu-%zu", 2 * from, 2 * (from + cores) - 1);
        for (uint32_t step = 0; step < steps; step++) {
            struct step *put;

            random_run(home[0], from, cores);
            random_run(home[1], from, cores);
            put = fixture_put(f, (uint32_t)from, random() % 5 ? step : WIRE_STEP_BATCH - step, job,
                              (double)(random() % 50 * 100),
                              random() % 2 ? ONE(home[0])
                                           : (const char *const[]){home[0], home[1], NULL});
            put->state = random() % 5 ? STEP_PLACED : STEP_LEFT;
            classify_step(&f->packer, put);
            put->request.options.isolate = random() % 3 == 0;
        }
        from += cores;
    }
}

static void assert_images_sound(struct fixture *f)
{
    const struct packer *packer = &f->packer;
    struct step *a, *b;

    TAILQ_FOREACH(a, &packer->steps->live, link)
    for (size_t i = 0; i < a->body.ntasks; i++) {
        const struct cpus *home = &a->body.task[i].home;
        struct cpus image, other;

        stand_image(packer, packer->state->pool, home, &image);
        assert_int_equal(cpus_count(&image), cpus_count(home));
        assert_true(cpus_subset(&image, &packer->world.topo->cpus));
        if (a->state == STEP_LEFT)
            assert_true(cpus_equal(&image, home));
        TAILQ_FOREACH(b, &packer->steps->live, link)
        for (size_t j = 0; j < b->body.ntasks; j++) {
            stand_image(packer, packer->state->pool, &b->body.task[j].home, &other);
            assert_int_equal(cpus_intersect(&image, &other),
                             cpus_intersect(home, &b->body.task[j].home));
        }
    }
}

/* Every image of a pool core is a core of the pool. */
static void assert_inside(const struct pool *pool)
{
    for (size_t core = 0; core < pool->cores; core++)
        if (pool_has(pool, core))
            assert_true(pool_has(pool, pool->stand[core]));
}

static void test_anything(void **state)
{
    struct fixture *f = *state;

    srandom(11);
    for (int round = 0; round < 400; round++) {
        struct step *step, *next;

        put_anything(f);
        fixture_decide(f);
        assert_inside(f->packer.state->pool);
        assert_images_sound(f);
        for (step = TAILQ_FIRST(&f->packer.steps->live); step; step = next) {
            next = TAILQ_NEXT(step, link);
            if (random() % 2)
                registry_drop(f->packer.steps, step);
        }
        stand_sync(&(struct scene){&f->packer, f->packer.state->pool, false});
        assert_inside(f->packer.state->pool);
        assert_images_sound(f);
        while ((step = TAILQ_FIRST(&f->packer.steps->live)))
            registry_drop(f->packer.steps, step);
    }
}

#define plain(name) cmocka_unit_test_setup_teardown(name, open_plain, fixture_teardown)
#define smt(name) cmocka_unit_test_setup_teardown(name, open_smt, fixture_teardown)

/* A step that was moved of late is not moved again for as little. */
static void test_price_of_moves(void **state)
{
    struct step step = {.enacted = {.moved_s = clock_s()}};
    double first = price_core_s(&step, WIRE_POLICY_CONTEND, 60, 0) - PRICE_COLD_S, third;

    (void)state;
    step.enacted.lately = 2;
    third = price_core_s(&step, WIRE_POLICY_CONTEND, 60, 0) - PRICE_COLD_S;
    assert_true(fabs(third / first - 4) < 0.01);
    step.enacted.moved_s -= 2 * STEP_REST_S;
    third = price_core_s(&step, WIRE_POLICY_CONTEND, 60, 0) - PRICE_COLD_S;
    assert_true(fabs(third / first - exp2(0.5)) < 0.01);
    assert_true(price_core_s(&step, WIRE_POLICY_PAIN, 60, 1) == PRICE_COLD_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_price_of_moves),
        plain(test_sync),
        plain(test_sync_off_step),
        plain(test_idle),
        plain(test_idle_unconfined),
        plain(test_idle_time),
        smt(test_sync_partial_core),
        smt(test_unfit),
        smt(test_odd_core),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_task_of_both_kinds),
        smt(test_image_threads),
        smt(test_image_far_siblings),
        plain(test_spread),
        plain(test_neutral_between),
        plain(test_equal_tasks_fill_the_machine),
        plain(test_equal_tasks_spread),
        plain(test_equal_does_not_push),
        plain(test_equal_units_of_two_cores),
        plain(test_equal_keep_order),
        plain(test_batch_shell),
        plain(test_overlap_merged),
        plain(test_tasks),
        plain(test_stable),
        plain(test_as_if),
        plain(test_nobody),
        cmocka_unit_test(test_same_as_di),
        smt(test_anything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
