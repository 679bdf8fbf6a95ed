/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/deque.h"

#include <stdlib.h>

static struct deque_array *make_array(int64_t size, struct deque_array *older)
{
    struct deque_array *array = malloc(sizeof(*array) + (size_t)size * sizeof(array->item[0]));

    if (array) {
        array->size = size;
        array->older = older;
    }
    return array;
}

int deque_begin(struct deque *deque, int64_t size)
{
    struct deque_array *array = make_array(size, NULL);

    atomic_init(&deque->top, 0);
    atomic_init(&deque->bottom, 0);
    atomic_init(&deque->array, array);
    return array ? 0 : -1;
}

void deque_end(struct deque *deque)
{
    struct deque_array *array = atomic_load(&deque->array), *older;

    for (; array; array = older) {
        older = array->older;
        free(array);
    }
}

struct deque_array *deque_grow(struct deque *deque, int64_t top, int64_t bottom)
{
    struct deque_array *old = atomic_load_explicit(&deque->array, memory_order_relaxed),
                       *array = make_array(2 * old->size, old);

    if (!array)
        return NULL;
    for (int64_t i = top; i < bottom; i++)
        atomic_store_explicit(deque_slot(array, i),
                              atomic_load_explicit(deque_slot(old, i), memory_order_relaxed),
                              memory_order_relaxed);
    atomic_store_explicit(&deque->array, array, memory_order_release);
    return array;
}

enum deque_taken deque_steal(struct deque *deque, void **item)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire), bottom;
    struct deque_array *array;

    atomic_thread_fence(memory_order_seq_cst);
    bottom = atomic_load_explicit(&deque->bottom, memory_order_acquire);
    if (top >= bottom)
        return DEQUE_EMPTY;
    array = atomic_load_explicit(&deque->array, memory_order_acquire);
    *item = atomic_load_explicit(deque_slot(array, top), memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return DEQUE_LOST;
    return DEQUE_TAKEN;
}
