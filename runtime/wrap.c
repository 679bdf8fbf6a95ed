/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wrap - see wrap.h.
 *
 * What a run-time knows of its teams it tells nobody, so the team is a thing of ours, on the stack
 * of the thread that begins the region and waits there for the end of all.
 *
 * libgomp's regions are a function and a pointer: ours take their place. LLVM's function has as
 * many arguments as the region has shared variables, all of the size of a pointer; they are put
 * into an array, which is the only argument of ours, and handed on by wrap_invoke (invoke.S). */
#include "runtime/wrap.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/callee.h"
#include "runtime/objects.h"
#include "runtime/rt.h"
#include "runtime/tasking.h"

#define DEALT_FIRST 2 /* omp_sched_dynamic */
#define DEALT_LAST 3  /* omp_sched_guided */

/* Is a region that `start` begins to be wrapped? */
static bool is_wanted(const void *start)
{
    if (!rt_page(RT_THROTTLE))
        return false;
    if (object_beside(start, SYMBOL_omp_get_level) &&
        object_beside(start, SYMBOL_omp_get_num_threads))
        return true;
    rt_surprise(RT_NO_QUERY, 0);
    return false;
}

static void begin_team(struct throttle_team *team, const void *start, const void *region)
{
    memset(team, 0, sizeof(*team));
    team->region = region;
    team->level = object_beside(start, SYMBOL_omp_get_level);
    team->threads_in = object_beside(start, SYMBOL_omp_get_num_threads);
}

bool wrap_runtime_deals(const void *function)
{
    void (*schedule)(int *, int *) = object_beside(function, SYMBOL_omp_get_schedule);
    int kind = 0, chunk;

    if (schedule)
        schedule(&kind, &chunk);
    kind &= 0x7fffffff; /* monotonic, or not */
    return kind >= DEALT_FIRST && kind <= DEALT_LAST;
}

/* ---- gcc ---- */

static void run_region(void *arg)
{
    struct wrap *wrap = arg;
    struct throttle_team *outer = tasking_enter(&wrap->team);
    struct throttle_member member;

    throttle_enter(&member, &wrap->team);
    wrap->region(wrap->data);
    throttle_leave(&member);
    tasking_enter(outer);
}

void wrap_region(struct wrap *wrap, const void *start, wrap_outlined **region, void **data,
                 enum wrap_loop loop)
{
    if (!is_wanted(start))
        return;
    begin_team(&wrap->team, start, (const void *)*region);
    wrap->team.begun =
        loop == WRAP_LOOP || (loop == WRAP_RUNTIME_LOOP && wrap_runtime_deals(start));
    wrap->region = *region;
    wrap->data = *data;
    *region = run_region;
    *data = wrap;
}

/* ---- LLVM, Intel ---- */

typedef void microtask(int *thread, int *bound, ...);
typedef void fork_call(void *location, int nargs, microtask *region, ...);
typedef void fork_call_if(void *location, int nargs, microtask *region, int condition, void *args);

#if defined(__x86_64__) || defined(__aarch64__)

#define IN_REGISTERS 6 /* at most, so many arguments are loaded whether there are any or not */

/* Calls region(thread, bound, arg[0], .. arg[nargs - 1]). arg has room for IN_REGISTERS. */
void wrap_invoke(microtask *region, int *thread, int *bound, long nargs, void **arg);

struct many {
    struct throttle_team team;
    microtask *region;
    long nargs;
    void **arg;
};

static void run_many(int *thread, int *bound, struct many *many)
{
    struct throttle_team *outer = tasking_enter(&many->team);
    struct throttle_member member;

    throttle_enter(&member, &many->team);
    wrap_invoke(many->region, thread, bound, many->nargs, many->arg);
    throttle_leave(&member);
    tasking_enter(outer);
}

static void begin_many(void *location, int nargs, microtask *region, ...)
{
    fork_call *start = (fork_call *)callee_must((const void *)region, SYMBOL___kmpc_fork_call);
    size_t room = (size_t)(nargs > IN_REGISTERS ? nargs : IN_REGISTERS) * sizeof(void *);
    void **arg = memset(__builtin_alloca(room), 0, room);
    struct many many = {.region = region, .nargs = nargs, .arg = arg};
    va_list list;

    va_start(list, region);
    for (int i = 0; i < nargs; i++)
        arg[i] = va_arg(list, void *);
    va_end(list);
    begin_team(&many.team, (const void *)start, (const void *)region);
    start(location, 1, (microtask *)run_many, &many);
}

static void begin_one(void *location, int nargs, microtask *region, int condition, void *args)
{
    fork_call_if *start =
        (fork_call_if *)callee_must((const void *)region, SYMBOL___kmpc_fork_call_if);
    void *arg[IN_REGISTERS] = {args};
    struct many many = {.region = region, .nargs = 1, .arg = arg};

    begin_team(&many.team, (const void *)start, (const void *)region);
    start(location, nargs, (microtask *)run_many, condition, &many);
}

void *wrap_fork_call(void *start)
{
    return is_wanted(start) ? (void *)begin_many : start;
}

void *wrap_fork_call_if(void *start)
{
    return is_wanted(start) ? (void *)begin_one : start;
}

#endif
