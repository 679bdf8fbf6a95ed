/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bindings - see bindings.h */
#include "packer/enact/bindings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "packer/base/log.h"
#include "packer/enact/binders.h"
#include "packer/enact/bindings_impl.h"
#include "packer/enact/care.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/stage.h"
#include "packer/steps/stand.h"
#include "packer/steps/together.h"
#include "packer/system/process_look.h"

/* A step that is read: `now` is an affinity that was found, `stand` what was expected. */
struct reading {
    const struct packer *packer;
    const struct enforce_step *body;
    bool sent;          /* who has all of the step's home was sent there by the plugin */
    bool sets;          /* threads that are bound to nothing get what they had */
    bool shuffled;      /* parts of where it stands are berth's own doing (inside/shuffle.c) */
    struct cpus bounds; /* where it stands */
    struct cpus all;    /* all that it can have: its home, too */
    struct enforce_masks masks;
    bool no_memory, undone;
    pid_t astray; /* a thread that is bound elsewhere; 0: none */
    struct cpus astray_to;
    bool still; /* a thread has what it had bound itself to when it was read before */
};

/* What the step's tasks use of its home: its cpuset has the image of no more, wherever it stands.
 */
static void own_cpus(const struct enforce_step *body, struct cpus *own)
{
    cpus_zero(own);
    for (size_t i = 0; i < body->ntasks; i++)
        cpus_or(own, &body->task[i].use);
}

/* Where the step stands: the image of all that Slurm gave, unless its tasks have less. What they
 * are to use may be something else already. */
static void stands_on(const struct packer *packer, const struct enforce_step *body,
                      struct cpus *cpus)
{
    struct cpus home, image;

    enforce_union(body, ENFORCE_HOME, &home);
    stand_image(packer, packer->pool, &home, &image);
    enforce_union(body, ENFORCE_PLACE, cpus);
    if (cpus_equal(cpus, &image))
        stand_image(packer, packer->pool, &body->step_home, cpus);
}

static void reading_begin(struct reading *reading, const struct packer *packer,
                          const struct step *step)
{
    *reading =
        (struct reading){.packer = packer, .body = &step->body, .shuffled = step->inside.shuffled};
    stands_on(packer, &step->body, &reading->bounds);
    reading->all = reading->bounds;
    cpus_or(&reading->all, &step->body.step_home);
    cpus_or(&reading->all, &step->body.begun);
}

/* ---- one thread ---- */

/* The CPUs of the step's home that stand on these. */
static void home_of(const struct reading *reading, const struct cpus *now, struct cpus *home)
{
    cpus_zero(home);
    cpus_foreach(cpu, &reading->body->step_home)
    {
        struct cpus one, image;

        cpus_zero(&one);
        cpus_add(&one, cpu);
        stand_image(reading->packer, reading->packer->pool, &one, &image);
        if (cpus_subset(&image, now))
            cpus_add(home, cpu);
    }
}

/* Adds the thread to those that are bound: to `home`, where that is known, else to what stands on
 * `now`. */
static void note_binding(struct reading *reading, pid_t tid, const struct cpus *now,
                         const struct cpus *home)
{
    struct enforce_mask *mask;

    if (reading->shuffled)
        return;
    mask = enforce_masks_add(&reading->masks, tid);
    if (!mask) {
        reading->no_memory = true;
        return;
    }
    mask->started = process_started(&reading->packer->world.root, tid);
    mask->was = mask->cpus = *now;
    if (home)
        mask->home = *home;
    else
        home_of(reading, now, &mask->home);
}

/* Is that what the thread was given for what it had bound? Where that was all of its task's CPUs,
 * nothing else tells that it is bound. */
static bool as_given(const struct reading *reading, pid_t tid, const struct cpus *now,
                     struct cpus *home)
{
    const struct enforce_mask *mask = enforce_masks_of(&reading->body->masks, tid);

    if (!mask || !cpus_equal(&mask->cpus, now) ||
        !process_is(&reading->packer->world.root, tid, mask->started))
        return false;
    *home = mask->home;
    return true;
}

/* Has the thread run on these CPUs, where threads are set. */
static void give(const struct reading *reading, pid_t tid, const struct cpus *cpus)
{
    struct berth_error err;

    if (reading->sets &&
        enforce_set_thread(reading->packer->world.enforce, reading->body->id, tid, cpus, &err) < 0)
        log_debug("%s", err.text);
}

/* A thread that undoes its binding has all CPUs of its step, and no others. */
static void loosen(struct reading *reading, pid_t tid, const struct cpus *stand)
{
    reading->undone = true;
    if (!cpus_equal(stand, &reading->bounds))
        note_binding(reading, tid, &reading->bounds, NULL);
    give(reading, tid, &reading->bounds);
}

/* A thread that the program has bound to CPUs where it began, and does not stand any more, gets
 * those in their place (kept.h). */
static void bring_on(struct reading *reading, pid_t tid, const struct cpus *now)
{
    struct cpus to = {0};

    cpus_foreach(cpu, now)
    {
        size_t image = stand_counterpart(&reading->bounds, &reading->body->begun, cpu);

        if (image < CPUS_MAX)
            cpus_add(&to, image);
    }
    if (cpus_empty(&to))
        to = reading->bounds;
    note_binding(reading, tid, &to, NULL);
    give(reading, tid, &to);
}

/* One that the plugin has sent home, while berthd did not answer (plugin/evict.h), was not bound
 * there by its program: it gets what it had. */
static void call_back(struct reading *reading, pid_t tid, const struct cpus *stand)
{
    const struct enforce_mask *mask = enforce_masks_of(&reading->body->masks, tid);
    const struct cpus *had = stand;

    if (mask && process_is(&reading->packer->world.root, tid, mask->started)) {
        note_binding(reading, tid, &mask->cpus, &mask->home);
        had = &mask->cpus;
    }
    give(reading, tid, had);
}

/* A launcher's thread that has others than the step's home gets that: it is where the launcher
 * looks which CPUs it may give. Who has fewer is a rank that nobody has seen yet. */
static void keep_home(struct reading *reading, pid_t tid, const struct cpus *now)
{
    const struct cpus *home = &reading->body->step_home;

    if (!cpus_subset(now, home) && cpus_count(now) >= cpus_count(home))
        give(reading, tid, home);
}

static void visit(pid_t tid, long task, const struct cpus *now, void *arg)
{
    struct reading *reading = arg;
    const struct cpus *stand = task < 0 ? &reading->bounds : &reading->body->task[task].cpus;
    struct cpus home;

    if (task < 0 && reading->body->ranks) {
        keep_home(reading, tid, now);
        return;
    }
    if (as_given(reading, tid, now, &home)) {
        note_binding(reading, tid, now, &home);
        reading->still = true;
        return;
    }
    if (cpus_equal(now, stand))
        return;
    if (reading->sent && cpus_equal(now, &reading->body->step_home)) {
        call_back(reading, tid, stand);
    } else if (cpus_subset(now, &reading->bounds)) {
        note_binding(reading, tid, now, NULL);
    } else if (cpus_subset(now, &reading->body->begun)) {
        bring_on(reading, tid, now);
    } else if (cpus_subset(&reading->all, now)) {
        loosen(reading, tid, stand);
    } else {
        reading->astray = tid;
        reading->astray_to = *now;
    }
}

/* ---- a step ---- */

/* Drops the threads of the journal that are not those any more. */
static void keep_living(const struct packer *packer, struct enforce_masks *masks)
{
    size_t kept = 0;

    for (size_t i = 0; i < masks->n; i++)
        if (process_is(&packer->world.root, masks->mask[i].tid, masks->mask[i].started))
            masks->mask[kept++] = masks->mask[i];
    masks->n = kept;
}

/* Has the step's cpuset been written by somebody else, as Slurm does when a step of its job starts?
 * The kernel has changed the affinities of its threads then: they say nothing of the program. */
static bool rewritten(const struct packer *packer, const struct step *step)
{
    struct enforce *enforce = packer->world.enforce;

    return !enforce_at_home(&step->body) && enforce->way->stands &&
           enforce->way->stands(enforce, &step->body, NULL) < 0;
}

/* Are threads of the step on their way, by this berthd or by one that was killed? */
static bool on_their_way(const struct packer *packer, struct step *step)
{
    const struct wire_step_id id = step->request.id;

    if (packer->world.enforce->anew || journal_interrupted(packer)) {
        keep_living(packer, &step->body.masks);
        step->body.wide = true;
        return true;
    }
    return enforce_settles(packer->world.enforce, id, ENFORCE_PLACE) ||
           enforce_settles(packer->world.enforce, id, ENFORCE_HOME);
}

static void take_over(struct step *step, struct enforce_masks *masks)
{
    enforce_masks_sort(masks);
    enforce_masks_free(&step->body.masks);
    step->body.masks = *masks;
}

static bool leave_astray(const struct packer *packer, struct step *step,
                         const struct reading *reading)
{
    return care_leave_bound(packer, step, reading->astray, &reading->astray_to);
}

bool bindings_read(const struct packer *packer, struct step *step)
{
    struct reading reading;
    int rc;

    if (!packer->world.enforce->way->touches || on_their_way(packer, step) ||
        (step->enacted.away && enforce_at_home(&step->body)) || /* it could not be brought home */
        rewritten(packer, step))
        return true;
    reading_begin(&reading, packer, step);
    reading.sent = pool_marker_sent(packer, false);
    rc = enforce_each_mask(packer->world.enforce, &step->body, BINDINGS_THREADS, visit, &reading);
    if (rc == 1 && step->body.ranks) { /* their cpuset has always their home, for their launcher:
                                          who cannot be watched stays there */
        enforce_masks_free(&reading.masks);
        return !care_leave(packer, step, WIRE_LEFT_THREADS, NULL);
    }
    step->body.wide = rc == 0 && !reading.no_memory;
    if (!step->body.wide)
        reading.masks.n = 0;
    take_over(step, &reading.masks);
    if (reading.still || (step->body.wide && reading.astray))
        binders_note(packer, step);
    return !step->body.wide || !reading.astray || !leave_astray(packer, step, &reading);
}

void bindings_image(const struct packer *packer, struct step *step)
{
    struct enforce_masks *masks = &step->body.masks;
    struct cpus own;

    if (masks->n == 0)
        return;
    own_cpus(&step->body, &own);
    for (size_t i = 0; i < masks->n; i++) {
        struct enforce_mask *mask = &masks->mask[i];
        struct cpus part = mask->home;

        cpus_and(&part, &own);
        if (step->enacted.away)
            mask->cpus = mask->home;
        else if (cpus_empty(&part))
            enforce_union(&step->body, ENFORCE_PLACE, &mask->cpus);
        else
            stand_image(packer, packer->pool, &part, &mask->cpus);
    }
}

/* ---- once a window ---- */

/* May a thread of the step stand on cores of others? */
static bool is_watched(const struct packer *packer, const struct step *step)
{
    return step->body.wide && step_movable(step) && !step->enacted.away &&
           packer->world.enforce->way->touches &&
           (!enforce_at_home(&step->body) || !cpus_empty(&step->body.begun));
}

static bool same_masks(const struct enforce_masks *a, const struct enforce_masks *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->mask[i].tid != b->mask[i].tid || !cpus_equal(&a->mask[i].home, &b->mask[i].home))
            return false;
    return true;
}

/* The step's masks are those that were read; the next berthd has to know them, too. */
static void remember(const struct packer *packer, struct step *step, struct enforce_masks *masks)
{
    enforce_masks_sort(masks);
    if (same_masks(masks, &step->body.masks)) {
        enforce_masks_free(masks);
        return;
    }
    take_over(step, masks);
    journal_note(packer, step);
}

/* Its cpuset is to have no more than where it stands. Returns whether it has left berth's care. */
static bool narrow(const struct packer *packer, struct step *step)
{
    struct berth_error err;
    int rc;

    if (step->body.ranks)
        return care_leave(packer, step, WIRE_LEFT_THREADS, NULL);
    step->body.wide = false;
    rc = packer->world.enforce->way->apply(packer->world.enforce, &step->body, &err);
    if (rc == 1)
        packer_wake(packer, 0);
    return rc < 0 && care_leave(packer, step, WIRE_LEFT_KERNEL, err.text);
}

/* The same of a step that is looked at. */
static bool look(const struct packer *packer, struct step *step, bool sent)
{
    struct reading reading;
    int rc;

    reading_begin(&reading, packer, step);
    reading.sets = true;
    reading.sent = sent;
    rc = enforce_each_mask(packer->world.enforce, &step->body, BINDINGS_THREADS, visit, &reading);
    if (rc != 0 || reading.no_memory || (reading.astray && rewritten(packer, step))) {
        enforce_masks_free(&reading.masks);
        return rc == 1 && narrow(packer, step);
    }
    remember(packer, step, &reading.masks);
    if (reading.still || reading.astray)
        binders_note(packer, step);
    step->enacted.undone = reading.undone ? step->enacted.undone + 1 : 0;
    if (reading.astray)
        return leave_astray(packer, step, &reading);
    return step->enacted.undone >= BINDINGS_UNDONE &&
           care_leave(packer, step, WIRE_LEFT_UNDONE, NULL);
}

bool bindings_turn(const struct packer *packer)
{
    double window_s = (double)packer->world.conf.window_ms / 1000, now_s = clock_s();
    struct bindings *bindings = packer->state->bindings;
    struct step *step;
    bool left = false, sent;

    if (now_s < bindings->due_s)
        return false;
    sent = pool_marker_sent(packer, true);
    bindings->due_s = together_next(packer, now_s - window_s / 2, window_s);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (is_watched(packer, step) && !on_their_way(packer, step))
        left = look(packer, step, sent) || left;
    return left;
}

/* Seconds until the next look, or < 0: none. */
static double bindings_due(const struct packer *packer)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (is_watched(packer, step))
        return fmax(packer->state->bindings->due_s - clock_s(), 0.001);
    return -1;
}

static void look_turn(const struct packer *packer, struct turn *turn)
{
    turn->places |= bindings_turn(packer);
}

static int open_bindings(const struct packer *packer, struct berth_error *err)
{
    packer->state->bindings = calloc(1, sizeof(*packer->state->bindings));
    return packer->state->bindings ? 0 : berth_no_memory(err);
}

static void close_bindings(const struct packer *packer)
{
    free(packer->state->bindings);
}

const struct stage bindings_stage = {
    .name = "bindings",
    .open = open_bindings,
    .close = close_bindings,
    .turn = look_turn,
    .due = bindings_due,
    .rests = true,
};
