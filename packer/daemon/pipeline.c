/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pipeline - see pipeline.h. Whoever reads this page has read the program: each stage is one call,
 * and leaves one struct in the step (registry.h). */
#include "packer/daemon/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "packer/bill/bill.h"
#include "packer/board/board.h"
#include "packer/conf/admit_names.h"
#include "packer/conf/private_data.h"
#include "packer/daemon/answer.h"
#include "packer/daemon/identify.h"
#include "packer/daemon/late.h"
#include "packer/daemon/ledger_record.h"
#include "packer/daemon/missed.h"
#include "packer/enact/as_if.h"
#include "packer/enact/bindings.h"
#include "packer/enact/care.h"
#include "packer/enact/enact.h"
#include "packer/enact/folders.h"
#include "packer/enact/memory_follow.h"
#include "packer/enact/offline.h"
#include "packer/enact/ranks_care.h"
#include "packer/enact/rearrange.h"
#include "packer/enact/release.h"
#include "packer/enact/replace.h"
#include "packer/enact/thermal.h"
#include "packer/enact/weigh.h"
#include "packer/inside/inside.h"
#include "packer/observe/classify.h"
#include "packer/observe/known_pairs.h"
#include "packer/observe/learn.h"
#include "packer/observe/probe.h"
#include "packer/observe/ranks.h"
#include "packer/observe/seek.h"
#include "packer/observe/slowdown.h"
#include "packer/observe/usage.h"
#include "packer/observe/window.h"
#include "packer/place/forecast.h"
#include "packer/place/near.h"
#include "packer/place/place.h"
#include "packer/reuse/sampler.h"
#include "packer/settle/settler.h"
#include "packer/size/judge.h"
#include "packer/size/loop.h"
#include "packer/size/share_adapt.h"
#include "packer/size/share_wait.h"
#include "packer/size/size.h"
#include "packer/steps/adopt.h"
#include "packer/steps/home.h"
#include "packer/steps/journal.h"
#include "packer/steps/pool_marker.h"
#include "packer/steps/program.h"
#include "packer/steps/stand.h"
#include "packer/steps/stepd.h"

/* ---- a step starts ---- */

/* The node is called as Slurm calls it in registrations, which the journal keeps. */
static void take_node_name(struct packer *packer, const struct step *step)
{
    snprintf(packer->node, sizeof(packer->node), "%s", step->request.node);
}

/* Adds the step to the registry, with what the site allows of its options, its cgroup and its
 * homes. NULL and err when it cannot be found on the node. */
static struct step *stage_register(struct packer *packer, struct wire_register *request,
                                   struct berth_error *err)
{
    struct step *step = registry_add(&packer->steps, request);

    if (!step) {
        berth_no_memory(err);
        return NULL;
    }
    registry_inherit(&packer->steps, step);
    take_node_name(packer, step);
    if (home_find(packer, step, err) == 0) {
        identify_begin(packer, step);
        return step;
    }
    registry_drop(&packer->steps, step);
    return NULL;
}

/* Finds all steps their places, now that there is one more. Also describes where the step now
 * stands, in any case. */
static int stage_place(struct packer *packer, struct step *step, struct berth_error *err)
{
    int rc = journal_start(packer, step, err);

    if (rc == 0)
        rc = rearrange(packer, step, 0, err);
    place_describe(packer, &packer->pool, step);
    if (rc == 0 && step->state == STEP_OBSERVED)
        as_if_place(packer, step); /* decides, and only records it */
    return rc;
}

/* The step runs where Slurm put it, whether berth likes it or not: others leave its cores. */
static void keep_off(struct packer *packer, struct step *step, const char *why)
{
    char reason[sizeof(step->enacted.reason)];
    struct berth_error err;

    snprintf(reason, sizeof(reason), "left alone: %.300s", why);
    step_leave(packer, step, STEP_LEFT, reason);
    if (rearrange(packer, step, 0, &err) < 0 || journal_start(packer, step, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
    place_describe(packer, &packer->pool, step);
    pool_marker_update(packer, step->request.id.job);
}

/* A step is out of the books, with nothing known of how it ended. */
static void forget(struct packer *packer, struct wire_step_id id)
{
    pipeline_end(packer, &(struct wire_end){.id = id, .exit_status = -1, .user_s = -1});
}

/* Others leave the cores of those who are gone, released or not registered, first of all. */
static void make_room(struct packer *packer)
{
    struct berth_error err;

    if (rearrange(packer, NULL, 0, &err) < 0)
        log_error("cores not vacated: %s", err.text);
}

/* Counts it, and says it once: where a site's Slurm does what berth does not know, no step is
 * placed at all, and only who asks for `require` would hear of it. */
static void count_refused(struct packer *packer, struct wire_step_id id, const char *why)
{
    static struct log_limit limit;
    char name[WIRE_STEP_NAME_MAX];

    packer->refused.n++;
    snprintf(packer->refused.why, sizeof(packer->refused.why), "%s", why);
    wire_step_name(id, name);
    if (packer->refused.in_a_row++ == 0)
        log_limited(&limit, LOG_LEVEL_WARN,
                    "step %s is left where Slurm put it: %s (berthctl status counts the next ones)",
                    name, why);
}

/* A step that could not be registered runs where Slurm put it: others of the pool leave its cores,
 * if it has any. */
static void refused(struct packer *packer, struct wire_step_id id, const char *why)
{
    count_refused(packer, id, why);
    strangers_expect(packer, id, true);
    if (strangers_read_job(packer, id.job))
        make_room(packer);
}

void pipeline_start(struct packer *packer, struct wire_register *request,
                    struct wire_answer *answer)
{
    struct wire_step_id id = request->id;
    struct berth_error err = {""};
    struct step *step;

    if (registry_find_ended(&packer->steps, request)) { /* its end was heard first */
        answer_refuse(answer, "the step has ended");
        return;
    }
    packer->registrations++;
    packer->steps_changed = true;
    bill_turn(packer);
    /* Registered twice, or requeued under the same id before its end was heard of: */
    forget(packer, id);
    step = stage_register(packer, request, &err);
    if (!step) {
        answer_refuse(answer, err.text);
        refused(packer, id, err.text);
        return;
    }
    packer->refused.in_a_row = 0;
    observe_begin(packer, step);
    program_begin(packer, step);
    known_pairs_begin(packer, step);
    classify_profile(packer, step);
    probing_start(packer, step);
    classify_step(packer, step);
    classify_knowledge(packer);
    place_begin(packer, step);
    care_begin(packer, step);
    size_node(packer, step);
    bill_begin(packer, step, false);
    folders_watch(packer, step);
    stepd_watch(packer, step);
    strangers_read_job(packer, id.job);
    if (stage_place(packer, step, &err) < 0) {
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
        keep_off(packer, step, err.text);
        answer_refuse(answer, err.text);
        return;
    }
    pool_marker_update(packer, step->request.id.job);
    window_attach(packer, step);
    memory_told(step);
    inside_begin(packer, step);
    answer_fill(packer, step, answer);
    if (size_due(packer) && packer->wake)
        packer->wake(packer->wake_arg, 0);
}

void pipeline_late(struct packer *packer, const struct wire_register *request)
{
    struct step *step = registry_find(&packer->steps, request->id);
    struct berth_error err;

    if (!step || step->late || !step_is_of(step, request))
        return;
    late_begin(packer, step);
    if (rearrange(packer, step_movable(step) ? step : NULL, 0, &err) < 0 ||
        journal_start(packer, step, &err) < 0)
        log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

/* ---- a step runs ---- */

/* Steps that do something else now, or are to be measured, or are old enough for a part of their
 * cores, use other ones. */
static void size_again(struct packer *packer)
{
    bool changed = size_turn(packer);

    changed = share_adapt_turn(packer) || changed;
    changed = share_turn(packer) || changed;
    if (loop_turn(packer) || changed)
        make_room(packer);
}

double pipeline_observe(struct packer *packer)
{
    double began_s = clock_s(), in_s = stepd_due(packer);
    struct windows windows = window_turn(packer);
    bool steps_changed = packer->steps_changed, rates_changed;

    bill_tick(packer);
    if (stepd_due(packer) == 0)
        pipeline_stepds(packer);
    if (rearrange_turn(packer))
        in_s = 0;
    if (bindings_turn(packer))
        make_room(packer);
    packer->steps_changed = false;
    slowdown_windows(packer, &windows);
    if (size_judge_turn(packer, &windows))
        make_room(packer);
    seek_turn(packer, &windows);
    ranks_turn(packer);
    ranks_care_turn(packer);
    rates_changed = classify_windows(packer, &windows);
    size_again(packer);
    if (packer->pairs.n) {
        forecast_update(packer);
        if (forecast_learn(packer))
            replace_learnt(packer);
    }
    replace_turn(packer, rates_changed, steps_changed);
    thermal_turn(packer);
    if (packer->ledger && (rates_changed || steps_changed))
        forecast_slowdowns(packer);
    memory_turn(packer);
    if (inside_turn(packer))
        in_s = 0;
    board_turn(packer);
    if (clock_s() - began_s > packer->turn_s)
        return 0; /* requests first, then what steps have used */
    in_s = clock_sooner(in_s, clock_sooner(loop_due(packer), thermal_due(packer)));
    in_s = clock_sooner(in_s, clock_sooner(bindings_due(packer), share_due(packer)));
    in_s = clock_sooner(in_s, ranks_due(packer));
    in_s = clock_sooner(in_s, clock_sooner(window_due(packer), bill_due(packer)));
    return clock_sooner(in_s, observe_turn(packer));
}

double pipeline_bursts(struct packer *packer)
{
    return inside_bursts(packer);
}

void pipeline_cpus(struct packer *packer)
{
    if (offline_read(packer))
        offline_leave(packer);
}

struct probing_wait pipeline_probe(struct packer *packer)
{
    return probing_turn(packer);
}

void pipeline_reuse(struct packer *packer)
{
    reuse_sampler_ready(packer->reuse);
}

void pipeline_rewritten(struct packer *packer)
{
    uint32_t job;

    while (job_watch_next(packer->watch, &job))
        rearrange_again(packer, job);
}

double pipeline_folders(struct packer *packer)
{
    if (folders_turn(packer))
        make_room(packer);
    return folders_due(packer);
}

/* ---- a step or a job ends ---- */

/* A job with no live step is not watched. */
static void unwatch(struct packer *packer, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    if (step->request.id.job == job)
        return;
    if (packer->watch)
        job_watch_drop(packer->watch, job);
    if (packer->folders)
        folder_watch_settle(packer->folders, job);
}

/* Take a live step out of everything; its last own cgroup goes with it. */
static void step_over(struct packer *packer, struct step *step, const struct wire_end *end)
{
    struct berth_error err;
    struct wire_step_id id = step->request.id;

    stepd_unwatch(packer, step);
    bill_turn(packer);
    bill_end(packer, step);
    packer->steps_changed = true;
    ledger_record_count(packer, step);
    loop_end(packer, step);
    size_judge_end(step);
    window_end(packer, step);
    probing_end(packer, step);
    program_end(packer, step);
    memory_ended(packer, step);
    inside_end(packer, step);
    observe_end(packer, step, end);
    step_ends(step, end);
    ledger_record_keep(packer, step);
    if ((step_movable(step) || step->enacted.away) && enact_go_home(packer, step, &err) < 0)
        log_error("step %u.%u: %s", id.job, id.step, err.text);
    identify_end(packer, step);
    registry_end(&packer->steps, step);
    board_turn(packer);
    unwatch(packer, id.job);
    if (journal_end(packer, id, &err) < 0)
        log_error("%s", err.text);
    pool_marker_update(packer, id.job);
}

/* Returns the live step that has ended. One that nobody knew of is known now; NULL: its end was
 * heard of before. */
static struct step *find_ended(struct packer *packer, const struct wire_end *end)
{
    struct step *step = registry_find(&packer->steps, end->id);

    if (!end->late || (step && step_is_of(step, end->late)) ||
        registry_find_ended(&packer->steps, end->late))
        return step;
    if (step)
        step_over(packer, step, NULL); /* of that name, before it */
    return late_known(packer, end->late);
}

void pipeline_end(struct packer *packer, const struct wire_end *end)
{
    struct step *step = find_ended(packer, end);

    if (!step)
        return;
    step->late |= end->late != NULL;
    step_over(packer, step, end);
    size_node(packer, NULL);
    make_room(packer);
}

void pipeline_job_end(struct packer *packer, uint32_t job, const struct wire_identity *said)
{
    struct step *step = TAILQ_FIRST(&packer->steps.live), *next;

    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (step->request.id.job == job)
            step_over(packer, step, NULL);
    }
    identify_job_end(packer, job, said);
    settler_job_end(packer->settler, job);
    size_node(packer, NULL);
    make_room(packer);
}

void pipeline_stepds(struct packer *packer)
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
    size_node(packer, NULL);
    make_room(packer);
}

/* ---- root releases steps ---- */

#define RELEASE_PATIENCE_S 1.0

/* Brings steps home, bit by bit. Returns whether there is more to do. */
static bool go_on_home(struct packer *packer)
{
    bool more = rearrange_turn(packer);

    return inside_turn(packer) || more;
}

int pipeline_release(struct packer *packer, struct wire_step_id id, struct berth_error *err)
{
    const double until_s = clock_s() + RELEASE_PATIENCE_S;

    if (release_steps(packer, id, err) < 0)
        return -1;
    make_room(packer);
    while (go_on_home(packer) && clock_s() < until_s)
        ; /* who releases wants to know that they are home; nobody else waits for them */
    return 0;
}

int pipeline_manage(struct packer *packer, struct berth_error *err)
{
    return release_end(packer, err);
}

/* ---- what needs no haste ---- */

/* Returns the names of the live steps, which the caller frees; NULL for want of memory. */
static struct wire_step_id *list_live(const struct packer *packer)
{
    struct wire_step_id *known = calloc(packer->steps.nlive + 1, sizeof(*known));
    const struct step *step;
    size_t n = 0;

    if (known)
        TAILQ_FOREACH(step, &packer->steps.live, link) known[n++] = step->request.id;
    return known;
}

/* Steps that no journal knows of, and whose folders berth has changed, get back what Slurm gave. */
static void give_back(struct packer *packer)
{
    struct wire_step_id *known = list_live(packer);
    struct berth_error err = {""};
    const struct step *step;
    struct slurm_job job;
    size_t given = 0;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    slurm_job_of(&packer->enforce, &step->body, &job); /* so that it knows their folders */
    if (known && packer->enforce.way->give_back)
        given = packer->enforce.way->give_back(&packer->enforce, known, packer->steps.nlive, &err);
    if (given)
        log_warn("%zu steps that are not in the journal have the CPUs back that Slurm gave them",
                 given);
    if (err.text[0])
        log_error("%s", err.text);
    free(known);
}

/* Remove berth's cgroups, but for those of live steps if `keep_live`. */
static void clean(struct packer *packer, bool keep_live)
{
    struct wire_step_id *known = list_live(packer);
    size_t n = keep_live ? packer->steps.nlive : 0;
    struct berth_error err;

    if (!known)
        return;
    if (packer->enforce.way->clean &&
        packer->enforce.way->clean(&packer->enforce, known, n, &err) < 0)
        log_warn("%s", err.text);
    counters_sweep(packer->counters, known, n);
    free(known);
}

/* Has the step had no process for so long? Its end is on the way for a moment after the last. */
static bool has_vanished(struct packer *packer, struct step *step, double patience_s)
{
    if (enforce_step_alive(&packer->enforce, &step->body)) {
        step->empty_mono_s = 0;
        return false;
    }
    if (step->empty_mono_s == 0)
        step->empty_mono_s = clock_s();
    return clock_s() - step->empty_mono_s >= patience_s;
}

static void sweep(struct packer *packer, double patience_s)
{
    struct step *step = TAILQ_FIRST(&packer->steps.live), *next;
    struct berth_error err;

    if (packer->stale && journal_compact(packer, true, &err) < 0) /* before anything is changed */
        log_error("%s", err.text);
    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (!has_vanished(packer, step, patience_s))
            continue;
        log_info("step %u.%u vanished", step->request.id.job, step->request.id.step);
        step_over(packer, step, NULL);
    }
    strangers_read(packer);
    make_room(packer); /* for whom Slurm put beside a job of the pool, too */
    clean(packer, true);
    identify_look(packer);
    if (journal_compact(packer, packer->stale, &err) < 0)
        log_error("%s", err.text);
}

void pipeline_sweep(struct packer *packer)
{
    sweep(packer, packer->end_patience_s);
    missed_read(packer, pipeline_end);
}

/* ---- berth.conf is read again ---- */

void pipeline_reload(struct packer *packer, const struct conf *read)
{
    struct conf *now = &packer->conf, next = *read;
    struct conf_changes changes;

    admit_names_ask(packer->names, now, &next);
    conf_reload(now, &next, &changes);
    packer->steps.history = now->history;
    log_open(now->log, now->log_level);
    packer->private_data = private_data_hides(now);
    learn_configure(packer);
    memory_configure(packer);
    probing_rank(packer);
    near_read(packer);
    log_info("configuration read again%s%s", changes.taken[0] ? ": " : "", changes.taken);
    if (changes.waiting[0])
        log_warn("berth.conf: to be taken over by the next start only: %s", changes.waiting);
}

void pipeline_named(struct packer *packer)
{
    if (admit_names_take(packer->names, &packer->conf))
        log_info("berth.conf's users and groups: the names were looked up");
}

void pipeline_identified(struct packer *packer)
{
    struct berth_error err;
    struct step *step;

    identify_answers(packer);
    while ((step = identify_granted(packer)))
        if (rearrange(packer, step, 0, &err) < 0)
            log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, err.text);
}

/* ---- the daemon starts and stops ---- */

/* Classification and description of an adopted step are made anew: the journal has what cannot be
 * found out again, and its size, which its threads were counted by. */
static void adopt(struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        seek_adopt(step);
        program_begin(packer, step);
        known_pairs_begin(packer, step);
        classify_profile(packer, step);
        probing_start(packer, step);
        classify_step(packer, step);
        place_begin(packer, step);
        place_describe(packer, &packer->pool, step);
        place_adopt(step);
        care_adopt(packer, step);
        memory_told(step);
        inside_begin(packer, step);
        observe_begin(packer, step);
        window_attach(packer, step);
        folders_watch(packer, step);
        stepd_watch(packer, step);
    }
}

/* The journal cannot be read to its end: what it has until there goes home, as far as it runs. */
static int set_aside(struct packer *packer, struct berth_error *err)
{
    struct berth_error why;
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        if (adopt_of(packer, step) != ADOPT_SAME)
            continue;
        inside_undo(packer, step);
        if ((step_movable(step) || step->enacted.away) && enact_go_home(packer, step, &why) < 0)
            log_error("step %u.%u: %s", step->request.id.job, step->request.id.step, why.text);
    }
    return journal_set_aside(packer, err);
}

/* Forgets the steps under whose names others run: their job was requeued while there was no berthd.
 */
static void forget_others(struct packer *packer)
{
    struct step *step = TAILQ_FIRST(&packer->steps.live), *next;

    for (; step; step = next) {
        next = TAILQ_NEXT(step, link);
        if (adopt_of(packer, step) != ADOPT_OTHER)
            continue;
        log_warn("step %u.%u: what runs under its name is another one; forgotten",
                 step->request.id.job, step->request.id.step);
        care_disown(packer, step);
        inside_disown(step);
        step_over(packer, step, NULL);
    }
}

/* Asks who the steps of the journal are, also those that ended while there was no berthd. */
static void who_they_are(struct packer *packer)
{
    struct step *step;

    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        take_node_name(packer, step);
        identify_adopt(packer, step);
    }
    identify_resume(packer);
}

int pipeline_resume(struct packer *packer, struct berth_error *err)
{
    struct step *step;

    if (journal_load(packer, err) < 0 && set_aside(packer, err) < 0)
        return -1;
    adopt_places(packer);
    inside_resume(packer);
    release_leave(packer);
    TAILQ_FOREACH(step, &packer->steps.live, link) bill_begin(packer, step, true);
    bill_adopted(packer);
    offline_leave(packer);
    who_they_are(packer);
    forget_others(packer);
    give_back(packer);
    sweep(packer, 0); /* whose end was not heard of, while there was no berthd */
    adopt(packer);
    if (rearrange(packer, NULL, ENACT_ALL, err) < 0)
        return -1;
    pool_marker_update_all(packer);
    if (packer->steps.nlive)
        log_info("adopted %zu running steps", packer->steps.nlive);
    ledger_record_resume(packer);
    missed_read(packer, pipeline_end);
    if (journal_compact(packer, true, err) <
        0) /* the old one is whole; the next sweep tries again */
        log_error("%s", err->text);
    return 0;
}

void pipeline_undo(struct packer *packer)
{
    struct berth_error err;
    struct step *step;

    enforce_close(&packer->enforce); /* everybody is sent home now, whatever was left to be done */
    enforce_pace(&packer->enforce, ENFORCE_ALL, 0);
    bill_keep(packer);
    pool_reset(&packer->pool);
    if (journal_stand(packer, &packer->pool, &err) < 0)
        log_error("%s", err.text);
    TAILQ_FOREACH(step, &packer->steps.live, link)
    {
        loop_end(packer, step);
        size_judge_end(step);
        window_end(packer, step);
        inside_undo(packer, step);
        if (step_movable(step) || step->enacted.away)
            enact_restore(packer, step);
    }
    inside_stop(packer);
    clean(packer, false);
    pool_marker_remove_all(packer);
}
