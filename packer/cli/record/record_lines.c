/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_lines - see record_lines.h */
#include "packer/cli/record/record_lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/json_fields.h"
#include "packer/counters/sample_line.h"
#include "packer/wire/wire.h"

struct recorded {
    char id[WIRE_STEP_NAME_MAX], name[SAMPLES_NAME_MAX];
    double at_s;                     /* of its last sample */
    double base[COUNTERS];           /* counted by berthds before this one */
    double last[COUNTERS];           /* and by this one */
    struct by_node by_base, by_last; /* the same counts by memory node */
};

struct record_lines {
    bool csv;
    const struct recorded *before;
    size_t samples, steps, values; /* values: as replay_values */
    struct recorded *step[RECORDED_STEPS_MAX];
};

struct record_lines *record_lines_new(bool csv, const struct recorded *before)
{
    struct record_lines *recording = calloc(1, sizeof(*recording));

    if (recording) {
        recording->csv = csv;
        recording->before = before;
        recording->values = before ? recorded_values(before) : 0;
    }
    return recording;
}

void record_lines_free(struct record_lines *recording)
{
    for (size_t i = 0; recording && i < recording->steps; i++)
        free(recording->step[i]);
    free(recording);
}

static void restart(size_t n, double *base, double *last)
{
    for (size_t i = 0; i < n; i++) {
        base[i] += last[i];
        last[i] = 0;
    }
}

void record_lines_restarted(struct record_lines *recording)
{
    for (size_t i = 0; i < recording->steps; i++) {
        struct recorded *step = recording->step[i];

        restart(COUNTERS, step->base, step->last);
        for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++)
            restart(by_node_count(step->by_last.nodes, kind), by_node_room(&step->by_base, kind),
                    by_node_room(&step->by_last, kind));
    }
}

/* ---- names ---- */

static bool taken(const struct record_lines *recording, const char *name)
{
    for (size_t i = 0; i < recording->steps; i++)
        if (strcmp(recording->step[i]->name, name) == 0)
            return true;
    return recording->before && recorded_find(recording->before, name) >= 0;
}

static void choose_name(const struct record_lines *recording, struct recorded *step,
                        const char *name)
{
    unsigned number = 2;

    snprintf(step->name, sizeof(step->name), "%s", name);
    if (taken(recording, step->name))
        snprintf(step->name, sizeof(step->name), "%s", step->id);
    for (; taken(recording, step->name); number++)
        snprintf(step->name, sizeof(step->name), "%s#%u", step->id, number);
}

static int full(struct berth_error *err, unsigned most, const char *what)
{
    return berth_error_set(err, "the file is full: a file of samples has at most %u %s", most,
                           what);
}

/* Returns the step of that id that had not come further by that time: a job that was requeued
 * begins again, as another step. A new step where there is none; NULL and err. */
static struct recorded *find_step(struct record_lines *recording, const char *id, const char *name,
                                  double at_s, struct berth_error *err)
{
    size_t before = recording->before ? recorded_steps(recording->before) : 0;
    struct recorded *step;

    for (size_t i = recording->steps; i-- > 0;)
        if (strcmp(recording->step[i]->id, id) == 0 && recording->step[i]->at_s <= at_s)
            return recording->step[i];
    if (before + recording->steps == RECORDED_STEPS_MAX) {
        full(err, RECORDED_STEPS_MAX, "steps");
        return NULL;
    }
    step = calloc(1, sizeof(*step));
    if (!step) {
        berth_no_memory(err);
        return NULL;
    }
    snprintf(step->id, sizeof(step->id), "%s", id);
    choose_name(recording, step, name);
    step->at_s = -1;
    recording->step[recording->steps++] = step;
    return step;
}

/* ---- samples ---- */

/* What go_on() does, of what is counted by node. */
static void go_on_by_node(struct recorded *step, struct by_node *by)
{
    if (step->by_last.nodes > 0 && by->nodes != step->by_last.nodes)
        by->known = 0; /* of another machine, it seems */
    for (enum by_node_kind kind = 0; kind < BY_NODE_KINDS; kind++) {
        const double *base = by_node_values(&step->by_base, kind);
        double *last = by_node_room(&step->by_last, kind), *value = by_node_room(by, kind);

        if (!by_node_knows(by, kind))
            continue;
        step->by_last.nodes = by->nodes;
        for (size_t i = 0; i < by_node_count(by->nodes, kind); i++) {
            last[i] = fmax(last[i], value[i]);
            value[i] = base[i] + last[i];
        }
    }
}

/* Counts on top of those of earlier berthds; one that fell by itself stays. */
static void go_on(struct recorded *step, struct counters_sample *sample)
{
    step->at_s = sample->at_s;
    for (int i = 0; i < COUNTERS; i++) {
        if (counter_info[i].gauge || !counters_know(sample, (enum counter)i))
            continue;
        step->last[i] = fmax(step->last[i], sample->value[i]);
        sample->value[i] = step->base[i] + step->last[i];
    }
    go_on_by_node(step, sample->by_node);
}

int record_lines_add(struct record_lines *recording, struct json_object *sample, char **line,
                     struct berth_error *err)
{
    size_t before = recording->before ? recorded_samples(recording->before) : 0;
    char id[WIRE_STEP_NAME_MAX], name[SAMPLES_NAME_MAX];
    struct counters_sample now;
    struct by_node by;
    struct recorded *step;
    struct berth_error why;

    if (json_get_text(sample, "id", JSON_REQUIRED, id, sizeof(id), &why) < 0 ||
        json_get_text(sample, "step", JSON_REQUIRED, name, sizeof(name), &why) < 0 ||
        sample_line_take(sample, &now, &by, &why) < 0)
        return berth_error_set(err, "a sample of berthd: %.400s", why.text);
    if (!now.known)
        return 0;
    if (before + recording->samples == RECORDED_SAMPLES_MAX)
        return full(err, RECORDED_SAMPLES_MAX, "samples");
    if (recording->values + sample_line_values(&now) > RECORDED_VALUES_MAX)
        return full(err, RECORDED_VALUES_MAX, "values");
    step = find_step(recording, id, name[0] ? name : id, now.at_s, err);
    if (!step)
        return -1;
    if (step->at_s == now.at_s)
        return 0;
    go_on(step, &now);
    *line = recording->csv ? sample_line_csv(step->name, &now) : sample_line_json(step->name, &now);
    if (!*line)
        return berth_no_memory(err);
    recording->samples++;
    recording->values += sample_line_values(&now);
    return 1;
}

size_t record_lines_samples(const struct record_lines *recording)
{
    return recording->samples;
}

size_t record_lines_steps(const struct record_lines *recording)
{
    return recording->steps;
}
