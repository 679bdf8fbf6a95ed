/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle - every thread of a step gets its task's CPUs, as many threads a turn as may be.
 *
 * By then the step's cpuset confines them all: who waits for an answer need not wait for this. One
 * process after another is visited, in a list made beforehand; each is moved to the cgroup where it
 * shall be, and its threads' affinities are set. That is done again until a scan finds it all as it
 * shall be: everybody of the list was right when visited, and so were his children, born later.
 * What is born between list and visit to somebody who was not yet right is in the next list. So a
 * scan counts only if nobody was changed, and nobody had vanished who was not seen right before:
 * such a one may have had children that are in no list.
 *
 * Two lists are not to be relied on: the children of a process, and the threads of one; the kernel
 * leaves some out when others end meanwhile. Where they are used, or somebody is restless, one scan
 * more has to find nothing. */
#include "packer/enforce/enforce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/enforce/listed.h"
#include "packer/hand/ask.h"
#include "packer/system/process_look.h"

/* Rounds in which processes are moved out of berth's cgroup of the step: its CPUs are the right
 * ones by then, so who is replaced by his child all the time may as well stay in it. */
#define CATCH_ROUNDS 4

/* Processes that were seen as they shall be. All zero is the empty list. */
struct right {
    size_t n, room;
    struct who {
        pid_t pid;
        uint64_t started;
    } * who; /* [n], ascending by pid once the scan is over */
};

enum look { LOOK_FIRST, LOOK_SET, LOOK_LAST }; /* checks before, sets, checks after all rounds */

struct enforce_settling {
    struct enforce_settling *next;
    struct enforce_step step; /* with tasks of its own */
    enum enforce_where where;
    enum look look;
    struct cpus all; /* of its tasks: for whom no task can be told */
    unsigned rounds, clean, wanted;
    bool scanning, last; /* last: the hand is told then that nothing of the step is changed more */
    /* of the scan under way */
    struct enforce_pids list;
    size_t at;
    struct process_table table;
    struct enforce_seen seen;
    struct right right, before; /* of this scan, of the one before it */
    char home[CGROUP_DIR_MAX];  /* where those of berth's own cgroup shall go; "": they stay */
};

static void settling_free(struct enforce_settling *settling)
{
    free(settling->step.task);
    enforce_masks_free(&settling->step.masks);
    free(settling->list.pid);
    process_table_close(&settling->table);
    free(settling->right.who);
    free(settling->before.who);
    free(settling);
}

static struct enforce_settling *settling_new(const struct enforce *enforce,
                                             const struct enforce_step *step,
                                             enum enforce_where where, bool stands)
{
    struct enforce_settling *settling = calloc(1, sizeof(*settling));
    struct enforce_task *task = calloc(step->ntasks + 1, sizeof(*task));

    struct enforce_masks masks;

    if (enforce_masks_copy(&masks, &step->masks) < 0 || !settling || !task) {
        enforce_masks_free(&masks);
        free(settling);
        free(task);
        return NULL;
    }
    for (size_t i = 0; i < step->ntasks; i++)
        task[i] = step->task[i];
    settling->step = *step;
    settling->step.task = task;
    settling->step.masks = masks;
    settling->where = where;
    settling->look = stands ? LOOK_FIRST : LOOK_SET;
    settling->wanted = step->leaf[0] ? 1 : 2;
    enforce_union(step, where, &settling->all);
    process_table_open(&settling->table, enforce->root);
    return settling;
}

/* ---- who was right ---- */

static int by_pid(const void *a, const void *b)
{
    const struct who *left = a, *right = b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Was the process seen right in the scan before? `started` 0: it has vanished, and nobody knows. */
static bool was_right(const struct enforce_settling *settling, pid_t pid, uint64_t started)
{
    struct who key = {.pid = pid}, *who;

    if (!settling->before.n)
        return false;
    who = bsearch(&key, settling->before.who, settling->before.n, sizeof(key), by_pid);
    return who && (started == 0 || process_same(who->started, started));
}

static int note_right(struct enforce_settling *settling, pid_t pid, uint64_t started)
{
    struct right *right = &settling->right;

    if (array_grow(&right->who, &right->room, right->n + 1, sizeof(*right->who)) < 0)
        return -1;
    right->who[right->n++] = (struct who){pid, started};
    return 0;
}

/* ---- a visit ---- */

static struct enforce_wish wish_for(struct enforce_settling *settling, pid_t pid)
{
    long task = enforce_task_of(&settling->table, &settling->step, pid);
    struct enforce_wish wish = {.cpus = &settling->all,
                                .masks = &settling->step.masks,
                                .where = settling->where,
                                .id = settling->step.id};

    if (task >= 0)
        wish.cpus = settling->where == ENFORCE_HOME ? &settling->step.task[task].home
                                                    : &settling->step.task[task].cpus;
    else if (settling->step.ranks)
        wish = (struct enforce_wish){
            .cpus = &settling->step.step_home, .id = settling->step.id, .launcher = true};
    return wish;
}

/* Moves a process of berth's own cgroup to where it shall be. The main thread of one that exits
 * stays listed where it was, for good. */
static int bring(struct enforce *enforce, struct enforce_settling *settling, pid_t pid,
                 const struct process_look *look, struct berth_error *err)
{
    long moved;

    if (settling->look != LOOK_SET || settling->rounds >= CATCH_ROUNDS ||
        settling->at >= settling->list.own || !settling->home[0])
        return 0;
    moved = enforce_may_move(enforce, pid, err) < 0
                ? -1
                : hand_ask_move(enforce->hand, settling->step.id, HAND_LEAF, &pid, 1, err);
    if (moved < 0)
        return look->exiting ? 0 : -1;
    settling->seen.changed += moved > 0 && !look->exiting;
    return 0;
}

/* Sees to one process. 0, or -1 and err. */
static int visit(struct enforce *enforce, struct enforce_settling *settling, pid_t pid,
                 struct berth_error *err)
{
    const struct process_row *row = process_table_get(&settling->table, pid);
    struct enforce_seen *all = &settling->seen, seen = {0};
    size_t changed = all->changed;
    struct process_look look;
    struct enforce_wish wish;
    bool known;

    if (!row) {
        all->missed += !was_right(settling, pid, 0);
        return 0;
    }
    look = row->look; /* the table grows */
    known = was_right(settling, pid, look.started);
    wish = wish_for(settling, pid);
    wish.started = look.started;
    if (bring(enforce, settling, pid, &look, err) < 0 ||
        enforce_visit_threads(enforce, pid, look.exiting ? 0 : look.threads, &wish,
                              settling->look == LOOK_SET, &seen, err) < 0)
        return -1;
    seen.missed += look.exiting;
    all->threads += seen.threads;
    all->changed += seen.changed;
    all->missed += known ? 0 : seen.missed;
    if (all->changed == changed && (look.exiting || !seen.missed) &&
        note_right(settling, pid, look.started) < 0)
        return berth_no_memory(err);
    return 0;
}

/* ---- scans ---- */

static int scan_begin(struct enforce *enforce, struct enforce_settling *settling,
                      struct berth_error *err)
{
    const struct enforce_way *way = enforce->way;
    struct right last = settling->before;

    settling->before = settling->right;
    settling->right = last;
    settling->right.n = settling->at = settling->list.n = settling->list.own = 0;
    if (settling->before.n)
        qsort(settling->before.who, settling->before.n, sizeof(*settling->before.who), by_pid);
    settling->seen = (struct enforce_seen){0};
    process_table_close(&settling->table);
    settling->home[0] = '\0';
    if (way->gather)
        way->gather(enforce, &settling->step, settling->where, settling->home);
    settling->scanning = true;
    return way->pids(enforce, &settling->step, &settling->list) < 0
               ? berth_error_set(err, "cannot list the step's processes: %s", strerror(errno))
               : 0;
}

/* Visits the rest of the list. 0; 1 when this turn has seen enough; -1 and err. */
static int scan_go_on(struct enforce *enforce, struct enforce_settling *settling,
                      struct berth_error *err)
{
    for (; settling->at < settling->list.n; settling->at++) {
        size_t before = settling->seen.threads;

        if (enforce->paced && (enforce->looks == 0 || clock_s() > enforce->until_s))
            return 1;
        if (visit(enforce, settling, settling->list.pid[settling->at], err) < 0)
            return -1;
        before = settling->seen.threads - before + 1;
        enforce->looks -= before < enforce->looks ? before : enforce->looks;
    }
    return 0;
}

/* Says whether that was the last scan. */
static bool scan_end(struct enforce_settling *settling)
{
    const struct enforce_seen *seen = &settling->seen;

    settling->scanning = false;
    if (settling->look != LOOK_SET)
        return true;
    settling->clean = seen->changed || seen->missed ? 0 : settling->clean + 1;
    if (settling->rounds++ > 0 && settling->clean == 0)
        settling->wanted = (settling->step.leaf[0] ? 1 : 2) + 1;
    if (settling->clean >= settling->wanted)
        return true;
    if (settling->rounds >= ENFORCE_ROUNDS) /* sets its own affinity all the time, or forks */
        settling->look = LOOK_LAST;         /* faster than we look */
    return false;
}

/* 0; 1 when there is more to do; -1 and err. */
static int scan(struct enforce *enforce, struct enforce_settling *settling, struct berth_error *err)
{
    int rc = 0;

    do {
        if (!settling->scanning)
            rc = scan_begin(enforce, settling, err);
        if (rc == 0)
            rc = scan_go_on(enforce, settling, err);
        if (rc < 0 && settling->look == LOOK_FIRST) { /* stands, but not with every thread */
            settling->look = LOOK_SET;
            settling->scanning = false;
            rc = 0;
            continue;
        }
        if (rc != 0)
            return rc;
    } while (!settling->scanning || !scan_end(settling));
    return 0;
}

/* The same, and the end of it: what is in the cgroups is read back, or removed. */
static int go_on(struct enforce *enforce, struct enforce_settling *settling,
                 struct berth_error *err)
{
    const struct enforce_way *way = enforce->way;
    int rc = scan(enforce, settling, err);

    if (rc < 0 && settling->where == ENFORCE_HOME && way->gone &&
        way->gone(enforce, &settling->step))
        rc = 0;
    if (rc == 0 && settling->where == ENFORCE_PLACE && way->stands)
        rc = way->stands(enforce, &settling->step, err);
    if (rc == 0 && settling->home[0] && way->left)
        rc = way->left(enforce, &settling->step, err);
    return rc;
}

/* ---- what is for a later turn ---- */

static bool is_of(const struct enforce_settling *settling, struct wire_step_id id)
{
    return settling->step.id.job == id.job && settling->step.id.step == id.step;
}

/* It is over, or given up. */
static void settling_end(struct enforce *enforce, struct enforce_settling *settling)
{
    if (settling->last)
        hand_ask_forget(enforce->hand, settling->step.id);
    settling_free(settling);
}

/* Whose threads still wait for their CPUs can be changed until they have them. */
void enforce_unregister(struct enforce *enforce, struct wire_step_id id)
{
    for (struct enforce_settling *at = enforce->later; at; at = at->next)
        if (is_of(at, id)) {
            at->last = true;
            return;
        }
    hand_ask_forget(enforce->hand, id);
}

void enforce_forget(struct enforce *enforce, struct wire_step_id id)
{
    struct enforce_settling **at = &enforce->later, *gone;

    while ((gone = *at)) {
        if (!is_of(gone, id)) {
            at = &gone->next;
            continue;
        }
        *at = gone->next;
        settling_end(enforce, gone);
    }
}

void enforce_drop(struct enforce *enforce)
{
    while (enforce->later)
        enforce_forget(enforce, enforce->later->step.id);
    slurm_folders_free(enforce->folders);
    listed_free(enforce->listed);
    enforce->folders = NULL;
    enforce->listed = NULL;
}

void enforce_close(struct enforce *enforce)
{
    enforce_drop(enforce);
    hand_link_close(enforce->hand);
    enforce->hand = NULL;
}

bool enforce_settles(const struct enforce *enforce, struct wire_step_id id,
                     enum enforce_where where)
{
    for (const struct enforce_settling *at = enforce->later; at; at = at->next)
        if (is_of(at, id))
            return at->where == where;
    return false;
}

void enforce_pace(struct enforce *enforce, size_t looks, double turn_s)
{
    enforce->paced = looks != ENFORCE_ALL;
    enforce->looks = looks;
    enforce->until_s = clock_s() + turn_s;
}

bool enforce_may_look(struct enforce *enforce)
{
    if (!enforce->paced)
        return true;
    if (enforce->looks == 0 || clock_s() > enforce->until_s)
        return false;
    enforce->looks--;
    return true;
}

/* Says whether threads of the step still wait for CPUs that they were to be given before. */
static bool is_begun(const struct enforce *enforce, struct wire_step_id id)
{
    for (const struct enforce_settling *at = enforce->later; at; at = at->next)
        if (is_of(at, id))
            return at->look != LOOK_FIRST;
    return false;
}

/* A thread that waits for its CPUs looks as if it had narrowed itself: from Linux 6.2 on, a new
 * list of its cpuset leaves it only what the affinity set before allows. So what stands is set
 * nevertheless where that was begun, by this berthd or by one that was killed; and where the cpuset
 * does not tell where the step stands. */
int enforce_settle(struct enforce *enforce, const struct enforce_step *step,
                   enum enforce_where where, bool stands, struct berth_error *err)
{
    struct enforce_settling *settling, **last;
    int rc;

    settling =
        settling_new(enforce, step, where,
                     stands && !enforce->anew && !step->moving && !is_begun(enforce, step->id));
    rc = settling ? go_on(enforce, settling, err) : berth_no_memory(err);
    enforce_forget(enforce, step->id);
    if (rc == 1) {
        for (last = &enforce->later; *last; last = &(*last)->next)
            ;
        *last = settling;
    } else if (settling) {
        settling_free(settling);
    }
    return rc;
}

bool enforce_turn(struct enforce *enforce, enforce_settled *settled, void *arg)
{
    while (enforce->later) {
        struct enforce_settling *settling = enforce->later;
        struct berth_error err = {""};
        int rc = go_on(enforce, settling, &err);

        if (rc == 1)
            return true;
        enforce->later = settling->next; /* before anybody asks for more */
        settled(settling->step.id, settling->where, rc, &err, arg);
        settling_end(enforce, settling);
    }
    return false;
}
