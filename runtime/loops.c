/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loops - stands before the functions by which gcc's and LLVM's code comes to a loop that hands out
 * its iterations while it runs, and for each of its chunks, so that a thread can rest there
 * (runtime/throttle.h).
 *
 * What each of them returns is used by its caller, so none is a jump, and the return address is in
 * the object that calls; LLVM's functions that begin a loop return nothing, but are followed by one
 * that asks for the first chunk.
 *
 * Static loops are left alone: each thread has its part, which nobody else would do. So are ordered
 * ones, and those whose iterations wait for each other, where LLVM's deals each thread a part of
 * its own, too, which others wait for: their functions have other names, or, of LLVM's, another
 * schedule, or are called after one of those. The ends of loops need no function here: a thread has
 * left a loop when it was told that there are no more chunks, or that it is cancelled. */
#include <stdbool.h>
#include <stddef.h>

#include "runtime/callee.h"
#include "runtime/objects.h"
#include "runtime/throttle.h"
#include "runtime/wrap.h"

typedef unsigned long long ull;

#define HERE __builtin_return_address(0)

static void come_to_loop(const void *function, bool dealt)
{
    throttle_query *level = object_beside(function, SYMBOL_omp_get_level);

    if (level)
        throttle_loop(level, dealt);
}

/* ---- gcc ---- */

/* A chunk, or none. */
static bool got(bool chunk)
{
    if (!chunk)
        throttle_over();
    return chunk;
}

#define HOOK __attribute__((visibility("default")))

#define START(name, arguments, handed_on, deals)                                                   \
    HOOK bool name arguments;                                                                      \
    bool name arguments                                                                            \
    {                                                                                              \
        bool(*start) arguments = callee_of(HERE, SYMBOL_##name, true);                             \
                                                                                                   \
        come_to_loop((const void *)start, deals);                                                  \
        throttle_chunk();                                                                          \
        return got(start handed_on);                                                               \
    }

#define NEXT(name, type)                                                                           \
    HOOK bool name(type *from, type *to);                                                          \
    bool name(type *from, type *to)                                                                \
    {                                                                                              \
        bool (*next)(type *, type *) = callee_of(HERE, SYMBOL_##name, false);                      \
                                                                                                   \
        throttle_chunk();                                                                          \
        return got(next(from, to));                                                                \
    }

#define CHUNKS(schedule)                                                                           \
    START(GOMP_loop_##schedule##_start,                                                            \
          (long begin, long end, long step, long chunk, long *from, long *to),                     \
          (begin, end, step, chunk, from, to), true)                                               \
    NEXT(GOMP_loop_##schedule##_next, long)                                                        \
    START(GOMP_loop_ull_##schedule##_start,                                                        \
          (bool up, ull begin, ull end, ull step, ull chunk, ull *from, ull *to),                  \
          (up, begin, end, step, chunk, from, to), true)                                           \
    NEXT(GOMP_loop_ull_##schedule##_next, ull)

/* What OMP_SCHEDULE says. */
#define RUNTIME(schedule)                                                                          \
    START(GOMP_loop_##schedule##_start, (long begin, long end, long step, long *from, long *to),   \
          (begin, end, step, from, to), wrap_runtime_deals((const void *)start))                   \
    NEXT(GOMP_loop_##schedule##_next, long)                                                        \
    START(GOMP_loop_ull_##schedule##_start,                                                        \
          (bool up, ull begin, ull end, ull step, ull *from, ull *to),                             \
          (up, begin, end, step, from, to), wrap_runtime_deals((const void *)start))               \
    NEXT(GOMP_loop_ull_##schedule##_next, ull)

CHUNKS(dynamic)
CHUNKS(nonmonotonic_dynamic)
CHUNKS(guided)
CHUNKS(nonmonotonic_guided)
RUNTIME(runtime)
RUNTIME(nonmonotonic_runtime)
RUNTIME(maybe_nonmonotonic_runtime)

/* A loop, or a region, that is cancelled: who rests in it has to come to its end. */
#define CANCEL(type, name, arguments, handed_on)                                                   \
    HOOK type name arguments;                                                                      \
    type name arguments                                                                            \
    {                                                                                              \
        type(*ask) arguments = callee_must(HERE, SYMBOL_##name);                                   \
        type cancelled = ask handed_on;                                                            \
                                                                                                   \
        if (cancelled)                                                                             \
            throttle_over();                                                                       \
        return cancelled;                                                                          \
    }

CANCEL(bool, GOMP_cancel, (int which, bool wanted), (which, wanted))
CANCEL(bool, GOMP_cancellation_point, (int which), (which))
CANCEL(int, __kmpc_cancel, (void *location, int thread, int kind), (location, thread, kind))
CANCEL(int, __kmpc_cancellationpoint, (void *location, int thread, int kind),
       (location, thread, kind))

/* ---- LLVM, Intel ---- */

enum schedule { DYNAMIC = 35, GUIDED, SCHEDULE_RUNTIME };

#define MONOTONIC (1 << 29)
#define NONMONOTONIC (1 << 30)

/* Does a loop with the schedule hand out its iterations while it runs, and in any order? */
static bool deals(int schedule, const void *function)
{
    schedule &= ~(MONOTONIC | NONMONOTONIC);
    return schedule == DYNAMIC || schedule == GUIDED ||
           (schedule == SCHEDULE_RUNTIME && wrap_runtime_deals(function));
}

/* Of the loop that the calling thread begins next iterations wait for each other. */
static __thread bool across __attribute__((tls_model("initial-exec")));

HOOK void __kmpc_doacross_init(void *location, int thread, int dimensions, const void *dimension);

void __kmpc_doacross_init(void *location, int thread, int dimensions, const void *dimension)
{
    void (*init)(void *, int, int, const void *) = callee_must(HERE, SYMBOL___kmpc_doacross_init);

    across = true;
    init(location, thread, dimensions, dimension);
}

static void come_to_dispatch(int schedule, const void *function)
{
    come_to_loop(function, !across && deals(schedule, function));
    across = false;
}

#define DISPATCH(suffix, type, difference)                                                         \
    typedef void init_##suffix(void *location, int thread, int schedule, type first, type last,    \
                               difference step, difference chunk);                                 \
    typedef int next_##suffix(void *location, int thread, int *is_last, type *first, type *last,   \
                              difference *step);                                                   \
    HOOK init_##suffix __kmpc_dispatch_init_##suffix;                                              \
    HOOK next_##suffix __kmpc_dispatch_next_##suffix;                                              \
                                                                                                   \
    void __kmpc_dispatch_init_##suffix(void *location, int thread, int schedule, type first,       \
                                       type last, difference step, difference chunk)               \
    {                                                                                              \
        init_##suffix *init = callee_of(HERE, SYMBOL___kmpc_dispatch_init_##suffix, true);         \
                                                                                                   \
        come_to_dispatch(schedule, (const void *)init);                                            \
        init(location, thread, schedule, first, last, step, chunk);                                \
    }                                                                                              \
                                                                                                   \
    int __kmpc_dispatch_next_##suffix(void *location, int thread, int *is_last, type *first,       \
                                      type *last, difference *step)                                \
    {                                                                                              \
        next_##suffix *next = callee_of(HERE, SYMBOL___kmpc_dispatch_next_##suffix, false);        \
                                                                                                   \
        throttle_chunk();                                                                          \
        return got(next(location, thread, is_last, first, last, step));                            \
    }

DISPATCH(4, int, int)
DISPATCH(4u, unsigned, int)
DISPATCH(8, long long, long long)
DISPATCH(8u, ull, long long)
