/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_gather - what the page shows is gathered from jobs as they come: sums, the greatest ones,
 * and single steps as long as they are few. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packer/base/array.h"
#include "packer/report/html_impl.h"

struct report_html *report_html_new(const struct report_page *about)
{
    struct report_html *page = calloc(1, sizeof(*page));
    static const struct report_keys users = {{REPORT_BY_USER}};

    if (!page)
        return NULL;
    page->about = *about;
    page->from = INT64_MAX;
    page->words = report_intern_new();
    page->by_user = report_totals_new(&users);
    if (page->words && page->by_user)
        return page;
    report_html_free(page);
    return NULL;
}

void report_html_free(struct report_html *page)
{
    if (!page)
        return;
    report_totals_free(page->by_user);
    report_intern_free(page->words);
    page_days_free(&page->days);
    free(page->job);
    free(page->step);
    free(page);
}

/* ---- single rows ---- */

/* Gives a row that is kept texts that are. */
static int keep_texts(struct report_html *page, struct report_row *row)
{
    for (int i = 0; i < REPORT_TEXTS; i++) {
        row->text[i] = report_intern_keep(page->words, row->text[i]);
        if (!row->text[i])
            return -1;
    }
    return 0;
}

/* Keeps single steps, until they are too many to be drawn. */
static int keep_step(struct report_html *page, const struct report_row *row)
{
    if (page->records > PAGE_STEPS)
        return 0;
    if (array_grow(&page->step, &page->step_room, page->steps + 1, sizeof(*row)) < 0)
        return -1;
    page->step[page->steps] = *row;
    return keep_texts(page, &page->step[page->steps++]);
}

static double energy_of(const struct report_row *row)
{
    double energy_j = report_energy_j(&row->energy[REPORT_ENERGY]);

    return isnan(energy_j) ? -1 : energy_j;
}

static int by_energy(const void *a, const void *b)
{
    double left = energy_of(a), right = energy_of(b);

    return (right > left) - (right < left);
}

/* Puts the i-th of a heap, whose least stands first, where it belongs below. */
static void sift_down(struct report_row *heap, size_t n, size_t i)
{
    for (size_t least = i;; i = least) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (energy_of(&heap[child]) < energy_of(&heap[least]))
                least = child;
        if (least == i)
            return;
        struct report_row row = heap[i];

        heap[i] = heap[least];
        heap[least] = row;
    }
}

/* Keeps a job while it is one of the PAGE_ROWS greatest. */
static int keep_job(const struct report_row *job, const struct report_row *steps, size_t n,
                    void *arg)
{
    struct report_html *page = arg;

    (void)steps, (void)n;
    page->jobs++;
    if (page->kept < PAGE_ROWS) {
        if (array_grow(&page->job, &page->job_room, page->kept + 1, sizeof(*job)) < 0)
            return -1;
        page->job[page->kept] = *job;
        if (keep_texts(page, &page->job[page->kept++]) < 0)
            return -1;
        for (size_t i = page->kept / 2; page->kept == PAGE_ROWS && i-- > 0;)
            sift_down(page->job, page->kept, i);
        return 0;
    }
    if (energy_of(job) <= energy_of(&page->job[0]))
        return 0;
    page->job[0] = *job;
    if (keep_texts(page, &page->job[0]) < 0)
        return -1;
    sift_down(page->job, page->kept, 0);
    return 0;
}

/* ---- slowdowns ---- */

const double page_class_pct[PAGE_CLASSES] = {0, 1, 2, 5, 10, 20, 50, 100};

static void count_slowdowns(struct page_counts *counts, const struct report_row *row)
{
    static const enum report_number kind[PAGE_KINDS] = {REPORT_AT_HOME, REPORT_PREDICTED,
                                                        REPORT_OBSERVED};

    for (size_t k = 0; k < PAGE_KINDS; k++) {
        double slowdown = row->number[kind[k]];
        size_t i = PAGE_CLASSES - 1;

        while (i > 0 && slowdown * 100 < page_class_pct[i])
            i--;
        if (!isnan(slowdown))
            counts->n[i][k]++;
    }
}

/* ---- all ---- */

static int add_record(struct report_html *page, const struct report_row *row)
{
    page->records++;
    page->from = row->start < page->from ? row->start : page->from;
    page->to = row->end > page->to ? row->end : page->to;
    page_power_add(page, row);
    count_slowdowns(&page->counts, row);
    return page_days_add(page, row) < 0 ? -1 : keep_step(page, row);
}

int report_html_add(struct report_html *page, struct report *report)
{
    const struct report_visitor jobs = {.job = keep_job, .arg = page};

    if (report_totals_add(page->by_user, report, false, &jobs) != 0)
        return -1;
    for (size_t i = 0; i < report_records(report); i++)
        if (add_record(page, report_record(report, i)) < 0)
            return -1;
    return 0;
}

void page_conclude(struct report_html *page)
{
    page->user = report_totals_conclude(page->by_user, &page->users, &page->grand);
    if (page->users)
        qsort(page->user, page->users, sizeof(*page->user), by_energy);
    if (page->kept)
        qsort(page->job, page->kept, sizeof(*page->job), by_energy);
}
