/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_stat_reader - the stat of processes is read beside the event loop, and a process that lets
 * nobody read hurts its own step only. A FIFO stands for its stat, in a recorded tree that is taken
 * for the machine. */
#include "packer/counters/stat_reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/folder.h"

#define USER 1000
#define LONG_S 600.
#define SHORT_S 0.01

struct box {
    char folder[64];
    struct rootfs root;
    struct stat_reader *reader;
    struct hands_work *ask;
};

static void put(const struct box *box, int pid, int started, int waited)
{
    char path[64], text[256];

    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    snprintf(text, sizeof(text), "%d (x) S 1 1 1 0 -1 0 3 0 0 0 5 0 %d 0 20 0 2 0 %d 1000 10 0\n",
             pid, waited, started);
    folder_put(box->folder, path, text);
}

static void open_box(struct box *box, bool live, double limit_s, double wait_s)
{
    *box = (struct box){.ask = NULL};
    folder_new(box->folder, sizeof(box->folder), "test_stat_reader");
    put(box, 10, 100, 7);
    put(box, 11, 200, 0);
    assert_int_equal(rootfs_open(&box->root, box->folder, NULL), 0);
    box->root.machine = live;
    box->reader = stat_reader_open(&box->root, limit_s, wait_s);
    assert_non_null(box->reader);
}

static void close_box(struct box *box)
{
    stat_reader_drop(box->reader, &box->ask);
    stat_reader_close(box->reader);
    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->folder), 0);
}

static void read_both_ways(bool live)
{
    struct box box;
    struct stat_row row[] = {{.pid = 10, .fd = -1},
                             {.pid = 11, .started = 200, .fd = -1},
                             {.pid = 12, .fd = -1},
                             {.pid = 11, .started = 201, .fd = -1}};

    open_box(&box, live, LONG_S, LONG_S);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stat_reader_read(box.reader, &box.ask, USER, row, 4,
                                          &(struct stat_how){.keep = i ? 0 : 1}),
                         HANDS_DONE);
        assert_null(box.ask);
        assert_false(row[0].gone || row[1].gone);
        assert_true(row[0].stat.waited_user_ns > row[0].stat.user_ns);
        assert_true(row[1].stat.started == 200);
        assert_true(row[2].gone && row[3].gone); /* another process has the number */
        assert_true(row[0].fd >= 0 && row[1].fd < 0 && row[2].fd < 0);
    }
    close(row[0].fd);
    assert_int_equal(stat_reader_read(box.reader, &box.ask, USER, row, 0, &(struct stat_how){0}),
                     HANDS_DONE);
    close_box(&box);
}

static void test_recorded(void **state)
{
    (void)state;
    read_both_ways(false);
}

static void test_by_a_thread(void **state)
{
    (void)state;
    read_both_ways(true);
}

/* A process whose stat nobody can read until let_go(). */
static void hold(const struct box *box, char path[128])
{
    snprintf(path, 128, "%s/proc/13", box->folder);
    assert_int_equal(mkdir(path, 0755), 0);
    strcat(path, "/stat");
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void let_go(const char *path)
{
    int end = open(path, O_WRONLY);

    assert_true(end >= 0);
    close(end);
}

/* An answer that comes late is to that question only, and for who wants it. */
static void test_late(void **state)
{
    static const struct stat_how late = {.late = true}, now = {.late = false};
    struct stat_row held = {.pid = 13, .fd = -1}, row = {.pid = 10, .fd = -1};
    struct hands_work *other = NULL;
    struct box box;
    char path[128];

    (void)state;
    open_box(&box, true, LONG_S, SHORT_S);
    hold(&box, path);
    assert_int_equal(stat_reader_read(box.reader, &other, USER, &held, 1, &now), HANDS_WAIT);
    assert_int_equal(stat_reader_read(box.reader, &box.ask, USER, &row, 1, &late), HANDS_WAIT);
    assert_int_equal(stat_reader_read(box.reader, &box.ask, USER, &row, 1, &late), HANDS_WAIT);
    let_go(path);
    while (stat_reader_read(box.reader, &box.ask, USER, &row, 1, &late) == HANDS_WAIT)
        usleep(1000);
    assert_null(box.ask);
    assert_true(row.stat.started == 100);
    stat_reader_read(box.reader, &box.ask, USER, &row, 1, &now);
    row.pid = 11;
    while (stat_reader_read(box.reader, &box.ask, USER, &row, 1, &late) == HANDS_WAIT)
        usleep(1000);
    assert_true(row.stat.started == 200);
    stat_reader_drop(box.reader, &other);
    close_box(&box);
}

/* Returns what has become of the question about one process, once it is known. */
static enum hands_state ask(struct box *box, struct hands_work **work, uint32_t user, pid_t pid)
{
    enum hands_state state;

    do {
        struct stat_row row = {.pid = pid, .fd = -1};

        state = stat_reader_read(box->reader, work, user, &row, 1, &(struct stat_how){0});
        assert_true(row.fd < 0);
        if (state == HANDS_WAIT)
            usleep(1000);
    } while (state == HANDS_WAIT);
    return state;
}

/* Its step is given up; its user may do so twice; others are read. */
static void test_held_up(void **state)
{
    struct hands_work *other = NULL;
    char path[128];
    struct box box;

    (void)state;
    open_box(&box, true, 0.3, SHORT_S);
    hold(&box, path);
    for (int i = 0; i < HANDS_HUNG_USER_MAX; i++) {
        assert_int_equal(ask(&box, &box.ask, USER, 13), HANDS_HUNG);
        assert_null(box.ask);
        assert_int_equal(ask(&box, &other, USER + 1, 10), HANDS_DONE);
    }
    assert_int_equal(stat_reader_hung(box.reader), HANDS_HUNG_USER_MAX);
    assert_int_equal(ask(&box, &box.ask, USER, 10), HANDS_REFUSED);
    let_go(path);
    while (stat_reader_hung(box.reader))
        usleep(1000);
    assert_int_equal(ask(&box, &box.ask, USER, 10), HANDS_DONE);
    close_box(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_by_a_thread),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_held_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
