/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slices - see slices.h */
#include "packer/enforce/slices.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/enforce/enforce.h"
#include "packer/system/capabilities.h"

#define SLICE_LEAST_NS 100000u /* Linux: __setparam_fair() clamps to that */
#define SLICE_MOST_NS 100000000u
#define RESET_ON_FORK 0x01u /* SCHED_FLAG_RESET_ON_FORK */

/* The first version of the kernel's struct sched_attr, which glibc has since 2.41 only. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* What all threads of a walk shall have. */
struct wish {
    bool change, batch;
    uint64_t slice_ns; /* with batch */
    uint64_t base_ns;  /* of a thread that has no slice of its own; 0: this kernel has none */
};

static int get(pid_t tid, struct attributes *attributes)
{
    memset(attributes, 0, sizeof(*attributes));
    return (int)syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0);
}

/* Nice, and whether children are begun anew, stay as they are. */
static int set(pid_t tid, const struct attributes *now, const struct wish *wish)
{
    struct attributes next = {.size = sizeof(next),
                              .policy = wish->batch ? SCHED_BATCH : SCHED_OTHER,
                              .flags = now->flags & RESET_ON_FORK,
                              .nice = now->nice,
                              .runtime_ns = wish->batch ? wish->slice_ns : 0};

    return (int)syscall(SYS_sched_setattr, tid, &next, 0);
}

/* The slice that the kernel makes of one that it is asked for. */
static uint64_t clamp(uint64_t slice_ns)
{
    return slice_ns < SLICE_LEAST_NS  ? SLICE_LEAST_NS
           : slice_ns > SLICE_MOST_NS ? SLICE_MOST_NS
                                      : slice_ns;
}

/* Has the thread a class or slice that is its program's own? */
static bool is_own(const struct attributes *now, const struct wish *wish)
{
    if (now->policy == SCHED_BATCH)
        return false;
    return now->policy != SCHED_OTHER || (wish->base_ns && now->runtime_ns != wish->base_ns);
}

static bool is_wanted(const struct attributes *now, const struct wish *wish)
{
    if (!wish->batch)
        return now->policy != SCHED_BATCH;
    return now->policy == SCHED_BATCH &&
           (!now->runtime_ns || now->runtime_ns == clamp(wish->slice_ns));
}

static void note(const struct attributes *now, const struct wish *wish, struct slices_seen *seen)
{
    seen->own += is_own(now, wish);
    if (now->policy != SCHED_BATCH)
        return;
    seen->batch++;
    if (now->runtime_ns && (!seen->slice_ns || now->runtime_ns < seen->slice_ns))
        seen->slice_ns = now->runtime_ns;
}

/* Sees to one thread. 0, or -1 and err; one that has gone, or runs only to exit, is no failure. */
static int visit(const struct rootfs *root, pid_t tid, const struct wish *wish,
                 struct slices_seen *seen, struct berth_error *err)
{
    struct attributes now;

    if (get(tid, &now) < 0)
        return 0;
    seen->threads++;
    if (wish->change && !is_own(&now, wish) && !is_wanted(&now, wish)) {
        if (set(tid, &now, wish) < 0)
            return errno == ESRCH || enforce_exiting(root, tid)
                       ? 0
                       : berth_error_set(err, "thread %d: cannot set its class: %s", (int)tid,
                                         capabilities_why(CAPABILITY(CAP_SYS_NICE), errno));
        seen->changed++;
        if (get(tid, &now) < 0)
            return 0;
    }
    note(&now, wish, seen);
    return 0;
}

/* Goes once through all threads of all processes. */
static int walk(const struct rootfs *root, size_t n, const pid_t *pid, const struct wish *wish,
                struct slices_seen *seen, struct berth_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        char path[64], **thread;

        snprintf(path, sizeof(path), "/proc/%d/task", (int)pid[i]);
        thread = rootfs_list(root, path);
        for (size_t k = 0; rc == 0 && thread && thread[k]; k++)
            rc = visit(root, (pid_t)strtol(thread[k], NULL, 10), wish, seen, err);
        rootfs_list_free(thread);
    }
    return rc;
}

/* Goes through them until nobody had to be changed. */
static int settle(const struct rootfs *root, size_t n, const pid_t *pid, const struct wish *wish,
                  struct slices_seen *seen, struct berth_error *err)
{
    size_t changed = 0;

    for (int round = 0; round < ENFORCE_ROUNDS; round++) {
        *seen = (struct slices_seen){0};
        if (walk(root, n, pid, wish, seen, err) < 0)
            return -1;
        changed += seen->changed;
        if (seen->changed > 0)
            continue;
        seen->changed = changed;
        return 0;
    }
    return berth_error_set(err, "its threads come and go too fast to be given a class");
}

/* The slice of a thread that has none of its own: berthd's. */
static uint64_t base_slice(void)
{
    struct attributes mine;

    return get(0, &mine) == 0 && mine.policy == SCHED_OTHER ? mine.runtime_ns : 0;
}

void slices_look(const struct rootfs *root, size_t n, const pid_t *pid, struct slices_seen *seen)
{
    struct wish wish = {.change = false, .base_ns = base_slice()};
    struct berth_error err;

    *seen = (struct slices_seen){0};
    walk(root, n, pid, &wish, seen, &err);
}

int slices_give(const struct rootfs *root, size_t n, const pid_t *pid, uint64_t slice_ns,
                struct slices_seen *seen, struct berth_error *err)
{
    struct wish wish = {.change = true, .batch = true, .slice_ns = slice_ns};

    wish.base_ns = base_slice();
    return settle(root, n, pid, &wish, seen, err);
}

int slices_take(const struct rootfs *root, size_t n, const pid_t *pid, struct slices_seen *seen,
                struct berth_error *err)
{
    struct wish wish = {.change = true, .base_ns = base_slice()};

    return settle(root, n, pid, &wish, seen, err);
}
