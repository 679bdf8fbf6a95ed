/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allocation - see allocation.h: rows are sorted by their jobs' runs and nodes, where those that
 * hold all cores come first. */
#include "packer/report/allocation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool holds_all(const struct report_row *row)
{
    return row->id.step == WIRE_STEP_BATCH || row->id.step == WIRE_STEP_INTERACTIVE;
}

static int by_number(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static int by_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

/* The same run of a job on the same node. */
static int compare_place(const struct report_row *a, const struct report_row *b)
{
    int order = by_number(a->id.job, b->id.job);

    if (order == 0)
        order = by_number(a->number[REPORT_UID], b->number[REPORT_UID]);
    if (order == 0)
        order = by_number(a->number[REPORT_RESTARTS], b->number[REPORT_RESTARTS]);
    if (order == 0)
        order = by_text(a->text[REPORT_CLUSTER], b->text[REPORT_CLUSTER]);
    return order ? order : by_text(a->text[REPORT_NODES], b->text[REPORT_NODES]);
}

static int compare(const void *a, const void *b)
{
    const struct report_row *left = *(struct report_row *const *)a;
    const struct report_row *right = *(struct report_row *const *)b;
    int order = compare_place(left, right);

    return order ? order : holds_all(right) - holds_all(left);
}

/* The rows of a run on a node. */
static void allocate_place(struct report_row *const *row, size_t n)
{
    bool held = holds_all(row[0]) && !isnan(row[0]->number[REPORT_CPU_TIME_S]);

    for (size_t i = 0; i < n; i++)
        row[i]->number[REPORT_ALLOCATED_S] =
            held && !holds_all(row[i]) ? 0 : row[i]->number[REPORT_CPU_TIME_S];
}

int report_allocate(struct report_row *row, size_t n)
{
    struct report_row **order;
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        row[i].number[REPORT_ALLOCATED_S] = row[i].number[REPORT_CPU_TIME_S];
        any = any || holds_all(&row[i]);
    }
    if (!any || n == 1)
        return 0;
    order = malloc(n * sizeof(*order));
    if (!order)
        return -1;
    for (size_t i = 0; i < n; i++)
        order[i] = &row[i];
    qsort(order, n, sizeof(*order), compare);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && compare_place(order[i], order[end]) == 0;)
            end++;
        allocate_place(order + i, end - i);
    }
    free(order);
    return 0;
}
