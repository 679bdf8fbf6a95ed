/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters_replay - counters from a file of samples, by the step's name, or from a folder in which
 * somebody keeps each step's newest sample: for tests and studies, and for machines that cannot
 * count. A step without a recording has no counters. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "packer/base/file.h"
#include "packer/counters/counters.h"
#include "packer/counters/recorded.h"
#include "packer/counters/sample_line.h"

struct replay {
    struct recorded *recorded; /* NULL: it is a folder */
    int folder;
};

/* One step of it. */
struct played {
    size_t recording;              /* its number in the file */
    char file[WIRE_STEP_NAME_MAX]; /* or its file in the folder */
};

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What the steps of a folder will have counted is not known before they are there. */
static int open_folder(struct replay *replay, const char *path, uint32_t *can,
                       char say[COUNTERS_SAY], struct berth_error *err)
{
    replay->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (replay->folder < 0)
        return berth_error_set(err, "%s: %s", path, strerror(errno));
    *can = (1u << COUNTERS) - 1;
    snprintf(say, COUNTERS_SAY, "reads each step's newest sample in %.400s", path);
    return 0;
}

static int open_recording(struct replay *replay, const char *path, uint32_t *can,
                          char say[COUNTERS_SAY], struct berth_error *err)
{
    if (recorded_read(&replay->recorded, path, err) < 0)
        return -1;
    *can = 0;
    for (size_t i = 0; i < recorded_steps(replay->recorded); i++)
        *can |= recorded_known(replay->recorded, i);
    snprintf(say, COUNTERS_SAY, "plays %zu samples of %zu steps from %.400s",
             recorded_samples(replay->recorded), recorded_steps(replay->recorded), path);
    return 0;
}

static int replay_open(const struct counters_node *node, void **state, uint32_t *can,
                       char say[COUNTERS_SAY], struct berth_error *err)
{
    const char *path = node->conf->counters_replay;
    struct replay *replay;

    if (!path[0])
        return berth_error_set(err, "counters_replay is not set in berth.conf");
    replay = calloc(1, sizeof(*replay));
    if (!replay)
        return berth_no_memory(err);
    replay->folder = -1;
    if ((is_folder(path) ? open_folder : open_recording)(replay, path, can, say, err) < 0) {
        free(replay);
        return -1;
    }
    *state = replay;
    return 0;
}

static void replay_close(void *state)
{
    struct replay *replay = state;

    recorded_free(replay->recorded);
    file_close(replay->folder);
    free(replay);
}

/* Finds the step's recording by its name, else by its number. */
static int find_recording(const struct replay *replay, const char *name, struct played *step,
                          struct berth_error *err)
{
    long found = recorded_find(replay->recorded, name);

    if (found < 0)
        found = recorded_find(replay->recorded, step->file);
    if (found < 0)
        return berth_error_set(err, "no recording of '%.255s' or %s", name, step->file);
    step->recording = (size_t)found;
    return 0;
}

static int replay_attach(void *state, const struct counters_target *target, void **out,
                         struct berth_error *err)
{
    const struct replay *replay = state;
    struct played *step = calloc(1, sizeof(*step));

    if (!step)
        return berth_no_memory(err);
    wire_step_name(target->body->id, step->file);
    if (replay->recorded && find_recording(replay, target->name, step, err) < 0) {
        free(step);
        return -1;
    }
    *out = step;
    return 0;
}

/* Takes a sample over: what it knows that no backend before this one has known. */
static void copy_sample(const struct counters_sample *from, struct counters_sample *to)
{
    to->at_s = from->at_s;
    for (int i = 0; i < COUNTERS; i++)
        if (counters_know(from, (enum counter)i) && !counters_know(to, (enum counter)i)) {
            counters_set(to, (enum counter)i, from->value[i]);
            to->error[i] = from->error[i];
        }
    if (to->nodes == 0) {
        to->nodes = from->nodes;
        memcpy(to->rss_node, from->rss_node, sizeof(to->rss_node));
    }
    if (to->by_node)
        by_node_add(to->by_node, from->by_node);
}

static int read_newest(const struct replay *replay, const struct played *step,
                       struct counters_sample *sample, struct berth_error *err)
{
    int fd = openat(replay->folder, step->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char name[SAMPLES_NAME_MAX], *line;
    struct counters_sample newest;
    struct by_node by;
    struct berth_error why;
    size_t length;
    int rc;

    line = fd < 0 ? NULL : file_read_fd(fd, SAMPLES_LINE_MAX, &length);
    file_close(fd);
    if (!line)
        return berth_error_set(err, "%s: %s", step->file, strerror(errno));
    rc = sample_line_read_json(line, length, name, &newest, &by, &why);
    free(line);
    if (rc < 0)
        return berth_error_set(err, "%s: %.400s", step->file, why.text);
    copy_sample(&newest, sample);
    return 0;
}

static int replay_count(void *state, void *of, const struct counters_target *target,
                        struct counters_sample *sample, struct berth_error *err)
{
    const struct replay *replay = state;
    const struct played *step = of;

    if (!replay->recorded)
        return read_newest(replay, step, sample, err);
    recorded_at(replay->recorded, step->recording, target->elapsed_s, sample);
    return 0;
}

static void replay_detach(void *state, void *step)
{
    (void)state;
    free(step);
}

const struct counters_backend counters_replay = {
    .name = "replay",
    .hardware = true, /* that is what it plays */
    .open = replay_open,
    .close = replay_close,
    .attach = replay_attach,
    .read = replay_count,
    .detach = replay_detach,
};
