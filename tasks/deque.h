/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deque - a worker's queue: it pushes and pops at the bottom, thieves take from the top (Chase and
 * Lev 2005), with the memory orders that Le, Pop, Cohen and Zappa Nardelli proved for C11 (2013).
 *
 * The owner pays one fence for a pop and no locked instruction but for the last item. Two threads
 * race only for that one: both try to move the top on. A slot is read before the top is moved, so
 * that what was read of a slot that is used again is thrown away.
 *
 * A full array is replaced by one of twice the size. A thief may still read the old one, which
 * stays until the deque ends; all of them together are no larger than the last one. */
#ifndef BERTH_TASKS_DEQUE_H
#define BERTH_TASKS_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASKS_LINE 64 /* bytes that two workers should not both write to */

struct deque_array {
    int64_t size; /* a power of two */
    struct deque_array *older;
    _Atomic(void *) item[];
};

struct deque {
    _Alignas(TASKS_LINE) _Atomic int64_t top; /* only grows */
    _Alignas(TASKS_LINE) _Atomic int64_t bottom;
    _Atomic(struct deque_array *) array;
};

enum deque_taken {
    DEQUE_TAKEN,
    DEQUE_EMPTY,
    DEQUE_LOST /* another one took it */
};

/* Begins an empty deque. size: of its first array, a power of two. Returns -1: no memory. */
int deque_begin(struct deque *deque, int64_t size);

/* Frees what it has. Nobody uses it any more. */
void deque_end(struct deque *deque);

/* Owner only: replaces the array by one of twice the size. Returns NULL: no memory. */
struct deque_array *deque_grow(struct deque *deque, int64_t top, int64_t bottom);

/* Any thread: takes the oldest item. */
enum deque_taken deque_steal(struct deque *deque, void **item);

static inline _Atomic(void *) *deque_slot(struct deque_array *array, int64_t i)
{
    return &array->item[i & (array->size - 1)];
}

/* Returns how many items there are, more or less while others push or take. */
static inline int64_t deque_size(const struct deque *deque)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed),
            top = atomic_load_explicit(&deque->top, memory_order_relaxed);

    return bottom > top ? bottom - top : 0;
}

/* Owner only: adds an item. Returns how many there are at most then; -1: no memory, and it is not
 * added. */
static inline int64_t deque_push(struct deque *deque, void *item)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed),
            top = atomic_load_explicit(&deque->top, memory_order_acquire);
    struct deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);

    if (bottom - top >= array->size && !(array = deque_grow(deque, top, bottom)))
        return -1;
    atomic_store_explicit(deque_slot(array, bottom), item, memory_order_relaxed);
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
    return bottom + 1 - top;
}

/* Owner only: takes the newest item; NULL: there is none. *left: how many are still there. */
static inline void *deque_pop(struct deque *deque, int64_t *left)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1,
            top = atomic_load_explicit(&deque->top, memory_order_relaxed);
    struct deque_array *array = atomic_load_explicit(&deque->array, memory_order_relaxed);
    void *item;

    *left = 0;
    if (top > bottom)
        return NULL; /* and stays so: nobody else adds any */
    atomic_store_explicit(&deque->bottom, bottom, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    top = atomic_load_explicit(&deque->top, memory_order_relaxed);
    if (top < bottom) {
        *left = bottom - top;
        return atomic_load_explicit(deque_slot(array, bottom), memory_order_relaxed);
    }
    item = atomic_load_explicit(deque_slot(array, bottom), memory_order_relaxed);
    if (top > bottom || !atomic_compare_exchange_strong_explicit(
                            &deque->top, &top, top + 1, memory_order_seq_cst, memory_order_relaxed))
        item = NULL;
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
    return item;
}

#endif
