/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_slices - the threads of this very process get a class and a slice, and lose them again: all
 * of them, and none that has a class of its own. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/attributes.h"
#include "tests/unit/common/slices_now.h"

#define WORKERS 4
#define OWN 1 /* this one sets its own class */

struct team {
    struct rootfs root;
    pid_t pid, tid[WORKERS];
    pthread_t thread[WORKERS];
    pthread_barrier_t begun, over;
    size_t next;
    struct attributes before;
};

static struct attributes attributes_of(pid_t tid)
{
    struct attributes attributes;

    assert_int_equal(attributes_get(tid, &attributes), 0);
    return attributes;
}

static void *work(void *arg)
{
    struct team *team = arg;
    size_t i = __atomic_fetch_add(&team->next, 1, __ATOMIC_SEQ_CST);
    struct sched_param none = {0};

    team->tid[i] = (pid_t)syscall(SYS_gettid);
    if (i == OWN)
        sched_setscheduler(0, SCHED_IDLE, &none);
    pthread_barrier_wait(&team->begun);
    pthread_barrier_wait(&team->over);
    return NULL;
}

static int begin(void **state)
{
    static struct team team;

    memset(&team, 0, sizeof(team));
    assert_int_equal(rootfs_open(&team.root, "/", NULL), 0);
    team.pid = getpid();
    team.before = attributes_of(0);
    pthread_barrier_init(&team.begun, NULL, WORKERS + 1);
    pthread_barrier_init(&team.over, NULL, WORKERS + 1);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&team.thread[i], NULL, work, &team), 0);
    pthread_barrier_wait(&team.begun);
    *state = &team;
    return 0;
}

static int end(void **state)
{
    struct team *team = *state;

    pthread_barrier_wait(&team->over);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(team->thread[i], NULL);
    rootfs_close(&team->root);
    return 0;
}

static void assert_all(const struct team *team, uint32_t policy, uint64_t slice_ns)
{
    for (size_t i = 0; i < WORKERS; i++) {
        struct attributes now = attributes_of(team->tid[i]);

        assert_int_equal(now.policy, i == OWN ? SCHED_IDLE : policy);
        assert_int_equal(now.nice, team->before.nice);
        if (i != OWN && team->before.runtime_ns) /* the kernel has slices */
            assert_int_equal(now.runtime_ns, slice_ns);
    }
}

static void give(struct team *team, uint64_t slice_ms, struct slices_seen *seen)
{
    struct berth_error err = {""};

    if (slices_now(&team->root, 1, &team->pid, SLICES_GIVE, slice_ms * 1000000, seen, &err) < 0)
        fail_msg("%s", err.text);
}

static void look(struct team *team, struct slices_seen *seen)
{
    assert_int_equal(slices_now(&team->root, 1, &team->pid, SLICES_LOOK, 0, seen, NULL), 0);
}

static void take(struct team *team, struct slices_seen *seen)
{
    struct berth_error err = {""};

    if (slices_now(&team->root, 1, &team->pid, SLICES_TAKE, 0, seen, &err) < 0)
        fail_msg("%s", err.text);
}

/* Each thread has what was asked, the longest that there is instead of a longer one; one that has a
 * class of its own keeps it; and all is as it was afterwards. */
static void test_give_and_take(void **state)
{
    struct team *team = *state;
    struct slices_seen seen;

    look(team, &seen);
    assert_int_equal(seen.threads, WORKERS + 1);
    assert_int_equal(seen.batch, 0);
    assert_int_equal(seen.own, 1);
    give(team, 20, &seen);
    assert_all(team, SCHED_BATCH, 20000000);
    assert_int_equal(seen.batch, WORKERS);
    assert_int_equal(seen.changed, WORKERS);
    assert_int_equal(seen.slice_ns, team->before.runtime_ns ? 20000000 : 0);
    give(team, 250, &seen);
    assert_all(team, SCHED_BATCH, 100000000);
    give(team, 250, &seen); /* nothing is left to do */
    assert_int_equal(seen.changed, team->before.runtime_ns ? 0 : seen.changed);
    take(team, &seen);
    assert_all(team, SCHED_OTHER, team->before.runtime_ns);
    assert_int_equal(seen.batch, 0);
}

static void *inherit(void *arg)
{
    *(struct attributes *)arg = attributes_of(0);
    return NULL;
}

/* A thread that begins later has it, too; and nice is nobody's but the program's. */
static void test_nice_and_heirs(void **state)
{
    struct team *team = *state;
    struct attributes heir, now;
    struct slices_seen seen;
    pthread_t thread;

    assert_int_equal(setpriority(PRIO_PROCESS, (id_t)team->tid[0], team->before.nice + 1), 0);
    give(team, 30, &seen);
    assert_int_equal(pthread_create(&thread, NULL, inherit, &heir), 0);
    pthread_join(thread, NULL);
    assert_int_equal(heir.policy, SCHED_BATCH);
    now = attributes_of(team->tid[0]);
    assert_int_equal(now.policy, SCHED_BATCH);
    assert_int_equal(now.nice, team->before.nice + 1);
    take(team, &seen);
    now = attributes_of(team->tid[0]);
    assert_int_equal(now.policy, SCHED_OTHER);
    assert_int_equal(now.nice, team->before.nice + 1);
}

/* A slice that a program chose is its own; one with SCHED_BATCH is told. */
static void test_own(void **state)
{
    struct team *team = *state;
    struct attributes mine = {.nice = team->before.nice};
    struct sched_param none = {0};
    struct slices_seen seen;

    mine.runtime_ns = 7000000;
    assert_int_equal(attributes_set(team->tid[2], &mine), 0);
    give(team, 30, &seen);
    if (team->before.runtime_ns) {
        assert_int_equal(attributes_of(team->tid[2]).policy, SCHED_OTHER);
        assert_int_equal(attributes_of(team->tid[2]).runtime_ns, 7000000);
        assert_int_equal(seen.own, 2);
    }
    take(team, &seen);
    assert_int_equal(sched_setscheduler(team->tid[3], SCHED_BATCH, &none), 0);
    look(team, &seen);
    assert_int_equal(seen.batch, 1);
}

/* A thread whose program sets it to SCHED_OTHER meanwhile keeps berth's slice, which is taken back,
 * too; a slice that berth has not given stays. */
static void test_other_by_the_program(void **state)
{
    struct team *team = *state;
    struct attributes mine = {.nice = team->before.nice, .runtime_ns = 7000000};
    struct sched_param none = {0};
    struct slices_known known = {.base_ns = team->before.runtime_ns};
    struct slices_seen seen;

    cpus_add(&known.given_ms, 30);
    give(team, 30, &seen);
    assert_int_equal(sched_setscheduler(team->tid[2], SCHED_OTHER, &none), 0);
    assert_int_equal(attributes_set(team->tid[3], &mine), 0);
    assert_int_equal(
        slices_now_known(&team->root, 1, &team->pid, SLICES_TAKE, 0, &known, &seen, NULL), 0);
    assert_int_equal(attributes_of(team->tid[2]).runtime_ns, team->before.runtime_ns);
    if (team->before.runtime_ns) {
        assert_int_equal(attributes_of(team->tid[3]).runtime_ns, 7000000);
        assert_true(cpus_has(&seen.own_ms, 7) && cpus_count(&seen.own_ms) == 1);
    }
}

/* A thread whose program gives it a real-time class meanwhile keeps that. */
static void test_real_time(void **state)
{
    struct team *team = *state;
    struct sched_param first = {.sched_priority = 1};
    struct slices_seen seen;

    give(team, 30, &seen);
    if (sched_setscheduler(team->tid[0], SCHED_FIFO, &first) < 0) {
        take(team, &seen);
        skip(); /* this user may not */
    }
    give(team, 20, &seen);
    assert_int_equal(seen.own, 2);
    take(team, &seen);
    assert_int_equal(attributes_of(team->tid[0]).policy, SCHED_FIFO);
    assert_int_equal(attributes_of(team->tid[0]).priority, 1);
    assert_int_equal(attributes_of(team->tid[2]).policy, SCHED_OTHER);
}

/* A turn that may look at two threads looks at two, and the next one goes on after them. */
static void test_in_turns(void **state)
{
    struct team *team = *state;
    struct enforce enforce;
    struct slices_pass *pass =
        slices_pass_new(HANDED_ID, 1, &team->pid, SLICES_GIVE, 30000000,
                        &(struct slices_known){.base_ns = team->before.runtime_ns});
    struct berth_error err = {""};
    struct slices_seen seen;

    assert_non_null(pass);
    handed_open(&enforce, &team->root, 1, &team->pid);
    for (size_t turn = 1; turn <= (WORKERS + 1) / 2; turn++) {
        enforce_pace(&enforce, 2, 60);
        assert_int_equal(slices_pass_turn(&enforce, pass, &seen, &err), 1);
        assert_int_equal(seen.threads, 2 * turn);
    }
    enforce_pace(&enforce, 2, 60);
    assert_int_equal(slices_pass_turn(&enforce, pass, &seen, &err), 0);
    assert_int_equal(seen.threads, WORKERS + 1);
    assert_int_equal(seen.batch, WORKERS);
    slices_pass_free(pass);
    enforce_close(&enforce);
    assert_all(team, SCHED_BATCH, 30000000);
    take(team, &seen);
}

static void *stay(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* A turn with no time left but to list the threads has done that: the next one does not again. */
static void test_the_list_stays(void **state)
{
    struct team *team = *state;
    struct enforce enforce;
    struct slices_pass *pass = slices_pass_new(HANDED_ID, 1, &team->pid, SLICES_LOOK, 0,
                                               &(struct slices_known){.base_ns = 0});
    struct slices_seen seen;
    pthread_t thread;

    handed_open(&enforce, &team->root, 1, &team->pid);
    enforce_pace(&enforce, 0, 60);
    assert_int_equal(slices_pass_turn(&enforce, pass, &seen, NULL), 1);
    assert_int_equal(seen.threads, 0);
    assert_int_equal(pthread_create(&thread, NULL, stay, NULL), 0);
    enforce_pace(&enforce, ENFORCE_ALL, 0);
    assert_int_equal(slices_pass_turn(&enforce, pass, &seen, NULL), 0);
    assert_int_equal(seen.threads, WORKERS + 1);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    slices_pass_free(pass);
    enforce_close(&enforce);
}

/* Between two turns the process has ended, and its number is another one's. */
static void test_strangers_are_left_out(void **state)
{
    static const pid_t others[] = {3, 1};
    struct team *team = *state;
    struct enforce enforce;
    struct slices_pass *pass =
        slices_pass_new(HANDED_ID, 1, &team->pid, SLICES_GIVE, 30000000,
                        &(struct slices_known){.base_ns = team->before.runtime_ns});
    struct slices_seen seen;

    handed_open(&enforce, &team->root, 1, &team->pid);
    enforce_pace(&enforce, 1, 60);
    assert_int_equal(slices_pass_turn(&enforce, pass, &seen, NULL), 1);
    assert_int_equal(seen.changed, 1);
    enforce_pace(&enforce, ENFORCE_ALL, 0);
    slices_pass_keep(pass, 2, others);
    assert_int_equal(slices_pass_turn(&enforce, pass, &seen, NULL), 0);
    assert_int_equal(seen.changed, 1);
    slices_pass_free(pass);
    enforce_close(&enforce);
    take(team, &seen);
}

/* Nobody is there. */
static void test_gone(void **state)
{
    struct team *team = *state;
    struct slices_seen seen;

    team->pid = 0x7ffffffe;
    give(team, 20, &seen);
    assert_int_equal(seen.threads, 0);
    take(team, &seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_give_and_take, begin, end),
        cmocka_unit_test_setup_teardown(test_nice_and_heirs, begin, end),
        cmocka_unit_test_setup_teardown(test_own, begin, end),
        cmocka_unit_test_setup_teardown(test_other_by_the_program, begin, end),
        cmocka_unit_test_setup_teardown(test_real_time, begin, end),
        cmocka_unit_test_setup_teardown(test_in_turns, begin, end),
        cmocka_unit_test_setup_teardown(test_the_list_stays, begin, end),
        cmocka_unit_test_setup_teardown(test_strangers_are_left_out, begin, end),
        cmocka_unit_test_setup_teardown(test_gone, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
