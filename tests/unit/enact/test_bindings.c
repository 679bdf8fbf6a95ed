/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_bindings - programs that bind their threads while berth moves them: on paper, and on this
 * machine's own cpuset hierarchy (root, cgroup v1, CPUs 0 and 1; skipped elsewhere), in a tree
 * named like Slurm's that is the test's own. */
#include "tests/unit/common/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/enact/bindings.h"
#include "packer/enact/bindings_impl.h"
#include "packer/enact/enact.h"
#include "packer/enact/rearrange.h"
#include "packer/steps/adopt.h"
#include "packer/steps/journal.h"
#include "packer/system/process.h"
#include "tests/unit/common/bound_process.h"
#include "tests/unit/common/cpusets.h"
#include "tests/unit/common/steps.h"

#define BINDER "tests/fixtures/programs/binder"
#define MOVES 200

/* ---- on paper: real threads, which berth only reads ---- */

/* A step on these CPUs whose task is the process. */
static struct step *register_process(struct fixture *f, uint32_t job, const char *cpus, pid_t pid)
{
    struct wire_register request = fixture_request(job, 0, cpus, cpus, 1, NULL);

    request.task[0].pid = pid;
    return fixture_start(f, request);
}

/* Moves the pool's core to another place. */
static void put(struct pool *pool, size_t core, size_t stand)
{
    pool->stand[core] = stand;
}

static const struct enforce_mask *only_mask(const struct step *step)
{
    assert_int_equal(step->body.masks.n, 1);
    return &step->body.masks.mask[0];
}

/* The thread is bound to CPU 1 of 0 and 1; these go to 2 and 3. */
static void test_a_part_has_its_image(void **state)
{
    struct step *step;
    struct pool next;
    struct berth_error err;
    pid_t pid = bound_process_start("1"); /* before the journal is locked */
    struct fixture *f = fixture_open(TWO_BY_TWO);

    (void)state;
    fixture_paper(f);
    step = register_process(f, 1, "0-1", pid);
    fixture_run(f, 2, "2-3", NULL);
    assert_true(bindings_read(&f->packer, step));
    assert_cpus(&only_mask(step)->home, "1");
    assert_int_equal(pool_copy(&next, f->packer.state->pool), 0);
    put(&next, 0, 3), put(&next, 1, 2), put(&next, 2, 0), put(&next, 3, 1);
    assert_int_equal(enact_change(&f->packer, &next, NULL, 0, &err), 0);
    assert_cpus(&step->body.task[0].cpus, "2-3");
    assert_cpus(&only_mask(step)->cpus, "2");
    assert_true(step->body.wide);
    fixture_restart(f);
    assert_int_equal(journal_load(&f->packer, &err), 0);
    adopt_places(&f->packer);
    step = fixture_step(f, 1, 0);
    assert_cpus(&step->body.task[0].cpus, "2-3");
    assert_cpus(&only_mask(step)->home, "1");
    assert_int_equal(only_mask(step)->tid, pid);
    assert_int_equal(only_mask(step)->started, process_started(&f->packer.world.root, pid));
    bound_process_end(pid);
    fixture_close(f);
}

/* Only a mask that would be empty grows: of two CPUs one is left, and the thread has the other. */
static void test_what_is_taken_away_is_not_missed(void **state)
{
    struct enforce_mask *mask;
    struct step *step;
    pid_t pid = bound_process_start("1"); /* before the journal is locked */
    struct fixture *f = fixture_open(TWO_BY_TWO);

    (void)state;
    fixture_paper(f);
    step = register_process(f, 1, "0-1", pid);
    mask = enforce_masks_add(&step->body.masks, pid);
    mask->home = cpus_of("1");
    step->body.task[0].use = step->body.task[0].cpus = cpus_of("0");
    bindings_image(&f->packer, step);
    assert_cpus(&mask->cpus, "0");
    mask->home = cpus_of("0-1");
    bindings_image(&f->packer, step);
    assert_cpus(&mask->cpus, "0");
    bound_process_end(pid);
    fixture_close(f);
}

/* A thread that is bound to CPUs of its step which no task has stands elsewhere where a task does:
 * the step's cpuset has no others. */
static void test_a_part_that_no_task_has(void **state)
{
    pid_t pid = bound_process_start("0-1"); /* before the journal is locked */
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct enforce_mask *mask;
    struct cpus bounds;
    struct step *step;

    (void)state;
    fixture_paper(f);
    step = register_process(f, 1, "0-1", pid);
    step->body.task[0].home = step->body.task[0].use = step->body.task[0].sized = cpus_of("0");
    fixture_run(f, 2, "2-3", NULL);
    f->way.touches = false; /* nobody is really moved */
    fixture_exchange(f, 0, 2);
    fixture_exchange(f, 1, 3);
    mask = enforce_masks_add(&step->body.masks, pid);
    mask->home = cpus_of("0-1");
    bindings_image(&f->packer, step);
    enforce_bounds(&step->body, &bounds);
    assert_cpus(&mask->cpus, "2");
    assert_true(cpus_subset(&mask->cpus, &bounds));
    bound_process_end(pid);
    fixture_close(f);
}

/* It has its own back later, though nothing of its affinity tells that it is bound meanwhile. */
static void test_what_was_taken_away_comes_back(void **state)
{
    pid_t pid = bound_process_start("1"); /* before the journal is locked */
    struct fixture *f = fixture_open(TWO_BY_TWO);
    struct cpus zero = cpus_of("0");
    struct step *step;

    (void)state;
    fixture_paper(f);
    step = register_process(f, 1, "0-1", pid);
    assert_true(bindings_read(&f->packer, step));
    step->body.task[0].use = step->body.task[0].cpus = zero;
    bindings_image(&f->packer, step);
    assert_cpus(&only_mask(step)->cpus, "0");
    assert_int_equal(sched_setaffinity(pid, sizeof(zero.word), (cpu_set_t *)zero.word), 0);
    assert_true(bindings_read(&f->packer, step));
    assert_cpus(&only_mask(step)->home, "1");
    step->body.task[0].use = step->body.task[0].cpus = cpus_of("0-1");
    bindings_image(&f->packer, step);
    assert_cpus(&only_mask(step)->cpus, "1");
    bound_process_end(pid);
    fixture_close(f);
}

/* ---- for real ---- */

struct node {
    struct fixture *f;
    struct rootfs root;
    struct step_processes run[2];
    struct binder_counts {
        uint64_t calls, failed;
    } * binder;
    char file[128], top[128];
};

/* Slurm's folder of step JOB.0, on one CPU. */
static void make_leaf(struct node *node, uint32_t job, const char *cpu, char leaf[200])
{
    snprintf(leaf, 200, "%s/uid_1000", node->top);
    cpuset_make(node->top, "0-1");
    cpuset_make(leaf, "0-1");
    snprintf(leaf + strlen(leaf), 32, "/job_%u", job);
    cpuset_make(leaf, cpu);
    strcat(leaf, "/step_0");
    cpuset_make(leaf, cpu);
}

/* Returns when its threads have bound themselves again. */
static void let_bind(const struct node *node)
{
    volatile const struct binder_counts *binder = node->binder;
    uint64_t until = binder->calls + 16;

    for (int ms = 0; binder->calls < until; ms++) {
        if (ms > 120000)
            fail_msg("%s does not run", BINDER);
        usleep(1000);
    }
}

/* A node whose steps are real: binder on CPU 0, a sleeper on CPU 1. */
static int open_node(void **state)
{
    struct node *node = cpusets_usable() ? calloc(1, sizeof(*node)) : NULL;
    const char *argv[] = {BINDER, "4", NULL, "200", NULL};
    const unsigned home = 1;
    char leaf[200];
    int fd;

    *state = node;
    if (!node)
        return 0;
    node->f = fixture_open(TWO_BY_TWO);
    snprintf(node->top, sizeof(node->top), CPUSET "/slurm_bindings%d", (int)getpid());
    assert_int_equal(rootfs_open(&node->root, "/", NULL), 0);
    enforce_close(node->f->packer.world.enforce);
    assert_int_equal(
        enforce_open(node->f->packer.world.enforce, &node->root, "/sys/fs/cgroup", "cgroup1", NULL),
        0);
    snprintf(node->f->packer.world.enforce->tree, 64, "berth_bindings%d", (int)getpid());

    snprintf(node->file, sizeof(node->file), "%s/binder", node->f->dir);
    fd = open(node->file, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, sizeof(*node->binder)), 0);
    node->binder = mmap(NULL, sizeof(*node->binder), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    argv[2] = node->file;
    make_leaf(node, 920001, "0", leaf);
    step_start_program(&node->run[0], leaf, argv);
    make_leaf(node, 920002, "1", leaf);
    step_start(&node->run[1], leaf, 1, &home, STEP_QUIET);
    let_bind(node); /* it knows its home */
    return 0;
}

static struct step *start_step(struct node *node, uint32_t job, const char *cpu, pid_t pid)
{
    struct wire_register request = fixture_request(job, 0, cpu, cpu, 1, NULL);

    request.task[0].pid = pid;
    snprintf(request.node, sizeof(request.node), "bindings%d", (int)getpid());
    return fixture_start(node->f, request);
}

static int close_node(void **state)
{
    struct node *node = *state;
    char command[512];

    if (!node)
        return 0;
    step_stop(&node->run[0]);
    step_stop(&node->run[1]);
    pipeline_undo(&node->f->packer);
    snprintf(command, sizeof(command), "find %s %s/%s -depth -type d -exec rmdir {} + 2>/dev/null",
             node->top, CPUSET, node->f->packer.world.enforce->tree);
    for (int i = 0; i < 20 && access(node->top, F_OK) == 0; i++)
        if (system(command) != 0)
            usleep(50000);
    munmap(node->binder, sizeof(*node->binder));
    rootfs_close(&node->root);
    fixture_close(node->f);
    free(node);
    return 0;
}

/* A window is over: what was found is respected. */
static void look(struct node *node)
{
    struct berth_error err;

    node->f->packer.state->bindings->due_s = 0;
    if (bindings_turn(&node->f->packer))
        assert_int_equal(rearrange(&node->f->packer, NULL, 0, &err), 0);
    while (rearrange_turn(&node->f->packer))
        ;
}

/* A thread of each may run on the same CPU. */
static bool together(const struct node *node)
{
    struct cpus other;
    pid_t pid = node->run[0].task[0];
    char path[64], **tid;
    struct rootfs root = node->root;
    bool any = false;

    assert_int_equal(enforce_get_affinity(node->run[1].task[0], &other), 0);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tid = rootfs_list(&root, path);
    for (size_t i = 0; tid && tid[i]; i++) {
        struct cpus now;

        if (enforce_get_affinity((pid_t)strtol(tid[i], NULL, 10), &now) == 0)
            any = any || cpus_intersect(&now, &other);
    }
    rootfs_list_free(tid);
    return any;
}

/* The step of binder, registered anew if it was left alone. */
static struct step *binder_step(struct node *node)
{
    struct step *step = registry_find(node->f->packer.steps, (struct wire_step_id){920001, 0});

    if (step && step_movable(step))
        return step;
    if (step)
        fixture_end(node->f, 920001, 0);
    return start_step(node, 920001, "0", node->run[0].task[0]);
}

/* Moves the step, at every fourth time for long enough that it binds itself. Returns whether it was
 * left alone for that. */
static bool move(struct node *node, size_t n)
{
    struct step *step = binder_step(node);

    fixture_exchange(node->f, 0, 1);
    if (step_movable(step) && enforce_at_home(&step->body)) /* it had begun elsewhere */
        fixture_exchange(node->f, 0, 1);
    while (rearrange_turn(&node->f->packer))
        ;
    if (n % 4 == 0)
        let_bind(node);
    look(node);
    if (together(node)) { /* since then */
        look(node);
        assert_false(together(node));
    }
    step = registry_find(node->f->packer.steps, (struct wire_step_id){920001, 0});
    assert_true(n % 4 != 0 || !step_movable(step));
    return !step_movable(step);
}

static void test_bound_at_random_while_it_is_moved(void **state)
{
    struct node *node = *state;
    size_t left = 0;

    if (!node)
        skip();
    start_step(node, 920002, "1", node->run[1].task[0]);
    for (size_t n = 0; n < MOVES; n++)
        left += move(node, n);
    print_message("%llu calls, %llu failed; moved %d times, left alone %zu times\n",
                  (unsigned long long)node->binder->calls, (unsigned long long)node->binder->failed,
                  MOVES, left);
    assert_int_equal(node->binder->failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_part_has_its_image),
        cmocka_unit_test(test_what_is_taken_away_is_not_missed),
        cmocka_unit_test(test_a_part_that_no_task_has),
        cmocka_unit_test(test_what_was_taken_away_comes_back),
        cmocka_unit_test_setup_teardown(test_bound_at_random_while_it_is_moved, open_node,
                                        close_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
