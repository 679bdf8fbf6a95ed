/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/worker.h"

#include <stdlib.h>
#include <time.h>

#include "tasks/deal.h"
#include "tasks/forks.h"
#include "tasks/idle.h"
#include "tasks/memory.h"
#include "tasks/moves.h"
#include "tasks/queues.h"
#include "tasks/rest.h"

#define LOOK_AT_PLACES 256 /* tasks until a worker that always has some looks where it stands */

/* ---- the end of a task ---- */

/* All tasks of a group that was made outside may have ended. */
static void tell_outside(struct berth_tasks *pool, bool news)
{
    if (atomic_fetch_sub(&pool->pending, 1) > 1 && !news)
        return;
    pthread_mutex_lock(&pool->outside);
    pthread_cond_broadcast(&pool->news);
    pthread_mutex_unlock(&pool->outside);
}

/* Counts a child of the record as ended. Returns the record's task when that has ended with it. */
static struct task *child_ended(struct worker *me, struct record *record)
{
    struct worker *home = record->home;
    enum record_news news = record_ended(record, me);

    if (news == RECORD_COMPLETE)
        return (struct task *)record;
    if (!home)
        tell_outside(me->pool, news == RECORD_MAY_WAKE);
    else if (news == RECORD_MAY_WAKE)
        wake_worker(home);
    return NULL;
}

/* Frees a task that has ended, and then all those that waited for it only. */
static void end_task(struct worker *me, struct task *task)
{
    while (task) {
        struct record *parent = task->record.parent;

        if (task->arguments != task->copy)
            free((void *)task->arguments);
        memory_free(me, task);
        task = child_ended(me, parent);
    }
}

/* ---- running ---- */

static void note_run(struct worker *me, const struct record *record)
{
    count(&me->counts.run);
    if (record->placed >= 0 && record->placed != load_u32(&me->domain))
        count(&me->counts.placed_away);
    if (++me->turns % LOOK_AT_PLACES == 0)
        moves_follow(me);
}

/* Calls the function of a task. One that is left by an exception or longjmp(3), into a task that
 * waited on the same stack, has not ended and never will: this ends the program here, where the
 * other one returns, instead of waiting for ever. */
static void call(struct worker *me, struct record *record, berth_task_function *function,
                 const void *arguments)
{
    struct record *before = me->current;

    me->current = record;
    function(arguments);
    if (me->current != record)
        abort();
    me->current = before;
}

void worker_run(struct worker *me, struct task *task)
{
    task->record.home = me;
    call(me, &task->record, task->function, task->arguments);
    note_run(me, &task->record);
    if (record_returned(&task->record))
        end_task(me, task);
}

void worker_run_at_once(struct worker *me, berth_task_function *function, const void *arguments)
{
    struct record record;

    record_begin(&record, me->current, me);
    call(me, &record, function, arguments);
    worker_wait(me, &record);
    note_run(me, &record);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Sets the thresholds when the queue is empty for the first time (section 3.4). */
static void set_thresholds(struct worker *me)
{
    struct threshold_rates rates = me->pool->rates;
    double passed_s = now_s() - me->begun_s;
    uint64_t run = atomic_load_explicit(&me->counts.run, memory_order_relaxed);

    if (me->was_empty || !run)
        return;
    me->was_empty = true;
    rates.lambda_per_s = (double)me->pushed / passed_s;
    rates.mu_per_s = (double)run / passed_s;
    me->threshold = threshold_of(&rates, me->pool->stealing.literal);
}

/* Says whether what is stacked from now on has to be what is waited for. */
static bool is_deep(const struct worker *me)
{
    return (const char *)__builtin_frame_address(0) < me->stack_low;
}

/* The newest task of the own queue. Where the stack is deep, those that are no one's that is waited
 * for go to the domain's list: another worker whose stack is deep, too, may wait for one of them,
 * and finds it there only. */
static struct task *own_task(struct worker *me, const struct want *want)
{
    struct task *task = queue_pop(me);

    while (task && want->bounded && !queues_is_under(task, want->record)) {
        queues_put(me->pool, (unsigned)load_u32(&me->domain), task, task, 1);
        task = queue_pop(me);
    }
    return task;
}

/* Returns the next task; NULL: what is waited for has come. */
static struct task *next_task(struct worker *me, const struct want *want)
{
    struct task *task = own_task(me, want);

    if (task) {
        deal_now_and_then(me);
        return task;
    }
    set_thresholds(me);
    moves_follow(me);
    if (!want->record)
        rest_a_while(me);
    return idle_until(me, want);
}

void worker_wait(struct worker *me, struct record *record)
{
    struct want want = {.record = record};

    while (!record_is_done(record)) {
        struct task *task;

        want.bounded = is_deep(me);
        task = next_task(me, &want);
        if (task)
            worker_run(me, task);
    }
}

/* ---- the thread ---- */

/* Returns the address below which more than half of the thread's stack is used. */
static const char *middle_of_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    return (const char *)low + size / 2;
}

void worker_work(struct worker *me)
{
    const struct want want = {0};
    struct task *task;

    me->stack_low = middle_of_stack();
    me->begun_s = now_s();
    forks_self = me;
    while ((task = next_task(me, &want)))
        worker_run(me, task);
    forks_self = NULL;
}
