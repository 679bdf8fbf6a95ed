/* SPDX-License-Identifier: GPL-2.0-or-later */
/* killat PID N - kill a program before its N-th system call from now on. For the cluster suite: a
 * berthd that dies at a chosen point of a real launch. Prints "watching" when it does; ends with
 * the program, or when the standard input does. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fault/trace.h"

static bool told_to_stop(void *arg, const struct trace_result *so_far)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    (void)arg, (void)so_far;
    return poll(&in, 1, 0) == 1;
}

int main(int argc, char **argv)
{
    struct trace_plan plan = {.kill_at = argc == 3 ? atol(argv[2]) : 0};
    struct trace_result result;

    if (plan.kill_at <= 0 || trace_attach(atoi(argv[1])) < 0) {
        fprintf(stderr, "usage: killat PID N\n");
        return 2;
    }
    puts("watching");
    fflush(stdout);
    result = trace_run(atoi(argv[1]), &plan, told_to_stop, NULL);
    printf("%ld calls, %s\n", result.calls, result.killed ? "killed" : "not killed");
    return result.killed ? 0 : 1;
}
