/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_evict - who stands on a step's cores is sent home by the plugin: processes of this machine,
 * in folders that look like a step's cgroup. CPUs 0 and 1; skipped where these are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "plugin/evict.h"
#include "tests/unit/common/folder.h"

static char folder[128], mark[256];
static pid_t child[3];

static struct cpus only(size_t cpu)
{
    struct cpus cpus = {0};

    cpus_add(&cpus, cpu);
    return cpus;
}

/* A process on CPU 1. */
static pid_t start(void)
{
    struct cpus there = only(1);
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    if (sched_setaffinity(pid, sizeof(there.word), (cpu_set_t *)there.word) < 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return 0;
    }
    return pid;
}

static int open_step(void **state)
{
    char pids[64];

    (void)state;
    folder_new(folder, sizeof(folder), "berth-evict");
    for (size_t i = 0; i < 3; i++)
        child[i] = start();
    snprintf(pids, sizeof(pids), "%d\n", (int)child[0]);
    folder_put(folder, "user/cgroup.procs", pids);
    snprintf(pids, sizeof(pids), "%d\nnonsense\n0\n-1\n999999999\n", (int)child[1]);
    folder_put(folder, "user/task_0/cgroup.procs", pids);
    snprintf(mark, sizeof(mark), "%s/idle", folder);
    return 0;
}

static int close_step(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        if (child[i]) {
            kill(child[i], SIGKILL);
            waitpid(child[i], NULL, 0);
        }
    return folder_remove(folder);
}

/* The mark has these lines; '@' is the step's folder. */
static void say(const char *lines)
{
    char text[1024] = "";

    for (size_t used = 0; *lines; lines++)
        used += (size_t)(*lines == '@' ? sprintf(text + used, "%s/user", folder)
                                       : sprintf(text + used, "%c", *lines));
    file_put(mark, text);
}

static void assert_on(pid_t pid, size_t cpu)
{
    struct cpus now, wanted = only(cpu);

    cpus_zero(&now);
    assert_int_equal(sched_getaffinity(pid, sizeof(now.word), (cpu_set_t *)now.word), 0);
    assert_true(cpus_equal(&now, &wanted));
}

/* All processes of the step go home, those of its tasks, too; nobody else does. */
static void test_sent_home(void **state)
{
    struct cpus own = only(1);

    (void)state;
    if (!child[0])
        skip();
    say("nonsense\n0 0 @\n1 0 @\n5 0 /nowhere\n");
    assert_int_equal(evict_from(&own, mark), 2);
    assert_on(child[0], 0);
    assert_on(child[1], 0);
    assert_on(child[2], 1);
    assert_int_equal(evict_from(&own, mark), 0);
}

/* Who stands elsewhere stays, and so do all where there is no mark. */
static void test_left(void **state)
{
    struct cpus own = only(0);

    (void)state;
    if (!child[0])
        skip();
    assert_int_equal(evict_from(&own, mark), 0);
    say("1 0 @\n");
    assert_int_equal(evict_from(&own, mark), 0);
    say("0 9999999 @\n");
    assert_int_equal(evict_from(&own, mark), 0);
    assert_on(child[0], 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, open_step, close_step)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_sent_home), CASE(test_left)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
