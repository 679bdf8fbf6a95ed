/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_words - texts that are kept once each, however often they come: of a hundred thousand
 * records nearly all names are the same few. Equal texts are equal pointers. */
#ifndef BERTH_REPORT_INTERN_H
#define BERTH_REPORT_INTERN_H

struct report_words;

struct report_words *report_words_new(void); /* NULL: no memory */
void report_words_free(struct report_words *words);

/* The kept copy of the text; NULL: no memory. */
const char *report_words_keep(struct report_words *words, const char *text);

#endif
