/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pair_table - see pair_table.h */
#include "packer/place/pair_table.h"

#include <math.h>
#include <stdlib.h>

struct pair_table *pair_table_new(void)
{
    struct pair_table *table = malloc(sizeof(*table));

    for (size_t i = 0; table && i < PAIR_TABLE_MAX; i++)
        pair_table_forget(table, i);
    return table;
}

void pair_table_forget(struct pair_table *table, size_t slot)
{
    for (size_t i = 0; table && slot < PAIR_TABLE_MAX && i < PAIR_TABLE_MAX; i++) {
        table->predicted[slot][i] = table->predicted[i][slot] = NAN;
        table->lost[slot][i] = table->lost[i][slot] = NAN;
        table->sibling[slot][i] = table->sibling[i][slot] = NAN;
    }
}

void pair_table_correct_anew(struct pair_table *table)
{
    for (size_t i = 0; table && i < PAIR_TABLE_MAX; i++)
        for (size_t j = 0; j < PAIR_TABLE_MAX; j++)
            table->lost[i][j] = table->sibling[i][j] = NAN;
}
