/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enact - see enact.h.
 *
 * The race it lives with: in an exchange of two steps both stand on the same cores for the few
 * milliseconds between the two moves; where there is a free core nobody waits for anybody. */
#include "packer/enact/enact.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/bill/bill.h"
#include "packer/enact/bindings.h"
#include "packer/enact/care.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/offline.h"
#include "packer/slurm/job_watch.h"
#include "packer/observe/window.h"
#include "packer/place/place.h"
#include "packer/steps/journal.h"
#include "packer/steps/stand.h"

/* The steps on their way, and how many of them still stand on each CPU. */
struct moves {
    size_t n, room;
    struct move {
        struct step *step; /* NULL once it has moved */
        struct cpus from, to;
        bool changed; /* its tasks get other CPUs */
        bool forced;  /* it makes room: nobody has decided that it stands better there */
    } * move;
    unsigned standing[CPUS_MAX];
};

static void target_home(struct step *step)
{
    for (size_t i = 0; i < step->body.ntasks; i++)
        step->body.task[i].cpus = step->body.task[i].home;
}

/* Finds where a task stands under the pool. Returns whether that is elsewhere than now. */
static bool moves_task(const struct packer *packer, const struct pool *pool,
                       const struct enforce_task *task, struct cpus *image)
{
    stand_image(packer, pool, &task->use, image);
    return !cpus_equal(image, &task->cpus);
}

/* Give each task its CPUs under the pool, or its home where berth has no say any more. Returns
 * whether there is anything to do. */
static bool retarget(const struct packer *packer, struct step *step)
{
    bool changed = false;

    if (step->enacted.away) {
        target_home(step);
        return true;
    }
    for (size_t i = 0; i < step->body.ntasks; i++) {
        struct enforce_task *task = &step->body.task[i];
        struct cpus image;

        changed |= moves_task(packer, packer->pool, task, &image);
        task->cpus = image;
    }
    return changed;
}

/* Returns a move that is not counted yet, or NULL for want of memory. */
static struct move *moves_reserve(struct moves *moves)
{
    if (array_grow(&moves->move, &moves->room, moves->n + 1, sizeof(*moves->move)) < 0)
        return NULL;
    return &moves->move[moves->n];
}

/* Whom a change of the pool can concern. */
struct concern {
    struct cpus cpus;         /* homes of who shall stand elsewhere than before */
    const struct step *fresh; /* not yet under the pool at all */
    uint32_t job;             /* whose list Slurm has written again; 0: none */
    bool all;
    bool forced; /* somebody gets the cores */
};

static void concern_of(const struct packer *packer, const struct pool *before,
                       const struct pool *after, struct cpus *cpus)
{
    cpus_zero(cpus);
    for (size_t core = 0; core < after->cores; core++)
        if (before->stand[core] != after->stand[core])
            cpus_or(cpus, &packer->world.topo->core[core].cpus);
}

/* Has the start of a step of its job undone what was applied to this one? */
static bool rewritten(const struct packer *packer, const struct concern *concern,
                      const struct step *step)
{
    return concern->job == step->request.id.job && concern->fresh != step &&
           packer->world.enforce->way->job_list;
}

static bool concerns(const struct packer *packer, const struct concern *concern,
                     const struct step *step)
{
    if (step->enacted.away)
        return true;
    if (!step_movable(step) || concern->all || step == concern->fresh ||
        step->enacted.shared != step->share.changes || rewritten(packer, concern, step))
        return step_movable(step);
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (cpus_intersect(&step->body.task[i].home, &concern->cpus))
            return true;
    return false;
}

/* Adds a step to the list if it has to move. -1 for want of memory: nothing tells of a move then,
 * and the next change concerns the step again. */
static int moves_add(const struct packer *packer, const struct concern *concern,
                     struct moves *moves, struct step *step)
{
    struct move *move = moves_reserve(moves);

    if (!move) {
        step->enacted.shared = step->share.changes - 1;
        return -1;
    }
    move->step = step;
    enforce_union(&step->body, ENFORCE_PLACE, &move->from);
    step->enacted.shared = step->share.changes;
    move->changed = retarget(packer, step);
    move->forced = concern->forced;
    if (!move->changed && !concern->all && !rewritten(packer, concern, step))
        return 0;
    bindings_image(packer, step);
    place_describe(packer, packer->pool, step);
    enforce_union(&step->body, ENFORCE_PLACE, &move->to);
    cpus_foreach(cpu, &move->from) moves->standing[cpu]++;
    moves->n++;
    return 0;
}

/* Collects the steps that have to move; those that do not fit into memory are left where they are,
 * and said. */
static struct moves *moves_collect(const struct packer *packer, const struct concern *concern)
{
    struct moves *moves = calloc(1, sizeof(*moves));
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (concerns(packer, concern, step) && (!moves || moves_add(packer, concern, moves, step) < 0))
        log_error("step %u.%u: out of memory, not moved", step->request.id.job,
                  step->request.id.step);
    return moves;
}

/* Does anybody else who waits stand where this one wants to go? */
static bool blocked(const struct moves *moves, const struct move *move)
{
    cpus_foreach(cpu, &move->to) if (moves->standing[cpu] > cpus_has(&move->from, cpu)) return true;
    return false;
}

/* The next to move: one whose new place is free, else the first; NULL when all have moved. */
static struct move *moves_next(struct moves *moves)
{
    struct move *first = NULL;

    for (size_t i = 0; i < moves->n; i++) {
        struct move *move = &moves->move[i];

        if (!move->step)
            continue;
        if (!blocked(moves, move))
            return move;
        if (!first)
            first = move;
    }
    return first;
}

/* Brings home a step that is `away`: it has left berth's care, and stands where berth had put it.
 * What fails is tried again with the next change, at the latest with the next sweep; by the next
 * berthd, too, who finds it as one that has left. */
static void bring_home(const struct packer *packer, struct step *step)
{
    if (enforce_settles(packer->world.enforce, step->request.id, ENFORCE_HOME))
        return; /* it is on its way */
    enact_restore(packer, step);
    journal_note(packer, step);
}

/* Says whether the step only uses others of the cores that are its own where it stands. */
static bool is_resized(const struct packer *packer, const struct move *move)
{
    const struct enforce_step *body = &move->step->body;
    struct cpus own = {0};

    for (size_t i = 0; i < body->ntasks; i++) {
        struct cpus image;

        stand_image(packer, packer->pool, &body->task[i].home, &image);
        cpus_or(&own, &image);
    }
    return cpus_subset(&move->from, &own) && !cpus_equal(&move->from, &move->to);
}

/* Lets a moved step's counters follow it, and its memory: that of a step that uses others of its
 * own cores stays where the program put it. */
static void moved_on(const struct packer *packer, const struct move *move, bool resized)
{
    struct cpus left, now;

    topo_nodes_of(packer->world.topo, &move->from, &left);
    topo_nodes_of(packer->world.topo, &move->step->place.cpus, &now);
    if (!resized)
        memory_follow(packer, move->step, &left, &now);
    window_follow(packer, move->step);
}

/* Watches the list of CPUs of the step's job: berthd is woken when Slurm writes it again, which
 * undoes the move. */
static void watch_job(const struct packer *packer, const struct step *step)
{
    const struct enforce_way *way = packer->world.enforce->way;
    char path[CGROUP_DIR_MAX];
    struct berth_error err;

    if (!packer->state->watch || !way->job_list)
        return;
    way->job_list(packer->world.enforce, &step->body, path);
    if (job_watch_add(packer->state->watch, step->request.id.job, path, &err) < 0)
        log_warn("%s", err.text);
}

/* Counts that the step was moved. */
static void count_move(const struct packer *packer, struct step *step, bool forced)
{
    double now_s = clock_s();

    if (!forced) {
        step->enacted.lately = step_begins(step, now_s) ? 1 : step_moved_lately(step, now_s) + 1;
        step->enacted.moved_s = now_s;
    }
    step->enacted.moves++;
    packer->state->tally->moves++;
}

/* A step that cannot be made to stand where it shall is put back; berth's say over it ends. */
static void put_back(const struct packer *packer, struct step *step, const struct berth_error *err)
{
    char name[WIRE_STEP_NAME_MAX];

    wire_step_name(step->request.id, name);
    log_warn("step %s cannot be moved, put back: %s", name, err->text);
    packer->state->tally->failures++;
    step_leave(packer, step, WIRE_LEFT_PUT_BACK, err->text);
    enact_restore(packer, step);
    journal_note(packer, step); /* the next berthd shall not try again */
}

/* A step without a process has not failed: its end will be heard of, or the sweep finds it. */
static int failed(const struct packer *packer, struct step *step, const struct berth_error *err)
{
    if (!enforce_step_alive(packer->world.enforce, &step->body))
        return 0;
    put_back(packer, step, err);
    return -1;
}

/* Has enact_turn() called, when whoever waits for an answer has it. */
static void call_again(const struct packer *packer)
{
    packer_wake(packer, 0);
}

/* Move one step. Its cores are free when this returns, but those of its home where it is wide: some
 * of its threads may be given their CPUs in the next turns, and it is verified only then. What a
 * wide step's cpuset is does not tell where its threads are: they are set. */
static int move_step(const struct packer *packer, const struct move *move)
{
    bool resized = is_resized(packer, move),
         moves = !resized && !cpus_subset(&move->to, &move->from);
    struct step *step = move->step;
    struct berth_error err;
    int rc;

    if (step->enacted.away) {
        bring_home(packer, step);
        return 0;
    }
    step->body.moving = move->changed && step->body.wide;
    rc = packer->world.enforce->way->apply(packer->world.enforce, &step->body, &err);
    if (rc < 0)
        return failed(packer, step, &err);
    moved_on(packer, move, resized);
    watch_job(packer, step);
    step->enacted.verified = rc == 0 && packer->world.enforce->way->touches;
    if (rc == 1)
        call_again(packer);
    if (moves)
        count_move(packer, step, move->forced);
    if (!step->enacted.kept)
        step->enacted.reason[0] = '\0';
    return 0;
}

/* The threads of a step that began elsewhere go home; its cpuset keeps where it began (kept.h). */
static int take_home(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct enforce_step *body = &step->body;
    int rc;

    for (size_t i = 0; i < body->masks.n; i++)
        body->masks.mask[i].cpus = body->masks.mask[i].home;
    body->moving = true;
    rc = packer->world.enforce->way->apply(packer->world.enforce, body, err);
    if (rc == 1)
        call_again(packer);
    return rc;
}

/* Make one step stand where Slurm had it, in two attempts. 0; 1: its threads are confined to where
 * Slurm had it, and enact_turn() sees to them, in two attempts as well; or -1 and err. */
static int enact_go_home(const struct packer *packer, const struct step *step,
                         struct berth_error *err)
{
    const struct enforce_way *way = packer->world.enforce->way;
    struct enforce_task *task = calloc(step->body.ntasks, sizeof(*task));
    struct enforce_step rest = step->body;
    int rc;

    if (task)
        offline_rest(packer, &step->body, &rest, task);
    rc = way->restore(packer->world.enforce, &rest, err);
    if (rc < 0) {
        log_warn("step %u.%u: %s; once more", step->request.id.job, step->request.id.step,
                 err->text);
        rc = way->restore(packer->world.enforce, &rest, err);
    }
    free(task);
    if (rc == 1)
        call_again(packer);
    return rc;
}

void enact_bring_home(const struct packer *packer, const struct step *step)
{
    struct berth_error err;

    if ((step_movable(step) || step->enacted.away) && enact_go_home(packer, step, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

void enact_restore(const struct packer *packer, struct step *step)
{
    struct berth_error err;
    int rc;

    target_home(step);
    place_home(packer, step);
    rc = cpus_empty(&step->body.begun) ? -1 : take_home(packer, step, &err);
    if (rc < 0)
        rc = enact_go_home(packer, step, &err);
    step->enacted.away = rc != 0;
    step->enacted.verified = !step->enacted.away;
    if (rc < 0)
        log_error("step %u.%u: not home: %s", step->request.id.job, step->request.id.step,
                  err.text);
    window_follow(packer, step);
}

/* Writes down that threads are on their way, before the first of them is: where berthd is killed
 * then, nobody sees it of them (settle.c). */
static void settle_begin(const struct packer *packer)
{
    struct berth_error err;

    if (packer->world.enforce->way->touches && journal_settle(packer, true, &err) < 0)
        log_error("%s", err.text);
}

/* Writes down that all have their CPUs, if that is so. */
static void settle_end(const struct packer *packer)
{
    struct berth_error err;

    if (journal_interrupted(packer) || packer->world.enforce->later)
        return;
    if (journal_settle(packer, false, &err) < 0)
        log_error("%s", err.text);
}

/* Reads what the step's program has bound. A new step's tasks are where they were found just now,
 * before they have run; but for ranks, which have. Returns false where it has left berth's care. */
static bool read_bindings(const struct packer *packer, const struct concern *concern,
                          struct step *step)
{
    if (step != concern->fresh || step->late || step->body.ranks)
        return bindings_read(packer, step);
    step->body.wide = packer->world.enforce->way->touches;
    return true;
}

/* Has the step to be applied, once the pool is `next`? */
static bool is_next(const struct packer *packer, const struct pool *next,
                    const struct concern *concern, const struct step *step)
{
    struct cpus image;

    if (!concerns(packer, concern, step))
        return false;
    if (step->enacted.away || concern->all || rewritten(packer, concern, step))
        return true;
    for (size_t i = 0; i < step->body.ntasks; i++)
        if (moves_task(packer, next, &step->body.task[i], &image))
            return true;
    return false;
}

/* Before anything is changed: the journal has what threads are bound to, which parts of their cores
 * steps have, and that threads are on their way. Returns how many steps have left berth's care. */
static size_t prepare(const struct packer *packer, const struct pool *next,
                      const struct concern *concern)
{
    struct step *step;
    size_t left = 0;
    bool any = false;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!is_next(packer, next, concern, step))
            continue;
        any = true;
        left += !read_bindings(packer, concern, step);
        if (step->body.masks.n || step->enacted.shared != step->share.changes)
            journal_note(packer, step);
    }
    if (any)
        settle_begin(packer);
    return left;
}

/* Moves all that have to. Returns how many failed. */
static size_t move_all(const struct packer *packer, const struct concern *concern)
{
    struct moves *moves = moves_collect(packer, concern);
    struct move *move;
    size_t failed = 0;

    enforce_pace(packer->world.enforce, ENFORCE_LOOKS, ENFORCE_TURN_S);
    while (moves && (move = moves_next(moves))) {
        failed += move_step(packer, move) < 0;
        cpus_foreach(cpu, &move->from) moves->standing[cpu]--;
        move->step = NULL;
    }
    if (moves)
        free(moves->move);
    free(moves);
    settle_end(packer);
    return failed;
}

/* Moves all that have to, and sets the threads of all where a berthd was killed while it did. */
static size_t change_all(const struct packer *packer, const struct concern *concern)
{
    size_t failed;

    packer->world.enforce->anew = concern->all && journal_interrupted(packer);
    if (concern->all)
        journal_resumed(packer);
    failed = move_all(packer, concern);
    packer->world.enforce->anew = false;
    return failed;
}

long enact_change(const struct packer *packer, struct pool *next, const struct step *fresh,
                  unsigned flags, struct berth_error *err)
{
    struct concern concern = {.fresh = fresh,
                              .job = fresh ? fresh->request.id.job : 0,
                              .all = flags & ENACT_ALL,
                              .forced = flags & ENACT_MUST};
    size_t left;

    bill_turn(packer);
    concern_of(packer, packer->pool, next, &concern.cpus);
    left = prepare(packer, next, &concern);
    if (!cpus_empty(&concern.cpus) && journal_stand(packer, next, err) < 0) {
        if (!(flags & ENACT_MUST)) {
            pool_free(next);
            settle_end(packer);
            return -1;
        }
        log_error("%s", err->text);
    }
    pool_free(packer->state->pool);
    *packer->state->pool = *next;
    return (long)(left + change_all(packer, &concern));
}

size_t enact_again(const struct packer *packer, uint32_t job)
{
    struct concern concern = {.job = job};
    size_t left;

    bill_turn(packer);
    cpus_zero(&concern.cpus);
    left = prepare(packer, packer->pool, &concern);
    return left + move_all(packer, &concern);
}

struct settling {
    const struct packer *packer;
    size_t failed;
};

/* Sends a step home that a turn could not see home; not for ever. */
static bool once_more(const struct settling *settling, struct step *step,
                      const struct berth_error *err)
{
    const struct packer *packer = settling->packer;
    bool again = step->enacted.again;

    step->enacted.again = false;
    if (again)
        return false;
    log_warn("step %u.%u: %s; once more", step->request.id.job, step->request.id.step, err->text);
    enact_restore(packer, step);
    journal_note(packer, step);
    step->enacted.again = enforce_settles(packer->world.enforce, step->request.id, ENFORCE_HOME);
    return true;
}

/* The threads of a step have been seen to, or cannot be. Of one that has ended nothing is left to
 * be done: the sweep removes its cgroup. */
static void settled(struct wire_step_id id, enum enforce_where where, int rc,
                    const struct berth_error *err, void *arg)
{
    struct settling *settling = arg;
    struct step *step = registry_find(settling->packer->steps, id);

    if (rc < 0 && step && where == ENFORCE_HOME && once_more(settling, step, err))
        return;
    if (rc < 0 && (!step || where == ENFORCE_HOME))
        log_error("step %u.%u: not home: %s", id.job, id.step, err->text);
    if (!step)
        return;
    if (rc < 0 && where == ENFORCE_PLACE) {
        settling->failed += failed(settling->packer, step, err) < 0;
        return;
    }
    step->enacted.verified = rc == 0 && settling->packer->world.enforce->way->touches;
    if (where == ENFORCE_PLACE && cpus_empty(&step->body.begun))
        return;
    step->enacted.again = false;
    step->enacted.away = rc < 0;
    journal_note(settling->packer, step);
}

bool enact_turn(const struct packer *packer, size_t *failed)
{
    struct settling settling = {.packer = packer};
    bool more;

    enforce_pace(packer->world.enforce, ENFORCE_LOOKS, ENFORCE_TURN_S);
    more = enforce_turn(packer->world.enforce, settled, &settling);
    settle_end(packer);
    *failed = settling.failed;
    return more;
}
