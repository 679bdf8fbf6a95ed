/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_maps_reader - memory by node is read beside the event loop, and a process that lets nobody
 * read hurts no step but its own. A FIFO stands for its numa_maps. */
#include "packer/counters/maps_reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/base/clock.h"
#include "packer/base/hands.h"
#include "tests/unit/common/folder.h"

#define LIMIT_S 0.3
#define USER 1000
#define LONG_S 600.

struct box {
    char folder[64];
    struct rootfs root;
    struct maps_reader *reader;
};

static struct box *open_box(double limit_s)
{
    struct box *box = calloc(1, sizeof(*box));

    folder_new(box->folder, sizeof(box->folder), "test_maps_reader");
    folder_put(box->folder, "proc/1/numa_maps", "7f00 default N0=3 N1=1 kernelpagesize_kB=4\n");
    folder_put(box->folder, "proc/2/numa_maps", "7f00 default N1=2 kernelpagesize_kB=4\n");
    folder_put(box->folder, "proc/3/numa_maps", "");
    assert_int_equal(rootfs_open(&box->root, box->folder, NULL), 0);
    box->reader = maps_reader_open(&box->root, limit_s);
    assert_non_null(box->reader);
    return box;
}

static void close_box(struct box *box)
{
    rootfs_close(&box->root);
    assert_int_equal(folder_remove(box->folder), 0);
    free(box);
}

/* The path of a process's numa_maps. */
static const char *maps_of(const struct box *box, pid_t pid)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/proc/%d/numa_maps", box->folder, (int)pid);
    return path;
}

/* Makes a file whose readers wait, once they have read a byte, until let_go(). */
static int make_fifo(const struct box *box, pid_t pid)
{
    char name[64];
    int fd;

    snprintf(name, sizeof(name), "proc/%d", (int)pid);
    folder_make(box->folder, name);
    assert_int_equal(mkfifo(maps_of(box, pid), 0600), 0);
    fd = open(maps_of(box, pid), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    return fd;
}

/* Waits until somebody reads there. */
static void wait_for_reader(int fd)
{
    int bytes = 1;

    while (bytes > 0) {
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
        assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
    }
}

/* Who reads there finds the end. */
static void let_go(int fd)
{
    assert_int_equal(close(fd), 0);
}

static struct hands_work *ask(struct box *box, pid_t one, pid_t two)
{
    pid_t pid[] = {one, two};
    struct hands_work *ask = maps_reader_ask(box->reader, USER, pid, two ? 2 : 1);

    assert_non_null(ask);
    return ask;
}

/* Waits for the answer. */
static enum maps_answer answer(struct box *box, struct hands_work *ask, struct memory_nodes *nodes)
{
    enum maps_answer answer;

    while ((answer = maps_reader_take(box->reader, ask, nodes)) == MAPS_WAIT)
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    return answer;
}

static void assert_one_reads(struct box *box)
{
    struct memory_nodes nodes;

    assert_int_equal(answer(box, ask(box, 1, 0), &nodes), MAPS_READ);
    assert_int_equal(nodes.n, 2);
    assert_true(nodes.bytes[0] == 3 * 4096 && nodes.bytes[1] == 4096);
}

static void test_reads(void **state)
{
    struct box *box = open_box(LONG_S);
    struct memory_nodes nodes;
    struct hands_work *first, *second;

    (void)state;
    first = ask(box, 1, 2);
    second = ask(box, 2, 0);
    assert_int_equal(answer(box, second, &nodes), MAPS_READ);
    assert_true(nodes.bytes[0] == 0 && nodes.bytes[1] == 2 * 4096);
    assert_int_equal(answer(box, first, &nodes), MAPS_READ);
    assert_true(nodes.bytes[0] == 3 * 4096 && nodes.bytes[1] == 3 * 4096);
    assert_int_equal(answer(box, ask(box, 3, 9), &nodes), MAPS_UNKNOWN); /* empty; gone */
    maps_reader_drop(box->reader, ask(box, 1, 2));
    maps_reader_drop(box->reader, NULL);
    assert_one_reads(box);
    maps_reader_close(box->reader);
    close_box(box);
}

/* Its own step has no figure any more; who waits behind it has. A thread that comes back does not
 * count any more. */
static void test_one_hangs(void **state)
{
    struct box *box = open_box(LIMIT_S);
    struct memory_nodes nodes;
    struct hands_work *stuck, *other;
    int fd = make_fifo(box, 7);

    (void)state;
    stuck = ask(box, 1, 7);
    other = ask(box, 1, 0);
    assert_int_equal(maps_reader_hung(box->reader), 0);
    assert_int_equal(answer(box, stuck, &nodes), MAPS_HUNG);
    assert_int_equal(maps_reader_hung(box->reader), 1);
    assert_int_equal(answer(box, other, &nodes), MAPS_READ);
    let_go(fd);
    while (maps_reader_hung(box->reader) > 0)
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    assert_one_reads(box);
    maps_reader_close(box->reader);
    close_box(box);
}

/* Its step ends while it hangs: nobody waits for the answer any more. */
static void test_dropped(void **state)
{
    struct box *box = open_box(LIMIT_S);
    int fd = make_fifo(box, 7);
    struct hands_work *stuck = ask(box, 7, 0);

    (void)state;
    wait_for_reader(fd);
    maps_reader_drop(box->reader, stuck);
    assert_one_reads(box);
    assert_int_equal(maps_reader_hung(box->reader), 1);
    maps_reader_close(box->reader);
    let_go(fd);
    close_box(box);
}

/* So many threads hang for one user that nobody is asked for him, until one of them comes back. */
static void test_all_hang(void **state)
{
    struct box *box = open_box(LIMIT_S);
    struct memory_nodes nodes;
    int fd[HANDS_HUNG_USER_MAX];

    (void)state;
    for (int i = 0; i < HANDS_HUNG_USER_MAX; i++) {
        fd[i] = make_fifo(box, 11 + i);
        assert_int_equal(answer(box, ask(box, 11 + i, 0), &nodes), MAPS_HUNG);
    }
    assert_int_equal(maps_reader_hung(box->reader), HANDS_HUNG_USER_MAX);
    assert_int_equal(answer(box, ask(box, 1, 0), &nodes), MAPS_REFUSED);
    let_go(fd[0]);
    while (maps_reader_hung(box->reader) == HANDS_HUNG_USER_MAX)
        nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    assert_one_reads(box);
    maps_reader_close(box->reader);
    for (int i = 1; i < HANDS_HUNG_USER_MAX; i++)
        let_go(fd[i]);
    close_box(box);
}

/* It ends in time though a thread hangs that nobody has given up yet. */
static void test_closes(void **state)
{
    struct box *box = open_box(LONG_S);
    int fd = make_fifo(box, 7);
    struct hands_work *stuck = ask(box, 7, 0);

    (void)state;
    wait_for_reader(fd);
    maps_reader_drop(box->reader, stuck);
    maps_reader_close(box->reader);
    let_go(fd);
    close_box(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),   cmocka_unit_test(test_one_hangs),
        cmocka_unit_test(test_dropped), cmocka_unit_test(test_all_hang),
        cmocka_unit_test(test_closes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
