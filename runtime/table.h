/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table - what belongs to an object of the program, by the object's address.
 *
 * To find is to read one cache line or two and waits for nobody. There is room for a bounded number
 * of objects; one that finds none has nothing here. In a child of fork a table is empty. */
#ifndef BERTH_RUNTIME_TABLE_H
#define BERTH_RUNTIME_TABLE_H

#include <stdatomic.h>

struct table_rows;

/* One that is all 0 is empty. */
struct table {
    _Atomic(struct table_rows *) rows;
};

/* Returns what belongs to the object, or NULL. */
void *table_find(struct table *table, const void *object);

/* Has `what` belong to the object, where nothing does, and returns what then belongs to it; NULL:
 * there is no room. */
void *table_add(struct table *table, const void *object, void *what);

/* Returns what belonged to the object, or NULL; nothing does any more. */
void *table_drop(struct table *table, const void *object);

#endif
