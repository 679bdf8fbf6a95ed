/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shuffle - Thread Shuffling (Pusukuri 2012, chapter 4; models/inside/shuffle.h): threads that wait
 * for locks equally long stand in one package, by their affinity, within their task's CPUs.
 *
 * A round is a burst of two seconds, which says how long each thread has waited for locks. The
 * paper's rounds follow each other; here they do while threads are moved, and rest otherwise. A
 * thread that has not run in a burst (who waits for others to end, say) is not moved, and is not
 * part of what the program waits; nor is the first thread of a process moved, as the threads that
 * it makes would all stand where it does. Tasks are programs of their own: each is dealt by itself.
 *
 * A thread that stands elsewhere than the last round has left it was bound by its program since,
 * and is left alone like one that it had bound before; so is a process whose OpenMP library binds
 * its threads. One that may run on all of its task's CPUs again is dealt again: enforcement gives
 * threads these, too, after Slurm has written its cpusets, and nobody can tell who did. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/clock.h"
#include "packer/base/json.h"
#include "packer/inside/groups.h"
#include "packer/inside/policy.h"
#include "packer/system/process_table.h"

#define REST_S 8. /* after a round that has moved nobody */
#define THREADS SHUFFLE_THREADS_MAX

/* A task that is dealt: threads in the order of the burst. */
struct deal {
    const struct thread_list *list;
    const long *task_of; /* [list->n] */
    bool binds;          /* a run-time of the step binds all of them */
    size_t task, n;
    struct groups groups;
    struct shuffle_thread thread[THREADS];
    bool in[THREADS], first[THREADS]; /* stands on exactly one group; is its process's first one */
    size_t in_list[THREADS], to[THREADS];
    size_t nleft; /* threads of all tasks so far, where the round leaves them */
    struct shuffle_given left[THREADS];
};

static bool asked(const struct step *step)
{
    return step->request.options.shuffle;
}

static const char *lacks(const struct packer *packer)
{
    if (packer->world.topo->packages < 2 && packer->world.topo->llcs < 2)
        return "this node has one package, with one cache";
    if (!counters_locks(packer->state->counters))
        return "the lock time of threads is not counted here (lock_time of berth.conf)";
    return NULL;
}

static struct burst *burst_of(struct inside_run *run)
{
    return &run->shuffle.burst;
}

/* Has the step several packages or caches? It may get others. */
static bool is_spread(const struct packer *packer, const struct step *step)
{
    struct groups groups;
    struct cpus all;

    enforce_union(&step->body, ENFORCE_PLACE, &all);
    groups_cut(packer->world.topo, &all, groups_by_cache(packer->world.topo, &all), &groups);
    return groups.n > 1;
}

static double due(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    const struct inside_shuffle *shuffle = &run->shuffle;
    double in_s;

    if (!is_spread(packer, step))
        return REST_S;
    if (shuffle->rounds == 0 || shuffle->moved > 0)
        return 0;
    in_s = shuffle->done_s + REST_S - clock_s();
    return fmax(in_s, 0);
}

/* ---- what the burst says ---- */

/* The part of the burst that a thread has waited for locks; NAN: not known, or it has not run. */
static double lock_of(const struct thread_times *thread, double seconds)
{
    if (!(thread->running > 0) || !(seconds > 0))
        return NAN;
    return isnan(thread->lock) ? NAN : fmin(fmax(thread->lock / seconds, 0), 1);
}

/* Finds out which task each thread of the burst is of. The caller frees it; NULL: no memory. */
static long *tell_tasks(const struct packer *packer, const struct step *step,
                        const struct thread_list *list)
{
    long *task = calloc(list->n + 1, sizeof(*task));
    struct process_table table;

    if (!task)
        return NULL;
    process_table_open(&table, &packer->world.root);
    for (size_t i = 0; i < list->n; i++)
        task[i] = i > 0 && list->thread[i].pid == list->thread[i - 1].pid
                      ? task[i - 1]
                      : enforce_task_of(&table, &step->body, list->thread[i].pid);
    process_table_close(&table);
    return task;
}

/* Returns where a round has left the thread; NULL: it does not know it. */
static const struct shuffle_given *find_given(const struct inside_shuffle *shuffle, pid_t tid)
{
    for (size_t i = 0; i < shuffle->ngiven; i++)
        if (shuffle->given[i].tid == tid)
            return &shuffle->given[i];
    return NULL;
}

/* Does a thread that stands on exactly that group do so by its program's will? The last round has
 * left it elsewhere then. */
static bool is_own(const struct inside_shuffle *shuffle, pid_t tid, size_t group)
{
    const struct shuffle_given *given = find_given(shuffle, tid);

    return given && given->group != group;
}

/* The groups are others where the step stands elsewhere: then nothing was given yet. */
static bool has_moved(const struct step *step, const struct inside_shuffle *shuffle)
{
    struct cpus all;

    enforce_union(&step->body, ENFORCE_PLACE, &all);
    return !cpus_equal(&all, &shuffle->stand);
}

/* Takes in where the task's threads stand, and what they waited. */
static void collect(struct deal *deal, struct inside_shuffle *shuffle)
{
    bool own;

    deal->n = 0;
    for (size_t i = 0; i < deal->list->n && deal->n < THREADS; i++) {
        const struct thread_times *times = &deal->list->thread[i];
        struct shuffle_thread *thread = &deal->thread[deal->n];
        enum groups_thread is;
        struct cpus now;

        if (deal->task_of[i] != (long)deal->task || enforce_get_affinity(times->tid, &now) < 0)
            continue;
        is = groups_look(&deal->groups, &now, &thread->at);
        own = is == GROUPS_BOUND || deal->binds ||
              (is == GROUPS_IN && is_own(shuffle, times->tid, thread->at));
        thread->lock = lock_of(times, shuffle->burst.seconds);
        deal->in[deal->n] = is == GROUPS_IN && !own;
        deal->first[deal->n] = times->tid == times->pid;
        thread->bound = own || deal->first[deal->n];
        shuffle->bound += own;
        shuffle->own += deal->in[deal->n];
        deal->in_list[deal->n++] = i;
    }
}

/* Notes what stands where after the round. */
static void note_group(struct inside_shuffle *shuffle, const struct deal *deal, size_t group)
{
    struct shuffle_group *its;
    size_t k = 0;

    while (k < shuffle->groups && shuffle->group[k].index != deal->groups.index[group])
        k++;
    if (k == SHUFFLE_PACKAGES_MAX)
        return;
    its = &shuffle->group[k];
    if (k == shuffle->groups) {
        *its = (struct shuffle_group){deal->groups.index[group], 0, {NAN, NAN}};
        shuffle->groups++;
    }
    for (size_t i = 0; i < deal->n; i++) {
        if (deal->to[i] != group)
            continue;
        its->threads++;
        its->lock[0] = fmin(its->lock[0], deal->thread[i].lock);
        its->lock[1] = fmax(its->lock[1], deal->thread[i].lock);
    }
}

/* Notes where the round leaves the threads. Who has bound himself since stays known as that. */
static void note_left(struct deal *deal, const struct inside_shuffle *shuffle)
{
    for (size_t i = 0; i < deal->n && deal->nleft < THREADS; i++) {
        pid_t tid = deal->list->thread[deal->in_list[i]].tid;
        const struct shuffle_given *before = find_given(shuffle, tid);

        if (!deal->thread[i].bound && deal->to[i] != SHUFFLE_NOWHERE)
            deal->left[deal->nleft++] = (struct shuffle_given){tid, deal->to[i]};
        else if (deal->thread[i].bound && before)
            deal->left[deal->nleft++] = *before;
    }
}

/* Who is to be bound elsewhere, or not any more. */
static void note_moves(struct inside_shuffle *shuffle, const struct deal *deal)
{
    for (size_t i = 0; i < deal->n; i++)
        if (deal->to[i] != deal->thread[i].at)
            shuffle->move[shuffle->moved++] = (struct shuffle_move){
                deal->list->thread[deal->in_list[i]].tid, deal->task, deal->to[i]};
}

/* Who waits little again is not bound any more: threads that its own have made stand where these
 * do, all of them in one package maybe. So the first thread, who makes most of them, never is. */
static void set_free(struct deal *deal, bool all)
{
    for (size_t i = 0; i < deal->n; i++)
        if (deal->in[i] && (all || deal->first[i]))
            deal->to[i] = SHUFFLE_NOWHERE;
}

/* Is it worth it? Who stands in a group already stays longer. */
static bool is_worth(const struct step *step, const struct shuffle_packages *packages,
                     const struct deal *deal)
{
    bool stands = false;

    for (size_t i = 0; i < deal->n; i++)
        stands |= deal->in[i] && step->inside.shuffled;
    if (!stands)
        return shuffle_due(packages, deal->n, deal->thread);
    return packages->n > 1 && shuffle_lock(deal->n, deal->thread) > SHUFFLE_LOCK / 2;
}

/* Deals one task. Returns false without memory. */
static bool deal_task(const struct packer *packer, const struct step *step, struct deal *deal,
                      struct inside_shuffle *shuffle)
{
    struct shuffle_packages packages;
    bool worth;

    groups_cut(packer->world.topo, &step->body.task[deal->task].cpus, shuffle->caches,
               &deal->groups);
    collect(deal, shuffle);
    packages = (struct shuffle_packages){deal->groups.n, deal->groups.cores,
                                         deal->groups.far ? deal->groups.distance : NULL};
    shuffle->lock = fmax(shuffle->lock, shuffle_lock(deal->n, deal->thread));
    for (size_t i = 0; i < deal->n; i++)
        deal->to[i] = deal->thread[i].at;
    worth = is_worth(step, &packages, deal);
    if (worth && shuffle_deal(&packages, deal->n, deal->thread, deal->to, NULL) < 0)
        return false;
    if (step->inside.shuffled)
        set_free(deal, !worth);
    note_moves(shuffle, deal);
    note_left(deal, shuffle);
    for (size_t i = 0; i < deal->groups.n; i++)
        note_group(shuffle, deal, i);
    return true;
}

static bool deal_all(const struct packer *packer, const struct step *step,
                     struct inside_shuffle *shuffle)
{
    const struct thread_list *list = &shuffle->burst.thread;
    long *task_of = tell_tasks(packer, step, list);
    struct deal *deal = malloc(sizeof(*deal));
    bool dealt = task_of && deal;

    if (dealt) {
        deal->list = list;
        deal->task_of = task_of;
        deal->binds = step->request.pin == WIRE_PIN_ENVIRONMENT;
        deal->nleft = 0;
    }
    for (size_t task = 0; dealt && task < step->body.ntasks; task++) {
        deal->task = task;
        dealt = deal_task(packer, step, deal, shuffle);
    }
    if (dealt) {
        shuffle->ngiven = deal->nleft;
        memcpy(shuffle->given, deal->left, deal->nleft * sizeof(*deal->left));
    }
    free(task_of);
    free(deal);
    return dealt;
}

/* Begins a round: what was given on other CPUs says nothing. */
static void begin_round(const struct packer *packer, const struct step *step,
                        struct inside_shuffle *shuffle)
{
    if (has_moved(step, shuffle))
        shuffle->ngiven = 0;
    enforce_union(&step->body, ENFORCE_PLACE, &shuffle->stand);
    shuffle->caches = groups_by_cache(packer->world.topo, &shuffle->stand);
}

static void forget_moves(struct inside_shuffle *shuffle)
{
    free(shuffle->move);
    shuffle->move = NULL;
}

static bool sample(const struct packer *packer, const struct step *step, struct inside_run *run)
{
    struct inside_shuffle *shuffle = &run->shuffle;
    size_t n = shuffle->burst.thread.n;

    shuffle->rounds++;
    shuffle->done_s = clock_s();
    shuffle->moved = shuffle->bound = shuffle->own = shuffle->groups = 0;
    shuffle->lock = NAN;
    shuffle->threads = n;
    if (n > THREADS) /* it is given up: enact says why */
        return true;
    if (n == 0 || !(shuffle->move = calloc(n, sizeof(*shuffle->move))))
        return false;
    begin_round(packer, step, shuffle);
    if (deal_all(packer, step, shuffle) && shuffle->moved > 0)
        return true;
    shuffle->moved = 0;
    forget_moves(shuffle);
    return false;
}

static bool decide(struct inside_run *run)
{
    return run->shuffle.moved > 0 || run->shuffle.threads > THREADS;
}

/* ---- moving ---- */

/* The journal knows before the first thread is bound. */
static int shuffle_begin(const struct packer *packer, struct step *step, struct berth_error *err)
{
    const struct inside_shuffle *shuffle = &step->inside.run->shuffle;

    if (shuffle->threads > THREADS)
        return berth_error_set(err, "it has %zu threads, more than %d", shuffle->threads, THREADS);
    if (step->inside.shuffled)
        return 0;
    if (shuffle->own > 0)
        return berth_error_set(err, "its program has bound threads to one %s each itself",
                               shuffle->caches ? "cache" : "package");
    return inside_mark(packer, step, &step->inside.shuffled, true, err);
}

static int move_all(const struct packer *packer, const struct step *step,
                    const struct inside_shuffle *shuffle, struct berth_error *err)
{
    struct groups groups = {0};
    const struct cpus *to;

    for (size_t i = 0; i < shuffle->moved; i++) {
        const struct shuffle_move *move = &shuffle->move[i];

        if (i == 0 || move->task != move[-1].task)
            groups_cut(packer->world.topo, &step->body.task[move->task].cpus, shuffle->caches,
                       &groups);
        to = move->to == SHUFFLE_NOWHERE ? &groups.all : &groups.cpus[move->to];
        if (enforce_set_thread(packer->world.enforce, step->request.id, move->tid, to, err) < 0 &&
            !enforce_exiting(&packer->world.root, move->tid))
            return -1;
    }
    return 0;
}

static int enact(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct inside_shuffle *shuffle = &step->inside.run->shuffle;
    int rc = shuffle_begin(packer, step, err);

    if (rc == 0)
        rc = move_all(packer, step, shuffle, err);
    if (rc == 0)
        shuffle->changes += shuffle->moved;
    else
        shuffle->ngiven = 0; /* nobody knows who was moved, and all are to be freed */
    forget_moves(shuffle);
    return rc;
}

/* Stays a thread where it is, when the others are freed? */
static bool keep(const struct step *step, pid_t tid, size_t group)
{
    const struct inside_run *run = step->inside.run;

    return run && !has_moved(step, &run->shuffle) && is_own(&run->shuffle, tid, group);
}

static int undo(const struct packer *packer, struct step *step, struct berth_error *err)
{
    if (!step->inside.shuffled)
        return 0;
    if (groups_undo(packer, step, keep, err) < 0)
        return -1;
    return inside_mark(packer, step, &step->inside.shuffled, false, err);
}

static bool in_effect(const struct step *step)
{
    return step->inside.shuffled;
}

/* ---- what people are told ---- */

static struct json_object *explain_group(const struct shuffle_group *group)
{
    struct json_object *object = json_object_new_object();

    json_add_u64(object, "package", group->index);
    json_add_u64(object, "threads", group->threads);
    json_add(object, "lock", json_new_list(2, &json_number, group->lock, sizeof(*group->lock)));
    return object;
}

static void explain(const struct step *step, struct json_object *object)
{
    static const struct inside_shuffle none;
    const struct inside_run *run = step->inside.run;
    const struct inside_shuffle *shuffle = run ? &run->shuffle : &none;
    struct json_object *groups = json_object_new_array();

    for (size_t i = 0; i < shuffle->groups; i++)
        json_append(groups, explain_group(&shuffle->group[i]));
    json_add(object, "groups", groups);
}

const struct inside_policy inside_shuffle = {
    .model = "shuffle",
    .asked = asked,
    .lacks = lacks,
    .burst = burst_of,
    .plan = {.interval_s = SHUFFLE_READING_MS / 1e3, .by_thread = true},
    .due = due,
    .sample = sample,
    .decide = decide,
    .enact = enact,
    .undo = undo,
    .in_effect = in_effect,
    .explain = explain};
