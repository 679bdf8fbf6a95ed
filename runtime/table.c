/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table - see table.h. An object can be in the 8 places of one row, and nowhere else. Who looks for
 * an object while it is dropped may find what belongs to another one that gets its place. */
#include "runtime/table.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/futex.h"
#include "runtime/lines.h"

#define ROWS 4096 /* a power of 2 */
#define PLACES 8

struct row {
    _Alignas(64) _Atomic(const void *) object[PLACES];
    _Atomic(void *) what[PLACES];
};

struct table_rows {
    struct row row[ROWS];
    struct latch latch; /* of who writes */
};

static struct row *row_of(struct table_rows *rows, const void *object)
{
    return &rows->row[((uintptr_t)object >> 3) * 0x9e3779b97f4a7c15 >> 52 & (ROWS - 1)];
}

static size_t find_place(struct row *row, const void *object)
{
    size_t i = 0;

    while (i < PLACES && atomic_load_explicit(&row->object[i], memory_order_acquire) != object)
        i++;
    return i;
}

void *table_find(struct table *table, const void *object)
{
    struct table_rows *rows = atomic_load_explicit(&table->rows, memory_order_acquire);
    struct row *row;
    size_t i;

    if (!rows)
        return NULL;
    row = row_of(rows, object);
    i = find_place(row, object);
    return i < PLACES ? atomic_load_explicit(&row->what[i], memory_order_acquire) : NULL;
}

static struct table_rows *make_rows(struct table *table)
{
    struct table_rows *made = lines_map(sizeof(*made)), *other = NULL;

    if (!made || atomic_compare_exchange_strong(&table->rows, &other, made))
        return made;
    munmap(made, sizeof(*made));
    return other;
}

static void *add_to(struct row *row, const void *object, void *what)
{
    size_t i = find_place(row, object);

    if (i < PLACES)
        return atomic_load(&row->what[i]);
    i = find_place(row, NULL);
    if (i == PLACES)
        return NULL;
    atomic_store(&row->what[i], what);
    atomic_store_explicit(&row->object[i], object, memory_order_release);
    return what;
}

void *table_add(struct table *table, const void *object, void *what)
{
    struct table_rows *rows = atomic_load(&table->rows);

    if (!rows)
        rows = make_rows(table);
    if (!rows)
        return NULL;
    latch_take(&rows->latch);
    what = add_to(row_of(rows, object), object, what);
    latch_give(&rows->latch);
    return what;
}

void *table_drop(struct table *table, const void *object)
{
    struct table_rows *rows = atomic_load(&table->rows);
    struct row *row;
    void *what = NULL;
    size_t i;

    if (!table_find(table, object))
        return NULL;
    row = row_of(rows, object);
    latch_take(&rows->latch);
    i = find_place(row, object);
    if (i < PLACES) {
        what = atomic_load(&row->what[i]);
        atomic_store(&row->object[i], NULL);
    }
    latch_give(&rows->latch);
    return what;
}
