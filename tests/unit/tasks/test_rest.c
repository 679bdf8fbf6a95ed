/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_rest - while a played blackboard says saturated, two of eight workers rest, and all work
 * again when it says idle: tasks of a flat program and of trees, and what they compute. The program
 * is started anew with the page's path in its environment, which is read before main(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "blackboard/writer.h"
#include "runtime/page.h"
#include "tasks/pool.h"
#include "enum_table.h"

#define WORKERS 8
#define LIMIT_S 60

static const char *const section[] = {"node", "memory0"};
static struct rt_page *page;
static struct blackboard_writer *writer;
static struct berth_tasks *pool;
static _Atomic bool enough;
static _Atomic unsigned created;

/* ---- the page and the blackboard ---- */

static void now(struct timespec *at)
{
    clock_gettime(CLOCK_MONOTONIC, at);
}

static void publish(int state)
{
    double TABLE(value, BERTH_BLACKBOARD_KNOWN_VALUES) = {
        ROW(BERTH_BLACKBOARD_STATE) = state, ROW(BERTH_BLACKBOARD_UTILISATION) = NAN,
        ROW(BERTH_BLACKBOARD_TRAFFIC) = NAN, ROW(BERTH_BLACKBOARD_WATTS) = NAN};
    TABLE_COMPLETE(value);
    struct timespec at;

    now(&at);
    for (unsigned i = 0; i < 2; i++)
        blackboard_write(writer, i, (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec,
                         BERTH_BLACKBOARD_KNOWN_VALUES, value);
}

static int set_up(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = WORKERS};
    const char *path = getenv(RT_PAGE_ENV);
    char board[256];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

    (void)state;
    if (fd < 0 || ftruncate(fd, sizeof(*page)) < 0)
        return -1;
    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    memcpy(page->magic, RT_PAGE_MAGIC, sizeof(page->magic));
    page->version = RT_PAGE_VERSION;
    page->size = sizeof(*page);
    page->features = RT_THROTTLE;
    page->hold = 1;
    memset(page->node, RT_NO_DOMAIN, sizeof(page->node));
    memset(page->cache, RT_NO_DOMAIN, sizeof(page->cache));
    page->node[0] = 0;
    snprintf(board, sizeof(board), "%.*s/blackboard", (int)(strrchr(path, '/') - path), path);
    if (blackboard_create(&writer, board, 2, section) < 0)
        return -1;
    setenv("BERTH_TASKS_NODES", "0|1", 1);
    pool = berth_tasks_start(&options);
    return pool ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    berth_tasks_stop(pool);
    blackboard_end(writer);
    return 0;
}

/* ---- who rests ---- */

static unsigned resting(void)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < pool->domains; i++)
        sum += (unsigned)load_u32(&pool->domain[i]->resting);
    return sum;
}

/* Says that again and again until so many rest. */
static void becomes(int state, unsigned n)
{
    for (unsigned i = 0; i < LIMIT_S * 100 && resting() != n; i++) {
        publish(state);
        usleep(10000);
    }
    assert_int_equal(resting(), n);
}

/* How many workers run tasks, of a second in which none has to wait long for a CPU. */
static unsigned working(void)
{
    uint64_t was[WORKERS];
    unsigned n = 0;

    for (unsigned i = 0; i < WORKERS; i++)
        was[i] = load_u64(&pool->worker[i]->counts.run);
    for (unsigned i = 0; i < 100; i++) {
        publish(resting() ? BERTH_BLACKBOARD_SATURATED : BERTH_BLACKBOARD_IDLE);
        usleep(10000);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        n += load_u64(&pool->worker[i]->counts.run) != was[i];
    return n;
}

/* ---- programs ---- */

static void spin(const void *nothing)
{
    (void)nothing;
    for (volatile unsigned i = 0; i < 20000; i++)
        ;
}

static void create_until_enough(const void *nothing)
{
    (void)nothing;
    while (!atomic_load(&enough)) {
        berth_task(spin, NULL, 0);
        if (atomic_fetch_add(&created, 1) % 1000 == 0)
            berth_task_wait();
    }
    berth_task_wait();
}

static void fibonacci(const void *arguments)
{
    struct {
        unsigned n;
        uint64_t *sum;
    } me, child;
    uint64_t sum[2];

    memcpy(&me, arguments, sizeof(me));
    if (me.n < 2) {
        spin(NULL);
        *me.sum = me.n;
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        child.n = me.n - 1 - i;
        child.sum = &sum[i];
        berth_task(fibonacci, &child, sizeof(child));
    }
    berth_task_wait();
    *me.sum = sum[0] + sum[1];
}

/* ---- tests ---- */

static void test_eight_six_eight(void **state)
{
    struct berth_task_group *group = berth_task_group_new(pool);

    (void)state;
    berth_task_group_add(group, NULL, 0, create_until_enough, NULL, 0);
    for (unsigned i = 0; i < 3; i++) {
        becomes(BERTH_BLACKBOARD_SATURATED, 2);
        assert_in_range(working(), 1, 6);
        assert_int_equal(resting(), 2);
        becomes(BERTH_BLACKBOARD_IDLE, 0);
    }
    assert_in_range(working(), 7, 8); /* the creator may end none */
    atomic_store(&enough, true);
    assert_int_equal(berth_task_group_free(group), 0);
}

/* Trees, whose joins need no one that rests, while the state changes. */
static void test_trees(void **state)
{
    struct berth_task_group *group = berth_task_group_new(pool);
    uint64_t sum = 0;
    struct {
        unsigned n;
        uint64_t *sum;
    } first = {19, &sum};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        berth_task_group_add(group, NULL, 0, fibonacci, &first, sizeof(first));
        for (unsigned k = 0; k < 20; k++) {
            publish(k % 8 < 4 ? BERTH_BLACKBOARD_SATURATED : BERTH_BLACKBOARD_IDLE);
            usleep(5000);
        }
        assert_int_equal(berth_task_group_wait(group), 0);
        assert_int_equal(sum, 4181);
        sum = 0;
    }
    berth_task_group_free(group);
}

/* Who rests is not in the way of the pool's end, nor does he rest where the page says nothing. */
static void test_end(void **state)
{
    struct berth_tasks_options options = {.size = sizeof(options), .workers = WORKERS};
    struct berth_task_group *group = berth_task_group_new(pool);

    (void)state;
    atomic_store(&enough, false);
    berth_task_group_add(group, NULL, 0, create_until_enough, NULL, 0);
    becomes(BERTH_BLACKBOARD_SATURATED, 2);
    atomic_store(&enough, true);
    assert_int_equal(berth_task_group_free(group), 0);
    assert_int_equal(berth_tasks_stop(pool), 0);
    page->features = 0;
    pool = berth_tasks_start(&options);
    group = berth_task_group_new(pool);
    atomic_store(&enough, false);
    berth_task_group_add(group, NULL, 0, create_until_enough, NULL, 0);
    for (unsigned i = 0; i < 20; i++) {
        publish(BERTH_BLACKBOARD_SATURATED);
        usleep(10000);
        assert_int_equal(resting(), 0);
    }
    atomic_store(&enough, true);
    assert_int_equal(berth_task_group_free(group), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_six_eight),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_end),
    };
    char folder[] = "/tmp/berth-rest-XXXXXX", path[64], board[64];
    int failed;

    if (argc == 1) {
        snprintf(path, sizeof(path), "%s/page", mkdtemp(folder));
        setenv(RT_PAGE_ENV, path, 1);
        execl("/proc/self/exe", argv[0], folder, NULL);
        return 99;
    }
    failed = cmocka_run_group_tests(tests, set_up, end);
    snprintf(path, sizeof(path), "%s/page", argv[1]);
    snprintf(board, sizeof(board), "%s/blackboard", argv[1]);
    unlink(path);
    unlink(board);
    rmdir(argv[1]);
    return failed;
}
