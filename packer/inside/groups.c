/* SPDX-License-Identifier: GPL-2.0-or-later */
/* groups - see groups.h */
#include "packer/inside/groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/steps/stand.h"
#include "packer/system/process_table.h"

static size_t unit_of(const struct topo_core *core, bool caches)
{
    return caches ? core->llc : core->package;
}

bool groups_by_cache(const struct topo *topo, const struct cpus *all)
{
    size_t package = SHUFFLE_NOWHERE;

    for (size_t i = 0; i < topo->cores; i++) {
        if (!cpus_intersect(&topo->core[i].cpus, all))
            continue;
        if (package != SHUFFLE_NOWHERE && topo->core[i].package != package)
            return false;
        package = topo->core[i].package;
    }
    return true;
}

/* The memory node of a group's first CPU; SHUFFLE_NOWHERE: it is of none. */
static size_t node_of(const struct topo *topo, const struct cpus *cpus)
{
    for (size_t i = 0; i < topo->nodes; i++)
        if (cpus_has(&topo->node[i].cpus, cpus_next(cpus, 0)))
            return topo->node[i].os_index;
    return SHUFFLE_NOWHERE;
}

/* Where one distance is not known, all count as equal. */
static void measure(const struct topo *topo, struct groups *groups)
{
    groups->far = true;
    for (size_t a = 0; a < groups->n; a++)
        for (size_t b = 0; b < groups->n; b++) {
            size_t from = node_of(topo, &groups->cpus[a]), to = node_of(topo, &groups->cpus[b]);
            bool known = from != SHUFFLE_NOWHERE && to != SHUFFLE_NOWHERE;
            double there = known ? topo_distance(topo, from, to) : NAN;
            double back = known ? topo_distance(topo, to, from) : NAN;

            groups->distance[a * groups->n + b] = (there + back) / 2; /* the chain has no way */
            groups->far &= isfinite(there + back);
        }
}

/* Cores ascend by package and cache: a group ends where the next one begins. */
void groups_cut(const struct topo *topo, const struct cpus *cpus, bool caches,
                struct groups *groups)
{
    size_t last = SHUFFLE_NOWHERE;

    *groups = (struct groups){.caches = caches, .all = *cpus};
    for (size_t i = 0; i < topo->cores; i++) {
        struct cpus its = topo->core[i].cpus;

        cpus_and(&its, cpus);
        if (cpus_empty(&its))
            continue;
        if (unit_of(&topo->core[i], caches) != last) {
            if (groups->n == SHUFFLE_PACKAGES_MAX) {
                groups->n = 0; /* more than the model takes */
                return;
            }
            last = groups->index[groups->n++] = unit_of(&topo->core[i], caches);
        }
        cpus_or(&groups->cpus[groups->n - 1], &its);
        groups->cores[groups->n - 1]++;
    }
    measure(topo, groups);
}

enum groups_thread groups_look(const struct groups *groups, const struct cpus *affinity, size_t *at)
{
    *at = SHUFFLE_NOWHERE;
    if (cpus_equal(affinity, &groups->all))
        return GROUPS_FREE;
    for (size_t i = 0; i < groups->n; i++)
        if (cpus_subset(affinity, &groups->cpus[i])) {
            *at = i;
            return cpus_equal(affinity, &groups->cpus[i]) ? GROUPS_IN : GROUPS_BOUND;
        }
    return GROUPS_BOUND;
}

/* ---- back ---- */

/* Who gives threads back what they had, in one task. */
struct back {
    const struct packer *packer;
    const struct step *step;
    groups_keep *keep;
    const struct groups *groups;
};

/* 1: it was bound by berth, and is not any more; 0: it was not; -1 and err. */
static int free_thread(const struct back *back, const struct cpus *to, pid_t tid,
                       struct berth_error *err)
{
    struct cpus now;
    size_t at;

    if (enforce_get_affinity(tid, &now) < 0 || groups_look(back->groups, &now, &at) != GROUPS_IN ||
        back->keep(back->step, tid, at))
        return 0;
    if (enforce_set_thread(back->packer->world.enforce, back->step->request.id, tid, to, err) < 0)
        return enforce_exiting(&back->packer->world.root, tid) ? 0 : -1;
    return 1;
}

/* The same of all threads of a process. Returns how many, or -1 and err. */
static int free_process(const struct back *back, const struct cpus *to, pid_t pid,
                        struct berth_error *err)
{
    const struct rootfs *root = &back->packer->world.root;
    char path[64], **thread;
    int freed = 0, rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (size_t i = 0; rc >= 0 && thread && thread[i]; i++) {
        rc = free_thread(back, to, (pid_t)strtol(thread[i], NULL, 10), err);
        freed += rc > 0;
    }
    rootfs_list_free(thread);
    return rc < 0 ? -1 : freed;
}

/* Where a task stands. One that was adopted has the CPUs of its home until it is applied. */
static void stand_of(const struct packer *packer, const struct step *step, size_t task,
                     struct cpus *cpus)
{
    *cpus = step->body.task[task].cpus;
    if (step_movable(step) && !step->enacted.away)
        stand_image(packer, packer->pool, &step->body.task[task].use, cpus);
}

static void stand_of_all(const struct packer *packer, const struct step *step, struct cpus *all)
{
    struct cpus cpus;

    cpus_zero(all);
    for (size_t i = 0; i < step->body.ntasks; i++) {
        stand_of(packer, step, i, &cpus);
        cpus_or(all, &cpus);
    }
}

/* The same of all processes of a task, and of those of which no task can be told any more: these
 * get the CPUs of all of them, as enforce gives them. */
static int free_task(const struct packer *packer, const struct step *step, groups_keep *keep,
                     size_t task, size_t n, const pid_t *pid, struct berth_error *err)
{
    struct process_table table;
    struct groups groups;
    struct back back = {packer, step, keep, &groups};
    struct cpus all, its;
    int freed = 0, rc = 0;

    stand_of_all(packer, step, &all);
    stand_of(packer, step, task, &its);
    groups_cut(packer->world.topo, &its, groups_by_cache(packer->world.topo, &all), &groups);
    if (groups.n < 2)
        return 0;
    process_table_open(&table, &packer->world.root);
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        long of = enforce_task_of(&table, &step->body, pid[i]);

        if (of >= 0 && (size_t)of != task)
            continue;
        rc = free_process(&back, of < 0 ? &all : &groups.all, pid[i], err);
        freed += rc > 0 ? rc : 0;
    }
    process_table_close(&table);
    return rc < 0 ? -1 : freed;
}

/* A thread that is made meanwhile has the affinity of who made it: it goes on until nobody had to
 * be changed. */
int groups_undo(const struct packer *packer, const struct step *step, groups_keep *keep,
                struct berth_error *err)
{
    if (step->request.pin == WIRE_PIN_ENVIRONMENT)
        return 0;
    for (int round = 0; round < ENFORCE_ROUNDS; round++) {
        pid_t *pid = NULL;
        size_t n = 0;
        int rc = 0, freed = 0;

        if (enforce_step_pids(packer->world.enforce, &step->body, &pid, &n) < 0)
            return berth_error_set(err, "its processes cannot be listed: %s", strerror(errno));
        for (size_t task = 0; rc >= 0 && task < step->body.ntasks; task++) {
            rc = free_task(packer, step, keep, task, n, pid, err);
            freed += rc > 0 ? rc : 0;
        }
        free(pid);
        if (rc <= 0 && freed == 0)
            return rc;
    }
    return berth_error_set(err, "its threads come and go too fast to be unbound");
}
