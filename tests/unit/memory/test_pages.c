/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory_pages - which pages move, where to, and what is said of those that do not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/common/fixture.h"
#include "tests/unit/common/handed.h"
#include "tests/unit/common/numa_box.h"

#define PAGE 4096.0
#define HEAP 0x10000000UL
#define MORE 0x20000000UL

/* Where a chunk is begun. */
struct pacer {
    unsigned calls, last; /* no chunk after so many; 0: no end */
    struct numa_box *box;
    bool shows; /* a pause makes the hidden pages visible */
    pid_t ends; /* this process ends at the second call; 0 none */
};

static bool pace(void *arg, const struct memory_progress *progress, double wait_s)
{
    struct pacer *pacer = arg;

    if (!progress)
        return true;
    assert_true(progress->moved + progress->failed <= progress->bytes);
    pacer->calls++;
    if (wait_s > 0 && pacer->shows)
        pacer->box->hidden = false;
    if (pacer->ends && pacer->calls == 2)
        numa_box_end(pacer->box, pacer->ends);
    return pacer->calls != pacer->last;
}

/* Move the process, or the two, to these nodes. */
static struct memory_progress go(struct numa_box *box, const char *from, const char *to,
                                 const char *first, const char *second, struct pacer *pacer)
{
    struct memory_process process[2] = {{.pid = 10, .nodes = cpus_of(first)},
                                        {.pid = 11, .nodes = cpus_of(second ? second : "")}};
    struct memory_job job = {.from = cpus_of(from),
                             .to = cpus_of(to),
                             .n = second ? 2 : 1,
                             .process = process,
                             .queued_s = 100};
    struct memory_progress progress;
    struct pacer free_run = {0};

    memory_pages_move(&box->system, &job, pace, pacer ? pacer : &free_run, &progress);
    return progress;
}

static void assert_done(const struct memory_progress *progress, double pages)
{
    assert_string_equal(progress->why, "");
    assert_float_equal(progress->bytes, pages * PAGE, 0);
    assert_float_equal(progress->moved, pages * PAGE, 0);
    assert_float_equal(progress->failed, 0, 0);
}

static int setup(void **state)
{
    struct numa_box *box = numa_box_open(4);

    numa_box_start(box, 10, 50);
    *state = box;
    return 0;
}

static int teardown(void **state)
{
    numa_box_close(*state);
    return 0;
}

/* More than one chunk, with holes. */
static void test_all(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 9000, .every = 3});
    numa_box_map(box, (struct box_map){.pid = 10, .start = MORE, .pages = 5, .path = "[heap]"});
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_done(&progress, 3005);
    assert_int_equal(numa_box_count(box, 10, 1), 3005);
    assert_int_equal(box->moves, 10); /* 36 MiB, and the heap */
}

/* Memory that was only reserved: its end is not looked at, one can be given up meanwhile, and what
 * would take too long is not looked at at all. */
static void test_reserved(void **state)
{
    struct numa_box *box = *state;
    struct pacer pacer = {0};
    struct memory_progress progress;
    struct box_map map = {.pid = 10, .start = HEAP, .pages = 1 << 23, .every = 1 << 23};

    numa_box_map(box, map);
    progress = go(box, "0", "1", "1", NULL, &pacer);
    assert_done(&progress, 1);
    assert_int_equal(pacer.calls, 1);
    box->page[0].node = -1; /* numa_maps and pagemap say otherwise */
    pacer = (struct pacer){.last = 100};
    progress = go(box, "0", "1", "1", NULL, &pacer);
    assert_int_equal(pacer.calls, 100);
    assert_float_equal(progress.moved, 0, 0);

    numa_box_start(box, 11, 50);
    map.pid = 11;
    map.pages = map.every = (size_t)1 << 28; /* a terabyte */
    numa_box_map(box, map);
    progress = go(box, "0", "1", "0", "1", NULL);
    assert_done(&progress, 0);
}

/* What stays where it is. */
static void test_kinds(void **state)
{
    static const struct {
        const char *perms, *path, *policy;
        int node;
        bool moves;
    } kind[] = {
        {"rw-p", NULL, "default", 0, true},
        {"rw-p", NULL, "local", 0, true},
        {"r--p", NULL, "default", 0, true},
        {"rw-p", "[stack]", "default", 0, true},
        {"rw-p", "/lib/libc.so", "default", 0, true},
        {"rw-s", "/dev/shm/mpi", "default", 0, true},
        {"r--s", "/SYSV00000000 (deleted)", "default", 0, true},
        {"rw-s", "/data/grid", "default", 0, true},
        {"r-xp", "/bin/solver", "default", 0, false},
        {"r--s", "/data/grid", "default", 0, false},
        {"r-xp", "[vdso]", "default", 0, false},
        {"rw-p", NULL, "bind:0", 0, false},
        {"rw-p", NULL, "interleave:0-1", 0, false},
        {"rw-p", NULL, "prefer (many):0", 0, false},
        {"rw-p", NULL, "default", 2, false}, /* not a node that it stood on */
    };

    for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
        struct numa_box *box = numa_box_open(3);
        struct memory_progress progress;

        numa_box_start(box, 10, 50);
        numa_box_map(box, (struct box_map){.pid = 10,
                                           .start = HEAP,
                                           .pages = 7,
                                           .node = kind[i].node,
                                           .perms = kind[i].perms,
                                           .path = kind[i].path,
                                           .policy = kind[i].policy});
        progress = go(box, "0", "1", "1", NULL, NULL);
        assert_done(&progress, kind[i].moves ? 7 : 0);
        assert_int_equal(numa_box_count(box, 10, 1), kind[i].moves ? 7 : 0);
        numa_box_close(box);
    }
    (void)state;
}

/* Each node's pages on a node of their own; spread where there are more to go to. */
static void test_targets(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 10, .node = 0});
    numa_box_map(box, (struct box_map){.pid = 10, .start = MORE, .pages = 20, .node = 1});
    progress = go(box, "0-1", "2-3", "2-3", NULL, NULL);
    assert_done(&progress, 30);
    assert_int_equal(numa_box_count(box, 10, 2), 10);
    assert_int_equal(numa_box_count(box, 10, 3), 20);
}

static struct memory_origin *origin_in(const struct numa_box *box)
{
    struct memory_origin *origin;
    char path[128];

    snprintf(path, sizeof(path), "%s/origin", box->dir);
    origin = memory_origin_create(path, NULL);
    assert_non_null(origin);
    return origin;
}

/* Has the process's pages dealt over nodes, or put back. */
static struct memory_progress deal(struct numa_box *box, enum memory_way way, const char *nodes,
                                   struct memory_origin *origin)
{
    struct memory_process process = {.pid = 10, .nodes = cpus_of(nodes)};
    struct memory_job job = {.way = way,
                             .origin = origin,
                             .from = cpus_of("0-3"),
                             .to = cpus_of(nodes),
                             .n = 1,
                             .process = &process,
                             .queued_s = 100};
    struct memory_progress progress;
    struct pacer free_run = {0};

    memory_pages_move(&box->system, &job, pace, &free_run, &progress);
    return progress;
}

/* All on one node: half of them go, by 2 MiB; and come back exactly. */
static void test_deal(void **state)
{
    struct numa_box *box = *state;
    struct memory_origin *origin = origin_in(box);
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 512 * 8, .node = 0});
    numa_box_map(box, (struct box_map){.pid = 10, .start = MORE, .pages = 512 * 4, .node = 3});
    progress = deal(box, MEMORY_DEAL, "0,2", origin);
    assert_done(&progress, 512 * 4 + 512 * 4);
    assert_int_equal(numa_box_count(box, 10, 0), 512 * 6);
    assert_int_equal(numa_box_count(box, 10, 2), 512 * 6);
    progress = deal(box, MEMORY_DEAL, "0,2", origin); /* they are there */
    assert_done(&progress, 0);
    progress = deal(box, MEMORY_BACK, "0,2", origin);
    assert_done(&progress, 512 * 4 + 512 * 4);
    assert_int_equal(numa_box_count(box, 10, 0), 512 * 8);
    assert_int_equal(numa_box_count(box, 10, 3), 512 * 4);
    memory_origin_release(origin);
}

/* Pages that are hidden are dealt later; what was noted of the others stays. */
static void test_deal_hidden(void **state)
{
    struct numa_box *box = *state;
    struct memory_origin *origin = origin_in(box);
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 2048, .node = 1});
    progress = deal(box, MEMORY_DEAL, "0-1", origin);
    assert_done(&progress, 1024);
    progress = deal(box, MEMORY_DEAL, "2-3", origin);
    assert_done(&progress, 2048);
    progress = deal(box, MEMORY_BACK, "0-3", origin);
    assert_done(&progress, 2048);
    assert_int_equal(numa_box_count(box, 10, 1), 2048);
    memory_origin_release(origin);
}

static void test_spread(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 4096, .node = 0});
    progress = go(box, "0", "2-3", "2-3", NULL, NULL);
    assert_done(&progress, 4096);
    assert_int_equal(numa_box_count(box, 10, 2), 2048);
}

/* Two tasks change places: each takes its memory along, what they share stays on the step's nodes.
 */
static void test_exchange(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_start(box, 11, 50);
    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 10, .node = 0});
    numa_box_map(box, (struct box_map){.pid = 11, .start = HEAP, .pages = 20, .node = 1});
    numa_box_map(box,
                 (struct box_map){
                     .pid = 10, .start = MORE, .pages = 5, .perms = "rw-s", .path = "/dev/shm/x"});
    progress = go(box, "0-1", "0-1", "1", "0", NULL);
    assert_done(&progress, 30);
    assert_int_equal(numa_box_count(box, 10, 1), 10);
    assert_int_equal(numa_box_count(box, 10, 0), 5);
    assert_int_equal(numa_box_count(box, 11, 0), 20);
}

/* Shared memory is in both processes' maps and moves once. */
static void test_shared(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;
    struct box_page *page;

    numa_box_start(box, 11, 50);
    page = numa_box_map(
        box, (struct box_map){
                 .pid = 10, .start = HEAP, .pages = 8, .perms = "rw-s", .path = "/memfd:x"});
    for (size_t i = 0; i < 8; i++)
        page[i].mapped_twice = true;
    page = numa_box_map(
        box, (struct box_map){
                 .pid = 11, .start = HEAP, .pages = 8, .perms = "rw-s", .path = "/memfd:x"});
    for (size_t i = 0; i < 8; i++)
        page[i].node = 2; /* the same pages, moved when their turn comes */
    progress = go(box, "0", "2", "2", "2", NULL);
    assert_done(&progress, 8);
}

/* A library's writable page that another process maps, too, is not taken away from it. */
static void test_not_alone(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_map(box,
                 (struct box_map){.pid = 10, .start = HEAP, .pages = 4, .path = "/lib/libc.so"})
        ->mapped_twice = true;
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_float_equal(progress.moved, 3 * PAGE, 0);
    assert_float_equal(progress.failed, 1 * PAGE, 0);
    assert_non_null(strstr(progress.why, "in use"));
}

static void test_busy(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;
    struct box_page *page =
        numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 8});

    page[1].busy = MEMORY_TRIES - 1;
    page[2].busy = MEMORY_TRIES;
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_float_equal(progress.moved, 7 * PAGE, 0);
    assert_float_equal(progress.failed, 1 * PAGE, 0);
    assert_float_equal(progress.bytes, 8 * PAGE, 0);
    assert_int_equal(page[1].node, 1);
    assert_int_equal(page[2].node, 0);
}

static void test_huge(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;
    struct box_page *page = numa_box_map(
        box, (struct box_map){.pid = 10, .start = HEAP + (1 << 20), .pages = 256 + 1536});

    for (unsigned i = 0; i < 1536; i++) /* transparent ones: page by page, but they move whole */
        page[256 + i].folio = 1 + i / 512;
    numa_box_map(box, (struct box_map){.pid = 10,
                                       .start = 0x40000000,
                                       .pages = 5,
                                       .page_kib = 2048,
                                       .path = "/anon_hugepage (deleted)"});
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_done(&progress, 256 + 1536 + 5 * 512);
    assert_int_equal(numa_box_count(box, 10, 0), 0);
}

static void test_refused(void **state)
{
    static const struct {
        int error;
        const char *why;
    } refusal[] = {{ENOMEM, "the nodes it moved to have no free memory"},
                   {EACCES, "move_pages: Permission denied"},
                   {ENODEV, "move_pages: No such device"},
                   {ESRCH, ""}};

    for (size_t i = 0; i < sizeof(refusal) / sizeof(refusal[0]); i++) {
        struct numa_box *box = numa_box_open(2);
        struct memory_progress progress;

        numa_box_start(box, 10, 50);
        numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 3000});
        box->fail_at = 2;
        box->fail_with = refusal[i].error;
        progress = go(box, "0", "1", "1", NULL, NULL);
        assert_string_equal(progress.why, refusal[i].why);
        assert_float_equal(progress.moved, 1024 * PAGE, 0);
        assert_int_equal(box->moves, 2);
        numa_box_close(box);
    }
    (void)state;
}

/* NUMA balancing hides every third page for a while, or for good. */
static void test_hidden(void **state)
{
    struct numa_box *box = *state;
    struct pacer pacer = {.box = box};
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 9});
    box->hidden = true;
    progress = go(box, "0", "1", "1", NULL, &pacer);
    assert_float_equal(progress.moved, 6 * PAGE, 0);
    assert_true(progress.bytes > progress.moved);
    assert_non_null(strstr(progress.why, "NUMA balancing"));
    assert_int_equal(pacer.calls, 2 * MEMORY_PASSES - 1);
    pacer.shows = true;
    progress = go(box, "0", "1", "1", NULL, &pacer);
    assert_done(&progress, 3);
    assert_int_equal(numa_box_count(box, 10, 1), 9);
}

static void test_room(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 1024});
    numa_box_free(box, 1, 2048); /* and 1024 kB of old files */
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_string_equal(progress.why, "the nodes it moved to have room for 3 MiB of 4");
    assert_float_equal(progress.bytes, 1024 * PAGE, 0);
    assert_int_equal(box->moves, 0);
    numa_box_free(box, 1, 3072);
    progress = go(box, "0", "1", "1", NULL, NULL);
    assert_done(&progress, 1024);
}

/* What is dealt needs room for what changes its node, and nowhere more than that. */
static void test_deal_room(void **state)
{
    struct numa_box *box = *state;
    struct memory_origin *origin = origin_in(box);
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 4096, .node = 0});
    numa_box_free(box, 0, 0);
    numa_box_free(box, 1, 1020); /* and 1024 kB of old files: a part of 2 MiB does not fit */
    progress = deal(box, MEMORY_DEAL, "0-1", origin);
    assert_string_equal(progress.why, "memory node 1 has room for 2.0 MiB only");
    assert_int_equal(box->moves, 0);
    numa_box_free(box, 1, 1024);
    progress = deal(box, MEMORY_DEAL, "0-1", origin);
    assert_done(&progress, 2048);
    numa_box_free(box, 0, 1024);
    numa_box_free(box, 1, 0);
    progress = deal(box, MEMORY_BACK, "0-1", origin);
    assert_done(&progress, 2048);
    assert_int_equal(numa_box_count(box, 10, 0), 4096);
    memory_origin_release(origin);
}

static void test_given_up(void **state)
{
    struct numa_box *box = *state;
    struct pacer pacer = {.last = 3};
    struct memory_progress progress;

    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 4096});
    progress = go(box, "0", "1", "1", NULL, &pacer);
    assert_float_equal(progress.bytes, 4096 * PAGE, 0); /* half of it is left */
    assert_float_equal(progress.moved, 2048 * PAGE, 0);
}

/* One process ends while its memory is under way: the other's moves all the same. */
static void test_ends(void **state)
{
    struct numa_box *box = *state;
    struct pacer pacer = {.box = box, .ends = 10};
    struct memory_progress progress;

    numa_box_start(box, 11, 50);
    numa_box_map(box, (struct box_map){.pid = 10, .start = HEAP, .pages = 3000});
    numa_box_map(box, (struct box_map){.pid = 11, .start = HEAP, .pages = 10});
    progress = go(box, "0", "1", "1", "1", &pacer);
    assert_done(&progress, 1034);
}

/* Its number is another process's by now. */
static void test_stranger(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;

    numa_box_start(box, 11, 101);
    numa_box_map(box, (struct box_map){.pid = 11, .start = HEAP, .pages = 10});
    progress = go(box, "0", "1", "1", "1", NULL);
    assert_done(&progress, 0);
    assert_int_equal(box->queries, 0);
}

/* The kernel that this runs on: from node 0, where there is memory, nothing can be moved to a node
 * that is none, and nothing has to be moved to node 0. */
static void test_real(void **state)
{
    struct rootfs root;
    struct memory_system system;
    struct memory_process process = {.pid = getpid(), .nodes = cpus_of("1023")};
    struct memory_job job = {
        .from = cpus_of("0"), .to = process.nodes, .n = 1, .process = &process};
    struct memory_progress progress;
    struct pacer pacer = {0};
    struct enforce enforce;
    struct timespec now;
    size_t size = 8 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_int_equal(rootfs_open(&root, "/", NULL), 0);
    handed_open(&enforce, &root, 1, &process.pid);
    system = memory_system(&root, enforce.hand);
    memset(memory, 1, size);
    clock_gettime(CLOCK_BOOTTIME, &now);
    job.queued_s = (double)now.tv_sec + 1;
    memory_pages_move(&system, &job, pace, &pacer, &progress);
    if (!progress.why[0] && progress.bytes == 0)
        skip(); /* no NUMA: a kernel without numa_maps */
    assert_string_equal(progress.why, "move_pages: No such device");
    assert_true(progress.bytes >= (double)size);
    assert_float_equal(progress.moved, 0, 0);

    process.nodes = job.to = cpus_of("0");
    memory_pages_move(&system, &job, pace, &pacer, &progress);
    assert_string_equal(progress.why, "");
    assert_float_equal(progress.bytes, 0, 0);
    munmap(memory, size);
    enforce_close(&enforce);
    rootfs_close(&root);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reserved, setup, teardown),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test_setup_teardown(test_targets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_spread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deal_hidden, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exchange, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_huge, setup, teardown),
        cmocka_unit_test(test_refused),
        cmocka_unit_test_setup_teardown(test_hidden, setup, teardown),
        cmocka_unit_test_setup_teardown(test_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_deal_room, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given_up, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stranger, setup, teardown),
        cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
