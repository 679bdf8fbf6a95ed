/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recorded - see counters/recorded.h. Samples are kept packed, only what each of them knows: most
 * know a few counters of many. */
#include "packer/counters/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "packer/base/array.h"
#include "packer/base/file.h"
#include "packer/counters/sample_line.h"

/* A sample: where in the pool are the values of what it knows, then the errors of what is marked as
 * inexact, each in the order of enum counter, then its nodes, then what it knows by node. */
struct record {
    double at_s;
    uint32_t known, inexact, first, nodes, by_nodes, by_known;
};

struct track {
    char *name;
    size_t n, room;
    struct record *record;
    uint32_t known;          /* by any sample */
    double last[COUNTERS];   /* the last known value */
    struct by_node *by_node; /* the last known values by node; NULL: there are none */
};

struct recorded {
    size_t n;
    struct track track[RECORDED_STEPS_MAX];
    size_t samples, values, room;
    double *value; /* the pool */
};

/* ---- packing ---- */

static uint32_t inexact(const struct counters_sample *sample)
{
    uint32_t marks = 0;

    for (int i = 0; i < COUNTERS; i++)
        if (counters_know(sample, (enum counter)i) && sample->error[i] > 0)
            marks |= 1u << i;
    return marks;
}

/* Room for one more sample. */
static int make_room(struct recorded *replay, struct track *track,
                     const struct counters_sample *sample, struct berth_error *err)
{
    size_t most = 2 * COUNTERS + COUNTERS_NODES_MAX + BY_NODE_NUMBERS_MAX;

    if (array_grow(&replay->value, &replay->room, replay->values + most, sizeof(*replay->value)) <
            0 ||
        array_grow(&track->record, &track->room, track->n + 1, sizeof(*track->record)) < 0)
        return berth_no_memory(err);
    if (!sample->by_node || !sample->by_node->known || track->by_node)
        return 0;
    track->by_node = calloc(1, sizeof(*track->by_node));
    return track->by_node ? 0 : berth_no_memory(err);
}

static void pack_by_node(struct recorded *replay, struct track *track, struct record *record,
                         const struct by_node *by)
{
    record->by_nodes = (uint32_t)by->nodes;
    record->by_known = by->known;
    by_node_pack(by, replay->value + replay->values);
    replay->values += by_node_numbers(by);
    if (by->known)
        by_node_update(track->by_node, by);
}

static void pack(struct recorded *replay, struct track *track, const struct counters_sample *sample)
{
    struct record record = {.at_s = sample->at_s,
                            .known = sample->known,
                            .inexact = inexact(sample),
                            .first = (uint32_t)replay->values,
                            .nodes = (uint32_t)sample->nodes};

    for (int i = 0; i < COUNTERS; i++)
        if (counters_know(sample, (enum counter)i))
            replay->value[replay->values++] = track->last[i] = sample->value[i];
    for (int i = 0; i < COUNTERS; i++)
        if (record.inexact & 1u << i)
            replay->value[replay->values++] = sample->error[i];
    for (size_t i = 0; i < sample->nodes; i++)
        replay->value[replay->values++] = sample->rss_node[i];
    if (sample->by_node)
        pack_by_node(replay, track, &record, sample->by_node);
    track->known |= record.known;
    track->record[track->n++] = record;
    replay->samples++;
}

static void unpack(const struct recorded *replay, const struct record *record,
                   struct counters_sample *sample, struct by_node *by)
{
    const double *value = replay->value + record->first;

    *sample = (struct counters_sample){.at_s = record->at_s, .nodes = record->nodes, .by_node = by};
    for (int i = 0; i < COUNTERS; i++)
        if (record->known & 1u << i)
            counters_set(sample, (enum counter)i, *value++);
    for (int i = 0; i < COUNTERS; i++)
        if (record->inexact & 1u << i)
            sample->error[i] = *value++;
    for (size_t i = 0; i < record->nodes; i++)
        sample->rss_node[i] = *value++;
    if (by)
        by_node_unpack(by, record->by_nodes, record->by_known, value);
}

/* ---- reading ---- */

static int check_size(const struct recorded *replay, const struct counters_sample *sample,
                      struct berth_error *err)
{
    if (replay->samples == RECORDED_SAMPLES_MAX ||
        replay->values + sample_line_values(sample) > RECORDED_VALUES_MAX)
        return berth_error_set(err, "at most %u samples and %u values expected in one file",
                               RECORDED_SAMPLES_MAX, RECORDED_VALUES_MAX);
    return 0;
}

static int check_order(const struct track *track, const struct counters_sample *sample,
                       struct berth_error *err)
{
    double before = track->n > 0 ? track->record[track->n - 1].at_s : -1;
    enum by_node_kind fallen = track->by_node && sample->by_node
                                   ? by_node_fallen(track->by_node, sample->by_node)
                                   : BY_NODE_KINDS;

    if (!(sample->at_s > before))
        return berth_error_set(err,
                               "at: %.17g: more than %.17g expected, that of the step's "
                               "sample before",
                               sample->at_s, before);
    for (int i = 0; i < COUNTERS; i++)
        if (!counter_info[i].gauge && (sample->known & track->known & 1u << i) &&
            sample->value[i] < track->last[i])
            return berth_error_set(err, "%s: %.17g: %.17g or more expected: a count never falls",
                                   counter_info[i].name, sample->value[i], track->last[i]);
    if (fallen < BY_NODE_KINDS)
        return berth_error_set(err,
                               "by_node.%s: as many nodes as before expected, and no less of "
                               "any: a count never falls",
                               by_node_name[fallen]);
    return 0;
}

/* The track of that name, a new one where there is none; NULL and err. Steps are sampled in turn:
 * the one after `guess` is tried first. */
static struct track *track_of(struct recorded *replay, const char *name, size_t guess,
                              struct berth_error *err)
{
    struct track *track;
    long found = -1;

    for (size_t i = 0; i < 2 && found < 0 && replay->n > 0; i++)
        if (strcmp(replay->track[(guess + i) % replay->n].name, name) == 0)
            found = (long)((guess + i) % replay->n);
    if (found < 0)
        found = recorded_find(replay, name);
    if (found >= 0)
        return &replay->track[found];
    if (replay->n == RECORDED_STEPS_MAX) {
        berth_error_set(err, "step: at most %d steps expected in one file", RECORDED_STEPS_MAX);
        return NULL;
    }
    track = &replay->track[replay->n];
    track->name = strdup(name);
    if (!track->name) {
        berth_no_memory(err);
        return NULL;
    }
    replay->n++;
    return track;
}

/* What a reader knows of the file so far. */
struct reader {
    struct recorded *replay;
    bool csv, header; /* CSV, whose header was read */
    struct sample_line_columns columns;
    size_t guess; /* the track of the line before */
};

static int read_line(struct reader *reader, const char *line, size_t length,
                     struct berth_error *err)
{
    struct counters_sample sample;
    struct by_node by;
    char step[SAMPLES_NAME_MAX];
    struct track *track;

    if (reader->csv && !reader->header) {
        reader->header = true;
        return sample_line_read_header(line, length, &reader->columns, err);
    }
    if ((reader->csv ? sample_line_read_csv(line, length, &reader->columns, step, &sample, err)
                     : sample_line_read_json(line, length, step, &sample, &by, err)) < 0)
        return -1;
    track = track_of(reader->replay, step, reader->guess, err);
    if (!track || check_order(track, &sample, err) < 0 ||
        check_size(reader->replay, &sample, err) < 0 ||
        make_room(reader->replay, track, &sample, err) < 0)
        return -1;
    pack(reader->replay, track, &sample);
    reader->guess = (size_t)(track - reader->replay->track);
    return 0;
}

static bool blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r\n", line[i]) || line[i] == '\0')
            return false;
    return true;
}

/* The next line with its newline, which the last one may lack: its length, 0 at the end of the
 * file, or -1 and err. */
static ssize_t next_line(FILE *file, char line[SAMPLES_LINE_MAX], struct berth_error *err)
{
    size_t length = 0;
    int c;

    while ((c = getc_unlocked(file)) != EOF) {
        if (length == SAMPLES_LINE_MAX)
            return berth_error_set(err, "at most %d bytes expected in a line", SAMPLES_LINE_MAX);
        line[length++] = (char)c;
        if (c == '\n')
            break;
    }
    return ferror(file) ? berth_error_set(err, "%s", strerror(errno)) : (ssize_t)length;
}

static int read_lines(struct reader *reader, FILE *file, const char *path, struct berth_error *err)
{
    char *line = malloc(SAMPLES_LINE_MAX);
    struct berth_error why;
    ssize_t length = line ? 1 : berth_no_memory(&why);
    size_t number = 0;

    while (length > 0) {
        number++;
        length = next_line(file, line, &why);
        if (number == 1)
            reader->csv = length > 0 && line[0] != '{';
        if (length > 0 && !blank(line, (size_t)length) &&
            read_line(reader, line, (size_t)length, &why) < 0)
            length = -1;
    }
    free(line);
    if (length < 0)
        return berth_error_set(err, "%s:%zu: %.400s", path, number, why.text);
    if (reader->replay->samples == 0)
        return berth_error_set(err, "%s:%zu: a sample expected", path, number);
    return 0;
}

/* A regular file: a pipe without a writer would keep its reader waiting. NULL and err. */
static FILE *open_file(const char *path, struct berth_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        berth_error_set(err, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        berth_error_set(err, "%s: a regular file expected", path);
    else if (!(file = fdopen(fd, "r")))
        berth_error_set(err, "%s: %s", path, strerror(errno));
    if (!file)
        file_close(fd);
    return file;
}

int recorded_read(struct recorded **out, const char *path, struct berth_error *err)
{
    FILE *file = open_file(path, err);
    struct reader reader = {.replay = file ? calloc(1, sizeof(*reader.replay)) : NULL};
    int rc = -1;

    if (!file)
        return -1;
    if (reader.replay)
        rc = read_lines(&reader, file, path, err);
    else
        berth_no_memory(err);
    fclose(file);
    if (rc == 0)
        *out = reader.replay;
    else
        recorded_free(reader.replay);
    return rc;
}

void recorded_free(struct recorded *replay)
{
    for (size_t i = 0; replay && i < replay->n; i++) {
        free(replay->track[i].name);
        free(replay->track[i].record);
        free(replay->track[i].by_node);
    }
    if (replay)
        free(replay->value);
    free(replay);
}

/* ---- what is there ---- */

size_t recorded_steps(const struct recorded *replay)
{
    return replay->n;
}

const char *recorded_name(const struct recorded *replay, size_t step)
{
    return replay->track[step].name;
}

long recorded_find(const struct recorded *replay, const char *name)
{
    for (size_t i = 0; i < replay->n; i++)
        if (strcmp(replay->track[i].name, name) == 0)
            return (long)i;
    return -1;
}

size_t recorded_samples(const struct recorded *replay)
{
    return replay->samples;
}

size_t recorded_values(const struct recorded *replay)
{
    return replay->values;
}

uint32_t recorded_known(const struct recorded *replay, size_t step)
{
    return replay->track[step].known;
}

size_t recorded_samples_of(const struct recorded *replay, size_t step)
{
    return replay->track[step].n;
}

void recorded_sample(const struct recorded *replay, size_t step, size_t index,
                     struct counters_sample *sample, struct by_node *by)
{
    unpack(replay, &replay->track[step].record[index], sample, by);
}

/* ---- playing ---- */

/* A moment of the recording: played through `times` times, then at_s into it, after samples
 * [0, next). */
struct moment {
    double times, at_s;
    size_t next;
};

/* The end of the recording belongs to the time it is played, not to the next one. */
static struct moment moment_of(const struct track *track, double at_s)
{
    double length_s = track->record[track->n - 1].at_s;
    struct moment moment = {.at_s = fmax(at_s, 0)};
    size_t low = 0, high = track->n - 1;

    if (moment.at_s > length_s && length_s > 0) {
        moment.times = ceil(moment.at_s / length_s) - 1;
        moment.at_s = fmin(fmax(moment.at_s - moment.times * length_s, 0), length_s);
    } else if (moment.at_s > length_s) {
        moment.at_s = length_s;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (track->record[middle].at_s < moment.at_s)
            low = middle + 1;
        else
            high = middle;
    }
    moment.next = low;
    return moment;
}

/* Counts at a moment between two samples, on top of all that was played before. Clamped, so that
 * rounding lets no count fall. */
static void add_counts(const struct track *track, const struct moment *moment,
                       const struct counters_sample *before, const struct counters_sample *after,
                       struct counters_sample *sample)
{
    double part = (moment->at_s - before->at_s) / (after->at_s - before->at_s);
    bool exact = moment->at_s == after->at_s;

    for (int i = 0; i < COUNTERS; i++) {
        double value = after->value[i], past = moment->times * track->last[i];

        if (counter_info[i].gauge || !counters_know(after, (enum counter)i) ||
            !(exact || counters_know(before, (enum counter)i)) ||
            counters_know(sample, (enum counter)i))
            continue;
        if (!exact)
            value = fmin(before->value[i] + (value - before->value[i]) * part, value);
        counters_set(sample, (enum counter)i,
                     fmin(past + value, (moment->times + 1) * track->last[i]));
        sample->error[i] = fmax(before->error[i], after->error[i]);
    }
    if (after->by_node)
        by_node_play(sample->by_node, before->by_node, after->by_node, exact ? 1 : part,
                     track->by_node, moment->times);
}

static void add_gauges(const struct counters_sample *last, struct counters_sample *sample)
{
    for (int i = 0; i < COUNTERS; i++)
        if (counter_info[i].gauge && counters_know(last, (enum counter)i))
            counters_set(sample, (enum counter)i, last->value[i]);
    if (sample->nodes == 0 && last->nodes > 0) {
        sample->nodes = last->nodes;
        memcpy(sample->rss_node, last->rss_node, sizeof(sample->rss_node));
    }
}

void recorded_at(const struct recorded *replay, size_t step, double at_s,
                 struct counters_sample *sample)
{
    const struct track *track = &replay->track[step];
    struct moment moment = moment_of(track, at_s);
    struct counters_sample before = {.known = UINT32_MAX}, after, last;
    bool by_node = sample->by_node && track->by_node;
    struct by_node by[2];

    sample->at_s = at_s;
    unpack(replay, &track->record[moment.next], &after, by_node ? &by[1] : NULL);
    if (moment.next > 0)
        unpack(replay, &track->record[moment.next - 1], &before, by_node ? &by[0] : NULL);
    add_counts(track, &moment, &before, &after, sample);
    if (moment.at_s == after.at_s) {
        add_gauges(&after, sample);
    } else if (moment.next > 0) {
        add_gauges(&before, sample);
    } else if (moment.times > 0) {
        unpack(replay, &track->record[track->n - 1], &last, NULL);
        add_gauges(&last, sample);
    }
}
