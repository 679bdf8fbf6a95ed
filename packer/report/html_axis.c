/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_axis - draws the time below what is drawn over it. */
#include <math.h>
#include <time.h>

#include "packer/report/html_impl.h"

double page_axis_x(const struct page_axis *axis, int64_t at)
{
    double part = (double)(at - axis->from) / (double)(axis->to - axis->from);

    return axis->left + fmin(fmax(part, 0), 1) * (axis->right - axis->left);
}

static int64_t tick_of(int64_t span)
{
    static const int64_t step[] = {1,      2,      5,       10,      15,      30,
                                   60,     120,    300,     600,     900,     1800,
                                   3600,   7200,   10800,   21600,   43200,   86400,
                                   172800, 604800, 1209600, 2592000, 7776000, 31536000};
    size_t i = 0;

    while (i + 1 < sizeof(step) / sizeof(step[0]) && span / step[i] > 8)
        i++;
    return step[i];
}

static void put_tick(FILE *out, const struct page_axis *axis, int64_t at, int64_t tick,
                     double bottom)
{
    time_t seconds = (time_t)at;
    struct tm tm;
    char text[32];
    double x = page_axis_x(axis, at);

    if (!localtime_r(&seconds, &tm))
        return;
    strftime(text, sizeof(text),
             tick >= 86400                       ? "%b %d"
             : tm.tm_hour == 0 && tm.tm_min == 0 ? "%b %d"
             : tick < 60                         ? "%H:%M:%S"
                                                 : "%H:%M",
             &tm);
    fprintf(out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.1f\"/>"
            "<text class=\"s %s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            x, x, bottom, at == axis->to ? "e" : "m", x, bottom + 15, text); /* inside the page */
}

void page_axis_put(FILE *out, const struct page_axis *axis, double bottom)
{
    int64_t tick = tick_of(axis->to - axis->from), offset;
    time_t from = (time_t)axis->from;
    struct tm tm;

    offset = localtime_r(&from, &tm) ? tm.tm_gmtoff : 0;
    for (int64_t at = axis->from + (tick - (axis->from + offset) % tick) % tick; at <= axis->to;
         at += tick)
        put_tick(out, axis, at, tick, bottom);
    fprintf(out, "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", axis->left,
            axis->right, bottom, bottom);
}

void page_axis_find(const struct report_html *page, struct page_axis *axis)
{
    axis->from = page->records ? page->from : page->about.since;
    axis->to = page->to;
    if (axis->from < page->about.since)
        axis->from = page->about.since;
    if (axis->to > page->about.until)
        axis->to = page->about.until;
    if (axis->to <= axis->from)
        axis->to = axis->from + 1;
}
