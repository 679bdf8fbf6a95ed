/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes - which processes a step has, and whose they are.
 *
 * Processes come and go while they are listed. Whatever has vanished (ENOENT, ESRCH) is left out
 * silently; whatever was born meanwhile is found by listing again. slurmstepd sits in the cgroup of
 * its step, and is never touched: it has to end where Slurm looks for it. It is the process that
 * had forked the tasks when the step was registered; a name says nothing, for anybody may take it.
 */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/enforce/listed.h"
#include "packer/system/process.h"
#include "packer/system/process_look.h"

/* ---- lists ---- */

int enforce_pids_add(struct enforce_pids *list, pid_t pid)
{
    if (array_grow(&list->pid, &list->room, list->n + 1, sizeof(*list->pid)) < 0)
        return -1;
    list->pid[list->n++] = pid;
    return 0;
}

bool enforce_pids_have(const struct enforce_pids *list, pid_t pid)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->pid[i] == pid)
            return true;
    return false;
}

static int by_number(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

    return (left > right) - (left < right);
}

void enforce_pids_sort(struct enforce_pids *list)
{
    if (list->n)
        qsort(list->pid, list->n, sizeof(*list->pid), by_number);
}

bool enforce_pids_sorted_have(const struct enforce_pids *list, pid_t pid)
{
    return list->n && bsearch(&pid, list->pid, list->n, sizeof(pid), by_number);
}

/* ---- who they are ---- */

/* Says whether a process is the one that began then; 0: whoever has the pid. */
static bool is_same(const struct rootfs *root, pid_t pid, uint64_t started)
{
    return started == 0 || process_is(root, pid, started);
}

static bool is_stepd(const struct rootfs *root, const struct enforce_step *step, pid_t pid)
{
    return step && pid == step->stepd && is_same(root, pid, step->stepd_started);
}

/* The parent of the tasks is the step's slurmstepd, which is root's; whoever has adopted orphans,
 * as pid 1, is not. */
void enforce_know_tasks(const struct enforce *enforce, struct enforce_step *step)
{
    struct process_look look;

    for (size_t i = 0; i < step->ntasks; i++) {
        struct enforce_task *task = &step->task[i];

        if (process_look(enforce->root, task->pid, &look) < 0)
            continue;
        task->started = look.started;
        if (step->stepd || look.parent <= 1 || process_uid(enforce->root, look.parent) != 0)
            continue;
        step->stepd_started = process_started(enforce->root, look.parent);
        step->stepd = step->stepd_started ? look.parent : 0;
    }
}

/* Returns the process that has the number `said`: here, if that is also its number in the innermost
 * namespace that it is in, else there; 0: none. */
static pid_t find_task(const struct enforce_pids *list, const pid_t *inner, pid_t said)
{
    pid_t found = 0;

    for (size_t i = 0; i < list->n; i++)
        if (inner[i] == said && (!found || list->pid[i] == said))
            found = list->pid[i];
    return found;
}

/* Reads the number that each process has in its own namespace; 0: it has ended meanwhile. */
static int read_inner(const struct rootfs *root, const struct enforce_pids *list, pid_t *inner,
                      struct berth_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        errno = 0;
        inner[i] = process_inner_pid(root, list->pid[i]);
        if (inner[i] == 0 && errno != 0 && errno != ENOENT && errno != ESRCH)
            return berth_error_set(err, "cannot read process %d of the step: %s", (int)list->pid[i],
                                   strerror(errno));
    }
    return 0;
}

/* Slurm says a task's number as it is in the task's PID namespace, if it has one of its own. */
int enforce_tell_tasks(struct enforce *enforce, struct enforce_step *step,
                       const struct enforce_pids *list, struct berth_error *err)
{
    pid_t *inner = calloc(list->n + 1, sizeof(*inner));
    pid_t *found = calloc(step->ntasks + 1, sizeof(*found));
    int rc = -1;

    if (!inner || !found)
        berth_no_memory(err);
    else
        rc = read_inner(enforce->root, list, inner, err);
    for (size_t i = 0; rc == 0 && i < step->ntasks; i++)
        if (!(found[i] = find_task(list, inner, step->task[i].pid)))
            rc = berth_error_set(err, "task %d: is no process of its step's cgroup",
                                 (int)step->task[i].pid);
    for (size_t i = 0; rc == 0 && i < step->ntasks; i++)
        step->task[i].pid = found[i];
    free(inner);
    free(found);
    if (rc == 0)
        enforce_know_tasks(enforce, step);
    return rc;
}

int enforce_find_tasks(struct enforce *enforce, struct enforce_step *step, struct berth_error *err)
{
    struct enforce_pids list = {0};
    int rc;

    if (enforce->way->pids(enforce, step, &list) < 0)
        rc = berth_error_set(err, "cannot list the step's processes: %s", strerror(errno));
    else
        rc = enforce_tell_tasks(enforce, step, &list, err);
    free(list.pid);
    return rc;
}

bool enforce_is_task(const struct rootfs *root, const struct enforce_task *task)
{
    return is_same(root, task->pid, task->started);
}

static long claim_task(const struct process_row *row, void *arg)
{
    const struct enforce_step *step = arg;

    for (size_t i = 0; i < step->ntasks; i++)
        if (step->task[i].pid == row->pid &&
            (!step->task[i].started || process_same(step->task[i].started, row->look.started)))
            return (long)i;
    return PROCESS_NOBODYS;
}

long enforce_task_of(struct process_table *table, const struct enforce_step *step, pid_t pid)
{
    return process_table_owner(table, pid, claim_task, (void *)step);
}

bool enforce_exiting(const struct rootfs *root, pid_t pid)
{
    struct process_look look;

    return process_look(root, pid, &look) < 0 || look.exiting;
}

/* ---- which there are ---- */

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

/* Adds the children that a thread of the process has forked. */
static int add_forked(struct enforce *enforce, const struct enforce_step *step, pid_t pid,
                      const char *tid, struct enforce_pids *list)
{
    char path[NAME_MAX + 64], *text;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, tid);
    text = rootfs_read(enforce->root, path);
    if (text)
        rc = add_numbers(enforce->root, step, text, list);
    free(text);
    return rc;
}

/* Adds the children of a process that all its threads have forked. */
static int add_children(struct enforce *enforce, const struct enforce_step *step, pid_t pid,
                        struct enforce_pids *list)
{
    char path[64], **thread;
    size_t threads = 0;
    int rc = 0;

    snprintf(path, sizeof(path), "%d", (int)pid);
    if (process_threads(enforce->root, pid, &threads) == 0 && threads == 1)
        return add_forked(enforce, step, pid, path, list);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(enforce->root, path);
    for (size_t i = 0; rc == 0 && thread && thread[i]; i++)
        rc = add_forked(enforce, step, pid, thread[i], list);
    rootfs_list_free(thread);
    return rc;
}

/* Is a task more than a zombie, and still that task? A main thread that has ended does not end its
 * process. */
static bool is_alive(struct enforce *enforce, const struct enforce_task *task)
{
    struct process_look look;

    return process_look(enforce->root, task->pid, &look) == 0 &&
           (!task->started || process_same(task->started, look.started)) &&
           (!look.exiting || look.threads > 1);
}

/* Adds the tasks, and whoever descends from them. */
static int add_descent(struct enforce *enforce, const struct enforce_step *step,
                       struct enforce_pids *list)
{
    size_t first = list->n;

    for (size_t i = 0; i < step->ntasks; i++)
        if (!enforce_pids_have(list, step->task[i].pid) && is_alive(enforce, &step->task[i]) &&
            enforce_pids_add(list, step->task[i].pid) < 0)
            return -1;
    for (size_t i = first; i < list->n; i++) /* grows while it is walked */
        if (add_children(enforce, step, list->pid[i], list) < 0)
            return -1;
    return 0;
}

int enforce_pids_descend(struct enforce *enforce, const struct enforce_step *step,
                         struct enforce_pids *list)
{
    pid_t newest;

    /* Beside others it is not known which of them are the step's; few are listed as fast. */
    if (list->n > 0 || step->ntasks < LISTED_TASKS)
        return add_descent(enforce, step, list);
    newest = listed_newest(enforce->root);
    if (newest && !enforce->listed)
        enforce->listed = listed_new();
    if (listed_get(enforce->listed, step, newest, list))
        return 0;
    if (add_descent(enforce, step, list) < 0)
        return -1;
    listed_put(enforce->listed, step, newest, list->pid, list->n);
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
        if (is_alive(enforce, &step->task[i]))
            return true;
    return false;
}

bool enforce_step_alive(struct enforce *enforce, const struct enforce_step *step)
{
    struct enforce_pids list = {0};
    bool alive;

    if (has_task(enforce, step))
        return true;
    listed_forget(enforce->listed); /* who has died since is not alive */
    alive = enforce->way->pids(enforce, step, &list) < 0 || list.n > 0;
    free(list.pid);
    return alive;
}
