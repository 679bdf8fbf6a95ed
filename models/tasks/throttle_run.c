/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/tasks/throttle_run.h"

#include <math.h>
#include <stdbool.h>

#include "models/tasks/throttle.h"

#define ROUNDING 1e-9 /* of a utilisation: a mean over many events is 1, not a little less */

/* Threads of one loop run equally fast and its chunks are equally long, so that they end in the
 * order in which they were begun: the chunks that run are a queue of the progress at which each
 * ends. */
struct run {
    const struct throttle_program *program;
    const struct throttle_loop *loop;
    struct throttle_outcome *outcome;
    struct saturation saturation;
    unsigned correct, running, resting;
    uint64_t left;                        /* chunks that nobody has taken */
    double end[THROTTLE_RUN_THREADS_MAX]; /* a ring */
    unsigned first;
    double progress;      /* of a thread in this loop, in seconds of work */
    uint64_t next_sample; /* the one that is next */
    double drawn;         /* since the last sample, in seconds of the roof */
};

/* ---- threads and chunks ---- */

static void take_chunk(struct run *run)
{
    run->end[(run->first + run->running++) % THROTTLE_RUN_THREADS_MAX] =
        run->progress + run->loop->work_s;
    run->left--;
}

/* A thread looks for work: it takes a chunk, rests, or waits for the loop's end. */
static void look(struct run *run)
{
    if (run->left == 0)
        return;
    if (run->running >= run->correct)
        run->resting++;
    else
        take_chunk(run);
}

/* All that rest look again. */
static void release(struct run *run)
{
    unsigned resting = run->resting;

    run->resting = 0;
    while (resting-- > 0)
        look(run);
}

static void finish_chunk(struct run *run)
{
    run->progress = run->end[run->first];
    run->first = (run->first + 1) % THROTTLE_RUN_THREADS_MAX;
    run->running--;
    look(run);
}

/* ---- the memory ---- */

/* What the threads that run ask for, as a part of the roof. */
static double demand(const struct run *run)
{
    return run->running * run->loop->bandwidth;
}

/* How fast a thread is: 1 below the roof. */
static double speed(const struct run *run)
{
    return 1 / fmax(1, demand(run));
}

/* ---- the daemon ---- */

static bool is_sampled(const struct run *run)
{
    return run->program->nsamples == 0 || run->next_sample < run->program->nsamples;
}

static double utilisation(struct run *run)
{
    double drawn = run->drawn;

    run->drawn = 0;
    if (run->program->nsamples)
        return run->program->sample[run->next_sample];
    return round(drawn / run->program->dt_s / ROUNDING) * ROUNDING;
}

static void take_sample(struct run *run)
{
    const struct throttle_program *program = run->program;
    unsigned before = run->correct;

    saturation_take(&run->saturation, &program->rules, utilisation(run));
    run->next_sample++;
    run->correct = throttle_correct(run->saturation.state, program->threads, before);
    run->outcome->reduced += run->correct < before;
    if (run->correct > before)
        release(run);
}

/* ---- time ---- */

static void pass(struct run *run, double dt_s)
{
    run->outcome->seconds += dt_s;
    run->outcome->idle_thread_s += run->resting * dt_s;
    run->outcome->throttled_s += run->correct < run->program->threads ? dt_s : 0;
    run->drawn += fmin(1, demand(run)) * dt_s;
    run->progress += speed(run) * dt_s;
}

/* Goes on to the next event: a chunk is done, or a sample is due. */
static void step(struct run *run)
{
    double chunk_s = (run->end[run->first] - run->progress) / speed(run), sample_s = INFINITY;

    if (is_sampled(run))
        sample_s = (double)(run->next_sample + 1) * run->program->dt_s - run->outcome->seconds;
    pass(run, fmax(0, fmin(chunk_s, sample_s)));
    if (chunk_s <= sample_s)
        finish_chunk(run);
    else
        take_sample(run);
}

static void run_loop(struct run *run, const struct throttle_loop *loop)
{
    run->loop = loop;
    run->left = loop->chunks;
    run->progress = 0;
    for (unsigned i = 0; i < run->program->threads; i++)
        look(run);
    while (run->running > 0)
        step(run);
    run->resting = 0;
}

void throttle_run(const struct throttle_program *program, struct throttle_outcome *outcome)
{
    struct run run = {.program = program, .outcome = outcome, .correct = program->threads};

    *outcome = (struct throttle_outcome){0};
    for (uint64_t round = 0; round < program->rounds; round++)
        for (size_t i = 0; i < program->n; i++)
            run_loop(&run, &program->loop[i]);
}
