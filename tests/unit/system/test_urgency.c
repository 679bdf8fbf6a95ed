/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_urgency - who answers goes first, with his session; who is started by him does not, and who
 * gives way goes last. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "packer/system/urgency.h"

static int nice_now(void)
{
    errno = 0;
    return getpriority(PRIO_PROCESS, 0);
}

/* How nice the session is; `none` where the kernel does not say. */
static int session_nice(int none)
{
    FILE *file = fopen("/proc/self/autogroup", "r");
    int nice = none;

    if (file && fscanf(file, "/autogroup-%*d nice %d", &nice) != 1)
        nice = none;
    if (file)
        fclose(file);
    return nice;
}

/* Runs it in a child, and returns the child's exit status. */
static int in_child(int (*run)(void))
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(run());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Tells what a child of one that goes first has. */
static int ordinary(void)
{
    return nice_now() != 0;
}

static int yield(void)
{
    urgency_yield();
    if (getsid(0) != getpid())
        return 1;
    return session_nice(19) != 19;
}

static int lead(void)
{
    struct berth_error err = {""};

    if (setsid() < 0 || urgency_raise(&err) < 0)
        return 10;
    if (nice_now() != URGENCY_NICE || sched_getscheduler(0) != (SCHED_OTHER | SCHED_RESET_ON_FORK))
        return 11;
    if (session_nice(URGENCY_NICE) != URGENCY_NICE)
        return 12;
    if (in_child(ordinary))
        return 13;
    usleep(150000); /* so often a session may be changed by who is not the administrator */
    return in_child(yield) ? 14 : 0;
}

/* In a session that is another's, a shell's say, only the thread goes first. */
static int follow(void)
{
    int before = session_nice(0);
    struct berth_error err = {""};

    return urgency_raise(&err) < 0 || nice_now() != URGENCY_NICE || session_nice(0) != before;
}

static int forbidden(void)
{
    struct berth_error err = {""};

    if (setuid(65534) < 0)
        return 1;
    return urgency_raise(&err) == 0 || !strstr(err.text, "CAP_SYS_NICE");
}

static void need_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void test_raise(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(in_child(lead), 0);
    assert_int_equal(in_child(follow), 0);
}

static void test_refused(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(in_child(forbidden), 0);
}

static void test_yield(void **state)
{
    (void)state;
    assert_int_equal(in_child(yield), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raise),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_yield),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
