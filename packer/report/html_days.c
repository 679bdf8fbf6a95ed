/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_days - a table with a line for each node and a column for each day: how much energy its
 * steps took there, or, where no meter was read, how many core-hours. What a step took is divided
 * over its days by their part of its time. Where there are too many days the columns are months. */
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/base/array.h"
#include "packer/report/html_impl.h"

#define DAY_S 86400
#define COLUMNS_MOST 62
#define NODES_MOST 100
#define MOST_OF 0.95 /* of the cells decide on the scale */
#define NUMBERS 14   /* a table of so many columns has room for its figures */

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

/* ---- the table ---- */

struct days {
    struct report_html *page;
    bool energy;    /* else core-seconds */
    int64_t first;  /* the number of the first day */
    size_t n;       /* columns */
    int64_t *begin; /* [n] of each, Unix seconds */
    size_t *column; /* [span] of each day from the first on */
    size_t span;
    bool months;
    double *cell; /* [nodes][n]: J, or core-seconds; NAN nothing */
    size_t nodes, left_out;
    double most; /* of the scale */
};

static int by_name(const void *a, const void *b)
{
    const struct page_node *left = *(struct page_node *const *)a;
    const struct page_node *right = *(struct page_node *const *)b;
    int order = strcmp(left->cluster, right->cluster);

    return order ? order : strverscmp(left->node, right->node);
}

/* From the first day that a node has to the last. */
static void find_span(struct days *days)
{
    const struct page_days *all = &days->page->days;
    int64_t last = INT64_MIN;

    days->first = INT64_MAX;
    for (size_t i = 0; i < all->nodes; i++) {
        const struct page_node *node = all->node[i];

        if (node->n == 0)
            continue;
        days->first = node->first < days->first ? node->first : days->first;
        last = node->first + (int64_t)node->n > last ? node->first + (int64_t)node->n : last;
    }
    days->span = last > days->first ? (size_t)(last - days->first) : 0;
    days->months = days->span > COLUMNS_MOST;
}

/* Gives each day a column. */
static void find_columns(struct days *days)
{
    struct calendar calendar = {.months = days->months};

    for (size_t i = 0; i < days->span; i++) {
        int64_t noon = days->page->days.origin + (days->first + (int64_t)i) * DAY_S + DAY_S / 2;

        if (i == 0 || noon >= calendar.next) {
            if (!calendar_find(&calendar, noon))
                break;
            days->begin[days->n++] = calendar.begin;
        }
        days->column[i] = days->n - 1;
    }
}

static double value_of(const struct days *days, const struct page_day *day)
{
    return days->energy ? day->energy_j : day->core_s;
}

/* Fills the lines, each from its node, and finds the scale. */
static void fill(struct days *days, double *sorted)
{
    const struct page_days *all = &days->page->days;
    size_t cells;

    for (size_t i = 0; i < all->nodes; i++) {
        const struct page_node *node = all->node[i];

        if (i >= NODES_MOST) {
            days->left_out += node->records;
            continue;
        }
        for (size_t d = 0; d < days->n; d++)
            days->cell[i * days->n + d] = NAN;
        for (size_t k = 0; k < node->n; k++)
            add_value(
                &days->cell[i * days->n + days->column[(size_t)(node->first - days->first) + k]],
                value_of(days, &node->day[k]));
    }
    days->nodes = all->nodes < NODES_MOST ? all->nodes : NODES_MOST;
    cells = days->nodes * days->n;
    memcpy(sorted, days->cell, cells * sizeof(*sorted));
    days->most = page_scale(sorted, cells, MOST_OF);
}

/* ---- drawing ---- */

static void put_figure(const struct days *days, double value)
{
    char text[REPORT_NUMBER_MAX];

    if (days->energy)
        report_format_energy(value, REPORT_UNIT_AUTO, text);
    else
        snprintf(text, sizeof(text), "%.3g h", value / 3600);
    fputs(text, days->page->out);
}

static void put_day(FILE *out, int64_t at, const char *format)
{
    time_t seconds = (time_t)at;
    struct tm tm;
    char text[32];

    if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), format, &tm))
        fputs(text, out);
}

static void put_cell(const struct days *days, size_t line, size_t d)
{
    FILE *out = days->page->out;
    double value = days->cell[line * days->n + d];

    if (isnan(value)) {
        fputs("<td></td>", out);
        return;
    }
    fprintf(out, "<td style=\"--v:%.2f\" title=\"",
            days->most > 0 ? fmin(value / days->most, 1) : 0);
    page_text(out, days->page->days.node[line]->node);
    fputs(", ", out);
    put_day(out, days->begin[d], days->months ? "%Y-%m: " : "%Y-%m-%d: ");
    put_figure(days, value);
    fputs("\">", out);
    if (value > days->most)
        fputs("\xe2\x96\xb2", out);
    if (days->n <= NUMBERS)
        put_figure(days, value);
    fputs("</td>", out);
}

static void put_table(const struct days *days)
{
    FILE *out = days->page->out;

    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"heat\"><thead><tr><th "
          "scope=\"col\">Node</th>",
          out);
    for (size_t d = 0; d < days->n; d++) {
        fputs("<th scope=\"col\">", out);
        put_day(out, days->begin[d], days->months ? "%b %y" : days->n <= NUMBERS ? "%b %d" : "%d");
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < days->nodes; i++) {
        fputs("<tr><th scope=\"row\">", out);
        page_text(out, days->page->days.node[i]->node);
        fputs("</th>", out);
        for (size_t d = 0; d < days->n; d++)
            put_cell(days, i, d);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void put_section(const struct days *days)
{
    FILE *out = days->page->out;

    fprintf(out, "<section class=\"long\"><h2>Nodes by %s</h2>\n<p class=\"soft\">%s of the steps ",
            days->months ? "month" : "day", days->energy ? "Energy" : "Core-hours given");
    fprintf(out, "of each node %s from ", days->months ? "in each month" : "on each day");
    put_day(out, days->begin[0], "%Y-%m-%d");
    fputs(". The darkest cells have ", out);
    put_figure(days, days->most);
    fputs(" and more; what lies above that scale is marked \xe2\x96\xb2.</p>\n", out);
    put_table(days);
    if (days->left_out)
        fprintf(out,
                "<p class=\"soft\">%zu records of more nodes are not shown: --nodelist asks for "
                "certain ones.</p>\n",
                days->left_out);
    fputs("</section>\n", out);
}

static int put_days(struct days *days)
{
    size_t lines = days->page->days.nodes < NODES_MOST ? days->page->days.nodes : NODES_MOST;
    int rc = -1;

    days->begin = malloc(days->span * sizeof(*days->begin));
    days->column = calloc(days->span, sizeof(*days->column));
    if (days->begin && days->column) {
        find_columns(days);
        days->cell = malloc((2 * lines * days->n + 1) * sizeof(*days->cell));
    }
    if (days->cell) {
        fill(days, days->cell + lines * days->n);
        put_section(days);
        rc = 0;
    }
    free(days->begin);
    free(days->column);
    free(days->cell);
    return rc;
}

int page_days(struct report_html *page)
{
    struct days days = {.page = page, .energy = page->grand.energy[REPORT_ENERGY].metered > 0};

    if (page->days.nodes == 0)
        return 0;
    qsort(page->days.node, page->days.nodes, sizeof(*page->days.node), by_name);
    find_span(&days);
    return days.span ? put_days(&days) : 0;
}
