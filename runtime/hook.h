/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hook - what a program's calls of a lock's function go to: libc's, or whose stands before it, at
 * first and where nothing is to be looked at; one of ours where begin() of the file said so. A call
 * that goes on costs a jump. */
#ifndef BERTH_RUNTIME_HOOK_H
#define BERTH_RUNTIME_HOOK_H

#include <stdatomic.h>

#include "runtime/next.h"

typedef int on_lock(void *lock);

struct hook {
    _Atomic(on_lock *) next, now; /* both begin with who finds the next one */
};

#define HOOK_CALL(function, lock) atomic_load_explicit(&(function), memory_order_relaxed)(lock)

static inline on_lock *hook_find(struct hook *hook, const char *name)
{
    on_lock *first = atomic_load(&hook->next), *found = (on_lock *)next_look_up(name, NULL);

    atomic_compare_exchange_strong(&hook->now, &first, found);
    atomic_store(&hook->next, found);
    return found;
}

/* Defines a hook, static, for the function of that name. */
#define HOOK(of, name)                                                                             \
    static on_lock find_##of;                                                                      \
    static struct hook of = {find_##of, find_##of};                                                \
    static int find_##of(void *lock)                                                               \
    {                                                                                              \
        return hook_find(&of, name)(lock);                                                         \
    }                                                                                              \
    __attribute__((constructor(NEXT_FIRST))) static void look_up_##of(void)                        \
    {                                                                                              \
        hook_find(&of, name);                                                                      \
    }

/* Defines the function that the program calls. */
#define HOOK_EXPORT(of, name, type)                                                                \
    __attribute__((visibility("default"))) int name(type *lock);                                   \
    int name(type *lock)                                                                           \
    {                                                                                              \
        return HOOK_CALL((of).now, (void *)lock);                                                  \
    }

#endif
