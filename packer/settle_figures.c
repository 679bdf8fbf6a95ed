/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settle_figures - see settle_figures.h */
#include "settle_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

struct part {
    char node[sizeof(((struct ledger_record *)NULL)->node)];
    uint32_t step;
};

struct settle_figures {
    struct part *part; /* [n], one of each record */
    size_t n, room;
    uint64_t moves;
    double uj, edp; /* NAN: not known of a step */
    char source[64];
};

struct settle_figures *settle_figures_new(void)
{
    return calloc(1, sizeof(struct settle_figures));
}

void settle_figures_free(struct settle_figures *figures)
{
    if (figures)
        free(figures->part);
    free(figures);
}

/* ---- a record ---- */

/* Packages and their memory, or the whole node's meter where there is no other; NAN: not metered.
 */
static double record_uj(const struct ledger_record *record)
{
    const double *uj = record->uj;

    if (isnan(uj[ENERGY_PACKAGE]))
        return uj[ENERGY_NODE];
    return uj[ENERGY_PACKAGE] + (isnan(uj[ENERGY_DRAM]) ? 0 : uj[ENERGY_DRAM]);
}

/* The names of all the sources, each once. */
static void add_source(struct settle_figures *figures, const char *source)
{
    size_t length = strlen(figures->source);

    if (!source[0] || strstr(figures->source, source))
        return;
    snprintf(figures->source + length, sizeof(figures->source) - length, "%s%s", length ? "," : "",
             source);
}

static int part_add(struct settle_figures *figures, const struct ledger_record *record)
{
    struct part *part = figures->part;

    if (figures->n == figures->room) {
        figures->room = figures->room ? 2 * figures->room : 16;
        part = reallocarray(figures->part, figures->room, sizeof(*part));
        if (!part)
            return -1;
        figures->part = part;
    }
    part += figures->n++;
    snprintf(part->node, sizeof(part->node), "%s", record->node);
    part->step = record->id.step;
    return 0;
}

int settle_figures_add(struct settle_figures *figures, const struct ledger_record *record)
{
    if (part_add(figures, record) < 0)
        return -1;
    figures->moves += record->moves;
    figures->uj += record_uj(record);
    figures->edp += record->edp;
    add_source(figures, record->energy_source);
    return 0;
}

/* ---- what comes of it ---- */

static int by_node(const void *a, const void *b)
{
    return strcmp(((const struct part *)a)->node, ((const struct part *)b)->node);
}

static int by_step(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return (x->step > y->step) - (x->step < y->step);
}

static size_t count_different(struct settle_figures *figures,
                              int (*compare)(const void *, const void *))
{
    size_t different = figures->n > 0;

    if (figures->n)
        qsort(figures->part, figures->n, sizeof(*figures->part), compare);
    for (size_t i = 1; i < figures->n; i++)
        different += compare(&figures->part[i - 1], &figures->part[i]) != 0;
    return different;
}

size_t settle_figures_nodes(struct settle_figures *figures)
{
    return count_different(figures, by_node);
}

/* A number in as few digits as tell it. */
static void add_number(struct json_object *object, const char *key, double value,
                       const char *format)
{
    char text[64];
    size_t length;

    snprintf(text, sizeof(text), format, value);
    length = strlen(text);
    if (strchr(text, '.') && !strchr(text, 'e')) {
        while (text[length - 1] == '0')
            text[--length] = '\0';
        if (text[length - 1] == '.')
            text[--length] = '\0';
    }
    json_object_object_add(object, key, json_object_new_double_s(value, text));
}

/* Exactly: a record's energy is in whole microjoules. */
static void add_energy(struct json_object *object, const struct settle_figures *figures)
{
    if (isnan(figures->uj))
        return;
    add_number(object, "energy_j", figures->uj / 1e6, "%.6f");
    if (!isnan(figures->edp))
        add_number(object, "edp", figures->edp, "%.6g");
    json_add_text(object, "source", figures->source);
}

char *settle_figures_json(struct settle_figures *figures)
{
    struct json_object *object = json_object_new_object();
    char *text;

    json_add_u64(object, "version", 1);
    json_add_u64(object, "nodes", settle_figures_nodes(figures));
    json_add_u64(object, "steps", count_different(figures, by_step));
    json_add_u64(object, "moves", figures->moves);
    add_energy(object, figures);
    text = strdup(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    json_object_put(object);
    return text;
}

/* ---- the ledger ---- */

struct reading {
    const struct settle_run *run;
    struct settle_figures *figures;
};

static int take(const struct ledger_record *record, void *arg)
{
    struct reading *reading = arg;

    if (record->restart != reading->run->restart ||
        strcmp(record->cluster, reading->run->cluster) != 0)
        return 0;
    return settle_figures_add(reading->figures, record);
}

struct settle_figures *settle_figures_read(const char *url, const char *defaults_file,
                                           const struct settle_run *run, struct berth_error *err)
{
    struct wire_step_id id = {run->job, UINT32_MAX};
    struct ledger_filter filter = {.njobs = 1, .job = &id};
    struct reading reading = {run, settle_figures_new()};

    if (reading.figures && ledger_read(url, defaults_file, &filter, take, &reading, err) == 0)
        return reading.figures;
    if (!reading.figures)
        berth_error_set(err, "out of memory");
    settle_figures_free(reading.figures);
    return NULL;
}
