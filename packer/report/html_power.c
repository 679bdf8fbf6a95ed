/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_power - draws what the steps that were metered drew, over time. A step's power is taken to
 * be the same from its start to its end, since its record has its energy alone. */
#include <math.h>
#include <string.h>

#include "packer/report/html_impl.h"

#define WIDTH 1000
#define HEIGHT 150
#define TOP 14
#define BINS 200
#define MOST_OF 0.95 /* of the bins decide on the scale */

struct power {
    struct page_axis axis;
    double watt[BINS];
    double most; /* of the scale */
};

static double bin_s(const struct power *power)
{
    return (double)(power->axis.to - power->axis.from) / BINS;
}

/* ---- buckets ---- */

/* Makes two buckets one. */
static void coarsen(struct page_watts *watts)
{
    int64_t first = watts->first / 2;
    size_t n = (size_t)(watts->last - watts->first + 1);

    for (size_t i = 0; i < n; i++) {
        double joule = watts->joule[i];

        watts->joule[i] = 0;
        watts->joule[(size_t)((watts->first + (int64_t)i) / 2 - first)] += joule;
    }
    watts->width_s *= 2;
    watts->last /= 2;
    watts->first = first;
}

/* Makes buckets of this time. */
static void cover(struct page_watts *watts, int64_t from, int64_t to)
{
    if (!watts->any) {
        *watts = (struct page_watts){.width_s = 1, .first = from, .last = from, .any = true};
    }
    for (;;) {
        int64_t first = from / watts->width_s, last = (to - 1) / watts->width_s;

        first = first < watts->first ? first : watts->first;
        last = last > watts->last ? last : watts->last;
        if (last - first < PAGE_BUCKETS) {
            size_t shift = (size_t)(watts->first - first);

            memmove(watts->joule + shift, watts->joule,
                    (size_t)(watts->last - watts->first + 1) * sizeof(*watts->joule));
            memset(watts->joule, 0, shift * sizeof(*watts->joule));
            watts->first = first;
            watts->last = last;
            return;
        }
        coarsen(watts);
    }
}

void page_power_add(struct report_html *page, const struct report_row *row)
{
    double energy_j = report_energy_j(&row->energy[REPORT_ENERGY]);
    int64_t end = row->end > row->start ? row->end : row->start + 1;
    int64_t from = row->start > page->about.since ? row->start : page->about.since;
    int64_t to = end < page->about.until ? end : page->about.until;
    struct page_watts *watts = &page->watts;

    if (isnan(energy_j) || to <= from)
        return;
    cover(watts, from, to);
    for (int64_t i = from / watts->width_s; i * watts->width_s < to; i++) {
        int64_t begin = i * watts->width_s, next = begin + watts->width_s;
        int64_t part_s = (next < to ? next : to) - (begin > from ? begin : from);

        watts->joule[i - watts->first] += energy_j * (double)part_s / (double)(end - row->start);
    }
}

/* ---- drawing ---- */

/* Fills the bins from the buckets, by the part of each that they have. */
static void fill(struct power *power, const struct page_watts *watts)
{
    double width_s = bin_s(power);

    for (int64_t i = watts->first; watts->any && i <= watts->last; i++) {
        double from_s = (double)(i * watts->width_s - power->axis.from);
        double to_s = from_s + (double)watts->width_s, joule = watts->joule[i - watts->first];

        for (int k = (int)fmax(from_s / width_s, 0); k < BINS && k * width_s < to_s; k++) {
            double part_s = fmin(to_s, (k + 1) * width_s) - fmax(from_s, k * width_s);

            power->watt[k] += part_s > 0 ? joule * part_s / (double)watts->width_s / width_s : 0;
        }
    }
}

static double y_of(const struct power *power, double watt)
{
    return TOP + (1 - fmin(watt / power->most, 1)) * HEIGHT;
}

static void put_watts(FILE *out, const struct power *power, double part)
{
    double watt = power->most * part, y = y_of(power, watt);

    fprintf(out,
            "<line x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"s e\" x=\"%.0f\" y=\"%.1f\">%.4g\xc2\xa0%s</text>\n",
            power->axis.left, power->axis.right, y, y, power->axis.left - 6, y + 4,
            watt >= 1e3 ? watt / 1e3 : watt, watt >= 1e3 ? "kW" : "W");
}

/* The line, with the area below it; what lies above the scale has a mark at its top. */
static void put_line(FILE *out, const struct power *power)
{
    double width = (power->axis.right - power->axis.left) / BINS;

    fprintf(out, "<path class=\"area\" d=\"M%.1f %d", power->axis.left, TOP + HEIGHT);
    for (int i = 0; i < BINS; i++)
        fprintf(out, "V%.1fh%.2f", y_of(power, power->watt[i]), width);
    fprintf(out, "V%dZ\"/>\n", TOP + HEIGHT);
    for (int i = 0; i < BINS; i++)
        if (power->watt[i] > power->most)
            fprintf(out,
                    "<path class=\"over\" d=\"M%.1f 0l5 9h-10z\"><title>%.4g W</title></path>\n",
                    power->axis.left + (i + 0.5) * width, power->watt[i]);
}

static bool is_clipped(const struct power *power)
{
    for (int i = 0; i < BINS; i++)
        if (power->watt[i] > power->most)
            return true;
    return false;
}

void page_power(struct report_html *page)
{
    struct power power = {.axis = {.left = 62, .right = 990}};
    double sorted[BINS];

    page_axis_find(page, &power.axis);
    fill(&power, &page->watts);
    memcpy(sorted, power.watt, sizeof(sorted));
    power.most = page_scale(sorted, BINS, MOST_OF);
    if (power.most <= 0)
        return;
    fprintf(page->out,
            "<section><h2>Power over time</h2>\n<p class=\"soft\">What the steps that were metered "
            "drew together, each its average from its start to its end.</p>\n"
            "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Power over time\">\n",
            WIDTH, TOP + HEIGHT + 22);
    page_axis_put(page->out, &power.axis, TOP + HEIGHT);
    put_watts(page->out, &power, 0.5);
    put_watts(page->out, &power, 1);
    put_line(page->out, &power);
    fputs("</svg>", page->out);
    if (is_clipped(&power))
        fputs("<figcaption>\xe2\x96\xb2: more than the scale has, which is that of 95 of 100 "
              "times.</figcaption>",
              page->out);
    fputs("</figure></section>\n", page->out);
}
