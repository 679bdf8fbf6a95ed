/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads - threads of a step get other CPUs, or a class and time slice.
 *
 * A thread's CPUs never reach further than its cpuset: the kernel sees to that. Where they are not
 * those of registered jobs they have to be such that its cpuset, as it is now, has them all: so
 * somebody goes home whose job is over. berthd's own threads may have any CPUs that they are given,
 * as those of any program. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packer/hand/hand_impl.h"
#include "packer/system/process.h"

int hand_set_affinity(pid_t tid, const struct cpus *cpus)
{
    if (sched_setaffinity(tid, sizeof(cpus->word), (const cpu_set_t *)cpus->word) == 0)
        return 1;
    return errno == ESRCH ? 0 : -errno;
}

/* ---- whose thread it is ---- */

/* 1; 0: it has gone; -1: it is not one that may be changed for the step, or for berthd itself. */
static int may_change(struct hand_asked *asked, pid_t tid, pid_t pid, uint64_t started)
{
    const pid_t head = asked->hand->site.head ? asked->hand->site.head : getpid();
    char path[64];

    if (asked->step)
        return hand_belongs(asked->hand, asked->step, tid, pid, started);
    if (asked->message->id.job != 0 || asked->message->id.step != 0 || pid != head)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)head, (int)tid);
    return access(path, F_OK) == 0 ? 1 : 0;
}

static int refuse_thread(struct hand_asked *asked, pid_t tid)
{
    return hand_refuse(asked, "thread %d is none of step %u.%u", (int)tid, asked->message->id.job,
                       asked->message->id.step);
}

/* ---- CPUs ---- */

/* Are they in what the cpuset has now? Under version 2 a folder without the controller has what the
 * one above it has. */
static bool folder_has(const struct hand *hand, char dir[CGROUP_DIR_MAX], const struct cpus *cpus)
{
    const char *file = hand->site.unified ? "cpuset.cpus.effective" : "cpuset.effective_cpus";
    size_t top = strlen(hand->site.cgroup_root);
    struct cpus now;

    while (hand_read_cpus(hand, dir, file, &now, NULL) < 0) {
        if (!hand->site.unified || strlen(dir) <= top)
            return false;
        *strrchr(dir, '/') = '\0';
    }
    return cpus_subset(cpus, &now);
}

/* Are they in what the thread's cpuset has now? */
static bool cpuset_has(const struct hand *hand, pid_t tid, const struct cpus *cpus)
{
    char dir[CGROUP_DIR_MAX], name[64], *text;
    const char *path;
    int length = -1;

    snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)tid);
    text = rootfs_read(hand->site.root, name);
    path = text ? step_cgroup_line(text, hand->site.unified ? NULL : "cpuset") : NULL;
    if (path)
        length = snprintf(dir, sizeof(dir), "%s%s%.*s", hand->site.cgroup_root,
                          hand->site.unified ? "" : "/cpuset",
                          path[1] == '\n' ? 0 : (int)strcspn(path, "\n"), path);
    free(text);
    return length > 0 && (size_t)length < sizeof(dir) && folder_has(hand, dir, cpus);
}

static int check_cpus(struct hand_asked *asked, const struct hand_thread *thread)
{
    struct cpus more = thread->cpus;
    char text[CPUS_TEXT_MAX] = "?";

    cpus_andnot(&more, &asked->hand->pool);
    if (!asked->step || cpus_empty(&more) || cpuset_has(asked->hand, thread->tid, &thread->cpus) ||
        (asked->hand->idle && hand_are_nobodys(asked->hand, &more)))
        return 0;
    cpus_format(&more, text, sizeof(text));
    return hand_refuse(asked, "thread %d: CPUs %.200s are of no job that root has registered",
                       (int)thread->tid, text);
}

static int set_one(struct hand_asked *asked, const struct hand_thread *thread)
{
    int is = may_change(asked, thread->tid, thread->pid, thread->started);

    if (is <= 0)
        return is < 0 ? refuse_thread(asked, thread->tid) : 0;
    if (check_cpus(asked, thread) < 0)
        return -1;
    if (!asked->step && thread->tid == asked->hand->site.head) /* berth-hand stands beside berthd */
        hand_set_affinity(0, &thread->cpus);
    return hand_set_affinity(thread->tid, &thread->cpus);
}

/* A thread that the kernel refuses stops nobody else's change; one that the hand refuses does. */
int hand_do_threads(struct hand_asked *asked)
{
    const struct hand_message *message = asked->message;

    for (uint32_t i = 0; i < message->n; i++) {
        int rc = set_one(asked, &message->threads.thread[i]);

        if (rc == -1 && asked->answer->why.text[0])
            return -1;
        asked->answer->status[asked->answer->n++] = rc;
    }
    return 0;
}

/* ---- class and slice ---- */

#define RESET_ON_FORK 0x01u /* SCHED_FLAG_RESET_ON_FORK */

/* The first version of the kernel's struct sched_attr, which glibc has since 2.41 only. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Nice, and whether children are begun anew, stay as they are; so does who has any other class. */
static int set_class(struct hand_asked *asked, pid_t tid)
{
    const struct hand_class *class = &asked->message->class;
    struct attributes now = {.size = 0}, next = {.size = sizeof(next)};

    if (syscall(SYS_sched_getattr, tid, &now, sizeof(now), 0) < 0)
        return errno == ESRCH ? 0 : -errno;
    if (now.policy != SCHED_OTHER && now.policy != SCHED_BATCH)
        return hand_refuse(asked, "thread %d: its class is its program's own", (int)tid);
    next.policy = class->batch ? SCHED_BATCH : SCHED_OTHER;
    next.flags = now.flags & RESET_ON_FORK;
    next.nice = now.nice;
    next.runtime_ns = class->batch ? class->slice_ns : 0;
    if (syscall(SYS_sched_setattr, tid, &next, 0) == 0)
        return 1;
    return errno == ESRCH ? 0 : -errno;
}

int hand_do_class(struct hand_asked *asked)
{
    const struct hand_message *message = asked->message;

    if (message->class.batch > 1 || message->class.slice_ns > HAND_SLICE_MAX_MS * UINT64_C(1000000))
        return hand_refuse(asked, "class: no such slice");
    for (uint32_t i = 0; i < message->n; i++) {
        const struct hand_task *thread = &message->class.thread[i];
        int is = may_change(asked, thread->pid, 0, 0);
        int rc = is < 0 ? refuse_thread(asked, thread->pid) : is;

        if (rc == 1)
            rc = set_class(asked, thread->pid);
        if (rc == -1 && asked->answer->why.text[0])
            return -1;
        asked->answer->status[asked->answer->n++] = rc;
    }
    return 0;
}
