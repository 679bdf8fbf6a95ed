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

#include "packer/hand/ask.h"
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

/* Says why the kernel did not give a thread its CPUs. */
static int not_set(const struct hand_thread *thread, int error, struct berth_error *err)
{
    char text[CPUS_TEXT_MAX] = "?";

    cpus_format(&thread->cpus, text, sizeof(text));
    errno = error;
    return berth_error_set(err, "thread %d: cannot set its affinity to %s: %s", (int)thread->tid,
                           text, capabilities_why(CAPABILITY(CAP_SYS_NICE), errno));
}

int enforce_set_thread(struct enforce *enforce, struct wire_step_id id, pid_t tid,
                       const struct cpus *cpus, struct berth_error *err)
{
    struct hand_message message = {.kind = HAND_THREADS, .n = 1, .id = id};
    struct hand_answer answer;

    message.threads.thread[0] = (struct hand_thread){.tid = tid, .cpus = *cpus};
    if (hand_ask(enforce->hand, HAND_BY_HEAD, &message, &answer, err) < 0)
        return -1;
    return answer.status[0] < 0 ? not_set(message.threads.thread, -answer.status[0], err) : 0;
}

/* Threads of one process that are to be set, in one message. */
struct batch {
    struct enforce *enforce;
    const struct enforce_wish *wish;
    pid_t pid;
    struct enforce_seen *seen;
    struct hand_message message;
};

static void batch_begin(struct batch *batch)
{
    batch->message.kind = HAND_THREADS;
    batch->message.n = 0;
    batch->message.id = batch->wish->id;
}

/* What became of one of them; a failure of one that runs only to exit is none. */
static int batch_take(struct batch *batch, const struct hand_thread *thread, int status,
                      struct berth_error *err)
{
    if (status < 0)
        return enforce_exiting(batch->enforce->root, thread->tid) ? 0
                                                                  : not_set(thread, -status, err);
    batch->seen->changed++;
    return 0;
}

/* Those from `from` on, up to the first that the hand refuses. Returns how many, or -1 and err. */
static long batch_ask(struct batch *batch, size_t from, struct berth_error *err)
{
    struct hand_message *message = &batch->message;
    size_t all = message->n;
    struct hand_answer answer;
    long done = 0;
    int rc;

    message->n = (uint32_t)(all - from);
    if (from)
        memmove(message->threads.thread, message->threads.thread + from,
                message->n * sizeof(message->threads.thread[0]));
    rc = hand_ask(batch->enforce->hand, HAND_BY_HEAD, message, &answer, err);
    for (; done < answer.n; done++)
        if (batch_take(batch, &message->threads.thread[done], answer.status[done], err) < 0)
            return -1;
    if (rc < 0 && (done == message->n ||
                   !enforce_exiting(batch->enforce->root, message->threads.thread[done].tid)))
        return -1;
    return rc < 0 ? done + 1 : done;
}

/* Has all of them set. 0, or -1 and err. */
static int batch_send(struct batch *batch, struct berth_error *err)
{
    long done = 0;

    while (done >= 0 && batch->message.n > (uint32_t)done)
        done = batch_ask(batch, (size_t)done, err);
    batch_begin(batch);
    return done < 0 ? -1 : 0;
}

static int batch_add(struct batch *batch, pid_t tid, const struct cpus *cpus,
                     struct berth_error *err)
{
    struct hand_message *message = &batch->message;

    message->threads.thread[message->n++] = (struct hand_thread){
        .tid = tid, .pid = batch->pid, .started = batch->wish->started, .cpus = *cpus};
    return message->n == HAND_THREADS_MAX ? batch_send(batch, err) : 0;
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
static int visit(struct batch *batch, pid_t tid, bool set, struct berth_error *err)
{
    const struct enforce_wish *wish = batch->wish;
    struct enforce_seen *seen = batch->seen;
    const struct cpus *cpus;
    struct cpus now;

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
    if (set)
        return batch_add(batch, tid, cpus, err);
    return check_thread(tid, &now, cpus, err) < 0 && !enforce_exiting(batch->enforce->root, tid)
               ? -1
               : 0;
}

/* All of the process, by the kernel's list. */
static int visit_list(struct batch *batch, size_t threads, bool set, struct berth_error *err)
{
    char path[64], **thread;
    size_t n = 0;
    int rc = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)batch->pid);
    thread = rootfs_list(batch->enforce->root, path);
    for (; rc == 0 && thread && thread[n]; n++)
        rc = visit(batch, (pid_t)strtol(thread[n], NULL, 10), set, err);
    batch->seen->missed += n < threads; /* the kernel cuts a list short at a thread that ends */
    rootfs_list_free(thread);
    return rc;
}

int enforce_visit_threads(struct enforce *enforce, pid_t pid, size_t threads,
                          const struct enforce_wish *wish, bool set, struct enforce_seen *seen,
                          struct berth_error *err)
{
    struct batch batch;
    int rc;

    batch.enforce = enforce;
    batch.wish = wish;
    batch.pid = pid;
    batch.seen = seen;
    batch_begin(&batch);
    rc = threads == 1 ? visit(&batch, pid, set, err) : visit_list(&batch, threads, set, err);
    return rc < 0 ? -1 : batch_send(&batch, err);
}

int enforce_set_affinity(struct enforce *enforce, struct wire_step_id id, pid_t pid,
                         const struct cpus *cpus, struct berth_error *err)
{
    const struct enforce_wish wish = {.cpus = cpus, .id = id};
    struct enforce_seen seen = {.changed = 1};
    int rc = 0;

    for (int round = 0; rc == 0 && seen.changed > 0 && round < ENFORCE_ROUNDS; round++) {
        seen = (struct enforce_seen){0};
        rc = enforce_visit_threads(enforce, pid, 0, &wish, true, &seen, err);
    }
    if (rc == 0 && seen.changed > 0)
        rc = enforce_visit_threads(enforce, pid, 0, &wish, false, &seen, err);
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
