/* SPDX-License-Identifier: GPL-2.0-or-later */
/* observe - see observe/usage.h */
#include "packer/observe/usage.h"

#include <math.h>
#include <stdlib.h>

#include "packer/base/clock.h"
#include "packer/counters/stat_reader.h"
#include "packer/observe/usage_folder.h"
#include "packer/steps/rest.h"
#include "packer/steps/stage.h"
#include "packer/steps/step_counts.h"
#include "packer/steps/together.h"

#define EVERY_S 1.0 /* the least time between two readings of a step's processes */
/* A step's next reading is after COST times as long as this one took, times the number of steps, at
 * the earliest: all readings together take 1 % of a core at most. */
#define COST 100
#define TURN_S 0.002 /* one turn of the event loop reads no longer than that */
#define REST_S 0.01

/* Adds up what the processes have used, and the children that they have waited for. */
static void take_times(struct step_use *use, const struct stat_row *row, size_t n)
{
    double user_ns = 0, system_ns = 0;
    size_t seen = 0;

    for (size_t i = 0; i < n; i++) {
        if (row[i].gone)
            continue;
        user_ns += row[i].stat.user_ns + row[i].stat.waited_user_ns;
        system_ns += row[i].stat.system_ns + row[i].stat.waited_system_ns;
        seen++;
    }
    if (!seen)
        return;
    use->user_s = user_ns / 1e9;
    use->system_s = system_ns / 1e9;
    usage_folder_begin(use);
}

/* Takes in what has become of an ask: its rows, where they are there. */
static void take_answer(struct step_use *use, enum hands_state state, const struct stat_row *row,
                        size_t n)
{
    use->hung = state == HANDS_HUNG;
    if (state == HANDS_DONE)
        take_times(use, row, n);
}

/* Returns its processes, for who asks about them now; NULL: they cannot be listed. */
static struct stat_row *rows_of(const struct packer *packer, struct step *step, size_t *n)
{
    struct stat_row *row = NULL;
    pid_t *pid = NULL;

    if (enforce_step_pids(packer->world.enforce, &step->body, &pid, n) == 0)
        row = calloc(*n + 1, sizeof(*row));
    if (row)
        usage_folder_note(packer, step, pid, *n);
    for (size_t i = 0; row && i < *n; i++)
        row[i] = (struct stat_row){.pid = pid[i], .fd = -1};
    free(pid);
    return row;
}

/* Takes in what was asked the last time, if it is there. */
static void take_asked(struct stat_reader *reader, struct step_use *use)
{
    struct stat_row *row = NULL;
    enum hands_state state;
    size_t n = 0;

    if (!use->ask)
        return;
    state = stat_reader_take(reader, &use->ask, &row, &n);
    take_answer(use, state, row, n);
    free(row);
}

void observe_step(const struct packer *packer, struct step *step)
{
    static const struct stat_how how = {.late = true}; /* who is slow is asked once */
    struct step_use *use = &step->use;
    struct stat_row *row;
    enum hands_state state;
    size_t n;

    take_asked(counters_stats(packer->state->counters), use); /* it may be of long ago */
    if (step->state == STEP_ENDED || use->hung || !(row = rows_of(packer, step, &n)))
        return;
    state = stat_reader_read(counters_stats(packer->state->counters), &use->ask, step->request.uid,
                             row, n, &how);
    take_answer(use, state, row, n);
    free(row);
}

/* Nobody waits for a sum: it is taken when the next one is asked for. A recorded tree is read at
 * once. */
static void observe_later(const struct packer *packer, struct step *step)
{
    struct stat_reader *reader = counters_stats(packer->state->counters);
    struct step_use *use = &step->use;
    struct stat_row *row;
    size_t n;

    if (!stat_reader_asks(reader)) {
        observe_step(packer, step);
        return;
    }
    take_asked(reader, use);
    if (usage_folder_take(use) || step->state == STEP_ENDED || use->ask || use->hung ||
        !(row = rows_of(packer, step, &n)))
        return;
    stat_reader_ask(reader, &use->ask, step->request.uid, row, n, 0);
    free(row);
}

/* A live step is observed from now on: in a second for the first time. */
static void observe_begin(const struct packer *packer, struct step *step)
{
    step->use.next_s = clock_s() + EVERY_S;
    packer_wake(packer, EVERY_S);
}

/* Counters say what has been used since they began; what was used before is read once. */
static void begin_counted(const struct packer *packer, struct step *step,
                          const struct counters_sample *sample)
{
    struct step_use *use = &step->use;

    observe_step(packer, step);
    use->counted = true;
    use->base_user_s = fmax(use->user_s, 0) - sample->value[COUNTER_USER_NS] * 1e-9;
    use->base_system_s = fmax(use->system_s, 0) - sample->value[COUNTER_SYSTEM_NS] * 1e-9;
}

/* Takes a reading of the step's counters that has not been seen yet. Returns false where they do
 * not know its CPU time. */
static bool take_counted(const struct packer *packer, struct step *step)
{
    const struct counters_sample *last = step->counts ? &step->counts->last : NULL;
    struct step_use *use = &step->use;
    bool knows = last && step->counts->counters && counters_know(last, COUNTER_USER_NS) &&
                 counters_know(last, COUNTER_SYSTEM_NS);

    if (!knows || last->at_s == use->counted_at_s)
        return use->counted;
    if (!use->counted)
        begin_counted(packer, step, last);
    use->user_s = use->base_user_s + last->value[COUNTER_USER_NS] * 1e-9;
    use->system_s = use->base_system_s + last->value[COUNTER_SYSTEM_NS] * 1e-9;
    use->counted_at_s = last->at_s;
    return true;
}

/* Reads what the step's cgroup has counted, else its processes. The more steps there are, the
 * longer it rests then. Whose next reading is far away has this one at once. */
static void read_use(const struct packer *packer, struct step *step, bool at_once)
{
    void (*read)(const struct packer *, struct step *) = at_once ? observe_step : observe_later;
    double began_s = clock_s(), now_s;

    if (!usage_folder_take(&step->use))
        read(packer, step);
    now_s = clock_s();
    step->use.next_s =
        together_next(packer, now_s,
                      fmax(EVERY_S, ceil(COST * (now_s - began_s) * (double)packer->steps->nlive)));
}

void observe_turn(const struct packer *packer)
{
    struct tally *tally = packer->state->tally;
    bool rests = rest_may(packer);
    double began_s = clock_s(), late_s = rests && !tally->scraped ? REST_RARELY_S : 0;
    struct step *step;

    tally->scraped = false;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        if (take_counted(packer, step))
            continue;
        if (began_s >= step->use.next_s + late_s && clock_s() - began_s < TURN_S)
            read_use(packer, step, rests);
    }
}

double observe_due(const struct packer *packer)
{
    const struct step *step;
    double next_s = INFINITY;

    TAILQ_FOREACH(step, &packer->steps->live, link)
    if (!step->use.counted)
        next_s = fmin(next_s, step->use.next_s);
    return isinf(next_s) ? -1 : fmax(next_s - clock_s(), REST_S);
}

void observe_end(const struct packer *packer, struct step *step, const struct wire_end *end)
{
    if ((!end || end->user_s < 0) && !usage_folder_take(&step->use))
        observe_step(packer, step);
    stat_reader_drop(counters_stats(packer->state->counters), &step->use.ask);
    usage_folder_drop(&step->use);
    if (!end || end->user_s < 0)
        return;
    step->use.user_s = end->user_s;
    step->use.system_s = end->system_s;
    step->use.maxrss_kib = end->maxrss_kib;
}

double observe_elapsed_s(const struct step *step)
{
    double until = step->ended_at ? step->ended_mono_s : clock_s();

    return until - step->started_mono_s;
}

static void read_turn(const struct packer *packer, struct turn *turn)
{
    (void)turn;
    observe_turn(packer);
}

/* It is the last row: the counters, whose threads read, are closed after it. */
static void close_usage(const struct packer *packer)
{
    struct step *step;

    if (!packer->state->counters)
        return;
    TAILQ_FOREACH(step, &packer->steps->live, link)
    {
        stat_reader_drop(counters_stats(packer->state->counters), &step->use.ask);
        usage_folder_drop(&step->use);
    }
}

const struct stage usage_stage = {
    .name = "usage",
    .close = close_usage,
    .begin = observe_begin,
    .end = observe_end,
    .turn = read_turn,
    .unhurried = true,
    .due = observe_due,
    .rests = true,
};
