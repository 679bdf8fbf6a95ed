/* SPDX-License-Identifier: GPL-2.0-or-later */
/* figures - see figures.h */
#include "packer/observe/figures.h"

#include <math.h>

#include "enum_table.h"
#include "packer/observe/learn.h"
#include "packer/steps/step_counts.h"

#define RUNS_MOST 30 /* as many count as one: older ones fade */

static const enum rate_id TABLE(rate, FIGURES) = {
    ROW(FIGURE_MISSES) = RATE_MISS_PMI,
    ROW(FIGURE_ACCESSES) = RATE_ACCESS_PMI,
    ROW(FIGURE_IPC) = RATE_IPC,
    ROW(FIGURE_CLOCK) = RATE_CLOCK,
};
TABLE_COMPLETE(rate);

static struct program_figure *history_of(const struct packer *packer, const struct step *step,
                                         enum figure id)
{
    if (step->program == PROGRAM_NONE || !learn_wanted(packer))
        return NULL;
    return &packer->steps->programs.program[step->program].figure[id];
}

/* Returns how much a run counts. */
static double weight_of(const struct step *step)
{
    return fmin((double)step->counts->windows / FIGURES_WINDOWS, 1);
}

static bool is_apart(double a, double b)
{
    return fmax(a, b) > FIGURES_APART * fmin(a, b);
}

/* Returns the mean of the program's runs and of this one, where it is like them. */
static double with_history(const struct program_figure *history, double run, double weight)
{
    if (!history || !(history->weight > 0) || !(run > 0) ||
        is_apart(run, exp(history->sum / history->weight)))
        return run;
    return exp((history->sum + weight * log(run)) / (history->weight + weight));
}

/* Returns the mean of the run's windows alone, where there are some, else of all of them. */
static double mean_of(const struct step *step, enum rate_id id)
{
    return step->counts->ended[0] >= STEP_ALONE_WINDOWS ? rate_mean(&step->counts->alone[id])
                                                        : step_counts_run(step, id);
}

void figures_take(const struct packer *packer, struct step *step)
{
    double phase, error, run;

    for (enum figure id = 0; id < FIGURES; id++) {
        run = mean_of(step, rate[id]);
        if (step_counts_rate(step, rate[id], &phase, &error) &&
            (isnan(run) || is_apart(phase, run)))
            step->figures[id] = phase;
        else
            step->figures[id] = with_history(history_of(packer, step, id), run, weight_of(step));
    }
}

void figures_end(const struct packer *packer, const struct step *step)
{
    struct program_figure *history;
    double run, weight, fade;

    for (enum figure id = 0; id < FIGURES && step->counts; id++) {
        history = history_of(packer, step, id);
        run = mean_of(step, rate[id]);
        if (!history || !(run > 0))
            continue;
        weight = weight_of(step);
        fade = history->weight > RUNS_MOST ? (RUNS_MOST - weight) / history->weight : 1;
        history->sum = history->sum * fade + weight * log(run);
        history->weight = history->weight * fade + weight;
    }
}
