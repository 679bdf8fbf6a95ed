/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enforce_tasks - the processes and threads of a step: which there are, whose they are, where they
 * may run.
 *
 * Processes and threads come and go while they are looked at. Whatever has vanished (ENOENT, ESRCH)
 * is left out silently; whatever was born meanwhile is found by scanning again, until a scan finds
 * nothing to do. slurmstepd sits in the cgroup of its step, and is never touched: it has to end
 * where Slurm looks for it. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/system/process.h"

#define ANCESTORS 128            /* as far as the parents of a process are followed */
#define EXITING_FLAG 0x00000004u /* PF_EXITING of the kernel */

/* What is used of /proc/PID/stat. */
struct stat_line {
    char state;
    int ppid;
    unsigned flags;
    unsigned long user, system;    /* ticks, of its own threads */
    long child_user, child_system; /* ticks, of children that were waited for */
};

static int read_stat(const struct rootfs *root, pid_t pid, struct stat_line *stat)
{
    char path[64], *text, *rest;
    int n = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    text = rootfs_read(root, path);
    if (!text)
        return -1;
    rest = strrchr(text, ')'); /* the command's name may hold anything */
    if (rest)
        n = sscanf(rest + 1, " %c %d %*s %*s %*s %*s %u %*s %*s %*s %*s %lu %lu %ld %ld",
                   &stat->state, &stat->ppid, &stat->flags, &stat->user, &stat->system,
                   &stat->child_user, &stat->child_system);
    free(text);
    errno = n == 7 ? errno : EINVAL;
    return n == 7 ? 0 : -1;
}

bool enforce_exiting(const struct rootfs *root, pid_t pid)
{
    struct stat_line stat;

    return read_stat(root, pid, &stat) < 0 || (stat.flags & EXITING_FLAG);
}

/* ---- which processes ---- */

int enforce_pids_add(struct enforce_pids *list, pid_t pid)
{
    if (array_grow(&list->pid, &list->room, list->n + 1, sizeof(*list->pid)) < 0)
        return -1;
    list->pid[list->n++] = pid;
    return 0;
}

/* Is it the step's slurmstepd? A task has that name too until it execs, but is known. */
static bool is_stepd(const struct rootfs *root, const struct enforce_step *step, pid_t pid)
{
    char path[64], *name;
    bool stepd;

    if (!step)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    name = rootfs_read(root, path);
    stepd = name && strcmp(name, "slurmstepd\n") == 0 && enforce_task_of(root, step, pid) < 0;
    free(name);
    return stepd;
}

/* Add the numbers in text, but slurmstepd's. */
static int add_numbers(const struct rootfs *root, const struct enforce_step *step, char *text,
                       struct enforce_pids *list)
{
    char *end;

    for (long pid; (pid = strtol(text, &end, 10)) > 0 && end != text; text = end)
        if (pid <= INT_MAX && !is_stepd(root, step, (pid_t)pid) &&
            enforce_pids_add(list, (pid_t)pid) < 0)
            return -1;
    return 0;
}

int enforce_pids_cgroup(const struct rootfs *root, const struct enforce_step *step, const char *dir,
                        struct enforce_pids *list)
{
    char path[PATH_MAX], *text;
    int rc;

    snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
    text = rootfs_read(root, path);
    if (!text)
        return errno == ENOENT || errno == ENODEV ? 0 : -1;
    rc = add_numbers(root, step, text, list);
    free(text);
    return rc;
}

bool enforce_pids_have(const struct enforce_pids *list, pid_t pid)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->pid[i] == pid)
            return true;
    return false;
}

/* Add the children of a process that all its threads have forked. */
static int add_children(struct enforce *enforce, const struct enforce_step *step, pid_t pid,
                        struct enforce_pids *list)
{
    char path[NAME_MAX + 64], *text, **thread;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(enforce->root, path);
    for (size_t i = 0; rc == 0 && thread && thread[i]; i++) {
        snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, thread[i]);
        text = rootfs_read(enforce->root, path);
        if (text)
            rc = add_numbers(enforce->root, step, text, list);
        free(text);
    }
    rootfs_list_free(thread);
    return rc;
}

/* Is it more than a zombie? A main thread that has ended does not end its process. */
static bool is_alive(struct enforce *enforce, pid_t pid)
{
    char path[64], **thread;
    bool alive = !enforce_exiting(enforce->root, pid);

    if (alive)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(enforce->root, path);
    alive = thread && thread[0] && thread[1];
    rootfs_list_free(thread);
    return alive;
}

int enforce_pids_descend(struct enforce *enforce, const struct enforce_step *step,
                         struct enforce_pids *list)
{
    size_t first = list->n;

    for (size_t i = 0; i < step->ntasks; i++)
        if (!enforce_pids_have(list, step->task[i].pid) && is_alive(enforce, step->task[i].pid) &&
            enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    for (size_t i = first; i < list->n; i++) /* grows while it is walked */
        if (add_children(enforce, step, list->pid[i], list) < 0)
            return -1;
    return 0;
}

int enforce_step_pids(struct enforce *enforce, const struct enforce_step *step, pid_t **pids,
                      size_t *n)
{
    struct enforce_pids list = {0};

    if (enforce->way->pids(enforce, step, &list) < 0) {
        free(list.pid);
        return -1;
    }
    *pids = list.pid;
    *n = list.n;
    return 0;
}

/* Where a step's processes are those that descend from its tasks, one task that lives is enough:
 * nobody has to look for its children. */
static bool has_task(struct enforce *enforce, const struct enforce_step *step)
{
    for (size_t i = 0; i < step->ntasks && enforce->way->pids == enforce_pids_descend; i++)
        if (is_alive(enforce, step->task[i].pid))
            return true;
    return false;
}

bool enforce_step_alive(struct enforce *enforce, const struct enforce_step *step)
{
    struct enforce_pids list = {0};
    bool alive;

    if (has_task(enforce, step))
        return true;
    alive = enforce->way->pids(enforce, step, &list) < 0 || list.n > 0;
    free(list.pid);
    return alive;
}

long enforce_task_of(const struct rootfs *root, const struct enforce_step *step, pid_t pid)
{
    struct stat_line stat;

    for (int i = 0; i < ANCESTORS && pid > 1; i++) {
        for (size_t task = 0; task < step->ntasks; task++)
            if (step->task[task].pid == pid)
                return (long)task;
        if (read_stat(root, pid, &stat) < 0)
            return -1;
        pid = stat.ppid;
    }
    return -1;
}

pid_t enforce_parent(const struct rootfs *root, pid_t pid)
{
    struct stat_line stat;

    return read_stat(root, pid, &stat) < 0 ? -1 : stat.ppid;
}

/* ---- where they may run ---- */

int enforce_get_affinity(pid_t pid, struct cpus *cpus)
{
    struct cpus now;

    cpus_zero(&now);
    if (sched_getaffinity(pid, sizeof(now.word), (cpu_set_t *)now.word) < 0)
        return -1;
    *cpus = now;
    return 0;
}

static int set_thread(pid_t tid, const struct cpus *cpus, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?";

    if (sched_setaffinity(tid, sizeof(cpus->word), (const cpu_set_t *)cpus->word) == 0 ||
        errno == ESRCH)
        return 0;
    cpus_format(cpus, text, sizeof(text));
    return berth_error_set(err, "thread %d: cannot set its affinity to %s: %s", (int)tid, text,
                           strerror(errno));
}

/* Call visit(tid, now, cpus) for every thread of a process. The sum of what it returned, or -1. */
static long each_thread(const struct rootfs *root, pid_t pid, const struct cpus *cpus,
                        long (*visit)(pid_t, const struct cpus *, const struct cpus *,
                                      struct berth_error *),
                        struct berth_error *err)
{
    char path[64], **thread;
    struct cpus now;
    long sum = 0, one;
    int tid;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (size_t i = 0; sum >= 0 && thread && thread[i]; i++) {
        if (sscanf(thread[i], "%d", &tid) != 1 || enforce_get_affinity(tid, &now) < 0)
            continue;
        one = visit(tid, &now, cpus, err);
        if (one < 0 && enforce_exiting(root, (pid_t)tid)) /* cannot be moved, and runs no more */
            one = 0;
        sum = one < 0 ? -1 : sum + one;
    }
    rootfs_list_free(thread);
    return sum;
}

/* Set it where it is another one: 1, 0 or -1. */
static long visit_set(pid_t tid, const struct cpus *now, const struct cpus *cpus,
                      struct berth_error *err)
{
    if (cpus_equal(now, cpus))
        return 0;
    return set_thread(tid, cpus, err) < 0 ? -1 : 1;
}

/* 0, or -1 where it reaches outside. */
static long visit_check(pid_t tid, const struct cpus *now, const struct cpus *cpus,
                        struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?", want[CPUS_TEXT_MAX] = "?";

    if (cpus_subset(now, cpus))
        return 0;
    cpus_format(now, text, sizeof(text));
    cpus_format(cpus, want, sizeof(want));
    return berth_error_set(err, "thread %d: may run on %.100s, not on %.100s", (int)tid, text,
                           want);
}

int enforce_set_affinity(const struct rootfs *root, pid_t pid, const struct cpus *cpus,
                         struct berth_error *err)
{
    long changed = 1;

    for (int round = 0; changed > 0 && round < ENFORCE_ROUNDS; round++)
        changed = each_thread(root, pid, cpus, visit_set, err);
    if (changed > 0)
        changed = each_thread(root, pid, cpus, visit_check, err);
    return changed < 0 ? -1 : 0;
}

void enforce_union(const struct enforce_step *step, enum enforce_where where, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->ntasks; i++)
        cpus_or(cpus, where == ENFORCE_HOME ? &step->task[i].home : &step->task[i].cpus);
}

/* One scan over all threads of the step. The sum of what visit returned, or -1 and err. */
static long scan(struct enforce *enforce, const struct enforce_step *step, enum enforce_where where,
                 long (*visit)(pid_t, const struct cpus *, const struct cpus *,
                               struct berth_error *),
                 struct berth_error *err)
{
    struct enforce_pids list = {0};
    const struct cpus *cpus;
    struct cpus all;
    long sum = 0, one, task;

    enforce_union(step, where, &all);
    if (enforce->way->pids(enforce, step, &list) < 0)
        sum = berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    for (size_t i = 0; sum >= 0 && i < list.n; i++) {
        task = enforce_task_of(enforce->root, step, list.pid[i]);
        cpus = task < 0                ? &all
               : where == ENFORCE_HOME ? &step->task[task].home
                                       : &step->task[task].cpus;
        one = each_thread(enforce->root, list.pid[i], cpus, visit, err);
        sum = one < 0 ? -1 : sum + one;
    }
    free(list.pid);
    return sum;
}

/* Two scans in a row must find nothing: reading /proc beside processes that exit can skip some. */
int enforce_settle(struct enforce *enforce, const struct enforce_step *step,
                   enum enforce_where where, struct berth_error *err)
{
    long changed = 0;
    int clean = 0, wanted = 2;

    for (int round = 0; clean < wanted && round < ENFORCE_ROUNDS; round++) {
        changed = scan(enforce, step, where, visit_set, err);
        if (changed < 0)
            return -1;
        clean = changed == 0 ? clean + 1 : 0;
        if (round > 0 && changed > 0) /* it forks: one look more, for a look may miss a newborn */
            wanted = 3;
    }
    if (changed >
        0) /* something sets its own affinity all the time, or forks faster than we look */
        changed = scan(enforce, step, where, visit_check, err);
    return changed < 0 ? -1 : 0;
}

int enforce_check(struct enforce *enforce, const struct enforce_step *step, struct berth_error *err)
{
    return scan(enforce, step, ENFORCE_PLACE, visit_check, err) < 0 ? -1 : 0;
}

/* The parent of the tasks is the step's slurmstepd, which is root's; whoever has adopted orphans,
 * as pid 1, is not. */
void enforce_know_tasks(const struct enforce *enforce, struct enforce_step *step)
{
    struct process_stat stat, parent;

    for (size_t i = 0; i < step->ntasks; i++) {
        struct enforce_task *task = &step->task[i];

        if (process_stat_get(enforce->root, task->pid, &stat) < 0)
            continue;
        task->started = stat.started;
        if (step->stepd || stat.parent <= 1 || process_uid(enforce->root, stat.parent) != 0 ||
            process_stat_get(enforce->root, stat.parent, &parent) < 0)
            continue;
        step->stepd = stat.parent;
        step->stepd_started = parent.started;
    }
}

int enforce_read_homes(struct enforce_step *step, const struct cpus *within,
                       struct berth_error *err)
{
    struct cpus home;

    for (size_t i = 0; i < step->ntasks; i++) {
        if (enforce_get_affinity(step->task[i].pid, &home) < 0)
            return berth_error_set(err, "task %d: cannot read its affinity: %s",
                                   (int)step->task[i].pid, strerror(errno));
        cpus_and(&home, within);
        step->task[i].home = cpus_empty(&home) ? *within : home;
    }
    return 0;
}

int enforce_read_unconfined(struct enforce *enforce, struct enforce_step *step,
                            struct berth_error *err)
{
    pid_t parent = enforce_parent(enforce->root, step->task[0].pid);
    struct cpus all;

    if (parent < 0 || enforce_get_affinity(parent, &all) < 0)
        return berth_error_set(err, "task %d: cannot read its parent's affinity: %s",
                               (int)step->task[0].pid, strerror(errno));
    if (enforce_read_homes(step, &all, err) < 0)
        return -1;
    enforce_union(step, ENFORCE_HOME, &step->step_home);
    step->job_home = step->step_home;
    if (cpus_subset(&all, &step->step_home))
        return berth_error_set(err, "Slurm does not constrain cores here");
    return 0;
}

/* ---- what they have used ---- */

int enforce_step_times(struct enforce *enforce, const struct enforce_step *step, double *user_s,
                       double *system_s)
{
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    double user = 0, system = 0;
    struct enforce_pids list = {0};
    struct stat_line stat;
    size_t seen = 0;

    if (enforce->way->pids(enforce, step, &list) < 0)
        list.n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (read_stat(enforce->root, list.pid[i], &stat) < 0)
            continue;
        user += ((double)stat.user + (double)stat.child_user) * tick_s;
        system += ((double)stat.system + (double)stat.child_system) * tick_s;
        seen++;
    }
    free(list.pid);
    if (seen == 0) {
        errno = ESRCH;
        return -1;
    }
    *user_s = user;
    *system_s = system;
    return 0;
}
