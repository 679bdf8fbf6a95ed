/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_memory_move - one job after another beside the caller, given up when its step has moved on,
 * and not faster than it may be. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "packer/base/clock.h"
#include "packer/base/hands.h"
#include "packer/memory/mover.h"
#include "tests/unit/common/fixture.h"
#include "tests/unit/common/numa_box.h"

#define PAGE 4096.0
#define FAST 1e12 /* bytes per second */

static uint32_t user = 1000;

static void put(struct memory_mover *mover, uint32_t id, pid_t pid, const char *from,
                const char *to)
{
    struct memory_job job = {.id = {id, 0},
                             .user = user,
                             .from = cpus_of(from),
                             .to = cpus_of(to),
                             .n = 1,
                             .process = calloc(1, sizeof(*job.process)),
                             .queued_s = 100};

    job.process[0] = (struct memory_process){.pid = pid, .nodes = job.to};
    assert_int_equal(memory_mover_put(mover, &job, NULL), 0);
}

static bool look(struct memory_mover *mover, uint32_t id, struct memory_progress *progress,
                 bool *running)
{
    return memory_mover_look(mover, (struct wire_step_id){id, 0}, progress, running);
}

static struct memory_progress wait_for(struct memory_mover *mover, uint32_t id)
{
    struct memory_progress progress;
    bool running;

    do {
        assert_true(look(mover, id, &progress, &running));
        usleep(1000);
    } while (running);
    return progress;
}

/* Processes 10, 11 and 12 with two chunks each. */
static int setup(void **state)
{
    struct numa_box *box = numa_box_open(3);

    for (pid_t pid = 10; pid < 13; pid++) {
        numa_box_start(box, pid, 50);
        numa_box_map(box, (struct box_map){.pid = pid, .start = 0x10000000, .pages = 2048});
    }
    *state = box;
    return 0;
}

static size_t count_threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    size_t n = 0;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* A thread that was given up is in the box until it comes back. */
static int teardown(void **state)
{
    while (count_threads() > 1)
        usleep(1000);
    numa_box_close(*state);
    return 0;
}

static void test_none(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, FAST);
    struct memory_progress progress;
    bool running;

    assert_false(look(mover, 1, &progress, &running));
    memory_mover_drop(mover, (struct wire_step_id){1, 0});
    memory_mover_close(mover);
    memory_mover_close(NULL);
}

static void test_many(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, FAST);

    for (uint32_t i = 0; i < 3; i++)
        put(mover, i, 10 + (pid_t)i, "0", "1");
    for (uint32_t i = 0; i < 3; i++) {
        struct memory_progress progress = wait_for(mover, i);

        assert_float_equal(progress.moved, 2048 * PAGE, 0);
        assert_float_equal(progress.bytes, 2048 * PAGE, 0);
        assert_int_equal(numa_box_count(box, 10 + (pid_t)i, 1), 2048);
    }
    memory_mover_close(mover);
}

/* While one is under way, how far it is can be seen, and others wait. */
static void test_progress(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, FAST);
    struct memory_progress progress;
    bool running;

    box->gated = true;
    put(mover, 1, 10, "0", "1");
    put(mover, 2, 11, "0", "1");
    sem_wait(&box->come);
    sem_post(&box->go);
    sem_wait(&box->come); /* its second chunk */
    assert_true(look(mover, 1, &progress, &running));
    assert_true(running);
    assert_float_equal(progress.moved, 1024 * PAGE, 0);
    assert_float_equal(progress.bytes, 2048 * PAGE, 0);
    assert_true(look(mover, 2, &progress, &running));
    assert_true(running);
    assert_true(isnan(progress.bytes)); /* nobody has looked */
    box->gated = false;
    sem_post(&box->go);
    wait_for(mover, 2);
    memory_mover_close(mover);
}

/* The step moves once more: where it was sent first is forgotten. */
static void test_again(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, FAST);
    struct memory_progress progress;

    box->gated = true;
    put(mover, 1, 10, "0", "1");
    put(mover, 2, 11, "0", "1");
    sem_wait(&box->come);
    put(mover, 1, 10, "0-1", "2");
    put(mover, 2, 11, "0", "2");
    box->gated = false;
    sem_post(&box->go);
    progress = wait_for(mover, 1);
    assert_string_equal(progress.why, "");
    wait_for(mover, 2);
    assert_int_equal(numa_box_count(box, 10, 2), 2048);
    assert_int_equal(numa_box_count(box, 11, 2), 2048);
    memory_mover_close(mover);
}

static void test_drop(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, FAST);
    struct memory_progress progress;
    bool running;

    box->gated = true;
    put(mover, 1, 10, "0", "1");
    put(mover, 2, 11, "0", "1");
    put(mover, 3, 12, "0", "1");
    sem_wait(&box->come);
    memory_mover_drop(mover, (struct wire_step_id){1, 0});
    memory_mover_drop(mover, (struct wire_step_id){2, 0});
    assert_false(look(mover, 1, &progress, &running));
    box->gated = false;
    sem_post(&box->go);
    wait_for(mover, 3);
    assert_int_equal(numa_box_count(box, 10, 1), 1024); /* the chunk in hand was done */
    assert_int_equal(numa_box_count(box, 11, 1), 0);
    assert_int_equal(numa_box_count(box, 12, 1), 2048);
    memory_mover_close(mover);
}

/* A chunk of 4 MiB at 40 MiB/s: the second waits for 100 ms; closing does not wait for hours. */
static void test_rate(void **state)
{
    struct numa_box *box = *state;
    struct memory_mover *mover = memory_mover_open(&box->system, 40 << 20);
    double began_s = clock_s();
    struct memory_progress progress;
    bool running;

    put(mover, 1, 10, "0", "1");
    wait_for(mover, 1);
    assert_true(clock_s() - began_s > 0.099);
    memory_mover_close(mover);

    mover = memory_mover_open(&box->system, 1000);
    put(mover, 1, 11, "0", "1");
    do
        assert_true(look(mover, 1, &progress, &running));
    while (!(progress.moved > 0));
    assert_true(running);
    memory_mover_close(mover);
    assert_int_equal(numa_box_count(box, 11, 1), 1024);

    mover = memory_mover_open(&box->system, 1000); /* an hour, until it may be faster */
    put(mover, 1, 12, "0", "1");
    do
        assert_true(look(mover, 1, &progress, &running));
    while (!(progress.moved > 0));
    memory_mover_pace(mover, FAST);
    wait_for(mover, 1);
    memory_mover_close(mover);
    assert_int_equal(numa_box_count(box, 12, 1), 2048);
}

/* A chunk that hangs is given up, and its step is not followed; another step is. A step of the same
 * user is refused once as many hang as may. */
static void test_hangs(void **state)
{
    struct numa_box *box = *state;
    struct memory_progress progress;
    struct memory_mover *mover;

    box->system.limit_s = 0.05;
    mover = memory_mover_open(&box->system, FAST);
    box->gated = true;
    for (uint32_t i = 0; i < HANDS_HUNG_USER_MAX; i++) {
        put(mover, i, 10, "0", "1");
        sem_wait(&box->come);
        progress = wait_for(mover, i);
        assert_string_equal(progress.why, "a process of it lets nobody look at its memory");
    }
    box->gated = false;
    put(mover, 7, 11, "0", "1");
    progress = wait_for(mover, 7);
    assert_string_equal(progress.why, "threads hang that move memory: of its user, or too many");
    user++;
    do { /* a busy machine may take longer than the limit */
        put(mover, 8, 12, "0", "1");
        progress = wait_for(mover, 8);
    } while (progress.why[0]);
    assert_int_equal(numa_box_count(box, 12, 1), 2048);
    assert_int_equal(numa_box_count(box, 11, 1), 0);
    for (uint32_t i = 0; i < HANDS_HUNG_USER_MAX; i++)
        sem_post(&box->go);
    do { /* until they have come back */
        put(mover, 7, 11, "0", "1");
        progress = wait_for(mover, 7);
    } while (progress.why[0]);
    assert_int_equal(numa_box_count(box, 11, 1), 2048);
    while (count_threads() > 2) /* this one, and the mover's: it stays when others are in it */
        usleep(1000);
    memory_mover_close(mover);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_drop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hangs, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
