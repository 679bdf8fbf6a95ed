/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_days - adds up for each node and day how much energy its steps took there, or, where no
 * meter was read, how many core-hours. What a step took is divided over its days by their part of
 * its time. */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/base/json.h"
#include "packer/base/json_fields.h"
#include "packer/report/html_impl.h"

#define DAY_S 86400
#define NODES_MOST 100

/* ---- gathering ---- */

static int compare_nodes(const void *a, const void *b)
{
    const struct page_node *left = a, *right = b;

    if (left->cluster != right->cluster)
        return (uintptr_t)left->cluster < (uintptr_t)right->cluster ? -1 : 1;
    return (left->node != right->node) * ((uintptr_t)left->node < (uintptr_t)right->node ? -1 : 1);
}

static struct page_node *add_node(struct page_days *days, const struct page_node *name)
{
    struct page_node *node = malloc(sizeof(*node));

    if (!node ||
        array_grow(&days->node, &days->room, days->nodes + 1, sizeof(struct page_node *)) < 0) {
        free(node);
        return NULL;
    }
    *node = *name;
    if (!tsearch(node, &days->found, compare_nodes)) {
        free(node);
        return NULL;
    }
    return days->node[days->nodes++] = node;
}

/* Returns the node of a record; NULL: no memory. */
static struct page_node *node_of(struct report_html *page, const struct report_row *row)
{
    struct page_node name = {.node = report_intern_keep(page->words, row->text[REPORT_NODES]),
                             .cluster = report_intern_keep(page->words, row->text[REPORT_CLUSTER])};
    struct page_node *const *found;

    if (!name.node || !name.cluster)
        return NULL;
    found = tfind(&name, &page->days.found, compare_nodes);
    return found ? *found : add_node(&page->days, &name);
}

static int64_t number_of(const struct page_days *days, int64_t midnight)
{
    int64_t s = midnight - days->origin + DAY_S / 2; /* of a day of 23 or 25 hours, too */

    return s >= 0 ? s / DAY_S : -((-s + DAY_S - 1) / DAY_S);
}

/* Returns the node's cell of a day, which may be a new one at either end; NULL: no memory. */
static struct page_day *cell_of(struct page_node *node, int64_t day)
{
    size_t before = node->n && day < node->first ? (size_t)(node->first - day) : 0;
    size_t n = node->n == 0                            ? 1
               : before                                ? node->n + before
               : day >= node->first + (int64_t)node->n ? (size_t)(day - node->first + 1)
                                                       : node->n;

    if (array_grow(&node->day, &node->room, n, sizeof(*node->day)) < 0)
        return NULL;
    if (before)
        memmove(node->day + before, node->day, node->n * sizeof(*node->day));
    for (size_t i = 0; i < before; i++)
        node->day[i] = (struct page_day){NAN, NAN};
    for (size_t i = node->n + before; i < n; i++)
        node->day[i] = (struct page_day){NAN, NAN};
    if (node->n == 0 || before)
        node->first = day;
    node->n = n;
    return &node->day[day - node->first];
}

static void add_value(double *sum, double value)
{
    if (!isnan(value))
        *sum = (isnan(*sum) ? 0 : *sum) + value;
}

int page_days_add(struct report_html *page, const struct report_row *row)
{
    struct page_days *days = &page->days;
    struct page_node *node = node_of(page, row);
    int64_t end = row->end > row->start ? row->end : row->start + 1, next;
    int64_t to = end < page->about.until ? end : page->about.until;

    if (!node)
        return -1;
    node->records++;
    for (int64_t at = row->start > page->about.since ? row->start : page->about.since; at < to;
         at = next) {
        struct page_day *cell;
        double part;

        if (!calendar_find(&days->calendar, at) || days->calendar.next <= at)
            return 0;
        if (days->origin == 0)
            days->origin = days->calendar.begin;
        next = days->calendar.next;
        cell = cell_of(node, number_of(days, days->calendar.begin));
        if (!cell)
            return -1;
        part = (double)((next < to ? next : to) - at) / (double)(end - row->start);
        add_value(&cell->energy_j, report_energy_j(&row->energy[REPORT_ENERGY]) * part);
        add_value(&cell->core_s, row->number[REPORT_CPU_TIME_S] * part);
    }
    return 0;
}

static void free_node(void *node)
{
    free(((struct page_node *)node)->day);
    free(node);
}

void page_days_free(struct page_days *days)
{
    tdestroy(days->found, free_node);
    free(days->node);
}

/* ---- what the page is told ---- */

static int by_name(const void *a, const void *b)
{
    const struct page_node *left = *(struct page_node *const *)a;
    const struct page_node *right = *(struct page_node *const *)b;
    int order = strcmp(left->cluster, right->cluster);

    return order ? order : strverscmp(left->node, right->node);
}

/* Returns the names of the days from the first that a node has to the last; *first is its number.
 */
static struct json_object *name_days(const struct page_days *days, int64_t *first)
{
    struct json_object *list = json_object_new_array();
    struct calendar calendar = {.months = false};
    int64_t last = INT64_MIN;

    *first = INT64_MAX;
    for (size_t i = 0; i < days->nodes; i++) {
        const struct page_node *node = days->node[i];

        if (node->n == 0)
            continue;
        *first = node->first < *first ? node->first : *first;
        last = node->first + (int64_t)node->n > last ? node->first + (int64_t)node->n : last;
    }
    for (int64_t day = *first; day < last; day++) {
        calendar_find(&calendar, days->origin + day * DAY_S + DAY_S / 2);
        json_append(list, json_object_new_string(calendar.name));
    }
    return list;
}

static struct json_object *node_object(const struct page_node *node, bool energy, int64_t first)
{
    struct json_object *object = json_object_new_object();

    json_add_text(object, "node", node->node);
    json_add_number(object, "first", (double)(node->first - first));
    json_add(object, "value",
             json_new_list(node->n, &json_number,
                           energy ? &node->day->energy_j : &node->day->core_s, sizeof(*node->day)));
    return object;
}

void page_days_add_to(struct report_html *page, struct json_object *data)
{
    struct json_object *object = json_object_new_object(), *nodes = json_object_new_array();
    struct page_days *days = &page->days;
    bool energy = page->grand.energy[REPORT_ENERGY].metered > 0;
    size_t left_out = 0;
    int64_t first;

    if (days->nodes)
        qsort(days->node, days->nodes, sizeof(*days->node), by_name);
    json_add_bool(object, "energy", energy);
    json_add(object, "day", name_days(days, &first));
    for (size_t i = 0; i < days->nodes; i++)
        if (i >= NODES_MOST)
            left_out += days->node[i]->records;
        else if (days->node[i]->n)
            json_append(nodes, node_object(days->node[i], energy, first));
    json_add(object, "nodes", nodes);
    json_add_u64(object, "left_out", left_out);
    json_add(data, "days", object);
}
