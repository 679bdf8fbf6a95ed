/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deal - see deal.h */
#include "packer/inside/deal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "packer/base/clock.h"
#include "packer/base/file.h"
#include "packer/inside/deal_job.h"
#include "packer/memory/mover.h"
#include "packer/steps/journal.h"

#define RETRY_S 60 /* until what could not be put back is tried again: ours */
#define NAME "dealt."

static void path_of(const struct packer *packer, struct wire_step_id id, char path[PATH_MAX + 64])
{
    snprintf(path, PATH_MAX + 64, "%s/" NAME "%u.%u", packer->world.conf.state_dir, id.job,
             id.step);
}

/* ---- there ---- */

/* The file and the journal know that pages are dealt before one is. */
static int deal_begin(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct step_deal *deal = &step->inside.deal;
    char path[PATH_MAX + 64];

    if (deal->dealt) /* what was noted first is where they were */
        return deal->origin ? 0 : berth_error_set(err, "%s", deal->why);
    path_of(packer, step->request.id, path);
    deal->origin = memory_origin_create(path, err);
    if (!deal->origin)
        return -1;
    deal->dealt = true;
    if (journal_start(packer, step, err) == 0)
        return 0;
    deal->dealt = false;
    memory_origin_release(deal->origin);
    deal->origin = NULL;
    unlink(path);
    return -1;
}

static int deal_over(const struct packer *packer, struct step *step, const struct cpus *nodes,
                     struct berth_error *err)
{
    struct step_deal *deal = &step->inside.deal;

    if (deal_begin(packer, step, err) < 0)
        return -1;
    if (deal_job_put(packer, step, MEMORY_DEAL, nodes) < 0)
        return berth_no_memory(err);
    deal->returning = false;
    deal->running = true;
    deal->over = *nodes;
    return 0;
}

/* The nodes of the step's cores, also those that it leaves idle, of those that it may have memory
 * on. */
static void nodes_of(const struct step *step, struct cpus *nodes)
{
    *nodes = step->place.mems;
    if (!cpus_empty(&step->body.mems_home))
        cpus_and(nodes, &step->body.mems_home);
}

bool deal_can(const struct packer *packer, const struct step *step)
{
    struct cpus nodes;

    nodes_of(step, &nodes);
    return packer->state->mover && cpus_count(&nodes) > 1;
}

bool deal_is_out(const struct step *step)
{
    return step->inside.deal.dealt && !step->inside.deal.returning;
}

int deal_out(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct cpus nodes;

    if (!deal_can(packer, step) || deal_is_out(step))
        return 0;
    nodes_of(step, &nodes);
    return deal_over(packer, step, &nodes, err);
}

/* ---- and back ---- */

/* Tells once why pages stay as they are dealt. */
static void say(struct step *step, const char *why)
{
    struct step_deal *deal = &step->inside.deal;

    if (strncmp(deal->why, why, sizeof(deal->why) - 1) == 0)
        return;
    snprintf(deal->why, sizeof(deal->why), "%.159s", why);
    log_warn("step %u.%u: its memory stays as berth has dealt it: %s", step->request.id.job,
             step->request.id.step, deal->why);
}

static int send_back(const struct packer *packer, struct step *step, struct berth_error *err)
{
    struct step_deal *deal = &step->inside.deal;
    char path[PATH_MAX + 64];
    struct cpus nodes;

    path_of(packer, step->request.id, path);
    if (!deal->origin && !(deal->origin = memory_origin_open(path, err)))
        return berth_error_before(err, "where it was is not known: ");
    if (!packer->state->mover)
        return berth_error_set(err, "memory_rate of berth.conf is 0, or one node is left");
    nodes_of(step, &nodes);
    if (deal_job_put(packer, step, MEMORY_BACK, &nodes) < 0)
        return berth_no_memory(err);
    deal->running = true;
    return 0;
}

static void try_back(const struct packer *packer, struct step *step)
{
    struct step_deal *deal = &step->inside.deal;
    struct berth_error err;

    deal->returning = true;
    deal->tried_s = clock_s();
    if (send_back(packer, step, &err) < 0)
        say(step, err.text);
}

void deal_back(const struct packer *packer, struct step *step)
{
    if (deal_is_out(step))
        try_back(packer, step);
}

/* All pages are where they were. */
static void is_back(const struct packer *packer, struct step *step)
{
    struct step_deal *deal = &step->inside.deal;
    char path[PATH_MAX + 64];
    struct berth_error err;

    memory_origin_release(deal->origin);
    *deal = (struct step_deal){.dealt = false};
    path_of(packer, step->request.id, path);
    if (journal_start(packer, step, &err) == 0)
        unlink(path);
    else
        log_error("%s", err.text);
}

/* ---- turns ---- */

bool deal_moves(const struct packer *packer, const struct step *step)
{
    struct memory_progress progress;
    bool running = false;

    return packer->state->mover &&
           memory_mover_look(packer->state->mover, step->request.id, &progress, &running) &&
           running;
}

/* Takes in what has become of the job that was given. */
static void take_progress(const struct packer *packer, struct step *step)
{
    struct step_deal *deal = &step->inside.deal;
    struct memory_progress progress;

    if (!deal->running ||
        !memory_mover_look(packer->state->mover, step->request.id, &progress, &deal->running) ||
        deal->running)
        return;
    if (!deal->returning)
        snprintf(deal->why, sizeof(deal->why), "%s", progress.why);
    else if (progress.why[0])
        say(step, progress.why);
    else
        is_back(packer, step);
}

/* Has the step left the nodes over which its pages are dealt, or come to others? */
static bool has_moved(const struct step *step, struct cpus *nodes)
{
    nodes_of(step, nodes);
    return step_movable(step) && !cpus_empty(nodes) && !cpus_equal(nodes, &step->inside.deal.over);
}

static void follow(const struct packer *packer, struct step *step)
{
    struct berth_error err;
    struct cpus nodes;

    if (has_moved(step, &nodes) && deal_over(packer, step, &nodes, &err) < 0)
        log_error("step %u.%u: its memory is not dealt over the nodes where it stands now: %s",
                  step->request.id.job, step->request.id.step, err.text);
}

void deal_turn(const struct packer *packer, struct step *step)
{
    struct step_deal *deal = &step->inside.deal;

    take_progress(packer, step);
    if (deal_is_out(step))
        follow(packer, step);
    else if (deal->dealt && !deal->running && clock_s() - deal->tried_s >= RETRY_S)
        try_back(packer, step);
}

const char *deal_refusal(const struct step *step)
{
    const struct step_deal *deal = &step->inside.deal;

    return deal->dealt && deal->returning && !deal->running ? deal->why : NULL;
}

/* ---- ends ---- */

/* Waits for one step, until that time (CLOCK_MONOTONIC, in seconds). */
static void wait_for(const struct packer *packer, struct step *step, double until_s)
{
    struct step_deal *deal = &step->inside.deal;
    struct memory_progress progress = {.bytes = NAN};
    bool running;

    memory_mover_wait(packer->state->mover, step->request.id, until_s);
    take_progress(packer, step);
    if (!deal->running)
        return;
    memory_mover_look(packer->state->mover, step->request.id, &progress, &running);
    log_warn(
        "step %u.%u: %.0f MiB of its memory were put back in time; the rest stays as berth has "
        "dealt it until there is a berthd again",
        step->request.id.job, step->request.id.step, progress.moved / (1 << 20));
}

void deal_stop(const struct packer *packer, double patience_s)
{
    double until_s = clock_s() + patience_s;
    struct step *step;

    if (!packer->state->mover)
        return;
    memory_mover_pace(packer->state->mover, INFINITY);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!step->inside.deal.dealt)
        memory_mover_drop(packer->state->mover, step->request.id); /* it would not get there */
    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->inside.deal.running)
        wait_for(packer, step, until_s);
}

void deal_end(const struct packer *packer, struct step *step)
{
    struct step_deal *deal = &step->inside.deal;
    char path[PATH_MAX + 64];

    memory_origin_release(deal->origin);
    if (deal->dealt) {
        path_of(packer, step->request.id, path);
        unlink(path);
    }
    *deal = (struct step_deal){.dealt = false};
}

/* Is it a file of a step whose pages are not dealt? Of a step that the journal does not know, since
 * it was lost, nobody can tell. */
static bool is_left_over(const char *name, const void *arg)
{
    const struct packer *packer = arg;
    struct wire_step_id id;
    const struct step *step;
    int length = 0;

    if (sscanf(name, NAME "%u.%u%n", &id.job, &id.step, &length) != 2 || name[length])
        return false;
    step = registry_find(packer->steps, id);
    if (!step)
        log_warn("step %u.%u: the journal does not know it: if it runs, its memory may stay as "
                 "berth has dealt it",
                 id.job, id.step);
    return !step || !step->inside.deal.dealt;
}

void deal_clean(const struct packer *packer)
{
    file_sweep(packer->world.conf.state_dir, is_left_over, packer);
}
