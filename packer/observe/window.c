/* SPDX-License-Identifier: GPL-2.0-or-later */
/* window - see window.h */
#include "packer/observe/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/observe/learn.h"
#include "packer/observe/reuse.h"
#include "packer/observe/rivals.h"
#include "packer/observe/slowdown.h"
#include "packer/steps/program.h"
#include "packer/steps/stage.h"
#include "packer/steps/together.h"
#include "packer/system/cpu_busy.h"
#include "enum_table.h"

/* ---- what a step is for the counters ---- */

static struct counters_target target_of(const struct step *step)
{
    struct counters_target target = {.body = &step->body, .name = program_name(&step->request)};

    enforce_union(&step->body, ENFORCE_PLACE, &target.cpus);
    target.elapsed_s = clock_s() - step->started_mono_s;
    target.nocount = step->request.options.nocount;
    return target;
}

/* The other CPUs of the caches that it stands on. */
static void foreign_cpus(const struct packer *packer, const struct counters_target *target,
                         struct cpus *foreign)
{
    cpus_zero(foreign);
    for (size_t i = 0; i < packer->world.topo->llcs; i++)
        if (cpus_intersect(&packer->world.topo->llc[i].cpus, &target->cpus))
            cpus_or(foreign, &packer->world.topo->llc[i].cpus);
    cpus_andnot(foreign, &target->cpus);
}

/* ---- windows ---- */

/* When the window that begins now ends: on a common instant unless it is the first. */
static double next_due(const struct packer *packer, bool first)
{
    const struct conf *conf = &packer->world.conf;
    double now_s = clock_s();

    return first ? now_s + (double)conf->first_window_ms / 1000
                 : together_next(packer, now_s, (double)conf->window_ms / 1000);
}

/* Keeps of a window what the step's slowdown is measured by. */
static void keep_window(struct step_counts *counts, const struct phase_window *window,
                        double seconds, double foreign_s)
{
    static const enum rate_id TABLE(from, SOLO_RATES) = {
        ROW(SOLO_SPEED) = RATE_CORE_SPEED,
        ROW(SOLO_MISSES) = RATE_MISS_PMI,
    };
    TABLE_COMPLETE(from);
    struct last_window *last = &counts->window;

    for (size_t i = 0; i < SOLO_RATES; i++) {
        last->x[i] = window->x[from[i]];
        last->y[i] = window->y[from[i]];
    }
    last->bytes = window->y[RATE_BYTES];
    last->clock_ghz = rates_of(window, RATE_CLOCK);
    last->stalled = rates_of(window, RATE_STALLED);
    last->seconds = seconds;
    last->cpu = window->y[RATE_CPU] / window->x[RATE_CPU];
    last->foreign_s = foreign_s;
    last->whole = !isnan(foreign_s);
    last->alone = foreign_s <= WINDOW_FOREIGN * seconds;
}

/* What the window that ends with `now` says; *foreign_s is how busy the others have been until now.
 */
static void take_window(struct step *step, const struct counters_sample *now,
                        const double *foreign_s)
{
    struct step_counts *counts = step->counts;
    double seconds = now->at_s - counts->last.at_s;
    struct phase_window window;
    struct rate *run;
    bool alone;

    rates_window(&counts->last, now, &window);
    keep_window(counts, &window, seconds,
                counts->foreign_known && foreign_s ? *foreign_s - counts->foreign_s : NAN);
    counts->window.changed = phase_add(&counts->phase, &window);
    for (size_t i = 0; i < RATES; i++)
        counts->scaling[i] = rates_scaling(now, i);
    if (counts->window.whole) {
        alone = counts->window.alone;
        run = alone ? counts->alone : counts->beside;
        for (size_t i = 0; i < RATES; i++)
            rate_add(&run[i], window.x[i], window.y[i]);
        counts->ended[!alone]++;
        counts->seconds[!alone] += seconds;
        if (window.y[RATE_INSTRUCTIONS] > 0)
            counts->instructions[!alone] += window.y[RATE_INSTRUCTIONS];
    }
    reuse_window(step, counts->window.changed);
    counts->windows++;
}

/* Begins to count the step. Its processes are listed once, whoever wants to know them: there may be
 * thousands. */
static struct counters_step *attach(const struct packer *packer, struct counters_target *target)
{
    struct enforce_pids listed = {0};
    struct counters_step *counters;

    if (enforce_step_pids(packer->world.enforce, target->body, &listed.pid, &listed.n) == 0)
        target->listed = &listed;
    counters = counters_attach(packer->state->counters, target);
    target->listed = NULL;
    free(listed.pid);
    return counters;
}

/* Reads one step, whose start-up or window is over; busy is NULL where that is not known. Returns
 * whether a window has ended. */
static bool read_step(const struct packer *packer, struct step *step, const struct cpu_busy *busy)
{
    struct step_counts *counts = step->counts;
    struct counters_target target = target_of(step);
    bool first = !counts->counters || counts->unread;
    double foreign_s = 0, began_s = clock_s();
    struct counters_sample now;
    struct cpus foreign;

    counts->due_s = next_due(packer, first);
    if (!counts->counters && !(counts->counters = attach(packer, &target)))
        return false; /* for want of memory: to be tried again */
    counts->unread = first && clock_s() - began_s > packer->world.turn_s;
    if (counts->unread) {
        counts->due_s = clock_s(); /* it has many processes: others first */
        return false;
    }
    if (busy) {
        foreign_cpus(packer, &target, &foreign);
        foreign_s = cpu_busy_sum(busy, &foreign);
    }
    counters_read(packer->state->counters, counts->counters, &target, &now, NULL);
    if (first)
        reuse_attach(packer, step);
    else
        take_window(step, &now, busy ? &foreign_s : NULL);
    if (busy)
        rivals_read(packer, step, &target.cpus, busy, !first && counts->foreign_known);
    counts->last = now;
    counts->foreign_s = foreign_s;
    counts->foreign_known = busy != NULL;
    return !first;
}

/* ---- the stage ---- */

/* Counting of a live step begins, when its start-up is over. */
static void window_attach(const struct packer *packer, struct step *step)
{
    if (!counters_can(packer->state->counters) || step->counts ||
        step->request.options.mode == WIRE_MODE_OFF)
        return;
    step->counts = calloc(1, sizeof(*step->counts));
    if (!step->counts)
        return; /* it is not counted */
    phase_init(&step->counts->phase, RATES, rates_watched, packer->world.conf.phase_change,
               rates_least);
    step->counts->due_s = clock_s() + (double)packer->world.conf.startup_ms / 1000;
    packer_wake(packer, (double)packer->world.conf.startup_ms / 1000);
}

void window_follow(const struct packer *packer, struct step *step)
{
    struct counters_target target;

    if (!step->counts || !step->counts->counters)
        return;
    target = target_of(step);
    counters_follow(packer->state->counters, step->counts->counters, &target);
    reuse_follow(step);
    step->counts->foreign_known = false; /* this window was spent in two places */
}

void window_moved(struct step *step)
{
    if (step->counts)
        phase_restart(&step->counts->phase);
}

void window_hold(struct step *step)
{
    if (step->counts)
        step->counts->held = true;
}

void window_resume(const struct packer *packer, struct step *step,
                   const struct counters_sample *now)
{
    struct step_counts *counts = step->counts;

    if (!counts || !counts->held)
        return;
    counts->held = false;
    counts->last = *now;
    counts->foreign_known = false; /* where others were at work is not known since then */
    counts->due_s = next_due(packer, false);
}

/* Nothing is counted of the step any more, and nothing is learned. */
static void window_drop(const struct packer *packer, struct step *step)
{
    struct step_counts *counts = step->counts;

    if (!counts || !counts->counters)
        return;
    reuse_end(step);
    slowdown_drop(step);
    counters_detach(packer->state->counters, counts->counters);
    counts->counters = NULL;
    counts->due_s = INFINITY;
}

/* A step that ended before it was read once leaves no room taken in the history. */
static void forget_unread(struct step *step)
{
    struct step_counts *counts = step->counts;

    if (!counts || counts->counters || counts->last.at_s > 0 || counts->last.known)
        return;
    free(counts);
    step->counts = NULL;
}

/* The step is over: what was learned goes to the store, nothing is counted any more. The averages
 * stay in step->counts for explain; where nothing was counted, that is NULL from now on. */
static void window_end(const struct packer *packer, struct step *step)
{
    if (step->counts && step->counts->counters) {
        learn_step(packer, step);
        slowdown_learn(packer, step);
    }
    forget_unread(step);
    window_drop(packer, step);
}

/* Reads how busy the CPUs are; NULL where nobody knows. */
static struct cpu_busy *read_busy(const struct packer *packer)
{
    struct cpu_busy *busy = malloc(sizeof(*busy));

    if (busy && cpu_busy_read(&packer->world.root, busy, NULL) == 0)
        return busy;
    free(busy);
    return NULL;
}

static bool is_over(const struct step *step, double now_s)
{
    return step->counts && !step->counts->held && step->counts->due_s <= now_s + 0.001;
}

/* Asks about those that are going to be read. The one that is read first is asked about last: once
 * its answer is there, so are the others', and the event loop has waited once. */
static void prepare(const struct packer *packer, double now_s)
{
    const struct step *step;

    TAILQ_FOREACH_REVERSE(step, &packer->steps->live, step_list, link)
    if (is_over(step, now_s) && step->counts->counters && !step->counts->unread)
        counters_prepare(packer->state->counters, step->counts->counters,
                         now_s - step->started_mono_s);
}

struct windows window_turn(const struct packer *packer)
{
    struct windows windows = {.turn = ++packer->state->tally->turns};
    struct cpu_busy *busy = NULL;
    double now_s = clock_s();
    bool read = false;
    struct step *step;

    prepare(packer, now_s);
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (!is_over(step, now_s) || clock_s() - now_s > packer->world.turn_s)
            continue;
        if (!read)
            busy = read_busy(packer);
        read = true;
        if (!read_step(packer, step, busy))
            continue;
        step->counts->read_in = windows.turn;
        windows.n++;
    }
    free(busy);
    return windows;
}

double window_due(const struct packer *packer)
{
    const struct step *step;
    double next_s = INFINITY;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (step->counts && !step->counts->held)
        next_s = fmin(next_s, step->counts->due_s);
    return isinf(next_s) ? -1 : fmax(next_s - clock_s(), 0);
}

int window_read(const struct packer *packer, struct step *step, struct counters_sample *sample)
{
    return window_read_by_node(packer, step, sample, NULL);
}

int window_read_by_node(const struct packer *packer, struct step *step,
                        struct counters_sample *sample, struct by_node *by)
{
    struct counters_target target;

    if (!step->counts || !step->counts->counters)
        return -1;
    target = target_of(step);
    counters_read(packer->state->counters, step->counts->counters, &target, sample, by);
    return 0;
}

bool window_last(const struct step *step, struct counters_sample *sample)
{
    if (!step->counts || !step->counts->counters)
        return false;
    *sample = step->counts->last;
    return true;
}

static int open_counters(const struct packer *packer, struct berth_error *err)
{
    struct counters_node node = step_counts_node(packer);
    struct counters_about about;

    if (counters_open(&packer->state->counters, &node, err) < 0)
        return -1;
    for (size_t i = 0; counters_about(packer->state->counters, i, &about); i++)
        log_line(about.used ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "counters: %s: %s", about.name,
                 about.say);
    return 0;
}

static void close_counters(const struct packer *packer)
{
    struct step *step;

    if (!packer->state->counters)
        return;
    TAILQ_FOREACH(step, &packer->steps->live, link) window_drop(packer, step);
    counters_close(packer->state->counters);
}

/* Reads the step at its end, for its record: its last window was not over. A counter that cannot be
 * read any more keeps its last value. */
static void read_last(const struct packer *packer, struct step *step)
{
    struct counters_sample now, *last;

    if (!packer->state->ledger || window_read(packer, step, &now) < 0)
        return;
    last = &step->counts->last;
    for (size_t i = 0; i < COUNTERS; i++)
        if (counters_know(&now, i) && (!counters_know(last, i) || now.value[i] >= last->value[i])) {
            last->known |= 1u << i;
            last->value[i] = now.value[i];
        }
}

static void end_windows(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    (void)end;
    read_last(packer, step);
    window_end(packer, step);
}

static void take_turn(const struct packer *packer, struct turn *turn)
{
    turn->windows = window_turn(packer);
}

const struct stage window_stage = {
    .name = "window",
    .open = open_counters,
    .close = close_counters,
    .begin = window_attach,
    .end = end_windows,
    .undo = window_end,
    .turn = take_turn,
    .due = window_due,
    .rests = true,
};
