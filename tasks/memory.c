/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tasks/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#define SLAB_BYTES (128 << 10)
#define SLAB_TASKS (SLAB_BYTES / TASK_BYTES)

/* A slab's first task has no task in it. */
struct slab {
    struct slab *next;
};

static int add_slab(struct worker *me)
{
    struct slab *slab =
        mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct task *task = (struct task *)slab;

    if (slab == MAP_FAILED)
        return -1;
    slab->next = me->slabs;
    me->slabs = slab;
    for (size_t i = SLAB_TASKS - 1; i > 0; i--) {
        task[i].owner = me;
        task[i].next = me->free;
        me->free = &task[i];
    }
    return 0;
}

int memory_refill(struct worker *me)
{
    if (atomic_load_explicit(&me->given_back, memory_order_relaxed))
        me->free = atomic_exchange_explicit(&me->given_back, NULL, memory_order_acquire);
    return me->free ? 0 : add_slab(me);
}

void memory_give_back(struct task *task)
{
    struct worker *owner = task->owner;

    if (!owner) {
        free(task);
        return;
    }
    task->next = atomic_load_explicit(&owner->given_back, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&owner->given_back, &task->next, task,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void memory_end(struct worker *me)
{
    while (me->slabs) {
        struct slab *slab = me->slabs;

        me->slabs = slab->next;
        munmap(slab, SLAB_BYTES);
    }
}
