/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bound_process - see bound_process.h */
#include "tests/unit/common/bound_process.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/common/fixture.h"

void bound_process_bind(pid_t pid, const char *cpus)
{
    struct cpus bound = cpus_of(cpus);

    assert_int_equal(sched_setaffinity(pid, sizeof(bound.word), (cpu_set_t *)bound.word), 0);
}

pid_t bound_process_start(const char *cpus)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    bound_process_bind(pid, cpus);
    return pid;
}

void bound_process_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
