/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shuffle - a step that asked for `shuffle`: how long its threads wait for locks is played;
 * the threads are real ones of this machine, which counts as two packages of one core each. */
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/handed.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/figures/figures.h"
#include "packer/inside/groups.h"
#include "packer/inside/inside.h"
#include "packer/inside/policy.h"
#include "packer/steps/journal.h"

#define TWO_CORES "package:2 l3:1 core:1 pu:1"
#define TWO_BY_TWO_CORES "package:2 l3:1 core:2 pu:1(indexes=0,2,1,3)" /* 0 and 2, 1 and 3 */
#define THREADS 8
#define BURST_S 2.

static pid_t child, tid[THREADS];

/* ---- the program ---- */

static void *stand(void *unused)
{
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static void be_program(int ready)
{
    pthread_t thread;

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, stand, NULL) != 0)
            _exit(1);
    if (write(ready, "x", 1) != 1)
        _exit(1);
    stand(NULL);
}

static void start_program(void)
{
    int ready[2];
    char word;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0)
        be_program(ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &word, 1), 1);
    close(ready[0]);
}

static void list_threads(const struct rootfs *root)
{
    struct thread_list list;

    assert_int_equal(thread_times_read(root, NULL, 1, &child, &list), 0);
    assert_int_equal(list.n, THREADS + 1);
    for (size_t i = 0, n = 0; i < list.n; i++)
        if (list.thread[i].tid != child)
            tid[n++] = list.thread[i].tid;
    thread_list_free(&list);
}

/* The CPUs of thread i: "0-1". */
static const char *at(size_t i)
{
    static char text[CPUS_TEXT_MAX];
    struct cpus cpus;

    assert_int_equal(enforce_get_affinity(tid[i], &cpus), 0);
    assert_int_equal(cpus_format(&cpus, text, sizeof(text)), 0);
    return text;
}

static void assert_all_at(const char *cpus)
{
    for (size_t i = 0; i < THREADS; i++)
        assert_string_equal(at(i), cpus);
}

static void set(size_t i, const char *cpus)
{
    struct cpus set = cpus_of(cpus);

    assert_int_equal(sched_setaffinity(tid[i], sizeof(set.word), (const cpu_set_t *)set.word), 0);
}

/* ---- a node with it ---- */

static int list_child(struct enforce *enforce, const struct enforce_step *step,
                      struct enforce_pids *list)
{
    (void)enforce, (void)step;
    return enforce_pids_add(list, child);
}

static void look_at_machine(struct fixture *f)
{
    f->way.pids = list_child;
    rootfs_close(&f->packer.world.root);
    assert_int_equal(rootfs_open(&f->packer.world.root, "/", NULL), 0);
}

static int begin_on(void **state, const char *topology)
{
    struct fixture *f;

    start_program(); /* first: it would keep the journal open */
    f = fixture_open(topology);
    strcat(f->conf.allow, ",shuffle");
    fixture_paper(f);
    fixture_restart(f);
    look_at_machine(f);
    list_threads(&f->packer.world.root);
    *state = f;
    return 0;
}

static int begin(void **state)
{
    return begin_on(state, TWO_CORES);
}

static int begin_elsewhere(void **state)
{
    return begin_on(state, TWO_BY_TWO_CORES);
}

static int end(void **state)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return fixture_teardown(state);
}

static struct step *start(struct fixture *f)
{
    struct wire_register request = fixture_request(1, 0, "0-1", "0-1", 1, "p");
    struct step *step;

    request.options.shuffle = true;
    step = fixture_start(f, request);
    step->body.task[0].pid = child;
    handed_tell(f->packer.world.enforce, step->request.id, 1, &child);
    assert_cpus(&step->body.task[0].cpus, "0-1");
    for (size_t i = 0; i < THREADS; i++)
        set(i, "0-1");
    return step;
}

/* A burst is over, in which the threads waited so much of their time. < 0: it has not run. Returns
 * what enact does, or 1 where nothing is to be done. */
static int burst(struct fixture *f, struct step *step, const double *lock, struct berth_error *err)
{
    struct inside_run *run = step->inside.run;
    struct burst *burst = &run->shuffle.burst;

    thread_list_free(&burst->thread);
    burst->seconds = BURST_S;
    burst->thread.thread = calloc(THREADS, sizeof(*burst->thread.thread));
    burst->thread.n = burst->thread.room = THREADS;
    for (size_t i = 0; i < THREADS; i++)
        burst->thread.thread[i] = (struct thread_times){
            .pid = child, .tid = tid[i], .running = lock[i] >= 0, .lock = fabs(lock[i]) * BURST_S};
    if (!inside_shuffle.sample(&f->packer, step, run) || !inside_shuffle.decide(run))
        return 1;
    return inside_shuffle.enact(&f->packer, step, err);
}

static void round_of(struct fixture *f, struct step *step, const double *lock)
{
    struct berth_error err = {""};

    if (burst(f, step, lock, &err) < 0)
        fail_msg("%s", err.text);
}

static const double teams[THREADS] = {.6, .2, .61, .21, .62, .22, .63, .23};

static struct step *start_shuffled(struct fixture *f)
{
    struct step *step = start(f);

    round_of(f, step, teams);
    assert_true(step->inside.shuffled);
    assert_string_not_equal(at(0), "0-1");
    return step;
}

/* ---- tests ---- */

/* Each team stands in a package, and nobody is moved once it does. */
static void test_teams(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    const struct inside_shuffle *shuffle = &step->inside.run->shuffle;
    char first[16], second[16];

    assert_int_equal(shuffle->moved, THREADS);
    assert_true(fabs(shuffle->lock - 0.415) < 1e-6);
    snprintf(first, sizeof(first), "%s", at(0));
    snprintf(second, sizeof(second), "%s", at(1));
    assert_string_not_equal(first, second);
    for (size_t i = 0; i < THREADS; i++)
        assert_string_equal(at(i), i % 2 ? second : first);
    round_of(f, step, teams);
    assert_int_equal(shuffle->moved, 0);
    assert_int_equal(shuffle->changes, THREADS);
    assert_int_equal(shuffle->groups, 2);
    assert_int_equal(shuffle->group[0].threads + shuffle->group[1].threads, THREADS);
}

/* One that waits otherwise now changes places with another one, and the rest stays. */
static void test_fewest_moves(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    const double other[THREADS] = {.1, .7, .61, .21, .62, .22, .63, .23};
    char first[16];

    snprintf(first, sizeof(first), "%s", at(0));
    round_of(f, step, other);
    assert_int_equal(step->inside.run->shuffle.moved, 2);
    assert_string_equal(at(1), first);
    assert_string_not_equal(at(0), first);
}

static void test_little_lock(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    const double little[THREADS] = {.04, .05, .04, .05, .04, .05, .04, .05};

    round_of(f, step, little);
    assert_all_at("0-1");
    assert_false(step->inside.shuffled);
    assert_int_equal(step->inside.run->shuffle.rounds, 1);
}

/* The one that waits for the others to end does not make the program one that waits. */
static void test_idle(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    const double joins[THREADS] = {-1, 0, .01, 0, .01, 0, .01, 0},
                 works[THREADS] = {-1, .2, .61, .21, .62, .22, .63, .23};

    round_of(f, step, joins);
    assert_all_at("0-1");
    round_of(f, step, works);
    assert_string_equal(at(0), "0-1");
    assert_string_not_equal(at(1), "0-1");
}

/* Threads that their program has bound to whole packages cannot be told from berth's. */
static void test_own(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct berth_error err = {""};

    set(3, "1");
    assert_int_equal(burst(f, step, teams, &err), -1);
    assert_non_null(strstr(err.text, "itself"));
    assert_false(step->inside.shuffled);
    assert_string_equal(at(0), "0-1");
    inside_undo(&f->packer, step);
    assert_string_equal(at(3), "1");
}

/* One that binds itself to a whole package later is left alone, too, also when the others are set
 * free; those that it makes can not be told from berth's. */
static void test_own_later(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    struct berth_error err;
    char other[16];

    snprintf(other, sizeof(other), "%s", at(1));
    set(0, other);
    for (uint64_t round = 1; round < 4; round++) {
        round_of(f, step, teams);
        assert_string_equal(at(0), other);
        assert_int_equal(step->inside.run->shuffle.bound, 1);
    }
    assert_string_not_equal(at(2), other);
    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    assert_string_equal(at(0), other);
    assert_string_equal(at(1), "0-1");
    assert_string_equal(at(2), "0-1");
}

/* Threads that OpenMP binds are not moved, and keep their places. */
static void test_openmp(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);
    struct berth_error err = {""};

    step->request.pin = WIRE_PIN_ENVIRONMENT;
    set(3, "1");
    assert_int_equal(burst(f, step, teams, &err), 1);
    assert_int_equal(step->inside.run->shuffle.bound, THREADS);
    assert_string_equal(at(0), "0-1");
    step->inside.shuffled = true; /* by an earlier berthd, say */
    assert_int_equal(burst(f, step, teams, &err), 1);
    inside_undo(&f->packer, step);
    assert_false(step->inside.shuffled);
    assert_string_equal(at(3), "1");
}

/* Once it waits little, nobody is bound; in between, who is bound stays. */
static void test_waits_no_more(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    const double less[THREADS] = {.04, .03, .04, .03, .04, .03, .04, .03},
                 little[THREADS] = {.02, .01, .02, .01, .02, .01, .02, .01};

    round_of(f, step, less);
    assert_string_not_equal(at(0), "0-1");
    round_of(f, step, little);
    assert_all_at("0-1");
    round_of(f, step, less);
    assert_all_at("0-1");
}

/* The first thread of a process makes most of the others, which would stand where it does. */
static void test_first_thread(void **state)
{
    struct fixture *f = *state;
    struct step *step = start(f);

    tid[0] = child;
    set(0, "0-1");
    round_of(f, step, teams);
    assert_string_equal(at(0), "0-1");
    assert_string_not_equal(at(1), "0-1");
    set(0, "1"); /* as if another one had made it */
    round_of(f, step, teams);
    assert_string_equal(at(0), "0-1");
}

static void test_too_many(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    struct inside_shuffle *shuffle = &step->inside.run->shuffle;
    struct berth_error err = {""};

    thread_list_free(&shuffle->burst.thread);
    shuffle->burst.thread.thread = calloc(1025, sizeof(*shuffle->burst.thread.thread));
    shuffle->burst.thread.n = shuffle->burst.thread.room = 1025;
    assert_true(inside_shuffle.sample(&f->packer, step, step->inside.run));
    assert_true(inside_shuffle.decide(step->inside.run));
    assert_int_equal(inside_shuffle.enact(&f->packer, step, &err), -1);
    assert_non_null(strstr(err.text, "1025 threads"));
}

static void test_release(void **state)
{
    struct fixture *f = *state;
    struct step *step = start_shuffled(f);
    struct berth_error err;

    assert_int_equal(pipeline_release(&f->packer, step->request.id, &err), 0);
    assert_all_at("0-1");
    assert_false(step->inside.shuffled);
}

static void test_stop(void **state)
{
    struct fixture *f = *state;

    start_shuffled(f);
    pipeline_undo(&f->packer);
    assert_all_at("0-1");
}

/* The journal says before the first change what is to be undone. */
static void test_kill(void **state)
{
    struct fixture *f = *state;
    struct berth_error err = {""};

    start_shuffled(f);
    fixture_restart(f);
    look_at_machine(f);
    assert_string_not_equal(at(0), "0-1");
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_all_at("0-1");
    assert_false(fixture_step(f, 1, 0)->inside.shuffled);
}

/* What it finds bound stands where the step stood, which is not where Slurm had put it. */
static void test_kill_elsewhere(void **state)
{
    struct fixture *f = *state;
    struct wire_register request = fixture_request(1, 0, "2-3", "2-3", 1, "p");
    struct berth_error err = {""};
    struct step *step, *other;

    other = fixture_run(f, 2, "0-1", "other"); /* so that these cores are in the pool */
    request.options.shuffle = true;
    step = fixture_start(f, request);
    f->way.touches = false; /* there are no such CPUs, maybe, to be bound to */
    for (long core = 0; core < 4; core += 2)
        fixture_exchange(f, (size_t)core, (size_t)core + 1);
    f->way.touches = true;
    assert_cpus(&step->body.task[0].cpus, "0-1");
    other->body.task[0].pid = step->body.task[0].pid = child; /* which is there, on this machine */
    handed_tell(f->packer.world.enforce, step->request.id, 1, &child);
    handed_tell(f->packer.world.enforce, other->request.id, 1, &child);
    assert_int_equal(journal_start(&f->packer, other, &err), 0);
    for (size_t i = 0; i < THREADS; i++)
        set(i, i % 2 ? "1" : "0");
    step->inside.shuffled = true;
    assert_int_equal(journal_start(&f->packer, step, &err), 0);
    assert_int_equal(journal_stand(&f->packer, f->packer.state->pool, &err), 0);
    fixture_restart(f);
    look_at_machine(f);
    if (pipeline_resume(&f->packer, &err) < 0)
        fail_msg("%s", err.text);
    assert_all_at("0-1");
}

/* Its slurmstepd is gone, say, and its threads run on. */
static void test_end(void **state)
{
    struct fixture *f = *state;

    start_shuffled(f);
    fixture_end(f, 1, 0);
    assert_all_at("0-1");
}

static void test_journal(void **state)
{
    struct fixture *f = *state;

    start_shuffled(f);
    assert_true(fixture_journal_has(f, "shuffled"));
}

static void test_refused(void **state)
{
    struct fixture *f = *state;
    struct json_object *explain = json_object_new_object(), *shuffle;

    figures_inside(&f->packer, start(f), explain);
    shuffle = json_object_object_get(explain, "shuffle");
    assert_non_null(shuffle);
    assert_non_null(
        strstr(json_object_get_string(json_object_object_get(shuffle, "refused")), "lock_time"));
    json_object_put(explain);
    assert_true(pipeline_bursts(&f->packer) < 0);
}

static void assert_look(const struct groups *groups, const char *affinity, enum groups_thread is,
                        size_t group)
{
    struct cpus cpus = cpus_of(affinity);
    size_t at;

    assert_int_equal(groups_look(groups, &cpus, &at), is);
    assert_int_equal(at, group);
}

/* Whoever stands on less than a group, or across two, was bound by his program. */
static void test_groups(void **state)
{
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct cpus all = cpus_of("1-7"), one = cpus_of("0-3");
    struct groups groups;

    (void)state;
    groups_cut(f->packer.world.topo, &all, false, &groups);
    assert_int_equal(groups.n, 2);
    assert_int_equal(groups.cores[0], 3);
    assert_look(&groups, "1-7", GROUPS_FREE, SHUFFLE_NOWHERE);
    assert_look(&groups, "1-3", GROUPS_IN, 0);
    assert_look(&groups, "4-7", GROUPS_IN, 1);
    assert_look(&groups, "5", GROUPS_BOUND, 1);
    assert_look(&groups, "2-5", GROUPS_BOUND, SHUFFLE_NOWHERE);
    groups_cut(f->packer.world.topo, &one, true, &groups);
    assert_int_equal(groups.n, 2);
    assert_look(&groups, "2-3", GROUPS_IN, 1);
    fixture_close(f);
}

/* It takes two CPUs to stand on one or on the other. */
static bool have_cpus(void)
{
    struct cpus now;

    return enforce_get_affinity(0, &now) == 0 && cpus_has(&now, 0) && cpus_has(&now, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Who reads many threads reads them less often: a hundredth of a core is what it takes. */
static void test_interval(void **state)
{
    struct burst_plan ten = {.interval_s = 0.2, .by_thread = true},
                      one = {.interval_s = 0.5, .readings = 1, .by_thread = true};

    (void)state;
    assert_true(fabs(burst_interval_s(&ten, 0.001) - 0.2) < 1e-9);
    assert_true(fabs(burst_interval_s(&ten, 0.01) - 0.2) < 1e-9);
    assert_true(fabs(burst_interval_s(&ten, 0.04) - 0.8) < 1e-9);
    assert_true(fabs(burst_interval_s(&one, 0.01) - 2) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest pure[] = {cmocka_unit_test(test_groups),
                                      cmocka_unit_test(test_interval)},
                            tests[] = {TEST(test_teams),
                                       TEST(test_fewest_moves),
                                       TEST(test_little_lock),
                                       TEST(test_idle),
                                       TEST(test_own),
                                       TEST(test_own_later),
                                       TEST(test_waits_no_more),
                                       TEST(test_first_thread),
                                       TEST(test_too_many),
                                       TEST(test_release),
                                       TEST(test_stop),
                                       TEST(test_kill),
                                       TEST(test_end),
                                       TEST(test_journal),
                                       TEST(test_refused),
                                       cmocka_unit_test_setup_teardown(test_openmp, begin, end),
                                       cmocka_unit_test_setup_teardown(test_kill_elsewhere,
                                                                       begin_elsewhere, end)};
    int failed = cmocka_run_group_tests(pure, NULL, NULL);

    if (failed || !have_cpus())
        return failed;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
