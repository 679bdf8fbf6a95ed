/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_slowdown - draws how many steps were how much slower than alone. The classes are the same in
 * every report, and the last one takes all that is above it. */
#include <math.h>

#include "packer/report/html_impl.h"

static const double from_pct[] = {0, 1, 2, 5, 10, 20, 50, 100};
#define CLASSES (sizeof(from_pct) / sizeof(from_pct[0]))
_Static_assert(CLASSES == PAGE_CLASSES, "a count for each");

/* What is known of a step's slowdown, in the order of the bars. */
static const struct {
    enum report_number number;
    const char *name;
    unsigned colour;
} known[] = {{REPORT_AT_HOME, "predicted, as Slurm put it", 9},
             {REPORT_PREDICTED, "predicted, where it stood", 0},
             {REPORT_OBSERVED, "measured", 2}};
#define KNOWN (sizeof(known) / sizeof(known[0]))
_Static_assert(KNOWN == PAGE_KINDS, "a count for each");

static size_t class_of(double slowdown)
{
    size_t i = CLASSES - 1;

    while (i > 0 && slowdown * 100 < from_pct[i])
        i--;
    return i;
}

void page_slowdowns_add(struct report_html *page, const struct report_row *row)
{
    struct page_counts *counts = &page->counts;

    for (size_t k = 0; k < KNOWN; k++) {
        double slowdown = row->number[known[k].number];
        unsigned *n;

        if (isnan(slowdown))
            continue;
        n = &counts->n[class_of(slowdown)][k];
        counts->most = ++*n > counts->most ? *n : counts->most;
    }
}

static void put_class(struct report_html *page, const struct page_counts *counts, size_t i)
{
    char name[48];

    if (i == 0)
        snprintf(name, sizeof(name), "less than %g\xc2\xa0%%", from_pct[1]);
    else if (i + 1 == CLASSES)
        snprintf(name, sizeof(name), "%g\xc2\xa0%% and more", from_pct[i]);
    else
        snprintf(name, sizeof(name), "%g to %g\xc2\xa0%%", from_pct[i], from_pct[i + 1]);
    for (size_t k = 0; k < KNOWN; k++) {
        fprintf(page->out, "<li class=\"bar%s\"><span>%s</span>", k ? "" : " first", k ? "" : name);
        page_bar(page->out, (double)counts->n[i][k] / counts->most, known[k].colour);
        fprintf(page->out, "<b>%u</b></li>\n", counts->n[i][k]);
    }
}

void page_slowdowns(struct report_html *page)
{
    const struct page_counts *counts = &page->counts;

    if (counts->most == 0)
        return;
    fputs("<section><h2>Slowdowns</h2>\n<p class=\"soft\">How many steps, on each of their nodes, "
          "ran how much slower than alone.</p>\n<ul class=\"legend\">",
          page->out);
    for (size_t k = 0; k < KNOWN; k++)
        fprintf(page->out, "<li><i class=\"c%u\"></i>%s</li>", known[k].colour, known[k].name);
    fputs("</ul>\n<ul class=\"bars close\">\n", page->out);
    for (size_t i = 0; i < CLASSES; i++)
        put_class(page, counts, i);
    fputs("</ul></section>\n", page->out);
}
