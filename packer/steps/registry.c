/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry - see registry.h */
#include "packer/steps/registry.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/clock.h"
#include "packer/conf/admit.h"
#include "enum_table.h"

const char *const TABLE(step_state_name, STEP_STATES) = {
    ROW(STEP_NEW) = "new",   ROW(STEP_PLACED) = "placed", ROW(STEP_OBSERVED) = "observed",
    ROW(STEP_LEFT) = "left", ROW(STEP_FAILED) = "failed", ROW(STEP_ENDED) = "ended",
};
TABLE_COMPLETE(step_state_name);
const char *const TABLE(step_released_name, STEP_RELEASES) = {
    ROW(STEP_NOT_RELEASED) = "no", ROW(STEP_RELEASED) = "step", ROW(STEP_JOB_RELEASED) = "job"};
TABLE_COMPLETE(step_released_name);

const char *const TABLE(step_trial_name, STEP_TRIALS) = {
    ROW(STEP_NO_TRIAL) = "no", ROW(STEP_CONTROL) = "control", ROW(STEP_TREATED) = "placed"};
TABLE_COMPLETE(step_trial_name);

#define SIZE(member) JSON_FIELD(struct step_size, #member, member, REQUIRED)
#define MEASURE(member) JSON_RANGE(struct step_size, #member, member, OPTIONAL, 0, HUGE_VAL)

const struct json_field step_size_fields[] = {
    SIZE(cores),
    SIZE(given),
    JSON_RANGE(struct step_size, "threads", threads, OPTIONAL, 1, HUGE_VAL),
    JSON_CHOICE_GIVEN(struct step_size, "constraint", constraint, modelled, numem_constraint_name),
    MEASURE(gbps),
    MEASURE(gbps_all),
    SIZE(reason),
    JSON_END,
};

const struct json_field step_loop_fields[] = {
    JSON_CHOICE_GIVEN(struct step_loop, "state", state, on, opticore_state_name),
    JSON_FIELD(struct step_loop, "phase", phase, OPTIONAL),
    JSON_FIELD(struct step_loop, "known", known, OPTIONAL),
    JSON_FIELD(struct step_loop, "profiles", profiles, OPTIONAL),
    JSON_RANGE(struct step_loop, "profiled_s", profiled_s, OPTIONAL, 0, HUGE_VAL),
    JSON_RANGE(struct step_loop, "profile_began_s", profile_s, OPTIONAL, 0, HUGE_VAL),
    JSON_FIELD(struct step_loop, "why", why, OPTIONAL),
    JSON_END,
};
const char *const TABLE(step_choice_name, PLACE_CHOICES) = {
    ROW(PLACE_NO_CHOICE) = NULL, ROW(PLACE_CLUSTERED) = "cluster", ROW(PLACE_SPREAD) = "spread"};
TABLE_COMPLETE(step_choice_name);
const char *const TABLE(step_rung_name, STEP_RUNGS) = {
    ROW(RUNG_NOTHING) = "nothing",      ROW(RUNG_AVERAGE) = "average",
    ROW(RUNG_PROBE) = "probe",          ROW(RUNG_MISSES) = "miss rate",
    ROW(RUNG_COUNTERS) = "counters",    ROW(RUNG_DISTANCES) = "stack distances",
    ROW(RUNG_PAIRS) = "measured pairs",
};
TABLE_COMPLETE(step_rung_name);
const char *const TABLE(step_class_name, STEP_CLASSES) = {
    ROW(STEP_UNPROFILED) = "unprofiled", ROW(STEP_TURTLE) = "turtle", ROW(STEP_DEVIL) = "devil"};
TABLE_COMPLETE(step_class_name);

#define TO(state) (1u << (state))
static const unsigned TABLE(edges, STEP_STATES) = {
    ROW(STEP_NEW) = TO(STEP_PLACED) | TO(STEP_OBSERVED) | TO(STEP_LEFT) | TO(STEP_ENDED),
    ROW(STEP_PLACED) = TO(STEP_FAILED) | TO(STEP_LEFT) | TO(STEP_ENDED),
    ROW(STEP_OBSERVED) = TO(STEP_LEFT) | TO(STEP_ENDED),
    ROW(STEP_LEFT) = TO(STEP_PLACED) | TO(STEP_ENDED),
    ROW(STEP_FAILED) = TO(STEP_ENDED),
    ROW(STEP_ENDED) = 0,
};
TABLE_COMPLETE(edges);

void registry_init(struct registry *registry, size_t history)
{
    memset(registry, 0, sizeof(*registry));
    TAILQ_INIT(&registry->live);
    TAILQ_INIT(&registry->ended);
    LIST_INIT(&registry->walks);
    registry->history = history;
}

static void step_free(struct step *step)
{
    free(step->request.task);
    free(step->request.kept);
    free(step->body.task);
    enforce_masks_free(&step->body.masks);
    free(step->registered);
    free(step->ranks.rank);
    free(step->counts);
    free(step->course);
    free(step->bill.running);
    memory_origin_release(step->inside.deal.origin);
    free(step->inside.run);
    free(step);
}

static void list_free(struct step_list *list)
{
    struct step *step;

    while ((step = TAILQ_FIRST(list))) {
        TAILQ_REMOVE(list, step, link);
        step_free(step);
    }
}

void registry_free(struct registry *registry)
{
    list_free(&registry->live);
    list_free(&registry->ended);
}

/* The mechanism's view of the tasks; homes come from enforce's locate(). */
static int body_init(struct enforce_step *body, const struct wire_register *request)
{
    body->id = request->id;
    body->uid = request->uid;
    body->ntasks = request->ntasks;
    body->task = calloc(request->ntasks ? request->ntasks : 1, sizeof(*body->task));
    if (!body->task)
        return -1;
    for (size_t i = 0; i < request->ntasks; i++)
        body->task[i].pid = request->task[i].pid;
    return 0;
}

/* When something was that has to be after `least_s`: at_s of CLOCK_MONOTONIC, where that can be;
 * else now. */
static double when(double at_s, double least_s)
{
    double now_s = clock_s();

    return at_s > least_s && at_s <= now_s ? at_s : now_s;
}

/* The same moment in Unix milliseconds, of that Unix second. */
static int64_t unix_ms(double mono_s, int64_t second)
{
    double ago_s = clock_s() - mono_s;
    double ms = floor((double)clock_ns(CLOCK_REALTIME) * 1e-6 - ago_s * 1e3);

    return (int64_t)fmin(fmax(ms, (double)second * 1e3), (double)second * 1e3 + 999);
}

/* The same moment in Unix seconds. */
static int64_t unix_time(double mono_s)
{
    double ago_s = clock_s() - mono_s;

    return ago_s < 1e-3 ? time(NULL)
                        : (int64_t)floor((double)clock_ns(CLOCK_REALTIME) * 1e-9 - ago_s);
}

struct step *registry_add(struct registry *registry, struct wire_register *request)
{
    struct step *step = calloc(1, sizeof(*step));

    if (!step)
        return NULL;
    step->request = *request;
    step->request.kept = NULL;
    if (body_init(&step->body, request) < 0 || wire_register_keep(&step->request) < 0) {
        free(step->body.task);
        free(step);
        return NULL;
    }
    request->task = NULL;
    request->ntasks = 0;
    step->started_mono_s = when(request->began_s, 0);
    step->started_at = unix_time(step->started_mono_s);
    step->started_ms = unix_ms(step->started_mono_s, step->started_at);
    step->exit_status = -1;
    step->profile.miss_pmi = step->profile.accesses = step->profile.ipc = NAN;
    step->profile.solo_pmi = step->profile.misses = NAN;
    for (enum figure id = 0; id < FIGURES; id++)
        step->figures[id] = NAN;
    step->profile.instructions_per_s = step->profile.core_gbps = NAN;
    step->profile.clock_ghz = NAN;
    step->size.gbps = step->size.gbps_all = step->size.loop.profile_s = NAN;
    step->size.verdict.measured = step->size.verdict.error = NAN;
    step->slowdown.model = step->slowdown.now = step->slowdown.home = step->slowdown.as_if = NAN;
    step->slowdown.sibling = NAN;
    step->probe.rank = NAN;
    step->place.max_slowdown = step->place.predicted = step->place.confidence = NAN;
    step->program = PROGRAM_NONE;
    step->identity.slowdown_waits_pct = -1;
    step->use = (struct step_use){.user_s = -1, .system_s = -1};
    step->serial = ++registry->serial;
    TAILQ_INSERT_TAIL(&registry->live, step, link);
    registry->nlive++;
    return step;
}

void registry_note_change(struct registry *registry)
{
    registry->changed_s = clock_s();
    if (!registry->changed)
        registry->changed_first_s = registry->changed_s;
    registry->changed = true;
}

double registry_change_due(const struct registry *registry, double quiet_s)
{
    return registry->changed
               ? fmin(registry->changed_s + quiet_s, registry->changed_first_s + REGISTRY_BURST_S)
               : -1;
}

struct step *registry_find(const struct registry *registry, struct wire_step_id id)
{
    struct step *step;

    TAILQ_FOREACH(step, &registry->live, link)
    if (step->request.id.job == id.job && step->request.id.step == id.step)
        return step;
    return NULL;
}

struct step *registry_find_ended(const struct registry *registry, const struct wire_register *reg)
{
    struct step *step;

    TAILQ_FOREACH(step, &registry->ended, link)
    if (step_is_of(step, reg))
        return step;
    return NULL;
}

bool step_is_of(const struct step *step, const struct wire_register *reg)
{
    return step->request.id.job == reg->id.job && step->request.id.step == reg->id.step &&
           step->request.began_s > 0 && step->request.began_s == reg->began_s;
}

bool registry_job_lives(const struct registry *registry, uint32_t job)
{
    const struct step *step;

    TAILQ_FOREACH(step, &registry->live, link)
    if (step->request.id.job == job)
        return true;
    return false;
}

bool registry_only_waits(const struct registry *registry, const struct step *step)
{
    const struct step *other;

    if (!step_is_shell(step))
        return false;
    TAILQ_FOREACH(other, &registry->live, link)
    if (other->request.id.job == step->request.id.job && !step_is_shell(other))
        return true;
    return false;
}

static int compare_ids(struct wire_step_id a, struct wire_step_id b)
{
    if (a.job != b.job)
        return a.job < b.job ? -1 : 1;
    return (a.step > b.step) - (a.step < b.step);
}

static int compare_steps(const void *a, const void *b)
{
    return compare_ids((*(const struct step *const *)a)->request.id,
                       (*(const struct step *const *)b)->request.id);
}

int step_index_make(const struct registry *registry, struct step_index *index)
{
    const struct step *step;

    index->n = 0;
    index->step = calloc(registry->nlive + 1, sizeof(struct step *));
    if (!index->step)
        return -1;
    TAILQ_FOREACH(step, &registry->live, link) index->step[index->n++] = step;
    qsort(index->step, index->n, sizeof(struct step *), compare_steps);
    return 0;
}

void step_index_free(struct step_index *index)
{
    free(index->step);
    *index = (struct step_index){0};
}

/* Returns the position of the first step whose number is not smaller. */
static size_t position(const struct step_index *index, struct wire_step_id id)
{
    size_t low = 0, high = index->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (compare_ids(index->step[middle]->request.id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t step_index_of_job(const struct step_index *index, uint32_t job)
{
    return position(index, (struct wire_step_id){job, 0});
}

const struct step *step_index_find(const struct step_index *index, struct wire_step_id id)
{
    size_t at = position(index, id);

    return at < index->n && compare_ids(index->step[at]->request.id, id) == 0 ? index->step[at]
                                                                              : NULL;
}

struct step *registry_find_serial(const struct registry *registry, uint64_t serial)
{
    struct step *step;

    TAILQ_FOREACH(step, &registry->live, link)
    if (step->serial == serial)
        return step;
    return NULL;
}

int step_go(struct step *step, enum step_state to)
{
    if (!(edges[step->state] & TO(to))) {
        errno = EINVAL;
        return -1;
    }
    step->state = to;
    return 0;
}

int step_observe(struct step *step)
{
    step->request.options.mode = WIRE_MODE_OBSERVE;
    return step_go(step, STEP_OBSERVED);
}

/* The step is about to leave the list that it is in: nobody comes to it there any more. */
static void walks_leave(struct registry *registry, struct step *step)
{
    struct step_walk *walk;

    LIST_FOREACH(walk, &registry->walks, link)
    if (walk->next == step)
        walk->next = TAILQ_NEXT(step, link);
}

/* A live step ends: the walks that have not met it will meet it among the ended ones. */
static void walks_meet_late(struct registry *registry, const struct step *step)
{
    struct step_walk *walk;

    LIST_FOREACH(walk, &registry->walks, link)
    if (!walk->in_ended && step->serial > walk->met && step->serial <= walk->last &&
        array_grow(&walk->late, &walk->late_room, walk->nlate + 1, sizeof(walk->late[0])) == 0)
        walk->late[walk->nlate++] = step->serial;
}

static void forget_oldest(struct registry *registry)
{
    struct step *oldest;

    while (registry->nended > registry->history) {
        oldest = TAILQ_LAST(&registry->ended, step_list);
        walks_leave(registry, oldest);
        TAILQ_REMOVE(&registry->ended, oldest, link);
        registry->nended--;
        step_free(oldest);
    }
}

void step_ends(struct step *step, const struct wire_end *end)
{
    step->ended_mono_s = when(end ? end->ended_s : 0, step->started_mono_s);
    step->ended_at = unix_time(step->ended_mono_s);
    step->ended_ms = unix_ms(step->ended_mono_s, step->ended_at);
    step->exit_status = end ? end->exit_status : -1;
}

void step_admit(struct step *step, bool isolate, double max_slowdown_pct)
{
    if (isolate) {
        step->request.options.isolate = true;
        step->isolate_refused = false;
        admit_strike(step->refused, "isolate");
    }
    if (max_slowdown_pct >= 0) {
        step->request.options.max_slowdown_pct = max_slowdown_pct;
        step->slowdown_refused = false;
        admit_strike(step->refused, "max-slowdown");
    }
}

void registry_end(struct registry *registry, struct step *step)
{
    step->was = step->state;
    step_go(step, STEP_ENDED);
    walks_meet_late(registry, step);
    walks_leave(registry, step);
    TAILQ_REMOVE(&registry->live, step, link);
    registry->nlive--;
    TAILQ_INSERT_HEAD(&registry->ended, step, link);
    registry->nended++;
    forget_oldest(registry);
}

void registry_drop(struct registry *registry, struct step *step)
{
    walks_leave(registry, step);
    TAILQ_REMOVE(&registry->live, step, link);
    registry->nlive--;
    step_free(step);
}

const struct cpus *step_stands(const struct step *step)
{
    return step->state == STEP_OBSERVED ? &step->place.home : &step->place.cpus;
}

bool step_is_shell(const struct step *step)
{
    return !step->body.ranks && (step->request.id.step == WIRE_STEP_BATCH ||
                                 step->request.id.step == WIRE_STEP_INTERACTIVE);
}

bool step_movable(const struct step *step)
{
    return step->state == STEP_PLACED;
}

bool step_may_move(const struct step *step)
{
    return step_movable(step) && !step->enacted.kept;
}

bool step_may_use(const struct step *step, const struct cpus *nodes)
{
    return cpus_empty(&step->memory.bound) || cpus_subset(nodes, &step->memory.bound);
}

bool step_is_named(const struct step *step, struct wire_step_id id)
{
    return (id.job == UINT32_MAX || id.job == step->request.id.job) &&
           (id.step == UINT32_MAX || id.step == step->request.id.step);
}

void registry_release(struct registry *registry, struct wire_step_id id)
{
    enum step_released scope =
        id.job != UINT32_MAX && id.step == UINT32_MAX ? STEP_JOB_RELEASED : STEP_RELEASED;
    struct step *step;

    registry->released |= id.job == UINT32_MAX;
    TAILQ_FOREACH(step, &registry->live, link)
    if (step_is_named(step, id) && step->released < scope)
        step->released = scope;
}

void registry_manage(struct registry *registry)
{
    struct step *step;

    registry->released = false;
    TAILQ_FOREACH(step, &registry->live, link)
    if (step->released == STEP_JOB_RELEASED)
        step->released = STEP_RELEASED;
}

void registry_inherit(const struct registry *registry, struct step *step)
{
    const struct step *other;

    if (registry->released)
        step->released = STEP_RELEASED;
    TAILQ_FOREACH(other, &registry->live, link)
    if (other->request.id.job == step->request.id.job && other->released == STEP_JOB_RELEASED)
        step->released = STEP_JOB_RELEASED;
}

double step_moved_lately(const struct step *step, double now_s)
{
    return step->enacted.lately * exp2((step->enacted.moved_s - now_s) / STEP_REST_S);
}

bool step_begins(const struct step *step, double now_s)
{
    return now_s - step->started_mono_s < STEP_BEGINS_S;
}

double step_remaining_s(const struct step *step, double now_s, double least_s)
{
    return fmax(least_s, now_s - step->started_mono_s);
}
