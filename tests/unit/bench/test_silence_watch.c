/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_silence_watch - a process that wakes so often as it is told to is seen to, by the kernel's
 * records where they are to be had, and by schedstat. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/bench/silence_watch.h"

#define WAKES 40

/* A child that sleeps until it reads a byte, and has a thread's worth of work for each. */
static pid_t child_start(int pipe_to[2])
{
    volatile unsigned work = 0;
    char byte;
    pid_t pid;

    assert_int_equal(pipe(pipe_to), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(pipe_to[0], &byte, 1) == 1)
        for (unsigned i = 0; i < 100000; i++)
            work += i;
    _exit(work == 1);
}

/* How often it has gone to sleep. */
static unsigned long sleeps(pid_t pid)
{
    static const char key[] = "voluntary_ctxt_switches:";
    unsigned long n = 0;
    char path[64], line[128];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, key, sizeof(key) - 1) == 0)
            n = strtoul(line + sizeof(key) - 1, NULL, 10);
    fclose(file);
    return n;
}

/* Each wake is told when it sleeps again. */
static void wake(pid_t pid, int to)
{
    for (int i = 0; i < WAKES; i++) {
        unsigned long before = sleeps(pid);

        assert_int_equal(write(to, "x", 1), 1);
        while (sleeps(pid) == before)
            usleep(1000);
    }
}

static void see(bool schedstat, struct silence_train *train)
{
    struct silence_watch *watch;
    int pipe_to[2];
    pid_t pid = child_start(pipe_to);

    while (sleeps(pid) == 0)
        usleep(1000);
    watch = silence_watch_open(pid, schedstat);
    wake(pid, pipe_to[1]);
    silence_watch_close(watch, train);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(pipe_to[0]);
    close(pipe_to[1]);
    assert_int_equal(train->threads, 1);
    assert_int_equal(train->thread[0].id, pid);
}

/* The kernel counts a sleep a moment before it writes the record: of the first there may be one,
 * and of the last there may be none. */
static void all_wakes_are_seen(void **state)
{
    struct silence_train train;

    (void)state;
    see(false, &train);
    if (strcmp(train.by, "switches") == 0) {
        assert_true(train.lost == 0);
        assert_in_range(train.n, WAKES - 1, WAKES + 1);
    }
    for (size_t i = 0; i < train.n; i++)
        assert_true(train.burst[i].run_s > 0 && train.burst[i].at_s < train.burst[i].end_s &&
                    (i == 0 || train.burst[i - 1].at_s <= train.burst[i].at_s));
    silence_train_clear(&train);
}

/* Who is interrupted counts more than once there. */
static void schedstat_sees_them(void **state)
{
    struct silence_train train;
    double sum_s = 0;

    (void)state;
    see(true, &train);
    assert_string_equal(train.by, "schedstat");
    assert_true(train.n >= WAKES - 1);
    for (size_t i = 0; i < train.n; i++)
        sum_s += train.burst[i].run_s;
    assert_true(sum_s > 0 && silence_train_figures(&train, 0).n == train.n);
    silence_train_clear(&train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_wakes_are_seen),
        cmocka_unit_test(schedstat_sees_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
