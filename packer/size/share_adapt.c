/* SPDX-License-Identifier: GPL-2.0-or-later */
/* share_adapt - see share_adapt.h */
#include "packer/size/share_adapt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "models/inside/adapt.h"
#include "packer/counters/rates.h"
#include "packer/observe/window.h"
#include "packer/size/size_impl.h"
#include "packer/steps/program.h"

#define INTERVAL_S (ADAPT_READINGS * ADAPT_READING_MS / 1e3)

/* Steps that share their cores. */
struct share_group {
    LIST_ENTRY(share_group) link;
    bool met; /* in the present pass */
    size_t n, cores;
    uint64_t serial[ADAPT_PROGRAMS_MAX];
    const char *why; /* why nothing is predicted; NULL: it is */
    bool counted;    /* what they do alone is not known: it is asked about what they do now */
    struct adapt_coefficients coefficients;
    unsigned least[ADAPT_PROGRAMS_MAX]; /* cores of each */
    struct adapt_program program[ADAPT_PROGRAMS_MAX];
    unsigned configuration[ADAPT_CONFIGURATIONS_MAX * ADAPT_PROGRAMS_MAX];
    struct adapt_question question;
    struct adapt adapt;
    enum adapt_why rule; /* of the last change */
    bool read;           /* the present interval has begun, with: */
    struct counters_sample last[ADAPT_PROGRAMS_MAX];
};

LIST_HEAD(share_groups, share_group);

/* ---- what is known of the programs ---- */

static double percent(double cores, double threads)
{
    return 100 * fmin(fmax(cores / threads, 0), 1);
}

/* Reads what the program did alone on its cores. Returns NULL, or why that is not known. */
static const char *read_alone(const struct packer *packer, const struct step *step,
                              struct adapt_program *program)
{
    struct profile_sample sample;
    const struct profile_estimate *rate = sample.rate;
    double threads, system;

    if (!packer->state->profiles ||
        program_sample(packer, step, PROFILE_THREADS, &sample, NULL) <= 0 || sample.co_run)
        return "what a program of them does alone was not counted yet";
    threads = fmax(rate[PROFILE_THREADS].mean, 1);
    system = rate[PROFILE_SYSTEM].mean;
    *program = (struct adapt_program){
        .threads = (unsigned)lround(threads),
        .usr = percent(rate[PROFILE_CPUS].mean - system, threads),
        .sys = percent(system, threads),
        .lat = percent(rate[PROFILE_RUN_DELAY].mean, threads),
        .lock = percent(rate[PROFILE_LOCK_WAIT].mean, threads),
        .mpa = rate[PROFILE_MISSES].mean / rate[PROFILE_ACCESSES].mean,
    };
    if (isnan(rate[PROFILE_LOCK_WAIT].mean))
        return "how long a program of them waits for locks is not known (lock_time of berth.conf)";
    if (isnan(program->mpa))
        return "how often a program of them misses its cache is not known";
    if (isnan(rate[PROFILE_CPUS].mean + system + rate[PROFILE_RUN_DELAY].mean))
        return "how a program of them spends its time alone is not known";
    return NULL;
}

/* Who counts as light: the site says so, since the paper prints no limits. */
static struct adapt_limits limits_of(const struct packer *packer)
{
    return (struct adapt_limits){packer->world.conf.adapt_light_mpa,
                                 packer->world.conf.adapt_light_lock};
}

/* ---- groups ---- */

static bool is_of(const struct share_group *group, size_t n, struct step *const *step, size_t cores)
{
    bool same = group->n == n && group->cores == cores;

    for (size_t i = 0; same && i < n; i++)
        same = group->serial[i] == step[i]->serial;
    return same;
}

static struct share_group *find_group(const struct packer *packer, size_t n,
                                      struct step *const *step, size_t cores)
{
    struct share_group *group;

    LIST_FOREACH(group, packer->state->size->groups, link)
    {
        if (is_of(group, n, step, cores))
            return group;
    }
    return NULL;
}

/* Returns which step of an older group is the one that this one lacks; its n: none is, or more than
 * one. */
static size_t who_left(const struct share_group *older, const struct share_group *group)
{
    size_t gone = older->n, i = 0;

    if (older->n != group->n + 1 || older->cores != group->cores || older->why)
        return older->n;
    for (size_t k = 0; k < older->n; k++) {
        if (i < group->n && group->serial[i] == older->serial[k])
            i++;
        else
            gone = k;
    }
    return i == group->n ? gone : older->n;
}

/* One of an older group has ended: its cores stay free or go to the others, as the paper has it.
 * Returns whether this is such a case. */
static bool leave(const struct packer *packer, struct share_group *group,
                  const struct share_group *older)
{
    const struct adapt_question *was = &older->question;
    struct adapt_limits limits = limits_of(packer);
    size_t gone = who_left(older, group), at = group->question.configurations;
    unsigned cores[ADAPT_PROGRAMS_MAX], *own = &group->configuration[at * group->n];

    if (gone == older->n || adapt_is_all(was, older->adapt.present))
        return false;
    memcpy(cores, &was->configuration[older->adapt.present * older->n], older->n * sizeof(*cores));
    adapt_leave(older->n, cores, gone, adapt_is_light(&limits, &older->program[gone]));
    for (size_t i = 0, k = 0; k < older->n; k++)
        if (k != gone)
            own[i++] = cores[k];
    group->question.configurations++;
    group->adapt.present = at;
    return true;
}

/* The first decision about a group. */
static void enter(const struct packer *packer, struct share_group *group)
{
    struct adapt_limits limits = limits_of(packer);
    const struct share_group *older;

    LIST_FOREACH(older, packer->state->size->groups, link)
    {
        if (leave(packer, group, older))
            return;
    }
    group->adapt.present = adapt_enter(&group->question, &limits, group->n - 1);
}

/* Lists what the programs could have; what they all do on all cores PACC alone cannot say. */
static void list_configurations(struct share_group *group)
{
    unsigned out[ADAPT_CANDIDATES_MAX * ADAPT_PROGRAMS_MAX];
    size_t n = adapt_candidates(&group->coefficients, (unsigned)group->cores, group->n,
                                group->program, group->least, out);
    size_t first = group->counted ? 1 : 0;

    group->question = (struct adapt_question){.coefficients = &group->coefficients,
                                              .cores = (unsigned)group->cores,
                                              .n = group->n,
                                              .program = group->program,
                                              .configurations = n - first,
                                              .configuration = group->configuration};
    memcpy(group->configuration, &out[first * group->n], (n - first) * group->n * sizeof(*out));
}

/* Reads what is known of the steps, and lists what they could have. Returns NULL, or why not. */
static const char *prepare(const struct packer *packer, struct share_group *group,
                           struct step *const *step)
{
    const struct machine_profile *machine = packer->world.machine;
    const char *why = NULL;

    group->coefficients = machine && machine->adapt.known ? machine->adapt.is : adapt_pusukuri;
    for (size_t i = 0; i < group->n; i++)
        group->least[i] = (unsigned)step[i]->body.ntasks;
    for (size_t i = 0; i < group->n && !why; i++)
        why = read_alone(packer, step[i], &group->program[i]);
    group->counted = why != NULL;
    if (why)
        return why;
    list_configurations(group);
    enter(packer, group);
    return NULL;
}

static struct share_group *make(const struct packer *packer, size_t n, struct step *const *step,
                                size_t cores)
{
    struct share_group *group = calloc(1, sizeof(*group));

    if (!group)
        return NULL;
    group->n = n;
    group->cores = cores;
    for (size_t i = 0; i < n; i++)
        group->serial[i] = step[i]->serial;
    group->why = prepare(packer, group, step);
    LIST_INSERT_HEAD(packer->state->size->groups, group, link);
    return group;
}

/* ---- a pass ---- */

void share_adapt_begin(const struct packer *packer)
{
    struct share_group *group;

    if (!packer->state->size->groups)
        return;
    LIST_FOREACH(group, packer->state->size->groups, link) group->met = false;
}

/* Drops all groups, or those that were not met. */
static void drop(const struct packer *packer, bool all)
{
    struct share_group *group, *next;

    for (group = LIST_FIRST(packer->state->size->groups); group; group = next) {
        next = LIST_NEXT(group, link);
        if (group->met && !all)
            continue;
        LIST_REMOVE(group, link);
        free(group);
    }
}

void share_adapt_end(const struct packer *packer)
{
    if (packer->state->size->groups)
        drop(packer, false);
}

void share_adapt_free(const struct packer *packer)
{
    if (!packer->state->size || !packer->state->size->groups)
        return;
    drop(packer, true);
    free(packer->state->size->groups);
    packer->state->size->groups = NULL;
}

void share_adapt_not(struct step *step, const char *why)
{
    step->share.adapt = (struct step_adapt){.on = why != NULL, .why = why};
}

/* The best mean user time that parts promise; NAN: there are none. */
static double promise_of_parts(const struct adapt_question *question)
{
    double usr[ADAPT_PROGRAMS_MAX], best = NAN;

    for (size_t c = 0; c < question->configurations; c++)
        if (!adapt_is_all(question, c))
            best = fmax(best, adapt_predict(question, c, usr));
    return best;
}

/* Says what each step gets beside cores. On all cores the class is one for all: where a step has
 * asked for slices by itself, all have them. */
static void choose_policies(const struct packer *packer, const struct share_group *group,
                            struct step *const *step, struct adapt_policy *policy)
{
    struct adapt_limits limits = limits_of(packer);
    bool all = adapt_is_all(&group->question, group->adapt.present), asked = false;

    adapt_policies(&group->question, &limits, group->adapt.present, policy);
    for (size_t i = 0; i < group->n; i++)
        asked |= step[i]->request.options.faithful;
    for (size_t i = 0; all && i < group->n; i++)
        policy[i].faithful |= asked;
}

static void tell(const struct packer *packer, const struct share_group *group,
                 struct step *const *step)
{
    const struct adapt_question *question = &group->question;
    struct adapt_policy policy[ADAPT_PROGRAMS_MAX];
    double usr[ADAPT_PROGRAMS_MAX];

    choose_policies(packer, group, step, policy);
    for (size_t i = 0; i < group->n; i++)
        step[i]->share.adapt = (struct step_adapt){
            .on = true,
            .parts = !adapt_is_all(question, group->adapt.present),
            .counted = group->counted,
            .usr_all = group->counted ? NAN : adapt_predict(question, 0, usr),
            .usr_parts = promise_of_parts(question),
            .changes = group->adapt.changes,
            .rule = adapt_why_name[group->rule],
            .faithful = policy[i].faithful,
            .interleave = policy[i].interleave,
        };
}

bool share_adapt_decide(const struct packer *packer, size_t n, struct step *const *step,
                        size_t cores, unsigned *get)
{
    struct share_group *group = NULL;
    const char *why = "out of memory";

    if (!packer->state->size->groups)
        packer->state->size->groups = calloc(1, sizeof(*packer->state->size->groups));
    if (packer->state->size->groups && !(group = find_group(packer, n, step, cores)))
        group = make(packer, n, step, cores);
    if (group) {
        group->met = true;
        why = group->why;
    }
    if (why) {
        for (size_t i = 0; i < n; i++)
            share_adapt_not(step[i], why);
        return false;
    }
    tell(packer, group, step);
    memcpy(get, &group->configuration[group->adapt.present * n], n * sizeof(*get));
    return true;
}

/* ---- intervals ---- */

/* Reads all its steps' last windows. Returns false: one has none, or the interval is not over. */
static bool read_all(const struct packer *packer, struct share_group *group,
                     struct counters_sample *now)
{
    for (size_t i = 0; i < group->n; i++) {
        const struct step *step = registry_find_serial(packer->steps, group->serial[i]);

        if (!step || !window_last(step, &now[i]))
            return false;
        if (group->read && now[i].at_s < group->last[i].at_s + INTERVAL_S)
            return false;
    }
    return true;
}

/* Says what an interval shows: the mean user time of each one's threads, how much of its cores each
 * used. */
static void measure(const struct share_group *group, const struct counters_sample *now, double *usr,
                    double *used)
{
    const unsigned *cores = &group->configuration[group->adapt.present * group->n];
    bool parts = !adapt_is_all(&group->question, group->adapt.present);
    struct phase_window window;

    for (size_t i = 0; i < group->n; i++) {
        rates_window(&group->last[i], &now[i], &window);
        usr[i] = 100 * rates_of(&window, RATE_USER) / rates_of(&window, RATE_THREADS);
        used[i] = parts ? 100 * rates_of(&window, RATE_CPU) / cores[i] : NAN;
    }
}

/* Takes in what the programs do now, as far as PACC asks for it. Returns false, and nothing is
 * changed, where some of it is not known. */
static bool read_now(struct share_group *group, const struct counters_sample *now)
{
    struct adapt_program program[ADAPT_PROGRAMS_MAX] = {{.threads = 0}};
    struct phase_window window;

    for (size_t i = 0; i < group->n; i++) {
        double threads, lock;

        rates_window(&group->last[i], &now[i], &window);
        threads = rates_of(&window, RATE_THREADS);
        lock = rates_of(&window, RATE_LOCK_WAIT);
        if (!(threads >= 1) || isnan(lock))
            return false;
        program[i] = (struct adapt_program){.threads = (unsigned)lround(threads),
                                            .usr = NAN,
                                            .sys = NAN,
                                            .lat = NAN,
                                            .lock = percent(lock, threads),
                                            .mpa = NAN};
    }
    memcpy(group->program, program, group->n * sizeof(*program));
    return true;
}

/* Takes in an interval. Returns whether something else is decided now. */
static bool take_sample(struct share_group *group, const struct counters_sample *now)
{
    double usr[ADAPT_PROGRAMS_MAX], used[ADAPT_PROGRAMS_MAX];

    if (group->counted && !read_now(group, now))
        return false;
    if (!group->why) {
        measure(group, now, usr, used);
        return adapt_interval(&group->adapt, &group->question, &(struct adapt_measured){usr, used});
    }
    list_configurations(group);
    if (group->question.configurations == 0) /* they are more tasks than cores */
        return false;
    group->adapt.present = adapt_best(&group->question);
    group->why = NULL;
    return true;
}

static bool turn_of(const struct packer *packer, struct share_group *group)
{
    struct counters_sample now[ADAPT_PROGRAMS_MAX];
    bool changed;

    if ((group->why && !group->counted) || !read_all(packer, group, now))
        return false;
    changed = group->read && take_sample(group, now);
    if (changed)
        group->rule = group->adapt.why;
    memcpy(group->last, now, group->n * sizeof(*now));
    group->read = true;
    return changed;
}

bool share_adapt_turn(const struct packer *packer)
{
    struct share_group *group;
    bool changed = false;

    if (!packer->state->size->groups)
        return false;
    LIST_FOREACH(group, packer->state->size->groups, link)
    changed = turn_of(packer, group) || changed;
    return changed;
}
