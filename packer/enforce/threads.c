/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads - where threads may run: their affinity, read and set.
 *
 * Threads come and go while they are looked at. One that is gone is left out; who made others
 * before it went is not known, so it is said that it was missed. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/system/capabilities.h"
#include "packer/system/process.h"

int enforce_get_affinity(pid_t pid, struct cpus *cpus)
{
    struct cpus now;

    cpus_zero(&now);
    if (sched_getaffinity(pid, sizeof(now.word), (cpu_set_t *)now.word) < 0)
        return -1;
    *cpus = now;
    return 0;
}

int enforce_set_thread(pid_t tid, const struct cpus *cpus, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?";

    if (sched_setaffinity(tid, sizeof(cpus->word), (const cpu_set_t *)cpus->word) == 0 ||
        errno == ESRCH)
        return 0;
    cpus_format(cpus, text, sizeof(text));
    return berth_error_set(err, "thread %d: cannot set its affinity to %s: %s", (int)tid, text,
                           capabilities_why(CAPABILITY(CAP_SYS_NICE), errno));
}

/* 0, or -1 where it reaches outside. */
static int check_thread(pid_t tid, const struct cpus *now, const struct cpus *cpus,
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

/* Returns where a thread shall run, whose affinity is `now`. */
static const struct cpus *cpus_of(const struct enforce_wish *wish, pid_t tid,
                                  const struct cpus *now)
{
    const struct enforce_mask *mask =
        wish->masks ? enforce_masks_find(wish->masks, tid, now) : NULL;

    if (!mask)
        return wish->cpus;
    return wish->where == ENFORCE_HOME ? &mask->home : &mask->cpus;
}

/* One thread; a failure of one that runs only to exit is none. */
static int visit(const struct rootfs *root, pid_t tid, const struct enforce_wish *wish, bool set,
                 struct enforce_seen *seen, struct berth_error *err)
{
    const struct cpus *cpus;
    struct cpus now;
    int rc;

    seen->threads++;
    if (enforce_get_affinity(tid, &now) < 0) {
        seen->missed++;
        return 0;
    }
    cpus = cpus_of(wish, tid, &now);
    if (set && cpus_equal(&now, cpus))
        return 0;
    if (wish->launcher && (cpus_subset(&now, cpus) || cpus_count(&now) < cpus_count(cpus)))
        return 0;
    rc = set ? enforce_set_thread(tid, cpus, err) : check_thread(tid, &now, cpus, err);
    seen->changed += set && rc == 0;
    return rc < 0 && enforce_exiting(root, tid) ? 0 : rc;
}

int enforce_visit_threads(const struct rootfs *root, pid_t pid, size_t threads,
                          const struct enforce_wish *wish, bool set, struct enforce_seen *seen,
                          struct berth_error *err)
{
    char path[64], **thread;
    size_t n = 0;
    int rc = 0;

    if (threads == 1)
        return visit(root, pid, wish, set, seen, err);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    thread = rootfs_list(root, path);
    for (; rc == 0 && thread && thread[n]; n++)
        rc = visit(root, (pid_t)strtol(thread[n], NULL, 10), wish, set, seen, err);
    seen->missed += n < threads; /* the kernel cuts a list short at a thread that ends */
    rootfs_list_free(thread);
    return rc;
}

int enforce_set_affinity(const struct rootfs *root, pid_t pid, const struct cpus *cpus,
                         struct berth_error *err)
{
    const struct enforce_wish wish = {.cpus = cpus};
    struct enforce_seen seen = {.changed = 1};
    int rc = 0;

    for (int round = 0; rc == 0 && seen.changed > 0 && round < ENFORCE_ROUNDS; round++) {
        seen = (struct enforce_seen){0};
        rc = enforce_visit_threads(root, pid, 0, &wish, true, &seen, err);
    }
    if (rc == 0 && seen.changed > 0)
        rc = enforce_visit_threads(root, pid, 0, &wish, false, &seen, err);
    return rc;
}

void enforce_union(const struct enforce_step *step, enum enforce_where where, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t i = 0; i < step->ntasks; i++)
        cpus_or(cpus, where == ENFORCE_HOME ? &step->task[i].home : &step->task[i].cpus);
}

bool enforce_at_home(const struct enforce_step *step)
{
    for (size_t i = 0; i < step->ntasks; i++)
        if (!cpus_equal(&step->task[i].cpus, &step->task[i].home))
            return false;
    return true;
}

void enforce_bounds(const struct enforce_step *step, struct cpus *cpus)
{
    enforce_union(step, ENFORCE_PLACE, cpus);
    if (step->wide || step->ranks)
        cpus_or(cpus, &step->step_home);
    cpus_or(cpus, &step->begun);
}

/* ---- homes ---- */

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
    struct cpus all;

    (void)enforce;
    if (!step->stepd)
        return berth_error_set(err, "task %d: is no child of a slurmstepd", (int)step->task[0].pid);
    if (enforce_get_affinity(step->stepd, &all) < 0)
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
