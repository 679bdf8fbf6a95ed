/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attributes - a thread's class, nice value and time slice, as the kernel has them: what is given
 * to a thread is read back by these, not by the code that gives it. */
#ifndef BERTH_TESTS_ATTRIBUTES_H
#define BERTH_TESTS_ATTRIBUTES_H

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* The first version of the kernel's struct sched_attr, which glibc has since 2.41 only. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns; /* the slice; 0: this kernel has none */
};

/* Reads them; 0 is the calling thread. 0, or -1 with errno. */
static inline int attributes_get(pid_t tid, struct attributes *attributes)
{
    memset(attributes, 0, sizeof(*attributes));
    return (int)syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0);
}

/* Sets them. 0, or -1 with errno. */
static inline int attributes_set(pid_t tid, struct attributes *attributes)
{
    attributes->size = sizeof(*attributes);
    return (int)syscall(SYS_sched_setattr, tid, attributes, 0);
}

#endif
