/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_map - draws each node over time: a line for each of its CPUs, a bar for each step, where it
 * stood at its end, in its user's colour. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/cpus.h"
#include "packer/report/html_impl.h"

#define NODES_MOST 24
#define WIDTH 1000
#define LEFT 62
#define RIGHT 990

/* What is drawn of one node. */
struct map {
    struct report_html *page;
    const struct report_row *const *row; /* [n] */
    size_t n;
    struct page_axis axis;
    struct cpus cpus;
    size_t lines;
    unsigned short line[CPUS_MAX]; /* of a CPU */
    double height;                 /* of a line */
    size_t unplaced;
};

/* ---- the frame ---- */

static void put_frame(struct map *map, double bottom)
{
    size_t every = (size_t)ceil(13 / map->height), i = 0;

    page_axis_put(map->page->out, &map->axis, bottom);
    cpus_foreach(cpu, &map->cpus)
    {
        if (i++ % every == 0)
            fprintf(map->page->out, "<text class=\"s e\" x=\"%d\" y=\"%.1f\">%s%zu</text>\n",
                    LEFT - 8, ((double)i - 0.5) * map->height + 4, i == 1 ? "CPU " : "", cpu);
    }
}

/* ---- the bars ---- */

static void put_title(struct map *map, const struct report_row *row)
{
    struct report_column *column;
    struct berth_error err;
    size_t n;

    fputs("<title>", map->page->out);
    if (report_columns_parse("JobID,JobName,User,CPUs,Start,Elapsed,Energy", &column, &n, &err) ==
        0) {
        for (size_t i = 0; i < n; i++) {
            fputs(i > 1 ? ", " : i ? " " : "", map->page->out);
            if (i > 2)
                fprintf(map->page->out, "%s ", column[i].title);
            page_cell(map->page, row, column[i].field);
        }
        free(column);
    }
    fputs("</title>", map->page->out);
}

/* The step's CPUs, a rectangle for each run of lines. */
static void put_step(struct map *map, const struct report_row *row, const struct cpus *cpus)
{
    double x = page_axis_x(&map->axis, row->start),
           width = fmax(page_axis_x(&map->axis, row->end) - x, 1.2);
    size_t first = SIZE_MAX, last = 0;

    fprintf(map->page->out, "<g class=\"bar c%u\">",
            page_colour(map->page, row->text[REPORT_USER], row->number[REPORT_UID]));
    put_title(map, row);
    for (size_t cpu = cpus_next(cpus, 0);; cpu = cpus_next(cpus, cpu + 1)) {
        size_t line = cpu < CPUS_MAX ? map->line[cpu] : SIZE_MAX;

        if (first != SIZE_MAX && line == last + 1) {
            last = line;
            continue;
        }
        if (first != SIZE_MAX)
            fprintf(map->page->out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"/>", x,
                    (double)first * map->height + 0.5, width,
                    (double)(last - first + 1) * map->height - 1);
        if (cpu >= CPUS_MAX)
            break;
        first = last = line;
    }
    fputs("</g>\n", map->page->out);
}

/* Its last place, else where Slurm put it; false: neither is known. */
static bool place_of(const struct report_row *row, struct cpus *cpus)
{
    return (cpus_parse(cpus, row->text[REPORT_CPUS]) == 0 && !cpus_empty(cpus)) ||
           (cpus_parse(cpus, row->text[REPORT_HOME]) == 0 && !cpus_empty(cpus));
}

static void measure(struct map *map)
{
    cpus_zero(&map->cpus);
    for (size_t i = 0; i < map->n; i++) {
        struct cpus cpus;

        if (place_of(map->row[i], &cpus))
            cpus_or(&map->cpus, &cpus);
        else
            map->unplaced++;
    }
    cpus_foreach(cpu, &map->cpus) map->line[cpu] = (unsigned short)map->lines++;
    map->height = map->lines ? fmin(fmax(360.0 / (double)map->lines, 4), 20) : 0;
}

static void put_notes(const struct map *map)
{
    if (map->unplaced)
        fprintf(map->page->out,
                "<figcaption>Of %zu steps it is not known where they stood.</figcaption>",
                map->unplaced);
}

static void put_map(struct map *map)
{
    FILE *out = map->page->out;
    double bottom;

    measure(map);
    bottom = (double)map->lines * map->height;
    fputs("<div class=\"whole\"><h3>", out);
    page_text(out, map->row[0]->text[REPORT_NODES]);
    fputs("</h3>\n<figure>", out);
    if (map->lines) {
        fprintf(out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"Steps on the node ",
                WIDTH, bottom + 22);
        page_text(out, map->row[0]->text[REPORT_NODES]);
        fputs(" over time\">\n", out);
        put_frame(map, bottom);
        for (size_t i = 0; i < map->n; i++) {
            struct cpus cpus;

            if (place_of(map->row[i], &cpus))
                put_step(map, map->row[i], &cpus);
        }
        fputs("</svg>", out);
    }
    put_notes(map);
    fputs("</figure></div>\n", out);
}

/* ---- all nodes ---- */

static void put_legend(struct report_html *page)
{
    size_t shown = page->users < PAGE_COLOURS ? page->users : PAGE_COLOURS;

    fputs("<ul class=\"legend\">", page->out);
    for (size_t i = 0; i < shown; i++) {
        fprintf(page->out, "<li><i class=\"c%zu\"></i>", i);
        page_text(page->out, page->user[i].group[0]);
        fputs("</li>", page->out);
    }
    if (page->users > shown)
        fprintf(page->out, "<li><i class=\"c%d\"></i>%zu others</li>", PAGE_COLOURS,
                page->users - shown);
    fputs("</ul>\n", page->out);
}

static void put_maps(struct report_html *page, const struct report_row *const *row, size_t n)
{
    struct map all = {.page = page, .axis = {.left = LEFT, .right = RIGHT}};
    size_t nodes = 0, left_out = 0;

    page_axis_find(page, &all.axis);
    for (size_t i = 0, end; i < n; i = end) {
        struct map map = all;

        for (end = i; end < n && row[end]->text[REPORT_NODES] == row[i]->text[REPORT_NODES] &&
                      row[end]->text[REPORT_CLUSTER] == row[i]->text[REPORT_CLUSTER];)
            end++;
        map.row = row + i;
        map.n = end - i;
        if (nodes++ < NODES_MOST)
            put_map(&map);
        else
            left_out++;
    }
    if (left_out)
        fprintf(page->out,
                "<p class=\"soft\">%zu more nodes are not drawn: --nodelist asks for "
                "certain ones.</p>\n",
                left_out);
}

static int by_node_and_start(const void *a, const void *b)
{
    const struct report_row *left = *(const struct report_row *const *)a;
    const struct report_row *right = *(const struct report_row *const *)b;
    int order = strcmp(left->text[REPORT_CLUSTER], right->text[REPORT_CLUSTER]);

    if (order == 0)
        order = strverscmp(left->text[REPORT_NODES], right->text[REPORT_NODES]);
    return order ? order : (left->start > right->start) - (left->start < right->start);
}

/* Says that there are too many to be drawn: a picture of some of them would be of nothing. */
static void put_too_many(struct report_html *page)
{
    fprintf(page->out,
            "<section><h2>The nodes over time</h2>\n<p class=\"soft\">%zu steps are too many to be "
            "drawn one by one (%d at most): --nodelist, --user, --starttime and --endtime ask for "
            "certain ones.</p></section>\n",
            page->records, PAGE_STEPS);
}

int page_maps(struct report_html *page)
{
    const struct report_row **row;

    if (page->records == 0)
        return 0;
    if (page->records > PAGE_STEPS) {
        put_too_many(page);
        return 0;
    }
    row = malloc(page->steps * sizeof(*row));
    if (!row)
        return -1;
    for (size_t i = 0; i < page->steps; i++)
        row[i] = &page->step[i];
    qsort(row, page->steps, sizeof(*row), by_node_and_start);
    fputs("<section class=\"long\"><h2>The nodes over time</h2>\n<p class=\"soft\">A line for "
          "each CPU that a step stood on, a bar for each step from its start to its end, where "
          "it stood last. Colours are users.</p>\n",
          page->out);
    put_legend(page);
    put_maps(page, row, page->steps);
    fputs("</section>\n", page->out);
    free(row);
    return 0;
}
