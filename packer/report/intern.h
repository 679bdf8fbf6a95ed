/* SPDX-License-Identifier: GPL-2.0-or-later */
/* intern - keeps each text once, however often it comes: of a hundred thousand records nearly all
 * names are the same few. Equal texts are equal pointers. */
#ifndef BERTH_REPORT_INTERN_H
#define BERTH_REPORT_INTERN_H

#include <stddef.h>

struct report_intern;

/* Returns one that keeps nothing yet; NULL: no memory. */
struct report_intern *report_intern_new(void);

/* Frees it and all texts that it keeps. NULL is fine. */
void report_intern_free(struct report_intern *words);

/* Frees all texts that it keeps; it keeps nothing then. */
void report_intern_clear(struct report_intern *words);

/* Returns how many texts it keeps. */
size_t report_intern_count(const struct report_intern *words);

/* Returns the copy of the text that is kept; NULL: no memory. */
const char *report_intern_keep(struct report_intern *words, const char *text);

#endif
