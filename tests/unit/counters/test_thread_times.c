/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_thread_times - what each thread of a process does: one computes, one sleeps, and, where this
 * machine can count that, one waits for a lock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/counters/lock_time.h"
#include "packer/counters/thread_times.h"

enum { SPINS, SLEEPS, WAITS, KINDS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;
static atomic_int tid[KINDS];

static void *spin(void *arg)
{
    atomic_store(&tid[SPINS], (int)syscall(SYS_gettid));
    while (!atomic_load(&over))
        ;
    return arg;
}

static void *rest(void *arg)
{
    atomic_store(&tid[SLEEPS], (int)syscall(SYS_gettid));
    while (!atomic_load(&over))
        usleep(1000);
    return arg;
}

static void *wait_for_lock(void *arg)
{
    atomic_store(&tid[WAITS], (int)syscall(SYS_gettid));
    while (!atomic_load(&over)) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
    return arg;
}

static void begin(pthread_t thread[KINDS])
{
    static void *(*const does[KINDS])(void *) = {spin, rest, wait_for_lock};

    atomic_store(&over, false);
    for (int i = 0; i < KINDS; i++) {
        atomic_store(&tid[i], 0);
        assert_int_equal(pthread_create(&thread[i], NULL, does[i], NULL), 0);
        while (atomic_load(&tid[i]) == 0)
            usleep(1000);
    }
}

static void end(const pthread_t thread[KINDS])
{
    atomic_store(&over, true);
    for (int i = 0; i < KINDS; i++)
        pthread_join(thread[i], NULL);
}

static const struct thread_times *find(const struct thread_list *list, int of)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->thread[i].tid == of)
            return &list->thread[i];
    return NULL;
}

static void read_self(struct lock_time *count, struct thread_list *list)
{
    const pid_t self = getpid();
    struct rootfs root;

    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    assert_int_equal(thread_times_read(&root, count, 1, &self, list), 0);
    rootfs_close(&root);
}

static void test_times(void **state)
{
    struct thread_list before, after;
    pthread_t thread[KINDS];
    double spun = 0;

    (void)state;
    begin(thread);
    read_self(NULL, &before);
    assert_int_equal(before.n, KINDS + 1);
    while (spun < 0.1) { /* however busy the machine is */
        read_self(NULL, &after);
        thread_times_since(&after, &before);
        assert_int_equal(after.n, KINDS + 1);
        spun = find(&after, atomic_load(&tid[SPINS]))->running;
        assert_true(find(&after, atomic_load(&tid[SLEEPS]))->running <= spun + 0.05);
        assert_true(find(&after, atomic_load(&tid[SPINS]))->waiting >= 0);
        assert_true(isnan(find(&after, atomic_load(&tid[SPINS]))->lock));
        thread_list_free(&after);
        usleep(10000);
    }
    thread_list_free(&before);
    end(thread);
}

/* Threads that came or went between two readings are in no difference. */
static void test_come_and_go(void **state)
{
    struct thread_list before, after;
    pthread_t thread[KINDS];

    (void)state;
    read_self(NULL, &before);
    begin(thread);
    read_self(NULL, &after);
    assert_int_equal(after.n, KINDS + 1);
    thread_times_since(&after, &before);
    assert_int_equal(after.n, 1);
    assert_int_equal(after.thread[0].tid, getpid());
    thread_list_free(&after);
    thread_list_free(&before);
    end(thread);
}

/* A number that another thread has by now is no thread of both readings. */
static void test_another_thread(void **state)
{
    struct thread_times was[] = {{.pid = 7, .tid = 7, .running = 1},
                                 {.pid = 7, .tid = 8, .running = 9}},
                        is[] = {{.pid = 7, .tid = 7, .running = 3},
                                {.pid = 7, .tid = 8, .running = 1}};
    struct thread_list before = {.n = 2, .thread = was}, after = {.n = 2, .thread = is};

    (void)state;
    thread_times_since(&after, &before);
    assert_int_equal(after.n, 1);
    assert_int_equal(after.thread[0].tid, 7);
    assert_true(after.thread[0].running == 2);
}

/* Counts lock time; the test ends here where that cannot be. */
static struct lock_time *open_locks(struct rootfs *root)
{
    struct lock_time *count = NULL;
    struct berth_error err;

    assert_int_equal(rootfs_open(root, "/", NULL), 0);
    if (lock_time_open(&count, root, &err) == 0)
        return count;
    print_message("not here: %s\n", err.text);
    rootfs_close(root);
    skip();
    return NULL;
}

static void test_lock(void **state)
{
    struct thread_list before, after;
    struct lock_time *count;
    pthread_t thread[KINDS];
    struct rootfs root;
    double waited = 0;

    (void)state;
    count = open_locks(&root);
    assert_int_equal(lock_time_watch(count, getpid()), 0);
    begin(thread);
    read_self(count, &before);
    assert_true(find(&before, atomic_load(&tid[WAITS]))->lock == 0);
    pthread_mutex_lock(&lock);
    while (waited < 0.1) {
        read_self(count, &after);
        thread_times_since(&after, &before);
        waited = find(&after, atomic_load(&tid[WAITS]))->lock;
        assert_true(find(&after, atomic_load(&tid[SPINS]))->lock < 0.01);
        thread_list_free(&after);
        usleep(10000);
    }
    pthread_mutex_unlock(&lock);
    end(thread);
    thread_times_forget(count, &before);
    thread_list_free(&before);
    lock_time_close(count);
    rootfs_close(&root);
}

static bool is_counted(struct lock_time *count, const struct thread_times *thread)
{
    uint64_t ns;

    return lock_time_read_thread(count, thread->pid, thread->tid, &ns) == 0;
}

/* The waits of threads that have ended, or are of one reading only, are not counted for ever. */
static void test_forget_but(void **state)
{
    struct thread_list both, kept = {.n = 1};
    struct lock_time *count;
    pthread_t thread[KINDS];
    struct rootfs root;

    (void)state;
    count = open_locks(&root);
    begin(thread);
    read_self(count, &both);
    kept.thread = &both.thread[1];
    thread_times_forget_but(count, &both, &kept);
    for (size_t i = 0; i < both.n; i++)
        assert_int_equal(is_counted(count, &both.thread[i]), i == 1);
    end(thread);
    thread_list_free(&both);
    lock_time_close(count);
    rootfs_close(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),          cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_another_thread), cmocka_unit_test(test_lock),
        cmocka_unit_test(test_forget_but),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
