/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipeline - see pipeline.h. Whoever reads this page and the table of the stages (stages.c) has
 * read the program: each stage leaves one struct in the step (registry.h). */
#include "packer/daemon/pipeline.h"

#include <stdio.h>

#include "packer/bill/bill.h"
#include "packer/conf/admit_names.h"
#include "packer/conf/conf.h"
#include "packer/slurm/private_data.h"
#include "packer/daemon/answer.h"
#include "packer/daemon/ending.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/late.h"
#include "packer/daemon/missed.h"
#include "packer/daemon/stages.h"
#include "packer/daemon/sweep.h"
#include "packer/enact/folders.h"
#include "packer/enact/offline.h"
#include "packer/enact/rearrange.h"
#include "packer/enact/release.h"
#include "packer/slurm/job_watch.h"
#include "packer/hand/ask.h"
#include "packer/inside/inside.h"
#include "packer/observe/probe.h"
#include "packer/place/place.h"
#include "packer/reuse/sampler.h"
#include "packer/settle/settler.h"
#include "packer/size/size.h"
#include "packer/slurm/steps/home.h"
#include "packer/steps/journal.h"
#include "packer/slurm/steps/pool_marker.h"
#include "packer/steps/program.h"
#include "packer/slurm/steps/stepd.h"
#include "packer/slurm/steps/strangers.h"

/* ---- a step starts ---- */

/* Adds the step to the registry, with its cgroup and its homes. NULL and err when it cannot be
 * found on the node. */
static struct step *add_step(const struct packer *packer, struct wire_register *request,
                             struct berth_error *err)
{
    struct step *step = registry_add(packer->steps, request);

    if (!step) {
        berth_no_memory(err);
        return NULL;
    }
    registry_inherit(packer->steps, step);
    packer_call_node(packer, step);
    if (home_find(packer, step, err) == 0)
        return step;
    registry_drop(packer->steps, step);
    return NULL;
}

/* A step is out of the books, with nothing known of how it ended. */
static void forget(const struct packer *packer, struct wire_step_id id)
{
    pipeline_end(packer, &(struct wire_end){.id = id, .exit_status = -1, .user_s = -1});
}

/* Counts it, and says it once: where a site's Slurm does what berth does not know, no step is
 * placed at all, and only who asks for `require` would hear of it. */
static void count_refused(const struct packer *packer, struct wire_step_id id, const char *why)
{
    static struct log_limit limit;
    char name[WIRE_STEP_NAME_MAX], *last = packer->state->tally->refused.why;
    size_t size = sizeof(packer->state->tally->refused.why);

    packer->state->tally->refused.n++;
    snprintf(last, size, "%.*s", (int)size - 1, why);
    wire_step_name(id, name);
    if (packer->state->tally->refused.in_a_row++ == 0)
        log_limited(&limit, LOG_LEVEL_WARN,
                    "step %s is left where Slurm put it: %s (berthctl status counts the next ones)",
                    name, why);
}

/* A step that could not be registered runs where Slurm put it: others of the pool leave its cores,
 * if it has any. */
static void refused(const struct packer *packer, struct wire_step_id id, const char *why)
{
    count_refused(packer, id, why);
    strangers_expect(packer, id, true);
    if (strangers_read_job(packer, id.job))
        rearrange_room(packer);
}

void pipeline_start(const struct packer *packer, struct wire_register *request,
                    struct wire_answer *answer)
{
    struct wire_step_id id = request->id;
    struct berth_error err = {""};
    struct step *step;

    if (registry_find_ended(packer->steps, request)) { /* its end was heard first */
        answer_refuse(answer, "the step has ended");
        return;
    }
    if (program_asks(request)) {
        if (request->options.mode == WIRE_MODE_OBSERVE) /* as berthctl --ask starts it */
            strangers_excuse(packer, id);
        answer_nothing(answer);
        return;
    }
    packer->state->tally->registrations++;
    packer_note_change(packer);
    /* Registered twice, or requeued under the same id before its end was heard of: */
    forget(packer, id);
    step = add_step(packer, request, &err);
    if (!step) {
        answer_refuse(answer, err.text);
        refused(packer, id, err.text);
        return;
    }
    packer->state->tally->refused.in_a_row = 0;
    strangers_hear(packer, id.job);
    stages_begin(packer, step);
    answer_fill(packer, step, answer);
    if (size_due(packer))
        packer_wake(packer, 0);
}

void pipeline_late(const struct packer *packer, const struct wire_register *request)
{
    struct step *step = registry_find(packer->steps, request->id);
    struct berth_error err;

    if (!step || step->late || !step_is_of(step, request))
        return;
    late_begin(packer, step);
    if (rearrange(packer, step_movable(step) ? step : NULL, 0, &err) < 0 ||
        journal_start(packer, step, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

void pipeline_claim(const struct packer *packer, struct wire_step_id id)
{
    if (!packer->state->idle.marked) /* nobody can stand there */
        return;
    packer_note_change(packer);
    strangers_ask(packer, id.job);
    rearrange_room(packer);
}

/* ---- a step runs ---- */

double pipeline_observe(const struct packer *packer)
{
    if (stepd_due(packer) == 0)
        pipeline_stepds(packer);
    return stages_turn(packer);
}

double pipeline_bursts(const struct packer *packer)
{
    return inside_bursts(packer);
}

void pipeline_cpus(const struct packer *packer)
{
    if (offline_read(packer))
        offline_leave(packer);
}

struct probing_wait pipeline_probe(const struct packer *packer)
{
    return probing_turn(packer);
}

void pipeline_reuse(const struct packer *packer)
{
    reuse_sampler_ready(packer->state->reuse);
}

void pipeline_rewritten(const struct packer *packer)
{
    uint32_t job;

    while (job_watch_next(packer->state->watch, &job))
        rearrange_again(packer, job);
}

double pipeline_folders(const struct packer *packer)
{
    if (folders_turn(packer)) {
        rearrange_room(packer);
        packer_note_change(packer); /* what strangers have left is a place for others */
    }
    return folders_due(packer);
}

/* ---- a step or a job ends ---- */

/* What those who are over have left is for others. */
static void make_room(const struct packer *packer)
{
    size_node(packer, NULL);
    rearrange_room(packer);
}

/* Returns the live step that has ended. One that nobody knew of is known now; NULL: its end was
 * heard of before. */
static struct step *find_ended(const struct packer *packer, const struct wire_end *end)
{
    struct step *step = registry_find(packer->steps, end->id);

    if (!end->late || program_asks(end->late) || (step && step_is_of(step, end->late)) ||
        registry_find_ended(packer->steps, end->late))
        return step;
    if (step)
        step_over(packer, step, NULL); /* of that name, before it */
    return late_known(packer, end->late);
}

void pipeline_end(const struct packer *packer, const struct wire_end *end)
{
    struct step *step = find_ended(packer, end);

    if (!step)
        return;
    step->late |= end->late != NULL;
    step_over(packer, step, end);
    make_room(packer);
}

void pipeline_job_end(const struct packer *packer, uint32_t job, const struct wire_identity *said)
{
    struct step *step = TAILQ_FIRST(&packer->steps->live), *next;

    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (step->request.id.job == job)
            step_over(packer, step, NULL);
    }
    identify_job_end(packer, job, said);
    settler_job_end(packer->state->settler, job);
    make_room(packer);
}

void pipeline_stepds(const struct packer *packer)
{
    struct step *step;
    bool any = false;

    while ((step = stepd_next_gone(packer))) {
        log_info("step %u.%u: its slurmstepd has ended without a word", step->request.id.job,
                 step->request.id.step);
        step_over(packer, step, NULL);
        any = true;
    }
    if (!any)
        return;
    strangers_read(packer); /* its tasks may run on, where Slurm had put them */
    make_room(packer);
}

/* ---- root releases steps ---- */

#define RELEASE_PATIENCE_S 1.0

/* Brings steps home, bit by bit. Returns whether there is more to do. */
static bool go_on_home(const struct packer *packer)
{
    bool more = rearrange_turn(packer);

    return inside_turn(packer) || more;
}

int pipeline_release(const struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    const double until_s = clock_s() + RELEASE_PATIENCE_S;

    if (release_steps(packer, id, err) < 0)
        return -1;
    rearrange_room(packer);
    while (go_on_home(packer) && clock_s() < until_s)
        ; /* who releases wants to know that they are home; nobody else waits for them */
    return 0;
}

int pipeline_manage(const struct packer *packer, struct berth_error *err)
{
    return release_end(packer, err);
}

/* ---- what needs no haste ---- */

void pipeline_sweep(const struct packer *packer)
{
    sweep_steps(packer, packer->world.end_patience_s);
    missed_read(packer, pipeline_end);
}

/* ---- berth.conf is read again ---- */

void pipeline_reload(struct packer *packer, const struct conf *read)
{
    struct conf *now = &packer->world.conf, next = *read;
    struct conf_changes changes;

    admit_names_ask(packer->state->names, now, &next);
    conf_reload(now, &next, &changes);
    packer->steps->history = now->history;
    log_open(now->log, now->log_level);
    packer->world.private_data = private_data_hides(now);
    hand_link_idle(packer->world.enforce->hand, now->idle != CONF_IDLE_OFF);
    stages_configure(packer);
    rearrange_deal(packer); /* other cores may be places now */
    place_predict(packer);
    log_info("configuration read again%s%s", changes.taken[0] ? ": " : "", changes.taken);
    if (changes.waiting[0])
        log_warn("berth.conf: to be taken over by the next start only: %s", changes.waiting);
}

void pipeline_named(struct packer *packer)
{
    if (admit_names_take(packer->state->names, &packer->world.conf))
        log_info("berth.conf's users and groups: the names were looked up");
}

void pipeline_identified(const struct packer *packer)
{
    struct berth_error err;
    struct step *step;

    identify_answers(packer);
    while ((step = identify_granted(packer)))
        if (rearrange(packer, step, 0, &err) < 0)
            log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

/* ---- berthd stops ---- */

void pipeline_undo(const struct packer *packer)
{
    struct berth_error err;
    struct step *step;

    /* everybody is sent home now, whatever was left to be done */
    enforce_drop(packer->world.enforce);
    enforce_pace(packer->world.enforce, ENFORCE_ALL, 0);
    bill_keep(packer);
    pool_reset(packer->state->pool);
    if (journal_stand(packer, packer->pool, &err) < 0)
        log_error("%s", err.text);
    TAILQ_FOREACH(step, &packer->steps->live, link) stages_undo(packer, step);
    inside_stop(packer);
    sweep_folders(packer, false);
    pool_marker_remove_all(packer);
}
