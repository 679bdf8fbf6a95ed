/* SPDX-License-Identifier: GPL-2.0-or-later */
/* totals - see totals.h: rows, and a table by their groups' names with open addressing. Equal names
 * are equal pointers, as one report_intern keeps them all. */
#include "packer/report/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/report/intern.h"

#define ROOM_FIRST 64 /* a power of two, as all that follow */

struct report_totals {
    const struct report_keys *keys;
    struct report_intern *words;
    struct report_row *row; /* [n] */
    size_t n, room;
    size_t *at; /* [places] where a row stands, and 1; 0: nowhere */
    size_t places;
    struct report_row grand;
};

struct report_totals *report_totals_new(const struct report_keys *keys)
{
    struct report_totals *totals = calloc(1, sizeof(*totals));

    if (!totals)
        return NULL;
    totals->keys = keys;
    totals->words = report_intern_new();
    if (!totals->words) {
        free(totals);
        return NULL;
    }
    report_sum_begin(&totals->grand);
    return totals;
}

void report_totals_free(struct report_totals *totals)
{
    if (!totals)
        return;
    report_intern_free(totals->words);
    free(totals->row);
    free(totals->at);
    free(totals);
}

/* ---- by their names ---- */

static size_t *place_of(struct report_totals *totals, const char *const *group)
{
    uint64_t hash = 0;
    size_t at;

    for (size_t i = 0; i < REPORT_KEYS_MOST; i++)
        hash = (hash ^ (uintptr_t)group[i]) * 0x9e3779b97f4a7c15u;
    at = (hash >> 32) & (totals->places - 1);
    while (totals->at[at] &&
           memcmp(totals->row[totals->at[at] - 1].group, group, sizeof(totals->row->group)) != 0)
        at = (at + 1) & (totals->places - 1);
    return &totals->at[at];
}

/* Makes room for another name: a half at least stays empty. */
static int grow(struct report_totals *totals)
{
    size_t places = totals->places ? totals->places * 2 : ROOM_FIRST;

    if (totals->n < totals->places / 2)
        return 0;
    free(totals->at);
    totals->at = calloc(places, sizeof(*totals->at));
    totals->places = totals->at ? places : 0;
    if (!totals->at)
        return -1;
    for (size_t i = 0; i < totals->n; i++)
        *place_of(totals, totals->row[i].group) = i + 1;
    return 0;
}

/* Returns the row of these groups, which is new where there was none; NULL: no memory. */
static struct report_row *row_of(struct report_totals *totals, const char *const *group)
{
    struct report_row *row;
    size_t *place;

    if (grow(totals) < 0)
        return NULL;
    place = place_of(totals, group);
    if (*place)
        return &totals->row[*place - 1];
    if (array_grow(&totals->row, &totals->room, totals->n + 1, sizeof(*row)) < 0)
        return NULL;
    row = &totals->row[totals->n++];
    *place = totals->n;
    report_sum_begin(row);
    memcpy(row->group, group, sizeof(row->group));
    return row;
}

/* ---- adding ---- */

struct adding {
    struct report_totals *totals;
    const struct report_visitor *visitor;
};

static int take_job(const struct report_row *job, const struct report_row *steps, size_t n,
                    void *arg)
{
    struct adding *adding = arg;

    return adding->visitor->job(job, steps, n, adding->visitor->arg);
}

static int take_total(const struct report_row *total, void *arg)
{
    struct adding *adding = arg;
    struct report_totals *totals = adding->totals;
    const char *group[REPORT_KEYS_MOST];
    struct report_row *row;

    for (size_t i = 0; i < REPORT_KEYS_MOST; i++) {
        group[i] = report_intern_keep(totals->words, total->group[i]);
        if (!group[i])
            return -1;
    }
    row = row_of(totals, group);
    if (!row || report_sum(totals->words, row, total) < 0)
        return -1;
    memcpy(row->group, group, sizeof(group));
    return adding->visitor && adding->visitor->total
               ? adding->visitor->total(total, adding->visitor->arg)
               : 0;
}

int report_totals_add(struct report_totals *totals, struct report *report, bool per_node,
                      const struct report_visitor *visitor)
{
    struct adding adding = {totals, visitor};
    const struct report_visitor mine = {
        .job = visitor && visitor->job ? take_job : NULL,
        .total = report_keys_count(totals->keys) || (visitor && visitor->total) ? take_total : NULL,
        .arg = &adding};
    struct report_row grand;
    int rc;

    if (report_records(report) == 0)
        return 0;
    rc = report_walk(report, totals->keys, per_node, &mine, &grand);
    return rc ? rc : report_sum(totals->words, &totals->grand, &grand);
}

/* ---- the end ---- */

static int compare(const void *a, const void *b)
{
    const struct report_row *left = a, *right = b;
    int order = 0;

    for (size_t i = 0; i < REPORT_KEYS_MOST && order == 0; i++)
        order = strcmp(left->group[i], right->group[i]);
    return order;
}

struct report_row *report_totals_conclude(struct report_totals *totals, size_t *n,
                                          struct report_row *grand)
{
    for (size_t i = 0; i < totals->n; i++)
        report_derive(&totals->row[i]);
    if (totals->n)
        qsort(totals->row, totals->n, sizeof(*totals->row), compare);
    *grand = totals->grand;
    report_sum_end(grand);
    if (report_keys_divide(totals->keys))
        grand->number[REPORT_EDP] = NAN;
    *n = totals->n;
    return totals->row;
}
