/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_replay - counters from a file of samples, by the step's name: for tests and studies, and
 * for machines that cannot count. A step without a recording has no counters. */
#include <stdint.h>
#include <stdio.h>

#include "packer/counters/counters.h"
#include "packer/counters/recorded.h"

static int replay_open(const struct counters_node *node, void **state, uint32_t *can,
                       char say[COUNTERS_SAY], struct berth_error *err)
{
    const char *path = node->conf->counters_replay;
    struct recorded *replay;

    if (!path[0])
        return berth_error_set(err, "counters_replay is not set in berth.conf");
    if (recorded_read(&replay, path, err) < 0)
        return -1;
    *can = 0;
    for (size_t i = 0; i < recorded_steps(replay); i++)
        *can |= recorded_known(replay, i);
    snprintf(say, COUNTERS_SAY, "plays %zu samples of %zu steps from %.400s",
             recorded_samples(replay), recorded_steps(replay), path);
    *state = replay;
    return 0;
}

static void replay_close(void *state)
{
    recorded_free(state);
}

/* By its name, else by its number. */
static int replay_attach(void *state, const struct counters_target *target, void **step,
                         struct berth_error *err)
{
    char id[WIRE_STEP_NAME_MAX];
    long found = recorded_find(state, target->name);

    wire_step_name(target->body->id, id);
    if (found < 0)
        found = recorded_find(state, id);
    if (found < 0)
        return berth_error_set(err, "no recording of '%.255s' or %s", target->name, id);
    *step = (void *)(intptr_t)found; /* the recording's number */
    return 0;
}

static int replay_count(void *state, void *step, const struct counters_target *target,
                        struct counters_sample *sample, struct berth_error *err)
{
    (void)err;
    recorded_at(state, (size_t)(intptr_t)step, target->elapsed_s, sample);
    return 0;
}

static void replay_detach(void *state, void *step)
{
    (void)state;
    (void)step;
}

const struct counters_backend counters_replay = {
    .name = "replay",
    .open = replay_open,
    .close = replay_close,
    .attach = replay_attach,
    .read = replay_count,
    .detach = replay_detach,
};
