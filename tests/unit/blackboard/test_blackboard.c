/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_blackboard - what a program reads of a blackboard, of one that is stale, torn, abandoned,
 * replaced or none; and that no section is torn while it is written. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "blackboard/layout.h"
#include "blackboard/writer.h"
#include "tests/unit/common/folder.h"
#include "tests/unit/common/torn.h"

#define READS 200000
#define SECOND_NS 1000000000u

static char folder[64], path[128];
static const char *const names[] = {"node", "memory0", "a name of 15 by", "a name that is cut"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static struct blackboard_writer *make(void)
{
    struct blackboard_writer *writer;

    assert_int_equal(blackboard_create(&writer, path, NAMES, names), 0);
    return writer;
}

static struct berth_blackboard *open_board(void)
{
    struct berth_blackboard *board;

    assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_OK);
    return board;
}

static void test_read(void **state)
{
    const double value[] = {BERTH_BLACKBOARD_SATURATED, 0.93, 21e9, NAN};
    struct blackboard_writer *writer = make();
    struct berth_blackboard *board = open_board();
    struct berth_blackboard_section section;
    uint64_t at_ns = now_ns();

    (void)state;
    blackboard_write(writer, 1, at_ns, 4, value);
    assert_int_equal(berth_blackboard_sections(board), NAMES);
    assert_int_equal(berth_blackboard_find(board, "memory0"), 1);
    assert_int_equal(berth_blackboard_find(board, "memory1"), -1);
    assert_int_equal(berth_blackboard_find(board, "a name of 15 by"), 2);
    assert_int_equal(berth_blackboard_read(board, 1, 3600u * (uint64_t)SECOND_NS, &section),
                     BERTH_BLACKBOARD_OK);
    assert_string_equal(section.name, "memory0");
    assert_int_equal(section.writer, getpid());
    assert_int_equal(section.written_ns, at_ns);
    assert_int_equal(section.n, 4);
    assert_true(section.value[BERTH_BLACKBOARD_STATE] == BERTH_BLACKBOARD_SATURATED);
    assert_true(section.value[BERTH_BLACKBOARD_UTILISATION] == 0.93);
    assert_true(section.value[BERTH_BLACKBOARD_TRAFFIC] == 21e9);
    for (size_t i = BERTH_BLACKBOARD_WATTS; i < BERTH_BLACKBOARD_VALUES; i++)
        assert_true(isnan(section.value[i]));
    assert_int_equal(berth_blackboard_read(board, 3, 0, &section), BERTH_BLACKBOARD_OK);
    assert_string_equal(section.name, "a name that is ");
    assert_int_equal(berth_blackboard_read(board, NAMES, 0, &section), BERTH_BLACKBOARD_NONE);
    assert_int_equal(berth_blackboard_read(board, -1, 0, &section), BERTH_BLACKBOARD_NONE);
    berth_blackboard_close(board);
    blackboard_end(writer);
}

/* Everybody may read it, and only its owner may write to it, whatever the umask. */
static void test_mode(void **state)
{
    mode_t before = umask(077);
    struct blackboard_writer *writer = make();
    struct stat stat_;

    (void)state;
    umask(before);
    assert_int_equal(stat(path, &stat_), 0);
    assert_int_equal(stat_.st_mode & 07777, 0644);
    blackboard_end(writer);
    assert_int_equal(stat(path, &stat_), -1);
}

static void test_stale(void **state)
{
    struct blackboard_writer *writer = make();
    struct berth_blackboard *board = open_board();
    struct berth_blackboard_section section;
    double value = 0.5;

    (void)state;
    blackboard_write(writer, 0, now_ns() - 10 * (uint64_t)SECOND_NS, 1, &value);
    assert_int_equal(berth_blackboard_read(board, 0, 9 * (uint64_t)SECOND_NS, &section),
                     BERTH_BLACKBOARD_STALE);
    assert_true(section.value[0] == 0.5);
    assert_int_equal(berth_blackboard_read(board, 0, 3600 * (uint64_t)SECOND_NS, &section),
                     BERTH_BLACKBOARD_OK);
    blackboard_write(writer, 0, now_ns() + 3600 * (uint64_t)SECOND_NS, 1, &value);
    assert_int_equal(berth_blackboard_read(board, 0, UINT64_MAX, &section),
                     BERTH_BLACKBOARD_STALE); /* of another clock */
    assert_int_equal(berth_blackboard_read(board, 0, 0, &section), BERTH_BLACKBOARD_OK);
    berth_blackboard_close(board);
    blackboard_end(writer);
}

/* Maps the file as its writer has it. */
static void *map_file(void)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *base =
        mmap(NULL, (NAMES + 1) * BLACKBOARD_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    assert_true(fd >= 0 && base != MAP_FAILED);
    close(fd);
    return base;
}

static void unmap_file(void *base)
{
    munmap(base, (NAMES + 1) * BLACKBOARD_PAGE);
}

/* A writer that was killed within a section: readers are told, and not kept. */
static void test_abandoned(void **state)
{
    struct blackboard_writer *writer = make();
    struct berth_blackboard *board = open_board();
    struct berth_blackboard_section section = {.n = 77};
    char its[BERTH_BLACKBOARD_NAME_SIZE];
    void *base = map_file();

    (void)state;
    atomic_fetch_add(&blackboard_page(base, 0)->sequence, 1);
    assert_int_equal(berth_blackboard_read(board, 0, 0, &section), BERTH_BLACKBOARD_BUSY);
    assert_int_equal(section.n, 77);
    assert_int_equal(berth_blackboard_find(board, names[0]), 0);
    assert_int_equal(berth_blackboard_find(board, "memory0"), 1);
    assert_int_equal(berth_blackboard_name(board, 0, its), BERTH_BLACKBOARD_OK);
    assert_string_equal(its, names[0]);
    assert_int_equal(berth_blackboard_name(board, NAMES, its), BERTH_BLACKBOARD_NONE);
    assert_int_equal(berth_blackboard_name(board, -1, its), BERTH_BLACKBOARD_NONE);
    unmap_file(base);
    berth_blackboard_close(board);
    blackboard_end(writer);
}

/* A writer is killed, another one starts: the old mapping stays as it was until it is followed. */
static void test_restart(void **state)
{
    struct blackboard_writer *killed = make(), *writer;
    struct berth_blackboard *board = open_board();
    struct berth_blackboard_section section;
    const double before = 1, after = 2;

    (void)state;
    blackboard_write(killed, 0, 1, 1, &before);
    assert_int_equal(berth_blackboard_follow(board), BERTH_BLACKBOARD_NONE);
    writer = make();
    blackboard_write(writer, 0, 2, 1, &after);
    assert_int_equal(berth_blackboard_read(board, 0, 0, &section), BERTH_BLACKBOARD_OK);
    assert_true(section.value[0] == before);
    assert_int_equal(berth_blackboard_follow(board), BERTH_BLACKBOARD_OK);
    assert_int_equal(berth_blackboard_read(board, 0, 0, &section), BERTH_BLACKBOARD_OK);
    assert_true(section.value[0] == after);
    blackboard_end(writer);
    assert_int_equal(berth_blackboard_read(board, 0, 0, &section), BERTH_BLACKBOARD_ENDED);
    assert_int_equal(berth_blackboard_follow(board), BERTH_BLACKBOARD_NONE);
    berth_blackboard_close(board);
    blackboard_end(killed);
}

/* ---- what is no blackboard ---- */

static void wrong_magic(struct blackboard_header *header)
{
    header->magic[0]++;
}

static void wrong_version(struct blackboard_header *header)
{
    header->version++;
}

static void wrong_page(struct blackboard_header *header)
{
    header->page_bytes *= 2;
}

static void more_sections(struct blackboard_header *header)
{
    header->sections++;
}

static void most_sections(struct blackboard_header *header)
{
    header->sections = UINT32_MAX;
}

static void other_boot(struct blackboard_header *header)
{
    header->boot_id[0] ^= 1;
}

static void test_foreign(void **state)
{
    static void (*const spoil[])(struct blackboard_header *) = {
        wrong_magic, wrong_version, wrong_page, more_sections, most_sections, other_boot};
    struct berth_blackboard *board;

    (void)state;
    for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++) {
        struct blackboard_writer *writer = make();
        void *base = map_file();

        spoil[i](base);
        assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_FOREIGN);
        assert_null(board);
        unmap_file(base);
        blackboard_end(writer);
    }
}

/* A file that is too short for what its header says, no file, a folder, one of another user. */
static void test_no_board(void **state)
{
    struct blackboard_writer *writer = make();
    struct berth_blackboard *board;

    (void)state;
    assert_int_equal(truncate(path, NAMES * BLACKBOARD_PAGE), 0);
    assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_FOREIGN);
    assert_int_equal(truncate(path, 8), 0);
    assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_FOREIGN);
    blackboard_end(writer);
    assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_NONE);
    assert_int_equal(berth_blackboard_open(&board, folder), BERTH_BLACKBOARD_FOREIGN);
    assert_string_equal(berth_blackboard_said(BERTH_BLACKBOARD_NONE), "there is none");
}

static void test_of_another(void **state)
{
    struct blackboard_writer *writer;
    struct berth_blackboard *board;

    (void)state;
    if (geteuid() != 0)
        skip();
    writer = make();
    assert_int_equal(chown(path, 12345, 0), 0);
    assert_int_equal(berth_blackboard_open(&board, path), BERTH_BLACKBOARD_FOREIGN);
    blackboard_end(writer);
}

/* A folder that is not there: nothing is made, the error says why. */
static void test_no_folder(void **state)
{
    struct blackboard_writer *writer;

    (void)state;
    assert_int_equal(blackboard_create(&writer, "/nonexistent/blackboard", NAMES, names), -1);
    assert_int_equal(errno, ENOENT);
}

static void test_torn(void **state)
{
    const struct torn_plan plan = {.readers = 2, .reads = READS, .pause = 500};
    struct torn_counts counts;

    (void)state;
    assert_int_equal(torn_run(path, &plan, &counts), 0);
    assert_int_equal(counts.reads, 2 * READS);
    assert_int_equal(counts.torn, 0);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/berth-blackboard-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/blackboard", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder); /* nothing else was left there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),      cmocka_unit_test(test_mode),
        cmocka_unit_test(test_stale),     cmocka_unit_test(test_abandoned),
        cmocka_unit_test(test_restart),   cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_no_board),  cmocka_unit_test(test_of_another),
        cmocka_unit_test(test_no_folder), cmocka_unit_test(test_torn),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
