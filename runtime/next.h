/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next - the function of libc, or of who stands before it, that the library stands before.
 *
 * All are looked up when the library is loaded. Later the dynamic linker may be in a dlopen(), with
 * its lock taken, and a constructor of what is opened may wait for a thread that would wait for
 * that lock here. Only who calls even before that, from another library's constructor, looks it up
 * himself. */
#ifndef BERTH_RUNTIME_NEXT_H
#define BERTH_RUNTIME_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define NEXT_FIRST 101 /* of the constructors */

/* Looks up the next function of the name, of that version where the machine has it; NULL: there is
 * none. version: NULL where libc has one only. */
static inline void *next_look_up(const char *name, const char *version)
{
    void *function = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

    return function ? function : dlsym(RTLD_NEXT, name);
}

/* Defines next_NAME(), which returns the next function of the name, as above. */
#define NEXT(name, version)                                                                        \
    static __typeof__(name) *next_##name(void)                                                     \
    {                                                                                              \
        static _Atomic(void *) found;                                                              \
        void *function = atomic_load_explicit(&found, memory_order_relaxed);                       \
                                                                                                   \
        if (!function) {                                                                           \
            function = next_look_up(#name, version);                                               \
            atomic_store_explicit(&found, function, memory_order_relaxed);                         \
        }                                                                                          \
        return (__typeof__(name) *)function;                                                       \
    }                                                                                              \
    __attribute__((constructor(NEXT_FIRST))) static void look_up_##name(void)                      \
    {                                                                                              \
        next_##name();                                                                             \
    }

#endif
