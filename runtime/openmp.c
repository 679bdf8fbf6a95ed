/* SPDX-License-Identifier: GPL-2.0-or-later */
/* openmp - the next parallel region of a program has as many threads as the step's page says.
 *
 * The library stands before the functions by which gcc's and LLVM's code starts a parallel region,
 * and hands the page's number on as if a num_threads clause had said it. Whether it did is decided
 * here:
 *
 * - A region with a num_threads clause of its own, or an if that is false, is its author's: what
 * comes in it may hang on that number. So are regions within others, and within leagues of teams.
 * - A region is never given more threads than it would have without us (omp_get_max_threads(): what
 *   OMP_NUM_THREADS or omp_set_num_threads() said): its program may have made room for so many, and
 *   for no more. It may get fewer, as OpenMP has it where OMP_DYNAMIC is set.
 * - Where the page says 0, or its own number, a region is started as if we were not there.
 *
 * A region is never left out, whatever is found or not. Where no run-time is found at all, which
 * only a program sees that asks for one by a weak symbol, gcc's regions run with one thread;
 * LLVM's, whose arguments only the run-time can hand on, end the program as the dynamic linker
 * would have.
 *
 * LLVM's functions are stood before in fork_call.S, which calls those at the end of this file. */
#include "runtime/openmp.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/callee.h"
#include "runtime/objects.h"
#include "runtime/regions.h"
#include "runtime/rt.h"
#include "runtime/said.h"
#include "runtime/throttle.h"
#include "runtime/wrap.h"

typedef int openmp_query(void);
typedef void outlined(void *);

/* Is the calling thread outside of all regions, which the run-time that has `start` knows? */
static bool is_outermost(const void *start)
{
    openmp_query *in_parallel = object_beside(start, SYMBOL_omp_in_parallel);
    openmp_query *num_teams = object_beside(start, SYMBOL_omp_get_num_teams); /* from OpenMP 4 on */

    return in_parallel && !in_parallel() && (!num_teams || num_teams() <= 1);
}

/* How many the page has the process use: 0, its own number. */
static unsigned told(const struct rt_page *page)
{
    return rt_page(RT_THREADS) ? __atomic_load_n(&page->threads, __ATOMIC_ACQUIRE) : 0;
}

/* Returns how many threads a region must be told to have; 0: nothing has to be said to it. `start`
 * is the run-time's function that starts it; `own`: it has said its number itself. */
static unsigned choose_threads(const void *start, const void *region, bool own)
{
    const struct rt_page *page = rt_page(RT_THREADS | RT_THROTTLE | RT_REGIONS);
    openmp_query *max_threads;
    unsigned most, wanted;
    bool outermost;

    if (!page)
        return 0;
    max_threads = object_beside(start, SYMBOL_omp_get_max_threads);
    if (!max_threads) {
        rt_surprise(RT_NO_QUERY, 0);
        return 0;
    }
    outermost = is_outermost(start);
    if (outermost && rt_page(RT_REGIONS))
        regions_begin(region);
    if (own || !outermost) {
        said_region(own ? SAID_OWN : SAID_NESTED, page, 0);
        return 0;
    }
    wanted = told(page);
    most = (unsigned)max_threads();
    if (wanted > RT_THREADS_MAX) {
        rt_surprise(RT_PAGE_TOO_MANY, (long)wanted);
        return 0;
    }
    if (wanted == 0 || wanted > most)
        wanted = most;
    wanted = throttle_region(region, wanted);
    said_region(SAID_FOLLOWED, page, wanted);
    return wanted < most ? wanted : 0;
}

/* ---- gcc ---- */

/* Returns the function of the run-time, and changes the number of threads it is to be called with.
 */
static void *stand_before(outlined *region, unsigned *threads, enum rt_symbol symbol)
{
    void *start = object_called((const void *)region, symbol);
    unsigned chosen;

    if (!start) {
        rt_surprise(RT_NO_RUNTIME, symbol);
        return NULL;
    }
    callee_forget();
    chosen = choose_threads(start, (const void *)region, *threads != 0);
    if (chosen)
        *threads = chosen;
    return start;
}

/* A function of libgomp: what it returns, its name, its arguments with and without their types, and
 * what is done where there is no run-time. */
#define BEFORE(type, name, arguments, handed_on, alone)                                            \
    __attribute__((visibility("default"))) type name arguments;                                    \
    type name arguments                                                                            \
    {                                                                                              \
        type(*start) arguments = stand_before(region, &threads, SYMBOL_##name);                    \
                                                                                                   \
        if (!start)                                                                                \
            return alone;                                                                          \
        return start handed_on;                                                                    \
    }

#define REGION outlined *region, void *data, unsigned threads
#define ALONE region(data)

/* The same, with threads that pass through the library; the region begins with a loop, or not. Not
 * where the run-time looks into the region's data itself (reductions), or has the region called by
 * who starts it (gcc before 4.9). */
#define THROUGH(name, arguments, handed_on, loop)                                                  \
    __attribute__((visibility("default"))) void name arguments;                                    \
    void name arguments                                                                            \
    {                                                                                              \
        void(*start) arguments = stand_before(region, &threads, SYMBOL_##name);                    \
        struct wrap wrap;                                                                          \
                                                                                                   \
        if (!start) {                                                                              \
            ALONE;                                                                                 \
            return;                                                                                \
        }                                                                                          \
        wrap_region(&wrap, (const void *)start, &region, &data, loop);                             \
        start handed_on;                                                                           \
    }

THROUGH(GOMP_parallel, (REGION, unsigned flags), (region, data, threads, flags), WRAP_NO_LOOP)
BEFORE(unsigned, GOMP_parallel_reductions, (REGION, unsigned flags), (region, data, threads, flags),
       (ALONE, 1))
BEFORE(void, GOMP_parallel_sections, (REGION, unsigned count, unsigned flags),
       (region, data, threads, count, flags), ALONE)
BEFORE(void, GOMP_parallel_start, (REGION), (region, data, threads), (void)0)
BEFORE(void, GOMP_parallel_sections_start, (REGION, unsigned count), (region, data, threads, count),
       (void)0)

/* Loops with the size of a chunk in the call, and those that have it from OMP_SCHEDULE. */
#define CHUNKS(name, loop)                                                                         \
    THROUGH(name, (REGION, long from, long to, long step, long chunk, unsigned flags),             \
            (region, data, threads, from, to, step, chunk, flags), loop)
#define RUNTIME(name)                                                                              \
    THROUGH(name, (REGION, long from, long to, long step, unsigned flags),                         \
            (region, data, threads, from, to, step, flags), WRAP_RUNTIME_LOOP)
#define CHUNKS_START(name)                                                                         \
    BEFORE(void, name, (REGION, long from, long to, long step, long chunk),                        \
           (region, data, threads, from, to, step, chunk), (void)0)

CHUNKS(GOMP_parallel_loop_static, WRAP_NO_LOOP)
CHUNKS(GOMP_parallel_loop_dynamic, WRAP_LOOP)
CHUNKS(GOMP_parallel_loop_guided, WRAP_LOOP)
CHUNKS(GOMP_parallel_loop_nonmonotonic_dynamic, WRAP_LOOP)
CHUNKS(GOMP_parallel_loop_nonmonotonic_guided, WRAP_LOOP)
RUNTIME(GOMP_parallel_loop_runtime)
RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)
CHUNKS_START(GOMP_parallel_loop_static_start)
CHUNKS_START(GOMP_parallel_loop_dynamic_start)
CHUNKS_START(GOMP_parallel_loop_guided_start)
BEFORE(void, GOMP_parallel_loop_runtime_start, (REGION, long from, long to, long step),
       (region, data, threads, from, to, step), (void)0)

/* ---- LLVM, Intel ---- */

/* A num_threads clause is a call of its own, before the region's. */
static __thread bool number_asked __attribute__((tls_model("initial-exec")));

static void *fork_call(enum rt_symbol symbol, void *location, const void *region, bool alone)
{
    void *start = callee_must(region, symbol);
    unsigned threads = alone ? 0 : choose_threads(start, region, number_asked);
    int (*thread_number)(void *) = object_beside(start, SYMBOL___kmpc_global_thread_num);
    void (*push)(void *, int, int) = object_beside(start, SYMBOL___kmpc_push_num_threads);

    callee_forget();
    number_asked = false;
    if (threads && thread_number && push)
        push(location, thread_number(location), (int)threads);
    return start;
}

void *openmp_fork_call(void *location, int nargs, const void *region)
{
    (void)nargs;
    return wrap_fork_call(fork_call(SYMBOL___kmpc_fork_call, location, region, false));
}

void *openmp_fork_call_if(void *location, int nargs, const void *region, int condition)
{
    (void)nargs;
    return wrap_fork_call_if(fork_call(SYMBOL___kmpc_fork_call_if, location, region, !condition));
}

/* Serialised regions take the clause's number with them, too. */
void *openmp_serialized(void *location)
{
    number_asked = false;
    return callee_must(location, SYMBOL___kmpc_serialized_parallel);
}

#define ASKED(function, name)                                                                      \
    void *function(void *location)                                                                 \
    {                                                                                              \
        number_asked = true;                                                                       \
        return callee_must(location, SYMBOL_##name);                                               \
    }

ASKED(openmp_asked, __kmpc_push_num_threads)
ASKED(openmp_asked_strict, __kmpc_push_num_threads_strict)
ASKED(openmp_asked_list, __kmpc_push_num_threads_list)
ASKED(openmp_asked_list_strict, __kmpc_push_num_threads_list_strict)
