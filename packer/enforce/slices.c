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
#include "packer/hand/ask.h"
#include "packer/system/capabilities.h"

#define NS_PER_MS 1000000u
#define SLICE_LEAST_NS 100000u /* Linux: __setparam_fair() clamps to that */
#define SLICE_MOST_NS (SLICES_MS_MAX * NS_PER_MS)

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
    struct wire_step_id id;
    bool change, batch;
    uint64_t slice_ns; /* with batch */
    struct slices_known known;
};

static int get(pid_t tid, struct attributes *attributes)
{
    memset(attributes, 0, sizeof(*attributes));
    return (int)syscall(SYS_sched_getattr, tid, attributes, sizeof(*attributes), 0);
}

/* The slice that the kernel makes of one that it is asked for. */
static uint64_t clamp(uint64_t slice_ns)
{
    return slice_ns < SLICE_LEAST_NS  ? SLICE_LEAST_NS
           : slice_ns > SLICE_MOST_NS ? SLICE_MOST_NS
                                      : slice_ns;
}

/* Has it set. 0, or it has gone; -1 with errno. */
static int set(struct enforce *enforce, pid_t tid, const struct wish *wish)
{
    struct hand_message message = {.kind = HAND_CLASS, .n = 1, .id = wish->id};
    struct hand_answer answer;

    message.class.batch = wish->batch;
    message.class.slice_ns = wish->batch ? clamp(wish->slice_ns) : 0;
    message.class.thread[0] = (struct hand_task){.pid = tid};
    if (hand_ask(enforce->hand, HAND_BY_HEAD, &message, &answer, NULL) == 0) {
        errno = answer.status[0] < 0 ? -answer.status[0] : 0;
        return answer.status[0] < 0 ? -1 : 0;
    }
    return -1;
}

/* Returns a slice in whole milliseconds; 0: it is not one. */
static size_t whole_ms(uint64_t slice_ns)
{
    return slice_ns % NS_PER_MS == 0 && slice_ns <= SLICE_MOST_NS ? slice_ns / NS_PER_MS : 0;
}

/* Has a thread of SCHED_OTHER a slice beside the one that all begin with? */
static bool has_slice(const struct attributes *now, const struct wish *wish)
{
    return wish->known.base_ns && now->runtime_ns != wish->known.base_ns;
}

/* Has the thread a class or slice that is its program's own? */
static bool is_own(const struct attributes *now, const struct wish *wish)
{
    if (now->policy == SCHED_BATCH)
        return false;
    return now->policy != SCHED_OTHER ||
           (has_slice(now, wish) && !cpus_has(&wish->known.given_ms, whole_ms(now->runtime_ns)));
}

static bool is_wanted(const struct attributes *now, const struct wish *wish)
{
    if (!wish->batch)
        return now->policy != SCHED_BATCH && !has_slice(now, wish);
    return now->policy == SCHED_BATCH &&
           (!now->runtime_ns || now->runtime_ns == clamp(wish->slice_ns));
}

static void note(const struct attributes *now, const struct wish *wish, struct slices_seen *seen)
{
    seen->own += is_own(now, wish);
    if (now->policy == SCHED_OTHER && is_own(now, wish) && whole_ms(now->runtime_ns))
        cpus_add(&seen->own_ms, whole_ms(now->runtime_ns));
    if (now->policy != SCHED_BATCH)
        return;
    seen->batch++;
    if (now->runtime_ns && (!seen->slice_ns || now->runtime_ns < seen->slice_ns))
        seen->slice_ns = now->runtime_ns;
}

/* Sees to one thread. 0, or -1 and err; one that has gone, or runs only to exit, is no failure. */
static int visit(struct enforce *enforce, pid_t tid, const struct wish *wish,
                 struct slices_seen *seen, struct berth_error *err)
{
    struct attributes now;

    if (get(tid, &now) < 0)
        return 0;
    seen->threads++;
    if (wish->change && !is_own(&now, wish) && !is_wanted(&now, wish)) {
        if (set(enforce, tid, wish) < 0)
            return enforce_exiting(enforce->root, tid)
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

uint64_t slices_base_ns(void)
{
    struct attributes mine;

    return get(0, &mine) == 0 && mine.policy == SCHED_OTHER ? mine.runtime_ns : 0;
}

/* ---- one pass, in several turns ---- */

struct slices_pass {
    struct wish wish;
    size_t n, at;  /* processes; the one that is visited */
    pid_t *pid;    /* [n]; 0: it is left out */
    char **thread; /* of that process; NULL: they are not listed yet */
    size_t next;   /* the one that is visited */
    bool old;      /* they were listed in an earlier turn */
    struct slices_seen seen;
};

struct slices_pass *slices_pass_new(struct wire_step_id id, size_t n, const pid_t *pid,
                                    enum slices_do what, uint64_t slice_ns,
                                    const struct slices_known *known)
{
    struct slices_pass *pass = calloc(1, sizeof(*pass));
    pid_t *copy = calloc(n + 1, sizeof(*copy));

    if (!pass || !copy) {
        free(pass);
        free(copy);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) /* pid is NULL where there are none */
        copy[i] = pid[i];
    pass->wish = (struct wish){.id = id,
                               .change = what != SLICES_LOOK,
                               .batch = what == SLICES_GIVE,
                               .slice_ns = slice_ns,
                               .known = *known};
    pass->n = n;
    pass->pid = copy;
    return pass;
}

static void forget_list(struct slices_pass *pass)
{
    rootfs_list_free(pass->thread);
    pass->thread = NULL;
    pass->next = 0;
    pass->old = false;
}

void slices_pass_free(struct slices_pass *pass)
{
    if (!pass)
        return;
    forget_list(pass);
    free(pass->pid);
    free(pass);
}

static int by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

void slices_pass_keep(struct slices_pass *pass, size_t n, const pid_t *pid)
{
    pid_t *sorted = calloc(n + 1, sizeof(*sorted));

    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = pid[i];
    if (sorted)
        qsort(sorted, n, sizeof(*sorted), by_number);
    for (size_t i = pass->at; i < pass->n; i++)
        if (!sorted || !bsearch(&pass->pid[i], sorted, n, sizeof(*sorted), by_number))
            pass->pid[i] = 0;
    free(sorted);
}

/* The number of a thread that was listed in an earlier turn may be another one's by now. */
static bool is_still(const struct rootfs *root, const struct slices_pass *pass, const char *thread)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%.20s", (int)pass->pid[pass->at], thread);
    return !pass->old || rootfs_exists(root, path);
}

/* The rest of one process's threads, by a list that stays: to make it takes as long as to look at
 * them, and a turn that has time for no more than the list would never end. 0; 1: the pace allows
 * no more; -1 and err. */
static int visit_process(struct enforce *enforce, struct slices_pass *pass, struct berth_error *err)
{
    char path[64];
    int rc = 0;

    if (pass->pid[pass->at] == 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pass->pid[pass->at]);
    pass->old = pass->thread != NULL;
    if (!pass->thread)
        pass->thread = rootfs_list(enforce->root, path);
    for (; rc == 0 && pass->thread && pass->thread[pass->next]; pass->next++) {
        const char *thread = pass->thread[pass->next];

        if (!enforce_may_look(enforce))
            return 1;
        if (is_still(enforce->root, pass, thread))
            rc = visit(enforce, (pid_t)strtol(thread, NULL, 10), &pass->wish, &pass->seen, err);
    }
    return rc;
}

int slices_pass_turn(struct enforce *enforce, struct slices_pass *pass, struct slices_seen *seen,
                     struct berth_error *err)
{
    int rc = 0;

    for (; rc == 0 && pass->at < pass->n; pass->at += rc == 0) {
        rc = visit_process(enforce, pass, err);
        if (rc == 0)
            forget_list(pass);
    }
    *seen = pass->seen;
    return rc;
}
