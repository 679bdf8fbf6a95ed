/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next - the function of libc, or of who stands before it, that the library stands before. */
#ifndef BERTH_RUNTIME_NEXT_H
#define BERTH_RUNTIME_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

/* Returns the next function of the name, of that version where the machine has it; NULL where there
 * is none. It is looked up once: `found` begins with NULL. version: NULL where libc has one only.
 */
static inline void *next_function(_Atomic(void *) *found, const char *name, const char *version)
{
    void *function = atomic_load_explicit(found, memory_order_relaxed);

    if (function)
        return function;
    function = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (!function)
        function = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(found, function, memory_order_relaxed);
    return function;
}

#endif
