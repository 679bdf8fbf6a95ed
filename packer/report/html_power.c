/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_power - adds up over time what the steps that were metered drew. A step's power is taken to
 * be the same from its start to its end, since its record has its energy alone. */
#include <math.h>
#include <string.h>

#include "packer/report/html_impl.h"

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
