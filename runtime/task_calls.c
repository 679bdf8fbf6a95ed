/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task_calls - stands before the functions by which gcc's and LLVM's code creates tasks of OpenMP
 * and waits for them, so that a thread can rest before it begins one (runtime/tasking.h).
 *
 * Of libgomp's tasks the function is replaced by ours, and the arguments, which it copies, get a
 * head in front of them. LLVM's tasks are made by a call of their own, which is told our function
 * and asked for room for the head, in front of the shared variables; the compiler's code finds
 * those by a pointer. Outside of regions that the library knows, all is handed on as it is; so are
 * a task that is detached, in which libgomp writes into the arguments, and the tasks of taskloop,
 * of which a run-time makes as many as it likes.
 *
 * Functions that return nothing may have been jumped to: the address that they return to is not
 * their caller's. The run-time whose region the thread is in has them. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "runtime/callee.h"
#include "runtime/objects.h"
#include "runtime/tasking.h"

#define HERE __builtin_return_address(0)
#define HOOK __attribute__((visibility("default")))

typedef unsigned long long ull;

/* The function of the run-time whose region the thread is in, else of the caller's. */
static void *callee_in_region(const void *returns_to, enum rt_symbol symbol)
{
    const struct throttle_team *team = tasking_team();
    void *found = team ? object_beside((const void *)team->level, symbol) : NULL;

    return found ? found : callee_of(returns_to, symbol, false);
}

/* ---- gcc: tasks ---- */

#define PLAIN_FLAGS 0x1f /* untied, final, mergeable, depend, priority */

typedef void task_function(void *arguments);
typedef void task_copy(void *to, void *from);

/* What libgomp copies from, when it copies. */
struct creation {
    struct tasking_head head;
    void *arguments;
    task_copy *copy;
    size_t bytes, offset;
};

/* A task's memory: the head, how far behind its start the arguments are, and these. */
struct task {
    struct tasking_head head;
    size_t offset;
};

static void copy_task(void *to, void *from)
{
    const struct creation *creation = from;
    struct task *task = to;
    char *arguments = (char *)to + creation->offset;

    *task = (struct task){.head = creation->head, .offset = creation->offset};
    if (creation->copy)
        creation->copy(arguments, creation->arguments);
    else if (creation->bytes)
        memcpy(arguments, creation->arguments, creation->bytes);
}

static void run_task(void *memory)
{
    struct task *task = memory;
    task_function *function = (task_function *)task->head.function;
    struct tasking_before before;

    tasking_begin(&task->head, &before);
    function((char *)memory + task->offset);
    tasking_end(&before);
}

#define CREATE_TYPES                                                                               \
    task_function *function, void *arguments, task_copy *copy, long bytes, long align, bool now,   \
        unsigned flags, void **depend, int priority, void *detach
#define CREATE_REST now, flags, depend, priority, detach

typedef void create_task(CREATE_TYPES);
HOOK create_task GOMP_task;

static void create_with_head(create_task *create, CREATE_TYPES)
{
    size_t alignment = align > (long)_Alignof(struct task) ? (size_t)align : _Alignof(struct task);
    struct creation creation = {.arguments = arguments,
                                .copy = copy,
                                .bytes = (size_t)bytes,
                                .offset = (sizeof(struct task) + alignment - 1) & -alignment};

    tasking_created(&creation.head, (void *)function);
    create(run_task, &creation, copy_task, (long)creation.offset + bytes, (long)alignment,
           CREATE_REST);
}

void GOMP_task(CREATE_TYPES)
{
    create_task *create = callee_of((const void *)function, SYMBOL_GOMP_task, false);
    struct tasking_before before;

    if (!tasking_team()) {
        create(function, arguments, copy, bytes, align, CREATE_REST);
        return;
    }
    tasking_go(TASKING_CREATES, &before);
    if (flags & ~(unsigned)PLAIN_FLAGS)
        create(function, arguments, copy, bytes, align, CREATE_REST);
    else
        create_with_head(create, function, arguments, copy, bytes, align, CREATE_REST);
    tasking_come(&before);
}

/* ---- LLVM: tasks ---- */

#define HEAD_ROOM ((sizeof(struct tasking_head) + 15) & ~(size_t)15)

typedef int kmp_routine(int thread, void *task);
typedef void *kmp_alloc(void *location, int thread, int flags, size_t bytes, size_t shared_bytes,
                        kmp_routine *routine);
HOOK kmp_alloc __kmpc_omp_task_alloc;

/* Such a task begins with a pointer to its shared variables. */
static int run_kmp(int thread, void *task)
{
    const struct tasking_head *head = (const struct tasking_head *)(*(char **)task - HEAD_ROOM);
    kmp_routine *routine = (kmp_routine *)head->function;
    struct tasking_before before;
    int result;

    tasking_begin(head, &before);
    result = routine(thread, task);
    tasking_end(&before);
    return result;
}

void *__kmpc_omp_task_alloc(void *location, int thread, int flags, size_t bytes,
                            size_t shared_bytes, kmp_routine *routine)
{
    kmp_alloc *alloc = callee_of(HERE, SYMBOL___kmpc_omp_task_alloc, false);
    char **task;

    if (!tasking_team())
        return alloc(location, thread, flags, bytes, shared_bytes, routine);
    task = alloc(location, thread, flags, bytes, shared_bytes + HEAD_ROOM, run_kmp);
    tasking_created((struct tasking_head *)*task, (void *)routine);
    *task += HEAD_ROOM;
    return task;
}

/* ---- calls in which tasks may run ---- */

/* name: of the run-time. why: what it waits for. */
#define INSIDE(name, why, types, handed_on)                                                        \
    HOOK void name types;                                                                          \
    void name types                                                                                \
    {                                                                                              \
        void(*go_on) types = callee_in_region(HERE, SYMBOL_##name);                                \
        struct tasking_before before;                                                              \
                                                                                                   \
        if (!tasking_team()) {                                                                     \
            go_on handed_on;                                                                       \
            return;                                                                                \
        }                                                                                          \
        tasking_go(why, &before);                                                                  \
        go_on handed_on;                                                                           \
        tasking_come(&before);                                                                     \
    }

#define INSIDE_INT(name, why, types, handed_on)                                                    \
    HOOK int name types;                                                                           \
    int name types                                                                                 \
    {                                                                                              \
        int(*go_on) types = callee_in_region(HERE, SYMBOL_##name);                                 \
        struct tasking_before before;                                                              \
        int result;                                                                                \
                                                                                                   \
        if (!tasking_team())                                                                       \
            return go_on handed_on;                                                                \
        tasking_go(why, &before);                                                                  \
        result = go_on handed_on;                                                                  \
        tasking_come(&before);                                                                     \
        return result;                                                                             \
    }

INSIDE(GOMP_taskwait, TASKING_WAITS, (void), ())
INSIDE(GOMP_taskwait_depend, TASKING_WAITS, (void **depend), (depend))
INSIDE(GOMP_taskyield, TASKING_CREATES, (void), ())
INSIDE_INT(__kmpc_omp_task, TASKING_CREATES, (void *location, int thread, void *task),
           (location, thread, task))
INSIDE_INT(__kmpc_omp_task_with_deps, TASKING_CREATES,
           (void *location, int thread, void *task, int n, void *depend, int n_alone, void *alone),
           (location, thread, task, n, depend, n_alone, alone))
INSIDE_INT(__kmpc_omp_taskwait, TASKING_WAITS, (void *location, int thread), (location, thread))
INSIDE(__kmpc_omp_wait_deps, TASKING_WAITS,
       (void *location, int thread, int n, void *depend, int n_alone, void *alone),
       (location, thread, n, depend, n_alone, alone))
INSIDE(__kmpc_omp_taskwait_deps_51, TASKING_WAITS,
       (void *location, int thread, int n, void *depend, int n_alone, void *alone, int goes_on),
       (location, thread, n, depend, n_alone, alone, goes_on))
INSIDE_INT(__kmpc_omp_taskyield, TASKING_CREATES, (void *location, int thread, int end),
           (location, thread, end))

/* Loops of tasks wait for them, by a group of their own. */
INSIDE(GOMP_taskloop, TASKING_CREATES,
       (task_function * function, void *data, task_copy *copy, long bytes, long align,
        unsigned flags, unsigned long n, int priority, long from, long to, long step),
       (function, data, copy, bytes, align, flags, n, priority, from, to, step))
INSIDE(GOMP_taskloop_ull, TASKING_CREATES,
       (task_function * function, void *data, task_copy *copy, long bytes, long align,
        unsigned flags, unsigned long n, int priority, ull from, ull to, ull step),
       (function, data, copy, bytes, align, flags, n, priority, from, to, step))
INSIDE(__kmpc_taskloop, TASKING_CREATES,
       (void *location, int thread, void *task, int wanted, ull *from, ull *to, long long step,
        int no_group, int schedule, ull grain, void *copy),
       (location, thread, task, wanted, from, to, step, no_group, schedule, grain, copy))
INSIDE(__kmpc_taskloop_5, TASKING_CREATES,
       (void *location, int thread, void *task, int wanted, ull *from, ull *to, long long step,
        int no_group, int schedule, ull grain, int strict, void *copy),
       (location, thread, task, wanted, from, to, step, no_group, schedule, grain, strict, copy))

/* ---- groups ---- */

#define GROUP(begin, end, types, handed_on)                                                        \
    HOOK void begin types;                                                                         \
    HOOK void end types;                                                                           \
    void begin types                                                                               \
    {                                                                                              \
        void(*go_on) types = callee_in_region(HERE, SYMBOL_##begin);                               \
                                                                                                   \
        tasking_group_begin();                                                                     \
        go_on handed_on;                                                                           \
    }                                                                                              \
                                                                                                   \
    void end types                                                                                 \
    {                                                                                              \
        void(*go_on) types = callee_in_region(HERE, SYMBOL_##end);                                 \
        struct tasking_before before;                                                              \
                                                                                                   \
        tasking_go(TASKING_WAITS_GROUP, &before);                                                  \
        go_on handed_on;                                                                           \
        tasking_come(&before);                                                                     \
        tasking_group_end();                                                                       \
    }

GROUP(GOMP_taskgroup_start, GOMP_taskgroup_end, (void), ())
GROUP(__kmpc_taskgroup, __kmpc_end_taskgroup, (void *location, int thread), (location, thread))
