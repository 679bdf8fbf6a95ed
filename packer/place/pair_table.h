/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_table - what two cores lose beside each other, kept for each two slots of a forecast: a
 * search asks thousands of times. What is not known is NAN. */
#ifndef BERTH_PLACE_PAIR_TABLE_H
#define BERTH_PLACE_PAIR_TABLE_H

#include <stddef.h>

#define PAIR_TABLE_MAX 128 /* slots that have a place in it */

struct pair_table {
    float predicted[PAIR_TABLE_MAX][PAIR_TABLE_MAX]; /* slowdown of the first, by the model alone */
    float lost[PAIR_TABLE_MAX][PAIR_TABLE_MAX];      /* by both, corrected; [a][b] is [b][a] */
    float sibling[PAIR_TABLE_MAX][PAIR_TABLE_MAX];   /* slowdown of the first with the other on its
                                                        core, corrected */
};

/* Returns one in which nothing is known; NULL when out of memory. free() ends it. */
struct pair_table *pair_table_new(void);

/* Forgets what is known of a slot (table NULL is fine). */
void pair_table_forget(struct pair_table *table, size_t slot);

/* Forgets what was corrected, of all. */
void pair_table_correct_anew(struct pair_table *table);

#endif
