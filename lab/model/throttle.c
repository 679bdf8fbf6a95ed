/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - the model throttle: a program of parallel loops whose threads are throttled. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/tasks/throttle_run.h"
#include "lab/model/models.h"

#define MOST_LOOPS 4096
#define MOST_CHUNKS 1e8 /* and samples: some ten seconds of ours */

struct loop {
    double chunks, work_s, bandwidth;
};

static const struct json_field loop_fields[] = {
    JSON_WHOLE(struct loop, "chunks", chunks, REQUIRED, 1, MOST_CHUNKS),
    JSON_RANGE(struct loop, "work", work_s, REQUIRED, 1e-9, 1e9),
    JSON_RANGE(struct loop, "bandwidth", bandwidth, REQUIRED, 0, 1e6),
    JSON_END,
};

struct input {
    double threads, dt_ms, saturated, idle, hold, rounds;
    bool has_one;
    struct loop one, *loop; /* one of a loop, or [loops] */
    double *sample;         /* [samples]; NAN: not known */
    size_t loops, samples;
};

static const double unknown = NAN;
static const struct json_field input_fields[] = {
    JSON_WHOLE(struct input, "threads", threads, OPTIONAL, 1, THROTTLE_RUN_THREADS_MAX),
    JSON_RANGE(struct input, "dt_ms", dt_ms, OPTIONAL, 1e-3, 1e6),
    JSON_RANGE(struct input, "saturated", saturated, REQUIRED, 0, 1),
    JSON_RANGE(struct input, "idle", idle, OPTIONAL, 0, 1),
    JSON_WHOLE(struct input, "hold", hold, OPTIONAL, 1, 1e6),
    JSON_WHOLE(struct input, "rounds", rounds, OPTIONAL, 1, MOST_CHUNKS),
    {JSON_AT(struct input, "loop", one, OPTIONAL), .kind = JSON_STRUCT, .fields = loop_fields,
     .given = offsetof(struct input, has_one) + 1},
    JSON_STRUCTS(struct input, "loops", loop, loops, OPTIONAL, 1, MOST_LOOPS, loop_fields, NULL),
    JSON_VALUES(struct input, "samples", sample, samples, OPTIONAL, 1, 0, &unknown, .max = 1),
    JSON_END,
};

/* Refuses what would take us too long. With one thread, so at most, a loop takes all its chunks'
 * work, or what they draw. */
static int check_length(const struct throttle_program *program, struct berth_error *err)
{
    double chunks = 0, most_s = 0;

    for (size_t i = 0; i < program->n; i++) {
        const struct throttle_loop *loop = &program->loop[i];

        chunks += (double)program->rounds * (double)loop->chunks;
        most_s += (double)program->rounds * (double)loop->chunks * loop->work_s *
                  fmax(1, loop->bandwidth);
    }
    if (chunks > MOST_CHUNKS)
        return berth_error_set(err, "chunks: %g in all rounds: at most %g expected", chunks,
                               MOST_CHUNKS);
    if (!program->nsamples && most_s / program->dt_s > MOST_CHUNKS)
        return berth_error_set(err,
                               "dt_ms: %g: at least %g expected, as the loops have %g s of work",
                               program->dt_s * 1e3, most_s / MOST_CHUNKS * 1e3, most_s);
    return 0;
}

/* Fills in the program, whose loops have room for as many as there are. */
static int fill(struct throttle_program *program, struct throttle_loop *room, struct input *in,
                struct berth_error *err)
{
    const struct loop *loop = in->loop ? in->loop : &in->one;

    if (isnan(in->idle))
        in->idle = SATURATION_IDLE_PART * in->saturated;
    if (in->idle >= in->saturated)
        return berth_error_set(err, "idle: %g: below saturated (%g) expected", in->idle,
                               in->saturated);
    if (!in->loop && !in->has_one)
        return berth_error_set(err, "loop: missing");
    *program = (struct throttle_program){
        .threads = (unsigned)in->threads,
        .n = in->loop ? in->loops : 1,
        .loop = room,
        .rounds = (uint64_t)in->rounds,
        .rules = {in->saturated, in->idle, (unsigned)in->hold},
        .dt_s = in->dt_ms / 1e3,
        .nsamples = in->samples,
        .sample = in->sample,
    };
    for (size_t i = 0; i < program->n; i++)
        room[i] =
            (struct throttle_loop){(uint64_t)loop[i].chunks, loop[i].work_s, loop[i].bandwidth};
    return check_length(program, err);
}

static int add_outcome(void *of, struct json_object *output, struct berth_error *err)
{
    struct input *in = of;
    struct throttle_loop *room = calloc(in->loops + 1, sizeof(*room));
    struct throttle_program program;
    struct throttle_outcome outcome;
    int rc =
        room ? fill(&program, room, in, err) : berth_error_set(err, "loops: %s", strerror(ENOMEM));

    if (rc == 0) {
        throttle_run(&program, &outcome);
        json_add_u64(output, "reduced", outcome.reduced);
        json_add_double(output, "idle_thread_s", outcome.idle_thread_s);
        json_add_double(output, "throttled_s", outcome.throttled_s);
        json_add_double(output, "seconds", outcome.seconds);
    }
    free(room);
    return rc;
}

CTL_FILTER(throttle, struct input, input_fields, add_outcome, .threads = 32, .dt_ms = 10,
           .idle = NAN, .hold = SATURATION_HOLD_BASELINE, .rounds = 1);
