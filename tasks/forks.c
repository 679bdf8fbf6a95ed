/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/forks.h"

__thread struct worker *forks_self __attribute__((tls_model("initial-exec")));

static unsigned forks; /* of this process and those before it */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int failed;

static void in_child(void)
{
    forks++;
    forks_self = NULL;
}

static void register_child(void)
{
    failed = pthread_atfork(NULL, NULL, in_child);
}

int forks_begin(struct berth_tasks *pool)
{
    pthread_once(&once, register_child);
    pool->forks = forks;
    return failed ? -1 : 0;
}

bool forks_is_ours(const struct berth_tasks *pool)
{
    return pool->forks == forks;
}
