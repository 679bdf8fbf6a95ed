/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_impl - has what the parts of the page share: html.h. */
#ifndef BERTH_REPORT_HTML_IMPL_H
#define BERTH_REPORT_HTML_IMPL_H

#include "packer/report/calendar.h"
#include "packer/report/html.h"
#include "packer/report/intern.h"
#include "packer/report/totals.h"

#define PAGE_ROWS 500   /* of a table */
#define PAGE_STEPS 2000 /* that are drawn one by one */

/* Joules by time, in buckets of a width that grows with the time that there is. */
#define PAGE_BUCKETS 4096
struct page_watts {
    int64_t width_s, first, last; /* the buckets' numbers: time / width_s */
    bool any;
    double joule[PAGE_BUCKETS];
};

/* Steps by how much slower than alone they were: predicted as Slurm put them, predicted where they
 * stood, and measured. The classes are the same in every report. */
#define PAGE_CLASSES 8
#define PAGE_KINDS 3
extern const double page_class_pct[PAGE_CLASSES]; /* where each begins */
struct page_counts {
    unsigned n[PAGE_CLASSES][PAGE_KINDS];
};

/* What a node's steps took on each day. */
struct page_node {
    const char *node, *cluster;
    size_t records;
    int64_t first; /* its first day, as struct page_days counts them */
    size_t n, room;
    struct page_day {
        double energy_j, core_s; /* NAN nothing */
    } * day;
};

struct page_days {
    struct calendar calendar;
    int64_t origin; /* the midnight that begins day 0; 0: there is none yet */
    struct page_node **node;
    size_t nodes, room;
    void *found; /* tsearch(3) of these */
};

/* What the page shows, gathered before it is written. */
struct report_html {
    struct report_page about;
    const struct benefit_result *benefit;
    struct report_intern *words;
    struct report_totals *by_user;
    struct report_row grand;
    struct report_row *user; /* [users] by energy, the greatest first */
    size_t users;
    struct report_row *job; /* [kept] the PAGE_ROWS of `jobs` that used most energy, as above */
    size_t kept, jobs, job_room;
    struct report_row *step; /* [steps] of a node each; none, where there are too many */
    size_t steps, step_room;
    size_t records;
    int64_t from, to; /* when they ran, unix seconds */
    struct page_watts watts;
    struct page_counts counts;
    struct page_days days;
};

/* Sorts what was gathered, and finds the total of all. */
void page_conclude(struct report_html *page);

/* Notes what a record's step took on its days: 0, or -1 with errno. Adds "days" to what page.js is
 * told. */
int page_days_add(struct report_html *page, const struct report_row *row);
void page_days_add_to(struct report_html *page, struct json_object *data);
void page_days_free(struct page_days *days);

/* Notes what a record's step drew. */
void page_power_add(struct report_html *page, const struct report_row *row);

/* page.html, up to where the JSON stands, and from there on. */
extern const char page_head[], page_tail[];

#endif
