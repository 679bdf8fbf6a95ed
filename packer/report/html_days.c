/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_days - a table with a line for each node and a column for each day: how much energy its
 * steps took there, or, where no meter was read, how many core-hours. What a step took is divided
 * over its days by their part of its time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "packer/report/html_impl.h"

#define DAYS_MOST 62
#define NODES_MOST 100
#define MOST_OF 0.95 /* of the cells decide on the scale */
#define NUMBERS 14   /* a table of so many days has room for its figures */

struct days {
    struct page *page;
    int64_t begin[DAYS_MOST + 1]; /* midnights, [n + 1] */
    size_t n;
    bool energy;       /* else core-seconds */
    const char **node; /* [nodes], with its cluster's name behind it in cluster[] */
    const char **cluster;
    double *cell; /* [nodes][n]: J, or core-seconds; NAN nothing */
    size_t nodes, left_out;
    double most; /* of the scale */
};

/* The last days of the report, each from midnight to midnight in local time. */
static void find_days(struct days *days)
{
    struct page_axis axis;
    time_t last;
    struct tm tm;
    int64_t at;

    page_axis_find(days->page, &axis);
    last = (time_t)(axis.to - 1);
    if (!localtime_r(&last, &tm))
        return;
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_mday++;
    for (days->n = 0; days->n <= DAYS_MOST; days->n++) { /* backwards */
        tm.tm_isdst = -1;
        at = mktime(&tm);
        days->begin[days->n] = at;
        if (at <= axis.from)
            break;
        tm.tm_mday--;
    }
    if (days->n > DAYS_MOST)
        days->n = DAYS_MOST;
    for (size_t i = 0; i < days->n - i; i++) {
        at = days->begin[i];
        days->begin[i] = days->begin[days->n - i];
        days->begin[days->n - i] = at;
    }
}

static double value_of(const struct days *days, const struct report_row *row)
{
    return days->energy ? report_energy_j(&row->energy[REPORT_ENERGY])
                        : row->number[REPORT_CPU_TIME_S];
}

/* Returns the node's line; SIZE_MAX: there is no room for it. */
static size_t line_of(struct days *days, const struct report_row *row)
{
    const char *node = row->text[REPORT_NODES], *cluster = row->text[REPORT_CLUSTER];
    size_t i = days->nodes;

    while (i > 0 && (days->node[i - 1] != node || days->cluster[i - 1] != cluster))
        i--;
    if (i > 0)
        return i - 1;
    if (days->nodes == NODES_MOST)
        return SIZE_MAX;
    days->node[days->nodes] = node;
    days->cluster[days->nodes] = cluster;
    for (size_t d = 0; d < days->n; d++)
        days->cell[days->nodes * days->n + d] = NAN;
    return days->nodes++;
}

static void add(struct days *days, const struct report_row *row)
{
    double value = value_of(days, row), *cell;
    int64_t end = row->end > row->start ? row->end : row->start + 1;
    size_t line;

    if (isnan(value) || end <= days->begin[0])
        return;
    line = line_of(days, row);
    days->left_out += line == SIZE_MAX;
    for (size_t d = 0; line != SIZE_MAX && d < days->n; d++) {
        int64_t from = row->start > days->begin[d] ? row->start : days->begin[d];
        int64_t to = end < days->begin[d + 1] ? end : days->begin[d + 1];

        if (to <= from)
            continue;
        cell = &days->cell[line * days->n + d];
        *cell =
            (isnan(*cell) ? 0 : *cell) + value * (double)(to - from) / (double)(end - row->start);
    }
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
    page_text(out, days->node[line]);
    fputs(", ", out);
    put_day(out, days->begin[d], "%Y-%m-%d: ");
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
        put_day(out, days->begin[d], days->n <= NUMBERS ? "%b %d" : "%d");
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < days->nodes; i++) {
        fputs("<tr><th scope=\"row\">", out);
        page_text(out, days->node[i]);
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

    fprintf(out,
            "<section class=\"long\"><h2>Nodes by day</h2>\n<p class=\"soft\">%s of the steps ",
            days->energy ? "Energy" : "Core-hours given");
    fputs("of each node on each day from ", out);
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

static bool any_energy(const struct page *page)
{
    return page->grand.energy[REPORT_ENERGY].metered > 0;
}

/* Fills the table from the records in the order of their nodes. */
static void fill(struct days *days, double *sorted)
{
    for (size_t i = 0; i < days->page->records; i++)
        add(days, days->page->record[i]);
    memcpy(sorted, days->cell, days->nodes * days->n * sizeof(*sorted));
    days->most = page_scale(sorted, days->nodes * days->n, MOST_OF);
}

int page_days(struct page *page)
{
    struct days days = {.page = page, .energy = any_energy(page)};
    const char *name[2][NODES_MOST];
    double *sorted;

    find_days(&days);
    if (days.n == 0 || page->records == 0)
        return 0;
    days.node = name[0];
    days.cluster = name[1];
    days.cell = calloc(2 * NODES_MOST * days.n, sizeof(*days.cell));
    if (!days.cell)
        return -1;
    sorted = days.cell + NODES_MOST * days.n;
    fill(&days, sorted);
    if (days.nodes)
        put_section(&days);
    free(days.cell);
    return 0;
}
