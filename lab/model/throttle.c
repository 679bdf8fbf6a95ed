/* SPDX-License-Identifier: GPL-2.0-or-later */
/* throttle - the model throttle: a program of parallel loops whose threads are throttled. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/tasks/throttle_run.h"
#include "packer/base/json.h"
#include "packer/base/json_asked.h"
#include "packer/base/json_fields.h"
#include "packer/cli/common/input.h"
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
    struct throttle_loop *loop; /* [program.n] */
    double *sample;             /* [program.nsamples] */
    struct throttle_program program;
};

static const struct json_field input_fields[] = {
    JSON_WHOLE(struct input, "threads", threads, OPTIONAL, 1, THROTTLE_RUN_THREADS_MAX),
    JSON_RANGE(struct input, "dt_ms", dt_ms, OPTIONAL, 1e-3, 1e6),
    JSON_RANGE(struct input, "saturated", saturated, REQUIRED, 0, 1),
    JSON_RANGE(struct input, "idle", idle, OPTIONAL, 0, 1),
    JSON_WHOLE(struct input, "hold", hold, OPTIONAL, 1, 1e6),
    JSON_WHOLE(struct input, "rounds", rounds, OPTIONAL, 1, MOST_CHUNKS),
    JSON_END,
};

static int read_rules(struct input *input, struct json_object *object, struct berth_error *err)
{
    input->threads = 32;
    input->dt_ms = 10;
    input->idle = NAN;
    input->hold = SATURATION_HOLD_BASELINE;
    input->rounds = 1;
    if (json_read(object, input_fields, input, err) < 0)
        return -1;
    if (isnan(input->idle))
        input->idle = SATURATION_IDLE_PART * input->saturated;
    if (input->idle >= input->saturated)
        return berth_error_set(err, "idle: %g: below saturated (%g) expected", input->idle,
                               input->saturated);
    input->program.threads = (unsigned)input->threads;
    input->program.dt_s = input->dt_ms / 1e3;
    input->program.rounds = (uint64_t)input->rounds;
    input->program.rules =
        (struct saturation_rules){input->saturated, input->idle, (unsigned)input->hold};
    return 0;
}

/* Reads a loop, and adds it to the program. */
static int read_loop(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct loop loop;

    if (json_read(object, loop_fields, &loop, err) < 0)
        return -1;
    input->loop[input->program.n++] =
        (struct throttle_loop){(uint64_t)loop.chunks, loop.work_s, loop.bandwidth};
    return 0;
}

static int read_list(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct json_object *list;
    size_t n;

    if (ctl_input_list(object, "loops", json_type_object, &list, err) < 0)
        return -1;
    n = json_object_array_length(list);
    if (n > MOST_LOOPS)
        return berth_error_set(err, "loops: at most %d expected", MOST_LOOPS);
    for (size_t i = 0; i < n; i++)
        if (read_loop(input, json_object_array_get_idx(list, i), err) < 0)
            return berth_error_before(err, "loops[%zu].", i);
    return 0;
}

static int read_loops(struct input *input, struct json_object *object, struct berth_error *err)
{
    struct json_object *loop;

    input->loop = calloc(MOST_LOOPS, sizeof(*input->loop));
    if (!input->loop)
        return berth_error_set(err, "loops: %s", strerror(ENOMEM));
    input->program.loop = input->loop;
    if (json_find(object, "loops"))
        return read_list(input, object, err);
    if (json_get_object(object, "loop", JSON_REQUIRED, &loop, err) < 0)
        return -1;
    return read_loop(input, loop, err) < 0 ? berth_error_before(err, "loop.") : 0;
}

static int read_samples(struct input *input, struct json_object *object, struct berth_error *err)
{
    static const struct json_field sample = {.kind = JSON_NUMBER, .min = 0, .max = 1};
    struct json_object *list = NULL;
    size_t n;

    if (json_get_array(object, "samples", JSON_OPTIONAL, &list, err) < 0)
        return -1;
    if (!list)
        return 0;
    n = json_object_array_length(list);
    if (n == 0)
        return berth_error_set(err, "samples: empty");
    input->sample = calloc(n, sizeof(*input->sample));
    if (!input->sample)
        return berth_error_set(err, "samples: %s", strerror(ENOMEM));
    for (size_t i = 0; i < n; i++)
        input->sample[i] = NAN;
    input->program.sample = input->sample;
    input->program.nsamples = n;
    return json_get_list(list, "samples", n, &sample, input->sample, sizeof(double), err);
}

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

static struct json_object *answer(const struct throttle_program *program)
{
    struct json_object *output = json_object_new_object();
    struct throttle_outcome outcome;

    throttle_run(program, &outcome);
    json_add_u64(output, "reduced", outcome.reduced);
    json_add_double(output, "idle_thread_s", outcome.idle_thread_s);
    json_add_double(output, "throttled_s", outcome.throttled_s);
    json_add_double(output, "seconds", outcome.seconds);
    return output;
}

struct json_object *ctl_model_throttle(struct json_object *object, struct berth_error *err)
{
    struct json_object *output = NULL;
    struct input input = {0};

    if (read_rules(&input, object, err) == 0 && read_loops(&input, object, err) == 0 &&
        read_samples(&input, object, err) == 0 && check_length(&input.program, err) == 0)
        output = answer(&input.program);
    free(input.loop);
    free(input.sample);
    return output;
}
