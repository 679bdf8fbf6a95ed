/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_lock_time - waiting for locks is counted, other sleep is not, and nothing is left behind. */
#include "packer/counters/lock_time.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/base/clock.h"
#include "tests/unit/common/folder.h"

#define MS 1000000.0
#define WAITERS 3
#define HELD_MS 200

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- what the children do ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;

static void *take_mutex(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *await_condition(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *await_barrier(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&barrier);
    return NULL;
}

static void *only_sleep(void *arg)
{
    (void)arg;
    sleep_ms(HELD_MS);
    return NULL;
}

/* The threads of this process that are asleep, or all. */
static int count_threads(bool asleep_only)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir))) {
        char path[300], text[256] = "", *rest;
        FILE *file;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
        file = fopen(path, "r");
        if (file && fgets(text, sizeof(text), file) && (rest = strrchr(text, ')')))
            n += !asleep_only || rest[2] == 'S';
        if (file)
            fclose(file);
    }
    closedir(dir);
    return n;
}

/* WAITERS threads wait, and when all of them do, for HELD_MS more. */
static void play(void *(*thread)(void *), const int *go)
{
    pthread_t id[WAITERS];
    char c;

    if (read(*go, &c, 1) != 1)
        _exit(1);
    pthread_barrier_init(&barrier, NULL, WAITERS + 1);
    if (thread == take_mutex)
        pthread_mutex_lock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&id[i], NULL, thread, NULL);
    while (thread != only_sleep && count_threads(true) < WAITERS)
        sleep_ms(1);
    sleep_ms(HELD_MS);
    if (thread == take_mutex)
        pthread_mutex_unlock(&mutex);
    if (thread == await_condition)
        pthread_cond_broadcast(&condition);
    if (thread == await_barrier)
        pthread_barrier_wait(&barrier);
    while (thread == only_sleep && count_threads(false) > 1)
        sleep_ms(1);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(id[i], NULL);
}

/* Begins WAITERS threads that wait for the mutex, in a child that lets it go when told to. */
static void hold(int go, int done)
{
    pthread_t id[WAITERS];
    char c = 0;

    pthread_mutex_lock(&mutex);
    if (read(go, &c, 1) != 1)
        _exit(1);
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&id[i], NULL, take_mutex, NULL);
    if (write(done, &c, 1) != 1 || read(go, &c, 1) != 1)
        _exit(1);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(id[i], NULL);
    _exit(write(done, &c, 1) == 1 && read(go, &c, 1) == 0 ? 0 : 1);
}

struct child {
    pid_t pid;
    int go, done;
};

/* A child that plays when it is told to, and then stays until its input is closed. NULL: it holds
 * the mutex until it is told to play again. */
static struct child child_start(void *(*thread)(void *))
{
    int go[2], done[2];
    struct child child;
    char c = 0;

    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(done), 0);
    child.pid = fork();
    assert_true(child.pid >= 0);
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(go[1]);
        close(done[0]);
        if (!thread)
            hold(go[0], done[1]);
        play(thread, &go[0]);
        if (write(done[1], &c, 1) != 1 || read(go[0], &c, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(go[0]);
    close(done[1]);
    child.go = go[1];
    child.done = done[0];
    return child;
}

static void child_play(const struct child *child)
{
    char c = 0;

    assert_int_equal(write(child->go, &c, 1), 1);
    assert_int_equal(read(child->done, &c, 1), 1);
}

static void child_end(struct child *child)
{
    int status;

    close(child->go);
    close(child->done);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    assert_int_equal(status, 0);
}

/* ---- fixture ---- */

struct fixture {
    struct rootfs root;
    struct lock_time *lock; /* NULL: not here */
    struct berth_error why;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_int_equal(rootfs_open(&f->root, "/", NULL), 0);
    if (lock_time_open(&f->lock, &f->root, &f->why) < 0)
        f->lock = NULL;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    lock_time_close(f->lock);
    rootfs_close(&f->root);
    free(f);
    return 0;
}

static struct fixture *need(void **state)
{
    struct fixture *f = *state;

    if (!f->lock) {
        print_message("no eBPF on system calls here: %s\n", f->why.text);
        skip();
    }
    return f;
}

/* ---- tests ---- */

/* Threads wait for all of the time that the lock is held after they have come, and no thread, with
 * the main thread that joins them, for longer than the child ran. Sleep is none. */
static void test_waits(void **state)
{
    static const struct {
        const char *name;
        void *(*thread)(void *);
        double least_ms, most_ms; /* 0: as long as it runs */
    } cases[] = {{"mutex", take_mutex, WAITERS * HELD_MS, 0},
                 {"condition", await_condition, WAITERS * HELD_MS, 0},
                 {"barrier", await_barrier, WAITERS * HELD_MS, 0},
                 {"sleep", only_sleep, 0, HELD_MS}};
    struct fixture *f = need(state);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct child child = child_start(cases[i].thread);
        double began, took;
        uint64_t ns;

        assert_int_equal(lock_time_watch(f->lock, child.pid), 0);
        assert_int_equal(lock_time_read(f->lock, child.pid, &ns), 0);
        assert_int_equal(ns, 0);
        began = 1e3 * clock_s();
        child_play(&child);
        took = 1e3 * clock_s() - began;
        assert_int_equal(lock_time_read(f->lock, child.pid, &ns), 0);
        print_message("%s: %.1f ms in %.1f ms\n", cases[i].name, (double)ns / MS, took);
        /* each thread begins to wait when it has been created, a little after the first */
        assert_true((double)ns / MS >= cases[i].least_ms);
        assert_true((double)ns / MS <=
                    (cases[i].most_ms > 0 ? cases[i].most_ms : (WAITERS + 1) * took));
        child_end(&child);
        assert_int_equal(lock_time_read(f->lock, child.pid, &ns), 0); /* outlives the process */
        assert_true((double)ns / MS >= cases[i].least_ms);
        lock_time_forget(f->lock, child.pid);
        assert_int_equal(lock_time_read(f->lock, child.pid, &ns), -1);
    }
}

static void *wait_for_ever(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    return NULL;
}

/* A wait that has not ended is counted until now, and one that a killed thread was in, until then.
 */
static void test_lasting(void **state)
{
    struct fixture *f = need(state);
    uint64_t first, second = 0, after;
    int go[2];
    char c = 0;
    pid_t pid;

    assert_int_equal(pipe(go), 0);
    pid = fork();
    if (pid == 0) {
        pthread_t id;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(go[0], &c, 1) != 1)
            _exit(1);
        pthread_mutex_lock(&mutex);
        pthread_create(&id, NULL, wait_for_ever, NULL);
        for (;;)
            pause();
    }
    assert_int_equal(lock_time_watch(f->lock, pid), 0);
    assert_int_equal(write(go[1], &c, 1), 1);
    do { /* until it has begun */
        sleep_ms(5);
        assert_int_equal(lock_time_read(f->lock, pid, &first), 0);
    } while (first == 0);
    for (int i = 0; i < 100 && second < first + 20 * MS; i++) {
        sleep_ms(5);
        assert_int_equal(lock_time_read(f->lock, pid, &second), 0);
    }
    assert_true((double)second >= (double)first + 20 * MS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(lock_time_read(f->lock, pid, &first), 0);
    sleep_ms(50);
    assert_int_equal(lock_time_read(f->lock, pid, &after), 0);
    assert_true(first >= second);
    assert_true(after == first); /* nobody waits any more */
    close(go[0]);
    close(go[1]);
    lock_time_forget(f->lock, pid);
}

/* Fills the numbers of the child's threads but the first one; returns how many there are. */
static size_t list_threads(pid_t pid, pid_t tid[WAITERS])
{
    char path[64];
    struct dirent *entry;
    size_t n = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) && n < WAITERS)
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
            tid[n++] = atoi(entry->d_name);
    closedir(dir);
    return n;
}

static uint64_t read_thread(struct fixture *f, pid_t pid, pid_t tid)
{
    uint64_t ns;

    assert_int_equal(lock_time_read_thread(f->lock, pid, tid, &ns), 0);
    return ns;
}

/* Waits until a thread's time is so much. */
static void await_thread(struct fixture *f, pid_t pid, pid_t tid, double least_ms)
{
    while ((double)read_thread(f, pid, tid) / MS < least_ms)
        sleep_ms(1);
}

/* A thread that waits is counted by itself: a wait that lasts, and one that has ended; a thread
 * that nobody asked for is not. */
static void test_threads(void **state)
{
    struct fixture *f = need(state);
    struct child child = child_start(NULL);
    pid_t tid[WAITERS];
    uint64_t ns, lasted;

    assert_int_equal(lock_time_watch(f->lock, child.pid), 0);
    child_play(&child);
    assert_int_equal(list_threads(child.pid, tid), WAITERS);
    for (int i = 1; i < WAITERS; i++)
        assert_int_equal(lock_time_watch_thread(f->lock, child.pid, tid[i]), 0);
    assert_int_equal(lock_time_watch_thread(f->lock, child.pid, child.pid), 0);
    for (int i = 1; i < WAITERS; i++)
        await_thread(f, child.pid, tid[i], 20);
    assert_int_equal(read_thread(f, child.pid, child.pid), 0); /* it holds the lock */
    lasted = read_thread(f, child.pid, tid[1]);
    child_play(&child);
    ns = read_thread(f, child.pid, tid[1]);
    assert_true(ns >= lasted);
    sleep_ms(20);
    assert_int_equal(read_thread(f, child.pid, tid[1]), ns); /* it waits no more */
    assert_int_equal(lock_time_read_thread(f->lock, child.pid, tid[0], &ns), -1);
    lock_time_forget_thread(f->lock, child.pid, tid[1]);
    assert_int_equal(lock_time_read_thread(f->lock, child.pid, tid[1], &ns), -1);
    child_end(&child);
    lock_time_forget(f->lock, child.pid);
}

static void test_not_watched(void **state)
{
    struct fixture *f = need(state);
    struct child child = child_start(take_mutex);
    uint64_t ns;

    child_play(&child);
    assert_int_equal(lock_time_read(f->lock, child.pid, &ns), -1);
    lock_time_forget(f->lock, child.pid);
    child_end(&child);
}

/* Where processes have other numbers than the kernel's, nothing is counted, rather than nothing
 * found. */
static void test_pid_namespace(void **state)
{
    struct fixture *f = *state;
    pid_t pid = fork();
    int status;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct berth_error err;
        struct lock_time *lock;

        if (unshare(CLONE_NEWPID) < 0)
            _exit(77);
        if ((pid = fork()) == 0)
            _exit(lock_time_open(&lock, &f->root, &err) < 0 && strstr(err.text, "PID namespace")
                      ? 0
                      : 1);
        _exit(waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* not root */
    assert_int_equal(status, 0);
}

static void test_nothing_stays_open(void **state)
{
    struct fixture *f = need(state);
    struct lock_time *second;
    size_t before = folder_count("/proc/self/fd");

    assert_int_equal(lock_time_open(&second, &f->root, NULL), 0); /* two at a time are fine */
    assert_true(folder_count("/proc/self/fd") > before);
    lock_time_close(second);
    assert_int_equal(folder_count("/proc/self/fd"), before);
    lock_time_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lasting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_watched, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pid_namespace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_stays_open, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
