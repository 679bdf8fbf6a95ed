/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_deal - a step's memory is dealt over the nodes of its cores and put back, whatever becomes
 * of berthd meanwhile; on a machine of four nodes on paper. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/json.h"
#include "packer/enact/memory_follow.h"
#include "packer/figures/figures.h"
#include "packer/inside/deal.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"
#include "packer/memory/mover.h"
#include "packer/steps/journal.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/numa_box.h"

#define TWOS_ON_FOUR_NODES "numa:4 l3:1 core:2 pu:1" /* node i: CPUs 2i and 2i + 1 */
#define HEAP 0x10000000ul
#define DEALT (2ul << 20)        /* bytes that are dealt together */
#define PAGES (4 * DEALT / 4096) /* of each of two processes: two parts on each node */
#define PATIENCE_S 60

struct bench {
    struct fixture *f;
    struct numa_box *box;
    struct step *step;
};

/* ---- berthd, on a machine that is a box ---- */

static void put_in_box(struct bench *b)
{
    struct packer *packer = &b->f->packer;
    struct berth_error err;

    fixture_paper(b->f);
    memory_close(packer);
    rootfs_close(&packer->world.root);
    assert_int_equal(rootfs_open(&packer->world.root, b->box->dir, &err), 0);
    packer->state->mover = memory_mover_open(&b->box->system, 1e12);
}

/* Two tasks on nodes 0 and 1, whose memory all lies on node 0. */
static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));

    b->f = fixture_open(TWOS_ON_FOUR_NODES);
    b->box = numa_box_open(4);
    put_in_box(b);
    b->step = fixture_put(b->f, 1, 0, "0-7", 5000, (const char *const[]){"0", "2", NULL});
    b->step->request.options.tranquil = true;
    b->step->place.mems = cpus_of("0-1");
    for (size_t i = 0; i < 2; i++) {
        pid_t pid = b->step->body.task[i].pid;

        numa_box_start(b->box, pid, 5);
        numa_box_map(b->box, (struct box_map){.pid = pid, .start = HEAP, .pages = PAGES});
    }
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    fixture_close(b->f);
    numa_box_close(b->box);
    free(b);
    return 0;
}

/* berthd is killed, and the next one reads its journal. */
static void kill_berthd(struct bench *b)
{
    struct berth_error err = {""};

    memory_mover_drop(b->f->packer.state->mover, b->step->request.id);
    fixture_restart(b->f);
    put_in_box(b);
    if (journal_load(&b->f->packer, &err) < 0)
        fail_msg("%s", err.text);
    b->step = fixture_step(b->f, 1, 0);
    b->step->place.mems = cpus_of("0-1");
}

static void adopt(struct bench *b)
{
    inside_resume(&b->f->packer);
    inside_begin(&b->f->packer, b->step);
}

/* ---- what is there ---- */

static size_t on(const struct bench *b, int node)
{
    return numa_box_count(b->box, b->step->body.task[0].pid, node) +
           numa_box_count(b->box, b->step->body.task[1].pid, node);
}

static void assert_on(const struct bench *b, size_t on_0, size_t on_1, size_t on_2, size_t on_3)
{
    assert_int_equal(on(b, 0), on_0);
    assert_int_equal(on(b, 1), on_1);
    assert_int_equal(on(b, 2), on_2);
    assert_int_equal(on(b, 3), on_3);
}

static const char *origin_path(const struct bench *b)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/dealt.1.0", b->f->dir);
    return path;
}

static bool is_kept(const struct bench *b)
{
    return access(origin_path(b), F_OK) == 0;
}

/* What the mover has in hand is done. */
static void settle(struct bench *b)
{
    while (deal_moves(&b->f->packer, b->step))
        usleep(1000);
    deal_turn(&b->f->packer, b->step);
}

static void deal(struct bench *b)
{
    struct berth_error err = {""};

    if (deal_out(&b->f->packer, b->step, &err) < 0)
        fail_msg("%s", err.text);
}

static void assert_told(const struct bench *b, const char *memory, const char *why)
{
    struct json_object *object = figures_object("adapt", &b->f->packer, b->step, false), *said;

    assert_string_equal(json_object_get_string(json_object_object_get(object, "memory")), memory);
    said = json_object_object_get(object, "memory_why");
    if (!why)
        assert_string_equal(said ? json_object_get_string(said) : "", "");
    else if (!said || !strstr(json_object_get_string(said), why))
        fail_msg("%s", said ? json_object_get_string(said) : "nothing is said");
    json_object_put(object);
}

/* ---- tests ---- */

static void test_there_and_back(void **state)
{
    struct bench *b = *state;

    assert_told(b, "local", NULL);
    deal(b);
    assert_true(is_kept(b));
    settle(b);
    assert_on(b, PAGES, PAGES, 0, 0);
    assert_told(b, "interleave", NULL);
    deal(b); /* they are */
    assert_false(deal_moves(&b->f->packer, b->step));
    deal_back(&b->f->packer, b->step);
    assert_told(b, "returning", NULL);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
    assert_false(is_kept(b));
    deal_back(&b->f->packer, b->step); /* there is nothing */
    assert_false(deal_moves(&b->f->packer, b->step));
}

/* A step that stands on one node keeps its memory, and nothing is noted. */
static void test_one_node(void **state)
{
    struct bench *b = *state;

    b->step->place.mems = cpus_of("1");
    deal(b);
    assert_false(deal_moves(&b->f->packer, b->step));
    b->step->place.mems = cpus_of("0-1");
    b->step->body.mems_home = cpus_of("0");
    deal(b);
    assert_false(b->step->inside.deal.dealt);
    assert_false(is_kept(b));
}

/* All of it is dealt when berthd is killed: the next one puts all of it back. */
static void test_killed(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    kill_berthd(b);
    assert_true(b->step->inside.deal.dealt);
    adopt(b);
    assert_told(b, "returning", NULL);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
    assert_false(is_kept(b));
    kill_berthd(b); /* and the one after that knows that it has been done */
    assert_false(b->step->inside.deal.dealt);
    adopt(b);
    assert_false(deal_moves(&b->f->packer, b->step));
}

/* Lets so many calls of move_pages through, the one that follows waits. */
static void let(struct bench *b, int calls)
{
    sem_wait(&b->box->come);
    for (; calls > 0; calls--) {
        sem_post(&b->box->go);
        sem_wait(&b->box->come);
    }
}

/* The call that waits is the last one that this berthd has made. */
static void kill_in_call(struct bench *b)
{
    memory_mover_drop(b->f->packer.state->mover, b->step->request.id);
    b->box->gated = false;
    sem_post(&b->box->go);
    kill_berthd(b);
}

/* Killed when a part of the pages was dealt, or put back. */
static void test_killed_on_the_way(void **state)
{
    struct bench *b = *state;

    b->box->gated = true;
    deal(b);
    let(b, 1);
    kill_in_call(b);
    assert_true(on(b, 1) > 0 && on(b, 1) < PAGES);
    b->box->gated = true;
    adopt(b);
    let(b, 0);
    kill_in_call(b);
    assert_true(b->step->inside.deal.dealt);
    adopt(b);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
}

static void spoil(const struct bench *b, const char *head)
{
    int fd = open(origin_path(b), O_WRONLY | O_CLOEXEC);

    assert_int_equal(pwrite(fd, head, strlen(head), 0), strlen(head));
    close(fd);
}

/* Nobody knows where the pages were: they stay, that is told, and tranquil takes them for nothing
 * else. */
static void unknown(struct bench *b, const char *why)
{
    adopt(b);
    assert_false(deal_moves(&b->f->packer, b->step));
    assert_on(b, PAGES, PAGES, 0, 0);
    assert_told(b, "returning", why);
    assert_non_null(strstr(deal_refusal(b->step), "where it was is not known: "));
    assert_int_equal(deal_out(&b->f->packer, b->step, NULL), -1);
    deal_turn(&b->f->packer, b->step);
    assert_true(b->step->inside.deal.dealt);
    kill_berthd(b);
    assert_true(b->step->inside.deal.dealt); /* nor does the berthd after that */
}

static void test_lost(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    assert_null(deal_refusal(b->step));
    kill_berthd(b);
    spoil(b, "berth origin 7");
    unknown(b, "not of this version of berth");
    unlink(origin_path(b));
    unknown(b, "No such file");
}

/* The site has switched moving off meanwhile, and on again. */
static void test_without_mover(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    kill_berthd(b);
    memory_close(&b->f->packer);
    adopt(b);
    assert_told(b, "returning", "memory_rate");
    put_in_box(b);
    deal_turn(&b->f->packer, b->step);
    assert_on(b, PAGES, PAGES, 0, 0);
    b->step->inside.deal.tried_s -= 100;
    deal_turn(&b->f->packer, b->step);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
}

/* Deals all pages, of which only some can go back. */
static void return_half(struct bench *b)
{
    deal(b);
    settle(b);
    b->box->fail_at = b->box->moves + 2;
    b->box->fail_with = ENOMEM;
    deal_back(&b->f->packer, b->step);
    settle(b);
}

/* Pages that cannot go now go later. */
static void test_tried_again(void **state)
{
    struct bench *b = *state;

    return_half(b);
    assert_true(on(b, 1) > 0);
    assert_told(b, "returning", "no free memory");
    assert_non_null(strstr(deal_refusal(b->step), "no free memory"));
    assert_true(is_kept(b));
    b->step->inside.deal.tried_s -= 100;
    deal_turn(&b->f->packer, b->step);
    assert_null(deal_refusal(b->step)); /* nobody knows yet */
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
}

/* Dealt anew before all of them were back: they go back to where they were first. */
static void test_dealt_again(void **state)
{
    struct bench *b = *state;

    return_half(b);
    deal(b);
    settle(b);
    assert_on(b, PAGES, PAGES, 0, 0);
    assert_told(b, "interleave", NULL);
    deal_back(&b->f->packer, b->step);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
}

/* The step stands on these nodes now. */
static void move(struct bench *b, const char *from, const char *to)
{
    struct cpus left = cpus_of(from);

    b->step->place.mems = cpus_of(to);
    memory_follow(&b->f->packer, b->step, &left, &b->step->place.mems);
    deal_turn(&b->f->packer, b->step);
}

/* Dealt memory is dealt anew over the nodes where the step stands now; it goes back to where it was
 * first. */
static void test_moved(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    move(b, "0-1", "2-3");
    settle(b);
    assert_on(b, 0, 0, PAGES, PAGES);
    assert_told(b, "interleave", NULL);
    assert_false(b->step->memory.running);
    assert_non_null(strstr(b->step->memory.why, "dealt"));
    move(b, "2-3", "3");
    settle(b);
    assert_on(b, 0, 0, 0, 2 * PAGES);
    move(b, "3", "0-3");
    settle(b);
    assert_on(b, PAGES / 2, PAGES / 2, PAGES / 2, PAGES / 2);
    deal_back(&b->f->packer, b->step);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
}

/* What is on its way is not given up by a move within its nodes, and goes elsewhere by one to
 * others. */
static void test_moved_on_the_way(void **state)
{
    struct bench *b = *state;

    b->box->gated = true;
    deal(b);
    let(b, 0);
    move(b, "0-1", "0-1");
    assert_true(deal_moves(&b->f->packer, b->step));
    move(b, "0-1", "1-2");
    b->box->gated = false;
    sem_post(&b->box->go);
    settle(b);
    assert_on(b, 0, PAGES, PAGES, 0);
    deal_back(&b->f->packer, b->step);
    move(b, "1-2", "2-3");
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
}

/* What has moved while its memory was dealt has it follow, once that is where the program put it.
 */
static void test_follows_after(void **state)
{
    struct bench *b = *state;
    struct step *step = b->step;

    deal(b);
    settle(b);
    step->place.cpus = cpus_of("4-7");
    for (size_t i = 0; i < 2; i++)
        step->body.task[i].cpus = step->body.task[i].use = cpus_of(i ? "6" : "4");
    move(b, "0-1", "2-3");
    deal_back(&b->f->packer, step);
    memory_turn(&b->f->packer); /* too early */
    assert_false(step->memory.running);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    memory_turn(&b->f->packer);
    assert_true(step->memory.running);
    settle(b);
    memory_turn(&b->f->packer);
    assert_on(b, 0, 0, PAGES, PAGES);
    assert_string_equal(step->memory.why, "");
    memory_turn(&b->f->packer);
    assert_false(step->memory.running);
}

/* A step that leaves some of its own cores idle stays where it is dealt. */
static void test_resized(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    b->step->body.task[1].cpus = b->step->body.task[1].use = cpus_of("1");
    deal_turn(&b->f->packer, b->step);
    assert_false(deal_moves(&b->f->packer, b->step));
    assert_on(b, PAGES, PAGES, 0, 0);
}

/* Why pages were not dealt is told; those that were go back. */
static void test_half_dealt(void **state)
{
    struct bench *b = *state;

    b->box->fail_at = b->box->moves + 2;
    b->box->fail_with = ENOMEM;
    deal(b);
    settle(b);
    assert_told(b, "interleave", "no free memory");
    deal_back(&b->f->packer, b->step);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_told(b, "local", NULL);
}

/* The state folder is gone: no page is dealt. */
static void test_no_folder(void **state)
{
    struct bench *b = *state;
    struct berth_error err = {""};

    strcat(b->f->packer.world.conf.state_dir, "/gone");
    assert_int_equal(deal_out(&b->f->packer, b->step, &err), -1);
    assert_non_null(strstr(err.text, "/gone/dealt.1.0: No such file"));
    assert_false(b->step->inside.deal.dealt);
    assert_false(deal_moves(&b->f->packer, b->step));
}

/* The step is over: nothing of it is kept, and of others that nobody knows neither. */
static void test_end(void **state)
{
    struct bench *b = *state;
    char stranger[128], other[128];

    deal(b);
    settle(b);
    snprintf(stranger, sizeof(stranger), "%s/dealt.7.3", b->f->dir);
    snprintf(other, sizeof(other), "%s/dealt.7.x", b->f->dir);
    close(open(stranger, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    deal_clean(&b->f->packer);
    assert_true(is_kept(b));
    assert_int_not_equal(access(stranger, F_OK), 0);
    assert_int_equal(access(other, F_OK), 0);
    inside_end(&b->f->packer, b->step);
    assert_false(is_kept(b));
    assert_false(b->step->inside.deal.dealt);
}

/* ---- ADAPT ---- */

/* A window of the step is over: ADAPT has this done. */
static void adapt(struct bench *b, bool interleave)
{
    struct step *step = b->step;
    struct berth_error err = {""};

    step->share.adapt = (struct step_adapt){.on = true, .interleave = interleave};
    if (inside_adapt.sample(&b->f->packer, step, step->inside.run) &&
        inside_adapt.decide(step->inside.run) && inside_adapt.enact(&b->f->packer, step, &err) < 0)
        fail_msg("%s", err.text);
    settle(b);
}

static void begin_adapt(struct bench *b)
{
    b->step->request.options.tranquil = false;
    b->step->inside.run = calloc(1, sizeof(*b->step->inside.run));
}

/* What ADAPT wants of memory is done while it wants it, over the nodes of the step's part. */
static void test_adapt(void **state)
{
    struct bench *b = *state;

    begin_adapt(b);
    adapt(b, false);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    adapt(b, true);
    assert_on(b, PAGES, PAGES, 0, 0);
    assert_true(inside_adapt.in_effect(b->step));
    move(b, "0-1", "1");
    settle(b);
    adapt(b, true);
    assert_on(b, 0, 2 * PAGES, 0, 0);
    adapt(b, false);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_false(is_kept(b));
    adapt(b, true); /* there is one node only */
    assert_false(inside_adapt.sample(&b->f->packer, b->step, b->step->inside.run));
}

/* Where its user has said where the memory shall be ADAPT does nothing with it. */
static void test_adapt_leaves_it(void **state)
{
    struct berth_error err = {""};
    struct bench *b = *state;

    begin_adapt(b);
    b->step->request.options.mem = WIRE_MEM_LOCAL;
    adapt(b, true);
    assert_false(deal_is_out(b->step));
    b->step->request.options.mem = WIRE_MEM_AUTO;
    b->step->request.options.tranquil = true;
    adapt(b, true);
    assert_false(deal_is_out(b->step));
    deal(b); /* tranquil does */
    settle(b);
    adapt(b, false);
    assert_int_equal(inside_adapt.undo(&b->f->packer, b->step, &err), 0);
    assert_on(b, PAGES, PAGES, 0, 0);
}

/* Where tranquil may take over again it finds the memory where the program put it. */
static void test_adapt_hands_over(void **state)
{
    struct berth_error err = {""};
    struct bench *b = *state;

    begin_adapt(b);
    adapt(b, true);
    assert_on(b, PAGES, PAGES, 0, 0);
    b->step->request.options.tranquil = true;
    adapt(b, true);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    b->step->request.options.tranquil = false;
    adapt(b, true);
    assert_on(b, PAGES, PAGES, 0, 0);
    b->step->request.options.tranquil = true; /* and ADAPT is asked no more */
    assert_int_equal(inside_adapt.undo(&b->f->packer, b->step, &err), 0);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
}

/* berthd stops: pages that are not on their way are sent back and waited for. */
static void test_stop(void **state)
{
    struct bench *b = *state;

    deal(b);
    inside_undo(&b->f->packer, b->step); /* in the midst of it, or not */
    deal_stop(&b->f->packer, PATIENCE_S);
    assert_on(b, 2 * PAGES, 0, 0, 0);
    assert_false(b->step->inside.deal.dealt);
    kill_berthd(b);
    assert_false(b->step->inside.deal.dealt);
}

/* There is no time for that: the next berthd goes on. */
static void test_stop_in_haste(void **state)
{
    struct bench *b = *state;

    deal(b);
    settle(b);
    b->box->gated = true;
    deal_back(&b->f->packer, b->step);
    let(b, 0);
    deal_stop(&b->f->packer, 0);
    assert_true(b->step->inside.deal.dealt);
    kill_in_call(b);
    assert_true(b->step->inside.deal.dealt);
    adopt(b);
    settle(b);
    assert_on(b, 2 * PAGES, 0, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_there_and_back),
        TEST(test_one_node),
        TEST(test_killed),
        TEST(test_killed_on_the_way),
        TEST(test_lost),
        TEST(test_without_mover),
        TEST(test_tried_again),
        TEST(test_dealt_again),
        TEST(test_moved),
        TEST(test_moved_on_the_way),
        TEST(test_follows_after),
        TEST(test_resized),
        TEST(test_half_dealt),
        TEST(test_no_folder),
        TEST(test_end),
        TEST(test_stop),
        TEST(test_stop_in_haste),
        TEST(test_adapt),
        TEST(test_adapt_leaves_it),
        TEST(test_adapt_hands_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
