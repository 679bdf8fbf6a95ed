/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_impl - has what the parts of the page share: html.h. */
#ifndef BERTH_REPORT_HTML_IMPL_H
#define BERTH_REPORT_HTML_IMPL_H

#include "packer/report/calendar.h"
#include "packer/report/html.h"
#include "packer/report/intern.h"
#include "packer/report/totals.h"

#define PAGE_COLOURS 9  /* of users; everybody else's is the one after */
#define PAGE_ROWS 500   /* of a table */
#define PAGE_STEPS 2000 /* that are drawn one by one */

/* Joules by time, in buckets of a width that grows with the time that there is. */
#define PAGE_BUCKETS 4096
struct page_watts {
    int64_t width_s, first, last; /* the buckets' numbers: time / width_s */
    bool any;
    double joule[PAGE_BUCKETS];
};

/* Steps by how much slower than alone they were. */
#define PAGE_CLASSES 8
#define PAGE_KINDS 3
struct page_counts {
    unsigned n[PAGE_CLASSES][PAGE_KINDS], most;
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
    FILE *out;
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

/* The time from left to right of a drawing: what the report is of, as far as steps ran in it. */
struct page_axis {
    int64_t from, to;   /* unix seconds */
    double left, right; /* where they stand */
};

void page_axis_find(const struct report_html *page, struct page_axis *axis); /* its time */
double page_axis_x(const struct page_axis *axis, int64_t at);

/* Draws it at the bottom, with lines up to 0. */
void page_axis_put(FILE *out, const struct page_axis *axis, double bottom);

/* Returns the greatest value of a scale for values of which outliers are left out: those more than
 * four times the one that `part` (0 to 1) of them do not exceed. Values that are no number or not
 * above 0 do not count; 0: there is no other. The list is sorted and shortened. */
double page_scale(double *value, size_t n, double part);

/* Writes text of users: escaped, and what is no UTF-8, or a control character, as U+FFFD. */
void page_text(FILE *out, const char *text);

/* Writes a cell for people, "12.34 kJ". */
void page_cell(struct report_html *page, const struct report_row *row,
               const struct report_field *field);

/* Returns the user's colour: a class "c0".."c9". */
unsigned page_colour(const struct report_html *page, const char *user, double uid);

/* Draws a bar, `part` of what there is room for; more than 1 ends in stripes. NAN: no bar. */
void page_bar(FILE *out, double part, unsigned colour);

/* Draws bars of energy and of EDP, a line for each of these rows, which are the first of n; names
 * are what `label` says. */
void page_bars(struct report_html *page, const char *title, const struct report_row *row,
               size_t lines, size_t n, const char *label_field);

/* Says it in one sentence, which the page begins with. */
void page_verdict(struct report_html *page);

/* Says whether berth helps: what benefit_print() says. */
void page_benefit(struct report_html *page);

/* Draws each node's cores over time. 0, or -1 with errno. */
int page_maps(struct report_html *page);

/* Notes what a record's step took on its days; draws what each node did on each day, or in each
 * month. 0, or -1 with errno. */
int page_days_add(struct report_html *page, const struct report_row *row);
int page_days(struct report_html *page);
void page_days_free(struct page_days *days);

/* Notes what a record's step drew; draws that over time. */
void page_power_add(struct report_html *page, const struct report_row *row);
void page_power(struct report_html *page);

/* Counts a record's step; draws how many steps were how much slower than alone. */
void page_slowdowns_add(struct report_html *page, const struct report_row *row);
void page_slowdowns(struct report_html *page);

extern const char page_style[], page_script[];

#endif
