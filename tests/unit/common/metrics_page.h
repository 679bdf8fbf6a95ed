/* SPDX-License-Identifier: GPL-2.0-or-later */
/* metrics_page - a reader of the pages that Prometheus reads, for the tests: written after the
 * specifications of OpenMetrics 1.0 and of the text format 0.0.4, apart from packer/metrics_text,
 * and stricter than they are (each family has all that describes it, and at least one sample). */
#ifndef BERTH_METRICS_PAGE_H
#define BERTH_METRICS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_LABELS 8
#define PAGE_TEXT 300

struct page_label {
    char name[64], value[PAGE_TEXT];
};

struct page_sample {
    char name[64];
    size_t labels;
    struct page_label label[PAGE_LABELS];
    char number[40];
    double value;
};

struct page {
    size_t n;
    struct page_sample *sample;
};

/* Read a page. NULL and why ("line 3: ..") when it is none. Free with page_free. */
struct page *page_read(const char *text, size_t length, bool open, char why[256]);
void page_free(struct page *page); /* NULL is fine */

/* The sample of that name that has exactly these labels: "a=b,c=d" ("": none); NULL: there is none.
 */
const struct page_sample *page_find(const struct page *page, const char *name, const char *labels);

/* How many samples have that name. */
size_t page_count(const struct page *page, const char *name);

#endif
